/**
 * Kubernetes' normal forms, as far as a server changes what is applied: a quantity is stored as it writes it itself, a Secret's `stringData` as `data`,
 * and what is empty or zero may be left out. Without them an object that is as wanted would be applied again and again.
 */
import { equal, isObject } from "../base/json.ts";
import { own } from "../base/own.ts";
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
 * Groups whose kinds the server keeps as Go's types, which have normal forms. Of all others, custom kinds among them, every value is kept as it was
 * written: false is not the same as nothing there, and "1.10" under `limits` is another text than "1.1".
 */
const BUILTIN_GROUPS = new Set([
  ...["", "apps", "autoscaling", "batch", "policy"],
  ...[
    ...["admissionregistration", "apiextensions", "apiregistration", "authentication", "authorization", "certificates"],
    ...["coordination", "discovery", "events", "flowcontrol.apiserver", "networking", "node", "rbac.authorization"],
    ...["resource", "scheduling", "storage"],
  ].map((name) => `${name}.k8s.io`),
]);

/** Whether objects of a group and version are kept in the forms that are told here. */
export function hasNormalForms(apiVersion: string): boolean {
  return BUILTIN_GROUPS.has(apiVersion.includes("/") ? apiVersion.split("/")[0]! : "");
}

/**
 * Fields inside of what is owned as a whole (tolerations, rules of an Ingress, sources of a volume) that the server drops when they are zero, and that
 * are pointers in none of Go's types. Others may mean something by zero, as `tolerationSeconds` and `runAsUser` do: those are written again.
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
  // Of a definition's versions.
  ...["deprecated", "description", "exclusiveMaximum", "exclusiveMinimum", "format", "messageExpression", "nullable"],
  ...["pattern", "title", "uniqueItems", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"],
]);
/** Such fields that are pointers elsewhere, with the field that they stand in. */
export const DROPPED_ZEROS_IN: ReadonlySet<string> = new Set([
  ...["tolerations.value", "taints.value", "subjects.apiGroup", "subjects.namespace", "port.name", "paths.path"],
]);

/** Where a value stands. */
export interface Place {
  /** The names that lead there. */
  readonly path: readonly string[];
  /** Whether the server keeps it in a form of its own: see {@linkcode hasNormalForms}. */
  readonly isNormal: boolean;
}

/**
 * Whether the server holds what was wanted, in the form that it gives it.
 *
 * @param wanted What was applied: ours as a whole, by the server's record.
 * @param live What is there.
 * @param place Where both stand.
 */
export function isSameValue(wanted: unknown, live: unknown, { path, isNormal }: Place): boolean {
  if (equal(wanted, live)) return true;
  if (live === undefined && isEmpty(wanted)) return true;
  if (!isNormal) return false;
  // The record says that it is ours, and it is not there: the server dropped it. Whoever else takes a field away takes it from the record, too.
  if (live === undefined && isZero(wanted)) return true;
  if (isQuantity(path)) return sameQuantity(wanted, live);
  if (isKept(wanted, live, path)) return true;
  return isObject(wanted) && isObject(live) && QUANTITY_MAPS.has(path.at(-1) ?? "") && sameMap(wanted, live, path);
}

function isZero(value: unknown): boolean {
  return value === false || value === 0 || value === "";
}

/** Whether a value is there but for what says nothing: a server of built-in kinds keeps no empty list or map, and often no false, 0 or "". */
function isKept(wanted: unknown, live: unknown, path: readonly string[]): boolean {
  if (Array.isArray(wanted) && Array.isArray(live)) {
    return wanted.length === live.length && wanted.every((item, i) => isKept(item, live[i], path));
  }
  if (!isObject(wanted) || !isObject(live)) return equal(wanted, live);
  const names = new Set([...Object.keys(wanted), ...Object.keys(live)]);
  return [...names].every((name) => {
    const [value, there] = [own(wanted, name), own(live, name)];
    if (value === undefined) return there === undefined;
    if (there === undefined) return isDropped(value, [...path, name]);
    return isKept(value, there, [...path, name]);
  });
}

/** An empty object is no map but where labels are asked for: `emptyDir: {}` and `namespaceSelector: {}` say something. */
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
