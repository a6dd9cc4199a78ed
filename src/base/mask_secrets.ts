/**
 * Hides the values of Secrets (core/v1) and the tokens of TokenRequests and TokenReviews before an
 * object is printed, logged or quoted in an error. The keys stay readable, as in `kubectl diff`.
 */
import { isObject } from "./json.ts";

/** The string that replaces each value. */
const MASK = "***";

/** The fields of a Secret that hold values. */
const FIELDS = ["data", "stringData"] as const;

/** The annotation in which `kubectl apply` stores the whole object, values included. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Shorter values are not masked in messages, because they also occur in ordinary words. */
const SHORTEST_IN_MESSAGE = 4;

/**
 * Returns a copy of a value with all values of Secrets replaced by `***`, at any depth. Annotations
 * that contain a Secret as JSON, such as `last-applied-configuration`, and tokens of TokenRequests
 * are masked, too. A value without Secrets is returned unchanged.
 *
 * @param value An object, a list of objects, or any value that contains some.
 * @returns The value to show.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const secret = {
 *   apiVersion: "v1",
 *   kind: "Secret",
 *   metadata: { name: "db" },
 *   data: { password: "aHVudGVyMg==" },
 * };
 * assert.deepEqual(maskSecrets(secret).data, { password: "***" });
 * ```
 */
export function maskSecrets<T>(value: T): T {
  return maskedTree(value, undefined, "", new Map()) as T;
}

/**
 * Returns copies of an object before and after a change with the values of Secrets masked: as
 * `*** (before)` and `*** (after)` if the change replaces a value, and as `***` otherwise.
 *
 * @param before The object before the change; `undefined` if the change creates it.
 * @param after The object after the change; `undefined` if the change deletes it.
 * @returns Both objects to show.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const secret = (data: Record<string, string>) => ({ apiVersion: "v1", kind: "Secret", data });
 * const [before, after] = maskSecretChange(
 *   secret({ user: "YQ==", password: "b2xk" }),
 *   secret({ user: "YQ==", password: "bmV3" }),
 * );
 * assert.deepEqual(before.data, { user: "***", password: "*** (before)" });
 * assert.deepEqual(after.data, { user: "***", password: "*** (after)" });
 * ```
 */
export function maskSecretChange<T, U>(before: T, after: U): [T, U] {
  return [
    maskedTree(before, after, " (before)", new Map()) as T,
    maskedTree(after, before, " (after)", new Map()) as U,
  ];
}

/**
 * Returns an API server's message about a write of a Secret without the values. A server that
 * cannot decode a patched Secret quotes the whole object, including values that the caller never
 * sent.
 *
 * @param message The message.
 * @param sent The body of the request. Its values are masked wherever the message contains them.
 * @returns The message to show.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const message =
 *   'patch: Invalid value: "{\\"data\\":{\\"password\\":\\"hunter2\\"}}": illegal base64 data';
 * assert.equal(maskSecretMessage(message), 'patch: Invalid value: "***": illegal base64 data');
 * ```
 */
export function maskSecretMessage(message: string, sent?: unknown): string {
  // Go's %q: a quoted string with escapes. A truncated message has no closing quote.
  const quoted = message.replace(/(Invalid value: )"(?:[^"\\]|\\.)*("|$)/gs, `$1"${MASK}"`);
  return valuesToMask(sent).sort((a, b) => b.length - a.length).reduce(
    (text, value) => text.replaceAll(value, MASK),
    quoted,
  );
}

/**
 * Masks one object if it is a Secret, and returns any other value unchanged. Use it as a
 * `JSON.stringify` replacer, which visits nested values itself.
 *
 * @param value Any value.
 * @returns The value to show.
 */
export function maskSecret(value: unknown): unknown {
  if (isSecret(value)) return maskedObject(value, undefined, "");
  return isToken(value) ? maskedToken(value) : value;
}

type PlainObject = Record<string, unknown>;

/**
 * Returns a copy of a value that contains Secrets, with their values masked. `seen` has the copies
 * of visited values, so that cycles end.
 */
function maskedTree(value: unknown, other: unknown, difference: string, seen: Map<unknown, unknown>): unknown {
  if (!isPlain(value)) return value;
  if (seen.has(value)) return seen.get(value);
  if (isSecret(value) || isToken(value)) {
    const masked = isSecret(value)
      ? maskedObject(value, isSecret(other) ? other : undefined, difference)
      : maskedToken(value);
    seen.set(value, masked);
    return masked;
  }
  const source = withItemKinds(value);
  const copy: unknown[] | PlainObject = Array.isArray(source) ? [] : {};
  seen.set(value, copy);
  let isChanged = source !== value;
  for (const [key, each] of Object.entries(source)) {
    const otherValue = isPlain(other) ? other[key] : undefined;
    const masked = key === "annotations"
      ? maskedAnnotations(each, otherValue, difference)
      : maskedTree(each, otherValue, difference, seen);
    isChanged ||= masked !== each;
    (copy as PlainObject)[key] = masked;
  }
  if (isChanged) return copy;
  seen.set(value, value);
  return value;
}

function maskedObject(secret: PlainObject, other: PlainObject | undefined, difference: string): PlainObject {
  const masked = { ...secret };
  for (const field of FIELDS) {
    if (secret[field] !== undefined) masked[field] = maskedValues(secret[field], other?.[field], difference);
  }
  const annotations = annotationsOf(secret);
  if (annotations !== undefined) {
    const others = other === undefined ? undefined : annotationsOf(other);
    const shown = Object.entries(annotations).map(([name, text]) => [
      name,
      maskedAnnotation(name, text, others?.[name], difference),
    ]);
    masked.metadata = { ...secret.metadata as PlainObject, annotations: Object.fromEntries(shown) };
  }
  return masked;
}

/** `null` is retained: in a patch it removes a key. */
function maskedValues(values: unknown, others: unknown, difference: string): unknown {
  if (values === null) return null;
  if (!isObject(values)) return MASK;
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      if (value === null) return [key, null];
      const otherValue = isObject(others) ? others[key] : undefined;
      return [key, otherValue === undefined || otherValue === value ? MASK : `${MASK}${difference}`];
    }),
  );
}

/**
 * Metadata of a Secret does not name its kind if it was requested alone, as
 * `PartialObjectMetadata`.
 */
function maskedAnnotations(annotations: unknown, others: unknown, difference: string): unknown {
  if (!isObject(annotations)) return annotations;
  const shown = Object.entries(annotations).map(([name, text]) => {
    const isMasked = typeof text === "string" && text.includes('"Secret"') && isSecret(parseObject(text));
    const other = isObject(others) ? others[name] : undefined;
    return [name, isMasked ? maskedAnnotation(name, text, other, difference) : text] as const;
  });
  const isChanged = shown.some(([name, text]) => text !== annotations[name]);
  return isChanged ? Object.fromEntries(shown) : annotations;
}

/** An annotation that stores a Secret as JSON contains its values. */
function maskedAnnotation(name: string, text: unknown, other: unknown, difference: string): unknown {
  const object = parseObject(text);
  if (object === undefined) return name === LAST_APPLIED ? MASK : text;
  const before = { ...object, apiVersion: "v1", kind: "Secret" };
  const masked = maskedObject(before, parseObject(other), difference);
  return FIELDS.some((field) => field in object) || annotationsOf(object) !== undefined
    ? JSON.stringify({ ...object, ...masked, apiVersion: object.apiVersion, kind: object.kind })
    : text;
}

function parseObject(text: unknown): PlainObject | undefined {
  if (typeof text !== "string" || !text.trimStart().startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the strings below `data` and `stringData`, or those of a JSON patch's operations. */
function valuesToMask(sent: unknown): string[] {
  const values = Array.isArray(sent)
    ? sent.flatMap((operation) => stringsIn((operation as PlainObject)?.value))
    : isObject(sent)
    ? FIELDS.flatMap((field) => stringsIn(sent[field]))
    : [];
  // An admission webhook may quote a value decoded, or encoded as base64.
  return values.flatMap((value) => [value, ...[decoded(value), encoded(value)].filter(isLongEnough)]);
}

function isLongEnough(value: string): boolean {
  return value.length >= SHORTEST_IN_MESSAGE;
}

/** Returns the string that a value encodes as base64; empty if the value is not base64. */
function decoded(value: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(value), (character) => character.charCodeAt(0)));
  } catch {
    return "";
  }
}

function encoded(value: string): string {
  return btoa(Array.from(new TextEncoder().encode(value), (byte) => String.fromCharCode(byte)).join(""));
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string" || typeof value === "number") {
    return isLongEnough(String(value)) ? [String(value)] : [];
  }
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

function isSecret(value: unknown): value is PlainObject & { readonly kind: "Secret" } {
  return isPlain(value) && value.kind === "Secret" && value.apiVersion === "v1";
}

/** A TokenRequest has a token in its status, a TokenReview in its spec. */
function isToken(value: unknown): value is PlainObject {
  return isPlain(value) && (value.kind === "TokenRequest" || value.kind === "TokenReview") &&
    String(value.apiVersion).startsWith("authentication.k8s.io/");
}

function maskedToken(review: PlainObject): PlainObject {
  const fields = (["spec", "status"] as const).flatMap((field) => {
    const value = review[field];
    return isObject(value) && value.token !== undefined ? [[field, { ...value, token: MASK }]] : [];
  });
  return { ...review, ...Object.fromEntries(fields) };
}

function isPlain(value: unknown): value is PlainObject {
  return typeof value === "object" && value !== null &&
    (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype ||
      Object.getPrototypeOf(value) === null);
}

/** Adds the kind to the items of a SecretList, because the items of a typed list omit it. */
function withItemKinds(list: PlainObject): PlainObject {
  if (list.kind !== "SecretList" || list.apiVersion !== "v1") return list;
  const items = Array.isArray(list.items) ? list.items : [];
  return {
    ...list,
    items: items.map((item) => isObject(item) ? { apiVersion: "v1", kind: "Secret", ...item } : item),
  };
}

function annotationsOf(object: PlainObject): PlainObject | undefined {
  const metadata = object.metadata;
  return isObject(metadata) && isObject(metadata.annotations) ? metadata.annotations : undefined;
}
