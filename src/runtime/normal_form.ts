/**
 * Kubernetes' normal forms, as far as a server changes what is applied: a quantity is stored as it writes it itself, a Secret's `stringData` as `data`,
 * and what is empty or zero may be left out. Without them an object that is as wanted would be applied again and again.
 */
import { equal, isObject } from "../base/json.ts";
import { Quantity } from "../base/quantity.ts";
import type { KubeObject } from "../resource/kind.ts";

/** Objects of Kubernetes' own kinds whose values are quantities: `resources.limits`, a quota's `hard`, a node's `capacity`. */
const QUANTITY_MAPS = new Set([
  ...["limits", "requests", "capacity", "allocatable", "allocatedResources", "hard", "used", "overhead", "podFixed"],
  ...["default", "defaultRequest", "max", "min", "maxLimitRequestRatio"],
]);
/** Fields of theirs that are one quantity. */
const QUANTITY_FIELDS = new Set(["sizeLimit", "divisor", "averageValue", "minValue", "maxValue"]);

/**
 * Whether the server holds what was wanted, in the form that it gives it.
 *
 * @param wanted What was applied.
 * @param live What is there.
 * @param path The names that lead there.
 */
export function isSameValue(wanted: unknown, live: unknown, path: readonly string[]): boolean {
  if (isKept(wanted, live)) return true;
  if (!isQuantity(path)) {
    return isObject(wanted) && isObject(live) && QUANTITY_MAPS.has(path.at(-1) ?? "") && sameMap(wanted, live, path);
  }
  return sameQuantity(wanted, live);
}

/** Whether a value is there but for what says nothing: of built-in kinds a server keeps no empty list or map, and often no false, 0 or "". */
function isKept(wanted: unknown, live: unknown): boolean {
  if (live === undefined) return isEmpty(wanted) || wanted === false || wanted === 0 || wanted === "";
  if (Array.isArray(wanted) && Array.isArray(live)) {
    return wanted.length === live.length && wanted.every((item, i) => isKept(item, live[i]));
  }
  if (!isObject(wanted) || !isObject(live)) return equal(wanted, live);
  const names = new Set([...Object.keys(wanted), ...Object.keys(live)]);
  return [...names].every((name) => wanted[name] !== undefined && isKept(wanted[name], live[name]));
}

function sameMap(wanted: Record<string, unknown>, live: Record<string, unknown>, path: readonly string[]): boolean {
  const names = Object.keys(wanted);
  return names.length === Object.keys(live).length &&
    names.every((name) => Object.hasOwn(live, name) && isSameValue(wanted[name], live[name], [...path, name]));
}

function isQuantity(path: readonly string[]): boolean {
  return QUANTITY_MAPS.has(path.at(-2) ?? "") || QUANTITY_FIELDS.has(path.at(-1) ?? "");
}

function sameQuantity(wanted: unknown, live: unknown): boolean {
  if (typeof live !== "string" || (typeof wanted !== "string" && typeof wanted !== "number")) return false;
  try {
    return Quantity.parse(String(wanted)).compare(Quantity.parse(live)) === 0;
  } catch {
    return false;
  }
}

/** Whether a value says nothing: null, or a list or an object with nothing in it. */
export function isEmpty(value: unknown): boolean {
  return value === null ||
    (Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0);
}

/**
 * What is sent, in the form in which it is stored: a Secret's `stringData` is a way to write its `data`, which the server never answers.
 *
 * @param object What is wanted.
 */
export function stored<Wanted extends Partial<KubeObject>>(object: Wanted): Wanted {
  if (object.kind !== "Secret" || object.apiVersion !== "v1") return object;
  const { stringData, ...rest } = object as Wanted & {
    readonly stringData?: Record<string, string>;
    readonly data?: object;
  };
  if (stringData === undefined) return object;
  const encoded = Object.entries(stringData).map(([name, text]) => [name, base64(text)]);
  return { ...rest, data: { ...rest.data, ...Object.fromEntries(encoded) } } as unknown as Wanted;
}

function base64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""));
}
