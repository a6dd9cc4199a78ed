/** Strings of the formats for dates, times and durations. */
import type { FormatText } from "./_formats.ts";
import type { Random } from "../fixtures/random.ts";

/** The formats. */
export const TIME_FORMATS: readonly FormatText[] = [
  {
    format: "date",
    valid: date,
    invalid: (random) =>
      random.pick([
        `${random.integer(1900, 2100)}-13-01`,
        `${random.integer(1900, 2100)}-02-30`,
        `2023-02-29`,
        `2026-1-${random.integer(10, 28)}`,
        `${random.integer(100, 999)}-01-01`,
        `2026-04-31`,
        `${date(random)}T00:00:00Z`,
        ` ${date(random)}`,
        "",
        `2026/01/${random.integer(10, 28)}`,
        `2026-00-${random.integer(10, 28)}`,
        `1900-02-29`,
      ]),
  },
  {
    format: "duration",
    valid: (random) => {
      const n = () => random.integer(0, 99);
      return random.pick([
        `${n()}h${n()}m${n()}s`,
        `${n()}.5h`,
        `-${n()}ms`,
        `.5s`,
        `1.s`,
        "0",
        "+0",
        `${n()} days`,
        `${n()} weeks`,
        `${n()}wk`,
        `${n()} hours ${n()} minutes`,
        `${n()}µs`,
        `${n()}μs`,
        `${n()} Secs and more`,
        `about ${n()} min`,
        `${n()} HR`,
        `${n()}ns`,
      ]);
    },
    invalid: (random) =>
      random.pick([
        `${random.integer(1, 99)}`,
        random.text(4),
        `${random.integer(1, 99)}y`,
        "",
        "-",
        `${random.integer(1, 99)} x`,
        "s",
        ".",
        `99999999999999999999${random.pick(["h", "d"])}`,
        `1,5${random.pick(["x", "q"])}`,
        "+",
        ".s",
      ]),
  },
  {
    format: "date-time",
    valid: (random) => {
      const two = (high: number) => String(random.integer(0, high)).padStart(2, "0");
      const fraction = random.pick(["", `.${random.integer(0, 999)}`, `.${random.text(9, "0123456789")}`]);
      const zone = random.pick(["Z", "z", `+${two(14)}:${two(59)}`, `-${two(99)}:${two(99)}`]);
      return `${date(random)}${random.pick(["T", "t"])}${two(23)}:${two(59)}:${two(59)}${fraction}${zone}`;
    },
    invalid: (random) =>
      random.pick([
        date(random),
        `${date(random)}T00:00:00`,
        `${date(random)} 00:00:00Z`,
        `${date(random)}T24:00:00Z`,
        `${date(random)}T00:60:00Z`,
        `${date(random)}T00:00:60Z`,
        `${date(random)}T0:00:00Z`,
        `2026-02-30T00:00:00Z`,
        `${date(random)}T00:00:00+0100`,
        `${date(random)}T00:00Z`,
        "",
        `${date(random)}T00:00:00.Z`,
        "yesterday",
      ]),
  },
];

function date(random: Random): string {
  const [year, month, day] = [random.integer(1000, 9999), random.integer(1, 12), random.integer(1, 28)];
  return `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
}
