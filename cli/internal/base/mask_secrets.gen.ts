// Made by tools/cli_internal.ts from src/base/mask_secrets.ts: do not edit.
import { isObject } from "./json.gen.ts";

const MASK = "***";

const FIELDS = ["data", "stringData"] as const;

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

const SHORTEST_IN_MESSAGE = 4;

export function maskSecrets<T>(value: T): T {
  return maskedTree(value, undefined, "", new Map()) as T;
}

export function maskSecretChange<T, U>(before: T, after: U): [T, U] {
  return [
    maskedTree(before, after, " (before)", new Map()) as T,
    maskedTree(after, before, " (after)", new Map()) as U,
  ];
}

export function maskSecretMessage(message: string, sent?: unknown): string {
  const quoted = message.replace(/(Invalid value: )"(?:[^"\\]|\\.)*("|$)/gs, `$1"${MASK}"`);
  return valuesToMask(sent).sort((a, b) => b.length - a.length).reduce(
    (text, value) => text.replaceAll(value, MASK),
    quoted,
  );
}

export function maskSecret(value: unknown): unknown {
  if (isSecret(value)) return maskedObject(value, undefined, "");
  return isToken(value) ? maskedToken(value) : value;
}

type PlainObject = Record<string, unknown>;

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

function valuesToMask(sent: unknown): string[] {
  const values = Array.isArray(sent)
    ? sent.flatMap((operation) => stringsIn((operation as PlainObject)?.value))
    : isObject(sent)
    ? FIELDS.flatMap((field) => stringsIn(sent[field]))
    : [];
  return values.flatMap((value) => [value, ...[decoded(value), encoded(value)].filter(isLongEnough)]);
}

function isLongEnough(value: string): boolean {
  return value.length >= SHORTEST_IN_MESSAGE;
}

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
