/** Masks the data of Secrets in text that a test prints. */
import { isObject } from "../base/json.ts";
import type { RequestRecord } from "./request_log.ts";

// Shorter values occur in any text by chance. Masking them would make the text unreadable without
// protecting a secret.
const MIN_LENGTH = 4;

/**
 * Replaces each value of a Secret that was written to the cluster with `***`, both in base64 and
 * decoded.
 *
 * @param text The text.
 * @param records The requests to the cluster.
 */
export function withoutSecrets(text: string, records: readonly RequestRecord[]): string {
  const values = new Set<string>();
  for (const { group, resource, body } of records) {
    if (group === "" && resource === "secrets") collect(body, values);
  }
  // A value may contain another value.
  const longest = [...values].filter(({ length }) => length >= MIN_LENGTH).sort((a, b) => b.length - a.length);
  return longest.reduce((masked, value) => masked.replaceAll(value, "***"), text);
}

function collect(body: unknown, values: Set<string>): void {
  if (Array.isArray(body)) {
    // The body is a JSON patch.
    for (const { path, value } of body) if (/^\/(data|stringData)(\/|$)/.test(String(path))) addAll(value, values);
  }
  if (!isObject(body)) return;
  addAll(body.data, values);
  addAll(body.stringData, values);
}

function addAll(value: unknown, values: Set<string>): void {
  if (isObject(value)) return Object.values(value).forEach((each) => addAll(each, values));
  if (typeof value !== "string") return;
  values.add(value);
  // Messages quote values of several lines with escapes.
  values.add(JSON.stringify(value).slice(1, -1));
  const text = decodeBase64(value);
  if (text === undefined) return;
  values.add(text);
  values.add(JSON.stringify(text).slice(1, -1));
}

function decodeBase64(base64: string): string | undefined {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)));
  } catch {
    return undefined; // A value of `stringData` is not base64.
  }
}
