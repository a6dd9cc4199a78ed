/**
 * Normal forms of values in API servers: a quantity is stored in canonical form, a Secret's
 * `stringData` as `data`, and empty or zero values may be dropped. Without comparing these forms,
 * an unchanged object would be applied again and again.
 */
import { equal, isObject } from "../base/json.ts";
import { own } from "../base/own.ts";
import { Quantity } from "../base/quantity.ts";
import type { KubeObject } from "../resource/kind.ts";

/**
 * Fields of built-in kinds that are maps of quantities: `resources.limits`, a quota's `hard`, a
 * node's `capacity`.
 */
const QUANTITY_MAPS = new Set([
  ...["limits", "requests", "capacity", "allocatable", "allocatedResources", "hard", "used", "overhead", "podFixed"],
  ...["default", "defaultRequest", "max", "min", "maxLimitRequestRatio"],
]);
/** Fields of built-in kinds that are a quantity. */
const QUANTITY_FIELDS = new Set(["sizeLimit", "divisor", "averageValue", "minValue", "maxValue"]);

/**
 * Groups whose kinds API servers store as Go types, which have normal forms. For all others, such
 * as custom kinds, values are stored as written: `false` differs from an omitted field, and "1.10"
 * under `limits` differs from "1.1".
 */
const BUILTIN_GROUPS = new Set([
  ...["", "apps", "autoscaling", "batch", "policy"],
  ...[
    ...["admissionregistration", "apiextensions", "apiregistration", "authentication", "authorization", "certificates"],
    ...["coordination", "discovery", "events", "flowcontrol.apiserver", "networking", "node", "rbac.authorization"],
    ...["resource", "scheduling", "storage"],
  ].map((name) => `${name}.k8s.io`),
]);

/**
 * Returns whether objects of an API version are stored in normal form.
 *
 * @param apiVersion The group and version.
 */
export function hasNormalForms(apiVersion: string): boolean {
  return BUILTIN_GROUPS.has(apiVersion.includes("/") ? apiVersion.split("/")[0]! : "");
}

/**
 * Fields inside of values that are owned as a whole (tolerations, rules of an Ingress, volume
 * sources) that API servers drop if they are zero, and that are not pointers in any Go type. For
 * others zero has a meaning, such as `tolerationSeconds` and `runAsUser`; those are written again.
 */
export const DROPPED_ZEROS: ReadonlySet<string> = new Set([
  ...[
    "audience",
    "effect",
    "expression",
    "fieldPath",
    "host",
    "hostIP",
    "imagePullPolicy",
    "ip",
    "key",
    "medium",
    "number",
  ],
  ...["operator", "prefix", "resource", "secretName", "subPath", "subPathExpr", "volumeName"],
  // Fields in versions of a CustomResourceDefinition.
  ...["deprecated", "description", "exclusiveMaximum", "exclusiveMinimum", "format", "messageExpression", "nullable"],
  ...["pattern", "title", "uniqueItems", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"],
]);
/** Such fields that are pointers in other types, with their parent field. */
export const DROPPED_ZEROS_IN: ReadonlySet<string> = new Set([
  ...["tolerations.value", "taints.value", "subjects.apiGroup", "subjects.namespace", "port.name", "paths.path"],
]);

/** Location of a value in an object. */
export interface FieldLocation {
  /** The names of the fields that lead to it. */
  readonly path: readonly string[];
  /** Whether API servers store it in a normal form: see {@linkcode hasNormalForms}. */
  readonly isNormal: boolean;
}

/**
 * Returns whether a value in the cluster equals an applied value, apart from its normal form.
 *
 * @param wanted The applied value, which is owned as a whole.
 * @param live The value in the cluster.
 * @param location Location of both values.
 */
export function isSameValue(wanted: unknown, live: unknown, { path, isNormal }: FieldLocation): boolean {
  if (equal(wanted, live)) return true;
  if (live === undefined && isEmpty(wanted)) return true;
  if (!isNormal) return false;
  // The field is recorded as owned but missing, so the API server dropped it. If another client had
  // removed it, the record would be gone too.
  if (live === undefined && isZero(wanted)) return true;
  if (isQuantity(path)) return sameQuantity(wanted, live);
  if (isEqualButDropped(wanted, live, path)) return true;
  return isObject(wanted) && isObject(live) && QUANTITY_MAPS.has(path.at(-1) ?? "") && sameMap(wanted, live, path);
}

function isZero(value: unknown): boolean {
  return value === false || value === 0 || value === "";
}

/**
 * Returns whether two values are equal apart from dropped ones: for built-in kinds, API servers
 * drop empty lists and maps, and often `false`, 0 and "".
 */
function isEqualButDropped(wanted: unknown, live: unknown, path: readonly string[]): boolean {
  if (Array.isArray(wanted) && Array.isArray(live)) {
    return wanted.length === live.length && wanted.every((item, i) => isEqualButDropped(item, live[i], path));
  }
  if (!isObject(wanted) || !isObject(live)) return equal(wanted, live);
  const names = new Set([...Object.keys(wanted), ...Object.keys(live)]);
  return [...names].every((name) => {
    const [value, there] = [own(wanted, name), own(live, name)];
    if (value === undefined) return there === undefined;
    if (there === undefined) return isDropped(value, [...path, name]);
    return isEqualButDropped(value, there, [...path, name]);
  });
}

/**
 * Empty objects are only dropped in `matchLabels`: `emptyDir: {}` and `namespaceSelector: {}` have
 * a meaning.
 */
function isDropped(value: unknown, path: readonly string[]): boolean {
  const [parent = "", name = ""] = path.slice(-2);
  if (isZero(value)) return DROPPED_ZEROS.has(name) || DROPPED_ZEROS_IN.has(`${parent}.${name}`);
  return value === null || (Array.isArray(value) && value.length === 0) || (name === "matchLabels" && isEmpty(value));
}

function sameMap(wanted: Record<string, unknown>, live: Record<string, unknown>, path: readonly string[]): boolean {
  const names = Object.keys(wanted);
  return names.length === Object.keys(live).length &&
    names.every((name) =>
      Object.hasOwn(live, name) && isSameValue(wanted[name], live[name], { path: [...path, name], isNormal: true })
    );
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

/**
 * Returns whether a value is `null`, an empty list or an empty object.
 *
 * @param value The value.
 */
export function isEmpty(value: unknown): boolean {
  return value === null ||
    (Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0);
}

/**
 * Returns an object as it is stored: `stringData` of a Secret is written as `data`, and API servers
 * never return it.
 *
 * @param object The object to apply.
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
