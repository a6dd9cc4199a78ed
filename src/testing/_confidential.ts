/** Masks the data of Secrets in text that a test prints. */
import { isObject } from "../base/json.ts";
import type { RequestRecord } from "./request_log.ts";

// Shorter values occur in any text by chance, so masking them would hide the text and protect nothing.
const SHORTEST = 4;

/**
 * Replaces each value of a Secret that was written to the cluster by `***`.
 *
 * @param text The text.
 * @param records The requests to the cluster: what they wrote is masked, both in base64 and decoded.
 */
export function withoutSecrets(text: string, records: readonly RequestRecord[]): string {
  const values = new Set<string>();
  for (const { group, resource, body } of records) {
    if (group === "" && resource === "secrets") collect(body, values);
  }
  // A value may be a part of another.
  const longest = [...values].filter(({ length }) => length >= SHORTEST).sort((a, b) => b.length - a.length);
  return longest.reduce((masked, value) => masked.replaceAll(value, "***"), text);
}

function collect(body: unknown, values: Set<string>): void {
  if (Array.isArray(body)) {
    // A JSON patch.
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
  // Values of several lines are quoted with escapes in messages.
  values.add(JSON.stringify(value).slice(1, -1));
  const text = decoded(value);
  if (text === undefined) return;
  values.add(text);
  values.add(JSON.stringify(text).slice(1, -1));
}

function decoded(base64: string): string | undefined {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)));
  } catch {
    return undefined; // text of `stringData`
  }
}
