/** Checks the options of `operator()`. */
import { crdsOf, externalCrdsOf } from "../manifests/crds.ts";
import { compile, PART_TYPES, type Parts } from "../parts/part_types.ts";
import { UNIT_TYPE_NAMES, type Units } from "../parts/units.ts";
import { webhookPath } from "../parts/webhook_entries.ts";
import { fieldManager, finalizerName } from "../runtime/names.ts";

/** The options that are checked. */
interface Checked {
  readonly name: string;
  readonly parts: Parts;
}

// Valid as a label value and as the prefix of a qualified name.
const NAME = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const KEY = /^[A-Za-z]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** The check of all units of a type. */
const UNIT_CHECKS: { readonly [T in keyof Units]: (units: Units[T], operator: Checked) => void } = {
  controllers: checkStoredNames,
  webhooks: checkPaths,
  conversions: checkVersions,
};

/**
 * Checks the name and the parts of an operator.
 *
 * @param options The options of `operator()`. Programs that are not type-checked can pass any
 * value.
 * @throws {TypeError} If a name or the parts are missing or invalid, one part has two keys, two
 *   parts would store the same name in a cluster, two different kinds have one name, or conversions
 *   do not connect all versions of a kind.
 */
export function checkOperator(options: Checked): void {
  checkTypes(options);
  const { name, parts } = options;
  checkNames(options);
  rejectShared(
    name,
    Object.entries(parts).map(([key, part]) => [part, key]),
    (one, other) => `one part has the keys "${one}" and "${other}". Remove one, or create a second part.`,
  );
  // Both calls throw if two different kinds have the same name.
  crdsOf(Object.values(parts));
  externalCrdsOf(Object.values(parts));
  const units = compile(parts);
  for (const type of UNIT_TYPE_NAMES) checkUnits(type, units, options);
}

function checkUnits<T extends keyof Units>(type: T, units: Units, operator: Checked): void {
  UNIT_CHECKS[type](units[type], operator);
}

function checkTypes(options: unknown): void {
  const { name, parts } = Object(options) as Record<string, unknown>;
  const example = 'Write operator({ name: "shop", parts: { websites } }).';
  if (typeof name !== "string") {
    throw new TypeError(`operator(): "name" is required and must be a string, got ${describe(name)}. ${example}`);
  }
  if (Object.prototype.toString.call(parts) !== "[object Object]") {
    throw new TypeError(
      `Operator "${name}": "parts" is required and must be an object with a key for each part, got ${
        describe(parts)
      }. ${example}`,
    );
  }
  for (const [key, part] of Object.entries(parts as object)) {
    if (Object.hasOwn(PART_TYPES, Object(part).part)) continue;
    throw new TypeError(
      `Operator "${name}": part "${key}" must be the result of controller(), webhook(), conversion() or a function of "on" such as on.create(), got ${
        describe(part)
      }.`,
    );
  }
}

/** Describes a value in one or two words. */
function describe(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return `"${value}"`;
  return typeof value === "function" ? "a function" : String(Object(value) === value ? "an object" : value);
}

function checkNames({ name, parts }: Checked): void {
  if (!NAME.test(name)) {
    throw new TypeError(
      `Operator "${name}": the name is not a DNS label. Use at most 63 lowercase letters, digits and dashes, starting with a letter.`,
    );
  }
  for (const key of Object.keys(parts)) {
    if (!KEY.test(key)) {
      throw new TypeError(
        `Operator "${name}": the key "${key}" of a part is invalid. Use letters, digits, "-", "_" and ".", starting with a letter and ending with a letter or digit.`,
      );
    }
  }
}

/** Rejects controllers that would store the same name in a cluster. */
function checkStoredNames(controllers: Units["controllers"], { name }: Checked): void {
  rejectShared(
    name,
    [...controllers.keys()].map((key) => [fieldManager(name, key), key]),
    (one, other, manager) =>
      `parts "${one}" and "${other}" would both have the field manager "${manager}". Rename one.`,
  );
  const finalizing = [...controllers].filter(([, { cleanup }]) => cleanup !== undefined);
  for (const ofKind of Map.groupBy(finalizing, ([, { kind }]) => `${kind.group}/${kind.kind}`).values()) {
    rejectShared(
      name,
      ofKind.map(([key, controller]) => [finalizerName(name, key, controller), key]),
      (one, other, finalizer) =>
        `parts "${one}" and "${other}" would both add the finalizer "${finalizer}" to ${
          ofKind[0]![1].kind.kind
        }. Rename one, or set its option "finalizer".`,
    );
  }
}

/** Rejects webhooks that would be served at the same path. */
function checkPaths(webhooks: Units["webhooks"], { name }: Checked): void {
  rejectShared(
    name,
    [...webhooks.keys()].map((key) => [webhookPath("validate", key), key]),
    (one, other, path) => `webhooks "${one}" and "${other}" would both be served at "${path}". Rename one.`,
  );
}

/**
 * Rejects a kind if conversions connect only some of its versions. As soon as the API server calls
 * a conversion webhook for the kind, it cannot read or write objects in the other versions.
 */
function checkVersions(conversions: Units["conversions"], { parts }: Checked): void {
  for (const { metadata, spec } of crdsOf(Object.values(parts))) {
    const pairs = [...conversions.values()].filter(({ kind }) => `${kind.plural}.${kind.group}` === metadata.name)
      .map(({ kind, into }) => [kind.version, into.version] as const);
    if (pairs.length === 0) continue;
    const reached = new Set<string>(pairs[0]);
    for (let before = 0; before < reached.size;) {
      before = reached.size;
      for (const pair of pairs) {
        if (pair.some((version) => reached.has(version))) pair.forEach((one) => reached.add(one));
      }
    }
    const unreached = spec.versions.map(({ name }) => name).filter((name) => !reached.has(name));
    if (unreached.length === 0) continue;
    const list = (versions: Iterable<string>) => [...versions].map((version) => `"${version}"`).join(", ");
    throw new TypeError(
      `operator(): no conversion connects version ${list(unreached)} of ${spec.names.kind} (${metadata.name}) to ${
        list(reached)
      }. Add a conversion between them, or remove the version from "versions".`,
    );
  }
}

/**
 * Throws if two keys have the same value.
 *
 * @param operator The operator's name.
 * @param values The values, each with the key that has it.
 * @param describeConflict Returns the message for the two keys and the value.
 */
function rejectShared<T>(
  operator: string,
  values: readonly (readonly [value: T, key: string])[],
  describeConflict: (one: string, other: string, value: T) => string,
): void {
  const owners = new Map<T, string>();
  for (const [value, key] of values) {
    const owner = owners.get(value);
    if (owner !== undefined) throw new TypeError(`Operator "${operator}": ${describeConflict(owner, key, value)}`);
    owners.set(value, key);
  }
}
