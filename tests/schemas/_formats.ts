/**
 * Strings of every format that an API server validates: valid ones, almost valid ones, and those
 * whose validity only the server knows.
 */
import { creditCard, isbn10, isbn13, offByOne } from "./_checksums.ts";
import type { Random } from "../fixtures/random.ts";
import { TIME_FORMATS } from "./_time_formats.ts";

/** Strings for one format. */
export interface FormatText {
  readonly format: string;
  valid(random: Random): string;
  /** Returns an invalid string. Omitted if every string is valid. */
  readonly invalid?: (random: Random) => string;
}

const HEX = "0123456789abcdef";
const DIGITS = "0123456789";
const NAME = "abcdefghijklmnopqrstuvwxyz0123456789";

/** All string formats. */
export const FORMATS: readonly FormatText[] = [
  {
    format: "bsonobjectid",
    valid: (random) => random.text(24, HEX + "ABCDEF"),
    invalid: (random) => random.pick([random.text(23, HEX), random.text(26, HEX), random.text(23, HEX) + "g", ""]),
  },
  {
    format: "uri",
    valid: (random) =>
      random.pick([
        `https://${random.text(5)}.example.com/${random.text(4)}?q=${random.text(3)}#f`,
        `/${random.text(6)}`,
        `mailto:${random.text(4)}@example.com`,
        `http://user:pass@${random.text(4)}:8080/`,
        `http://[::1]:80/${random.text(2)}%20x`,
        `urn:isbn:${random.text(10, DIGITS)}`,
        `a+b-c.1://${random.text(3)}`,
        "http://[fe80::1%25en0]/",
      ]),
    invalid: (random) =>
      random.pick([
        random.text(5),
        "",
        `:${random.text(3)}`,
        `http://${random.text(3)}:port/`,
        `http://${random.text(3)}/%zz`,
        `1http://${random.text(3)}`,
        `http://${random.text(2)} ${random.text(2)}/`,
        `${random.text(3)}\u007f`,
        `?${random.text(3)}`,
        `http://[::1/${random.text(3)}`,
      ]),
  },
  {
    format: "email",
    valid: (random) =>
      random.pick([
        `${random.text(4)}@example.com`,
        `${random.text(3)}.${random.text(3)}+${random.text(2)}@${random.text(5)}`,
        `Some One <${random.text(4)}@example.com>`,
        `"quoted ${random.text(3)}"@example.com`,
        `<${random.text(4)}@[10.0.0.1]>`,
        `${random.text(4)}@example.com (a comment)`,
        `"a, b" <${random.text(3)}@example.com>`,
      ]),
    invalid: (random) =>
      random.pick([
        random.text(6),
        `@${random.text(4)}`,
        `${random.text(4)}@`,
        `${random.text(3)}@@${random.text(3)}`,
        `.${random.text(3)}@example.com`,
        `${random.text(3)}.@example.com`,
        `${random.text(3)}..a@example.com`,
        `Some One ${random.text(3)}@example.com`,
        `<${random.text(3)}@example.com`,
        `${random.text(3)}@example.com, b@example.com`,
        `"${random.text(3)}@example.com`,
      ]),
  },
  {
    format: "hostname",
    valid: (random) =>
      random.pick([
        `${random.text(5)}.example.com`,
        random.text(6, NAME),
        `${random.text(2)}-${random.text(2)}.${random.text(3)}`,
        `bücher.${random.text(3)}`,
        random.text(63),
        `1.${random.text(2)}`,
      ]),
    invalid: (random) =>
      random.pick([
        `-${random.text(3)}`,
        `${random.text(3)}-`,
        `${random.text(3)}_${random.text(3)}`,
        `${random.text(3)}..${random.text(3)}`,
        `${random.text(3)} ${random.text(3)}`,
        random.text(64),
        `.${random.text(3)}`,
        `${random.text(3)}.a`,
        "",
        `${random.text(3)}.123`,
        `${random.text(60)}.`.repeat(5) + "com",
      ]),
  },
  {
    format: "ipv4",
    valid: (random) =>
      random.pick([ipv4(random), `0${ipv4(random)}`, `::ffff:${ipv4(random)}`, "0.0.0.0", "255.255.255.255"]),
    invalid: (random) =>
      random.pick([
        `${ipv4(random)}.1`,
        `10.0.${random.integer(256, 999)}.1`,
        "10.0.0",
        "10.0.0.",
        "::1",
        ` ${ipv4(random)}`,
        `10.0.0.${random.text(1)}`,
        "",
        `${ipv4(random)}/8`,
      ]),
  },
  {
    format: "ipv6",
    valid: (random) =>
      random.pick([
        `fe80::${random.text(3, HEX)}`,
        random.times(8, () => random.text(4, HEX)).join(":"),
        "::",
        "::1",
        `::ffff:${ipv4(random)}`,
        `1:2:3:4:5:6:${ipv4(random)}`,
        `${random.text(4, HEX)}::`,
        "FE80::A",
        "1::3:4:5:6:7:8",
      ]),
    invalid: (random) =>
      random.pick([
        ipv4(random),
        `:::${random.text(2, HEX)}`,
        "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9",
        `1::2::${random.text(2, HEX)}`,
        `fe80::${random.text(1, "ghxyz")}`,
        `${random.text(5, HEX.slice(1))}::`,
        `fe80::1%${random.text(3)}`,
        "[::1]",
        "",
        ":1:2:3:4:5:6:7",
        `1:2:3:4:5:6:7:${ipv4(random)}`,
      ]),
  },
  {
    format: "cidr",
    valid: (random) =>
      random.pick([
        `${ipv4(random)}/${random.integer(0, 32)}`,
        `fe80::/${random.integer(0, 128)}`,
        `010.0.0.0/${random.integer(1, 8)}`,
        `::ffff:10.0.0.0/${random.integer(0, 128)}`,
      ]),
    invalid: (random) =>
      random.pick([
        ipv4(random),
        `${ipv4(random)}/${random.integer(33, 99)}`,
        `fe80::/${random.integer(129, 999)}`,
        `${ipv4(random)}/`,
        `10.0.0/8`,
        `/${random.integer(1, 9)}`,
        `${ipv4(random)}/-1`,
        `${ipv4(random)}/8/8`,
        "",
        `${ipv4(random)}/a`,
      ]),
  },
  {
    format: "mac",
    valid: (random) => {
      const separator = random.pick([":", "-"]);
      const bytes = (count: number) => random.times(count, () => random.text(2, HEX + "ABCDEF")).join(separator);
      return random.pick([
        bytes(6),
        bytes(8),
        bytes(20),
        random.text(12, HEX),
        random.times(3, () => random.text(4, HEX)).join("."),
        random.times(4, () => random.text(4, HEX)).join("."),
      ]);
    },
    invalid: (random) =>
      random.pick([
        random.times(5, () => random.text(2, HEX)).join(":"),
        random.times(7, () => random.text(2, HEX)).join(":"),
        random.text(11, HEX),
        `${random.times(5, () => random.text(2, HEX)).join(":")}:gg`,
        `${random.times(5, () => random.text(2, HEX)).join(":")}-00`,
        random.times(6, () => random.text(1, HEX)).join(":"),
        "",
      ]),
  },
  ...["uuid", "uuid3", "uuid4", "uuid5"].map((format): FormatText => {
    const version = format.slice(4);
    return {
      format,
      valid: (random) => {
        const third = (version || random.text(1, HEX)) + random.text(3, HEX);
        const fourth = (version > "3" ? random.pick(["8", "9", "a", "B"]) : random.text(1, HEX)) + random.text(3, HEX);
        const parts = [random.text(8, HEX), random.text(4, HEX), third, fourth, random.text(12, HEX)];
        const text = parts.join(random.pick(["-", "-", ""]));
        return random.chance(0.3) ? text.toUpperCase() : text;
      },
      invalid: (random) =>
        random.pick([
          random.text(31, HEX),
          random.text(33, HEX),
          `${random.text(8, HEX)}-${random.text(4, HEX)}-${version || "g"}${random.text(2, HEX)}-8${
            random.text(15, HEX)
          }`,
          `${random.text(8, HEX)}-${random.text(4, HEX)}-x${random.text(3, HEX)}-8${random.text(3, HEX)}-${
            random.text(12, HEX)
          }`,
          `{${random.text(32, HEX)}}`,
          "",
        ]),
    };
  }),
  {
    format: "isbn",
    valid: (random) => random.pick([isbn10, isbn13])(random),
    invalid: (random) => offByOne(random, isbn13(random)),
  },
  {
    format: "isbn10",
    valid: isbn10,
    invalid: (random) => random.pick([offByOne(random, isbn10(random)), isbn13(random)]),
  },
  {
    format: "isbn13",
    valid: isbn13,
    invalid: (random) => random.pick([offByOne(random, isbn13(random)), isbn10(random)]),
  },
  { format: "creditcard", valid: creditCard, invalid: (random) => offByOne(random, creditCard(random)) },
  {
    format: "ssn",
    valid: (random) => {
      const separator = random.pick(["-", " "]);
      return [random.text(3, DIGITS), random.text(2, DIGITS), random.text(4, DIGITS)].join(separator);
    },
    invalid: (random) =>
      random.pick([
        random.text(9, DIGITS),
        `${random.text(3, DIGITS)}-${random.text(6, DIGITS)}`,
        `${random.text(3, DIGITS)}-${random.text(2, DIGITS)}-${random.text(3, DIGITS)}x`,
        `${random.text(3, DIGITS)}_${random.text(2, DIGITS)}_${random.text(4, DIGITS)}`,
        "",
      ]),
  },
  {
    format: "hexcolor",
    valid: (random) => random.pick(["#", ""]) + random.text(random.pick([3, 6]), HEX + "ABCDEF"),
    invalid: (random) =>
      random.pick([`#${random.text(4, HEX)}`, `##${random.text(3, HEX)}`, `#${random.text(5, HEX)}g`, "#", "", "red"]),
  },
  {
    format: "rgbcolor",
    valid: (random) => {
      const space = random.pick(["", " ", "  "]);
      return `rgb(${random.times(3, () => `${space}${random.integer(0, 255)}${space}`).join(",")})`;
    },
    invalid: (random) =>
      random.pick([
        `rgb(${random.integer(256, 999)},0,0)`,
        `rgb(0,${random.integer(0, 255)})`,
        `rgb(0,0,0,${random.integer(0, 9)})`,
        `RGB(0,0,${random.integer(0, 9)})`,
        `rgb (0,0,${random.integer(0, 9)})`,
        `rgb(0,0,0${random.integer(1, 9)})`,
        "",
        `rgba(0,0,${random.integer(0, 9)})`,
      ]),
  },
  {
    format: "byte",
    valid: (random) => btoa(random.text(random.integer(1, 12))),
    invalid: (random) =>
      random.pick([
        random.text(5),
        `${random.text(3)}*`,
        "",
        `${random.text(2)}=`,
        `${random.text(1)}===`,
        `${random.text(2)}-_`,
        `${random.text(4)}\n`,
        `${random.text(2)}==${random.text(4)}`,
      ]),
  },
  { format: "password", valid: (random) => random.text(random.integer(0, 9)) },
  ...TIME_FORMATS,
  {
    format: "k8s-short-name",
    valid: (random) =>
      random.pick([random.text(4, NAME), `${random.text(2)}-${random.text(2, DIGITS)}`, random.text(63), "0"]),
    invalid: (random) =>
      random.pick([
        `-${random.text(3)}`,
        `${random.text(3)}-`,
        random.text(64),
        `${random.text(3)}.${random.text(3)}`,
        random.text(3).toUpperCase(),
        "",
        `${random.text(2)}_a`,
        `${random.text(3)}\n`,
      ]),
  },
  {
    format: "k8s-long-name",
    valid: (random) =>
      random.pick([
        `${random.text(4, NAME)}.${random.text(70)}`,
        random.text(100),
        `${random.text(2)}-${random.text(2)}.x.${random.text(2, DIGITS)}`,
      ]),
    invalid: (random) =>
      random.pick([
        `${random.text(3)}..${random.text(3)}`,
        `.${random.text(3)}`,
        `${random.text(3)}.`,
        random.text(254),
        `${random.text(3)}.-a`,
        `${random.text(3)}.A`,
        "",
        `${random.text(3)}-.a`,
      ]),
  },
];

const STRAY = [..."aZ0-._:/ @%+~#\n\u00e9\u0660", "", "00", "\u{1f600}"];

/** Returns a string with one character inserted or replaced. It may still be valid. */
export function mutated(random: Random, text: string): string {
  const letters = [...text];
  const at = random.integer(0, letters.length);
  const [before, after] = [letters.slice(0, at), letters.slice(at)];
  const removed = after.slice(random.integer(0, 1));
  return [...before, random.pick(STRAY), ...removed].join("");
}

function ipv4(random: Random): string {
  return random.times(4, () => random.integer(0, 255)).join(".");
}
