/**
 * The string formats that an API server validates in a structural schema
 * (`k8s.io/kube-openapi/pkg/validation/strfmt`). It ignores others.
 */
import { ServerUrl } from "../base/server_url.ts";
import { isBase64, isDate, isDateTime, isUuid } from "../base/text_formats.ts";
import { timeSpan } from "../base/time_span.ts";

import { isMailAddress } from "./formats/mail.ts";
import { isCidr, isIpv4, isIpv6, isMac } from "./formats/network.ts";

// Labels of letters, digits and symbols, the last of them only letters, or a single label with at
// most one hyphen.
const HOSTNAME =
  /^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u;
const PART = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["bsonobjectid", (text) => /^[0-9a-fA-F]{24}$/.test(text)],
  ["uri", isRequestUri],
  ["email", isMailAddress],
  ["hostname", isHostname],
  ["ipv4", isIpv4],
  ["ipv6", isIpv6],
  ["cidr", isCidr],
  ["mac", isMac],
  ["uuid", isUuid],
  ["uuid3", uuidTest("3", "[0-9a-f]")],
  ["uuid4", uuidTest("4", "[89ab]")],
  ["uuid5", uuidTest("5", "[89ab]")],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["creditcard", isCreditCard],
  ["ssn", (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ["hexcolor", (text) => /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text)],
  ["rgbcolor", isRgbColor],
  ["byte", isBase64],
  ["password", () => true],
  ["date", isDate],
  ["duration", (text) => timeSpan(text) !== undefined],
  ["datetime", isDateTime],
  ["k8sshortname", (text) => text.length <= 63 && new RegExp(`^${PART}$`).test(text)],
  ["k8slongname", (text) => text.length <= 253 && new RegExp(`^${PART}(\\.${PART})*$`).test(text)],
]);

/**
 * Returns whether a string has a format.
 *
 * @param format A value of the keyword `format`; hyphens are ignored.
 * @param text The string.
 * @returns Also true for unknown formats.
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
 * Returns whether an API server validates a format.
 *
 * @param format A value of the keyword `format`.
 */
export function isKnownFormat(format: string): boolean {
  return FORMATS.has(format.replaceAll("-", ""));
}

const encoder = new TextEncoder();

function isHostname(text: string): boolean {
  // In bytes. Longer strings are rejected before the pattern runs on them.
  if (text.length > 255 || encoder.encode(text).length > 255) return false;
  return HOSTNAME.test(text) && text.split(".").every((label) => encoder.encode(label).length <= 63);
}

/** An absolute URI, or an absolute path. */
function isRequestUri(text: string): boolean {
  try {
    ServerUrl.parseRequest(text);
    return true;
  } catch {
    return false;
  }
}

function uuidTest(version: string, variant: string): (text: string) => boolean {
  const pattern = new RegExp(
    `^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`,
    "i",
  );
  return (text) => pattern.test(text);
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\t\n\f\r -]+/g, "");
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = [...digits].reduce((sum, digit, i) => sum + (10 - i) * (digit === "X" ? 10 : Number(digit)), 0);
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\t\n\f\r -]+/g, "");
  if (!/^\d{13}$/.test(digits)) return false;
  return [...digits].reduce((sum, digit, i) => sum + Number(digit) * (i % 2 === 0 ? 1 : 3), 0) % 10 === 0;
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, "");
  if (
    !/^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/
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
  const blank = "[\\t\\n\\f\\r ]*";
  return new RegExp(`^rgb\\(${[part, part, part].map((each) => blank + each + blank).join(",")}\\)$`).test(text);
}
