/** Numbers with a check digit. */
import type { Random } from "../fixtures/random.ts";

const DIGITS = "0123456789";

/** Returns an ISBN-10. */
export function isbn10(random: Random): string {
  const digits = random.times(9, () => random.integer(0, 9));
  const sum = digits.reduce((sum, digit, i) => sum + (i + 1) * digit, 0) % 11;
  return spread(random, digits.join("") + (sum === 10 ? "X" : sum));
}

/** Returns an ISBN-13. */
export function isbn13(random: Random): string {
  const digits = random.times(12, () => random.integer(0, 9));
  const sum = digits.reduce((sum, digit, i) => sum + digit * (i % 2 === 0 ? 1 : 3), 0);
  return spread(random, digits.join("") + (10 - sum % 10) % 10);
}

/** Returns a credit card number. */
export function creditCard(random: Random): string {
  const digits = random.pick(["4", "51", "55", "6011", "34", "37", "300", "36", "2131", "35"]);
  const length = { "4": 16, "3": /^3[47]/.test(digits) ? 15 : /^35/.test(digits) ? 16 : 14, "2": 15 }[digits[0]!] ?? 16;
  const body = digits + random.text(length - digits.length - 1, DIGITS);
  const sum = [...body].reverse().reduce((sum, digit, i) => {
    const value = Number(digit) * (i % 2 === 0 ? 2 : 1);
    return sum + (value > 9 ? value - 9 : value);
  }, 0);
  return spread(random, body + (10 - sum % 10) % 10);
}

/** Returns digits, sometimes with a hyphen or space between them. */
function spread(random: Random, digits: string): string {
  if (random.chance(0.5)) return digits;
  const at = random.integer(1, digits.length - 1);
  return digits.slice(0, at) + random.pick(["-", " "]) + digits.slice(at);
}

/** Returns the number with another last digit, which makes the checksum invalid. */
export function offByOne(random: Random, text: string): string {
  const last = text.at(-1);
  const other = last === "X" ? 1 : (Number(last) + random.integer(1, 8)) % 10;
  return random.pick([text.slice(0, -1) + other, text.slice(0, -1), `${text}1`, "", "text"]);
}
