/** The values of `format` that an API server knows in a structural schema (`k8s.io/kube-openapi/pkg/validation/strfmt`). Others are ignored by it. */

const IPV4_PART = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const IPV4 = new RegExp(`^${IPV4_PART}(?:\\.${IPV4_PART}){3}$`);
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|[+-]\d{2}:?\d{2})$/;
const HOSTNAME =
  /^(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]{0,61}[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]{0,61}[a-zA-Z0-9]))*\.?$/;
const GO_DURATION = /^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const SCALA_DURATION =
  /^\s*(?:\d+)\s*(?:d|days?|h|hours?|m|min|mins|minutes?|s|sec|secs|seconds?|ms|millis?|milliseconds?|us|micros?|microseconds?|µs|ns|nanos?|nanoseconds?|w|weeks?)\s*$/;
const PART = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["bsonobjectid", (text) => /^[0-9a-fA-F]{24}$/.test(text)],
  ["uri", isRequestUri],
  ["email", isEmail],
  ["hostname", (text) => text.length <= 255 && HOSTNAME.test(text)],
  ["ipv4", (text) => IPV4.test(text)],
  ["ipv6", isIpv6],
  ["cidr", isCidr],
  ["mac", (text) => /^(?:[0-9a-fA-F]{2}([:-]))(?:[0-9a-fA-F]{2}\1){4}[0-9a-fA-F]{2}$/.test(text)],
  ["uuid", uuid("[0-9a-f]", "[0-9a-f]")],
  ["uuid3", uuid("3", "[0-9a-f]")],
  ["uuid4", uuid("4", "[89ab]")],
  ["uuid5", uuid("5", "[89ab]")],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["creditcard", isCreditCard],
  ["ssn", (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ["hexcolor", (text) => /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text)],
  ["rgbcolor", isRgbColor],
  ["byte", (text) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/.test(text)],
  ["password", () => true],
  ["date", isDate],
  ["duration", (text) => GO_DURATION.test(text) || SCALA_DURATION.test(text)],
  ["datetime", isDateTime],
  ["k8sshortname", (text) => text.length <= 63 && new RegExp(`^${PART}$`).test(text)],
  ["k8slongname", (text) => text.length <= 253 && new RegExp(`^${PART}(\\.${PART})*$`).test(text)],
]);

/**
 * Whether a text has a format.
 *
 * @param format A value of the keyword `format`; hyphens do not count.
 * @param text The text.
 * @returns True also for formats that are not known.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert(hasFormat("ipv4", "10.0.0.1"));
 * assert(!hasFormat("ipv4", "10.0.0.256"));
 * ```
 */
export function hasFormat(format: string, text: string): boolean {
  return FORMATS.get(format.replaceAll("-", ""))?.(text) ?? true;
}

/**
 * Whether an API server checks a format at all.
 *
 * @param format A value of the keyword `format`.
 */
export function isKnownFormat(format: string): boolean {
  return FORMATS.has(format.replaceAll("-", ""));
}

function isDate(text: string): boolean {
  const match = DATE.exec(text);
  if (!match) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function isDateTime(text: string): boolean {
  const match = DATE_TIME.exec(text);
  return match !== null && isDate(match[1] ?? "") && Number(match[2]) < 24 && Number(match[3]) < 60 &&
    Number(match[4]) < 60;
}

function isIpv6(text: string): boolean {
  if (!text.includes(":") || /[^0-9a-fA-F:.]/.test(text)) return false;
  return URL.canParse(`http://[${text}]`);
}

function isCidr(text: string): boolean {
  const slash = text.lastIndexOf("/");
  const bits = text.slice(slash + 1);
  if (slash < 0 || !/^(?:0|[1-9]\d{0,2})$/.test(bits)) return false;
  const address = text.slice(0, slash);
  return IPV4.test(address) ? Number(bits) <= 32 : isIpv6(address) && Number(bits) <= 128;
}

function isRequestUri(text: string): boolean {
  // As Go's url.ParseRequestURI: an absolute URI or an absolute path.
  // deno-lint-ignore no-control-regex
  if (/[\x00-\x20\x7f]/.test(text)) return false;
  if (text.startsWith("/")) return true;
  return /^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(text) && (URL.canParse(text) || !/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\//.test(text));
}

function isEmail(text: string): boolean {
  return /^(?:[^<>]*<[^\s@<>]+@[^\s@<>]+>|[^\s@<>"(),:;[\]\\]+@[^\s@<>"(),:;[\]\\]+)$/.test(text);
}

function uuid(version: string, variant: string): (text: string) => boolean {
  const pattern = new RegExp(
    `^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`,
    "i",
  );
  return (text) => pattern.test(text);
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = [...digits].reduce((sum, digit, i) => sum + (10 - i) * (digit === "X" ? 10 : Number(digit)), 0);
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^\d{13}$/.test(digits)) return false;
  return [...digits].reduce((sum, digit, i) => sum + Number(digit) * (i % 2 === 0 ? 1 : 3), 0) % 10 === 0;
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, "");
  if (
    !/^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|(?:222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11}|6[27]\d{14})$/
      .test(digits)
  ) {
    return false;
  }
  const sum = [...digits].reverse().reduce((sum, digit, i) => {
    const value = Number(digit) * (i % 2 === 0 ? 1 : 2);
    return sum + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

function isRgbColor(text: string): boolean {
  const part = "(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])";
  return new RegExp(`^rgb\\(\\s*${part}\\s*,\\s*${part}\\s*,\\s*${part}\\s*\\)$`).test(text);
}
