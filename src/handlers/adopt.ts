/**
 * Connects objects to their owner: owner references, names, namespaces and labels. The functions
 * return copies.
 */
import { isObject } from "../base/json.ts";
import { parsePath, type Path, valueAt, withValueAt } from "./path.ts";

/**
 * An object as `adopt` and similar functions return it: an object of a client library is converted
 * by its `toJSON`, and lists may be nested.
 */
export type Plain<T> = T extends readonly unknown[] ? { -readonly [I in keyof T]: Plain<T[I]> }
  : T extends { toJSON(): infer Json } ? Json
  : T;

/** The metadata of an adopted object. */
export interface ChildMetadata {
  readonly name?: string | undefined;
  readonly generateName?: string | undefined;
  readonly namespace?: string | undefined;
  readonly labels?: { readonly [name: string]: string } | undefined;
  readonly ownerReferences: readonly OwnerReferenceEntry[];
}

/**
 * An object as {@linkcode adopt} returns it. With the option `exactName`, it certainly has a name.
 */
export type Adopted<T, O> = T extends readonly unknown[] ? { -readonly [I in keyof T]: Adopted<T[I], O> }
  : Plain<T> & {
    readonly metadata: ChildMetadata & (O extends { readonly exactName: true } ? { readonly name: string } : unknown);
  };

/** An object that owns others: a plain one, or one of a client library. */
export type Owner = OwnerObject | { toJSON(): unknown };

/** The fields of an owner. */
export interface OwnerObject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: {
    readonly name?: string | undefined;
    readonly namespace?: string | undefined;
    readonly uid?: string | undefined;
    readonly labels?: { readonly [name: string]: string } | undefined;
  } | undefined;
}

/** An entry of `metadata.ownerReferences`. */
export interface OwnerReferenceEntry {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller: boolean;
  readonly blockOwnerDeletion: boolean;
}

/** The fields by which other objects, such as Events, refer to an object. */
export interface ObjectReferenceFields {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
}

/** Options of {@linkcode buildOwnerReference}. */
export interface OwnerReferenceOptions {
  /** Whether the owner is the managing controller. An object has at most one. @default {true} */
  readonly controller?: boolean;
  /** Whether foreground deletion of the owner waits for the object. @default {true} */
  readonly blockOwnerDeletion?: boolean;
}

/** Options of {@linkcode label}. */
export interface LabelOptions {
  /**
   * Objects within the object that also get the labels, such as `spec.template`. Missing ones are
   * skipped. If the field is a list, each item gets them.
   */
  readonly nested?: string | readonly string[];
  /** Whether existing values are replaced. @default {false} */
  readonly overwrite?: boolean;
}

/** Options of {@linkcode harmonizeNaming}. */
export interface NamingOptions {
  /**
   * Whether the name is used as it is. Otherwise, it is a prefix (`generateName`). @default {false}
   */
  readonly exactName?: boolean;
  /** Whether an existing name is replaced. @default {false} */
  readonly overwrite?: boolean;
}

/** Options of {@linkcode adopt}. */
export interface AdoptOptions extends OwnerReferenceOptions, LabelOptions, NamingOptions {}

/**
 * Makes objects children of an owner: they get its namespace, its labels, a name that begins with
 * its name, and an owner reference, with which Kubernetes deletes them after the owner. Existing
 * names, namespaces and labels are kept.
 *
 * @param children The objects: plain ones, those of a client library, or lists of them.
 * @param owner The owner, as the cluster returned it.
 * @param options Details, such as `{ nested: "spec.template" }` for the labels of Pods.
 * @returns Copies of the objects.
 * @throws {TypeError} If the owner has no uid, or an object cannot have the owner: it is in another
 *   namespace, or has a managing controller.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const owner = {
 *   apiVersion: "demo.example.com/v1",
 *   kind: "Website",
 *   metadata: { name: "web", namespace: "shop", uid: "0a1b2c3d", labels: { tier: "gold" } },
 * };
 * const page = adopt({ kind: "ConfigMap", data: { a: "b" } }, owner, { exactName: true });
 * assert.deepEqual(page.metadata, {
 *   name: "web",
 *   namespace: "shop",
 *   labels: { tier: "gold" },
 *   ownerReferences: [buildOwnerReference(owner)],
 * });
 * ```
 */
export function adopt<T extends object, const O extends AdoptOptions = AdoptOptions>(
  children: T,
  owner: Owner,
  options?: O,
): Adopted<T, O> {
  const { name = "", namespace, labels = {} } = metadataOf(owner);
  let adopted: object = harmonizeNaming(children, name, options) as object;
  adopted = adjustNamespace(adopted, namespace, options);
  adopted = label(adopted, labels, options);
  return appendOwnerReference(adopted, owner, options) as Adopted<T, O>;
}

/**
 * Adds an owner reference to objects that do not have one with the uid of the owner.
 *
 * @param children The objects.
 * @param owner The owner, as the cluster returned it.
 * @param options Whether the owner is the controller, and whether its deletion waits.
 * @returns Copies of the objects.
 * @throws {TypeError} As for {@linkcode adopt}.
 */
export function appendOwnerReference<T extends object>(
  children: T,
  owner: Owner,
  options: OwnerReferenceOptions = {},
): Plain<T> {
  const reference = buildOwnerReference(owner, options);
  const { namespace } = metadataOf(owner);
  return mapObjects(children, (child) => {
    const references = ownerReferencesOf(child);
    if (references.some(({ uid }) => uid === reference.uid)) return child;
    checkReference(child, reference, namespace);
    return withValueAt(child, ["metadata", "ownerReferences"], [...references, reference]);
  });
}

/**
 * Removes the owner references with the uid of an owner, so that the objects outlive it.
 *
 * @param children The objects.
 * @param owner The owner. Only its uid is read.
 * @returns Copies of the objects.
 */
export function removeOwnerReference<T extends object>(children: T, owner: Owner): Plain<T> {
  const { uid } = metadataOf(owner);
  return mapObjects(children, (child) => {
    const remaining = ownerReferencesOf(child).filter((reference) => reference.uid !== uid);
    return withValueAt(child, ["metadata", "ownerReferences"], remaining.length === 0 ? undefined : remaining);
  });
}

/**
 * Adds labels to objects.
 *
 * @param children The objects.
 * @param labels The labels. Existing ones are kept, except with `overwrite`.
 * @param options Details.
 * @returns Copies of the objects.
 */
export function label<T extends object>(
  children: T,
  labels: { readonly [name: string]: string },
  { nested = [], overwrite = false }: LabelOptions = {},
): Plain<T> {
  const paths = [nested].flat().map((path) => parsePath(/^[.[]/.test(path) ? path : `.${path}`));
  const withLabels = (target: unknown): unknown => {
    if (Array.isArray(target)) return target.map(withLabels);
    const existing = valueAt(target, ["metadata", "labels"]);
    const old = isObject(existing) ? existing : {};
    const merged = overwrite ? { ...old, ...labels } : { ...labels, ...old };
    return Object.keys(merged).length === 0 ? target : withValueAt(target, ["metadata", "labels"], merged);
  };
  return mapObjects(children, (child) => {
    let result = withLabels(child);
    for (const path of paths) {
      const inner = valueAt(result, path);
      if (typeof inner === "object" && inner !== null) result = withValueAt(result, path, withLabels(inner));
    }
    return result;
  });
}

/**
 * Names objects that have neither `name` nor `generateName`. By default, the name is a prefix:
 * `generateName` is `<name>-`, and the API server appends random characters.
 *
 * @param children The objects.
 * @param name The name, usually that of the owner.
 * @param options Details.
 * @returns Copies of the objects.
 * @throws {TypeError} If the name is empty.
 */
export function harmonizeNaming<T extends object>(
  children: T,
  name: string,
  { exactName = false, overwrite = false }: NamingOptions = {},
): Plain<T> {
  if (name === "") throw new TypeError("harmonizeNaming(): the name is empty. Pass the name of an object.");
  return mapObjects(children, (child) => {
    const isNamed = [NAME, GENERATE_NAME].some((path) => (valueAt(child, path) ?? "") !== "");
    if (isNamed && !overwrite) return child;
    const [set, removed] = exactName ? [NAME, GENERATE_NAME] : [GENERATE_NAME, NAME];
    return withValueAt(withValueAt(child, removed, undefined), set, exactName ? name : `${name}-`);
  });
}

/**
 * Sets the namespace of objects that have none.
 *
 * @param children The objects.
 * @param namespace The namespace; `undefined` if the owner is cluster-scoped.
 * @param options Whether an existing namespace is replaced.
 * @returns Copies of the objects.
 */
export function adjustNamespace<T extends object>(
  children: T,
  namespace: string | undefined,
  { overwrite = false }: { readonly overwrite?: boolean } = {},
): Plain<T> {
  return mapObjects(children, (child) => {
    const isPlaced = (valueAt(child, NAMESPACE) ?? "") !== "";
    return isPlaced && !overwrite ? child : withValueAt(child, NAMESPACE, namespace);
  });
}

/**
 * Returns an owner reference.
 *
 * @param owner The owner, as the cluster returned it.
 * @param options Whether the owner is the controller, and whether its deletion waits.
 * @throws {TypeError} If the owner has no API version, kind, name or uid.
 */
export function buildOwnerReference(
  owner: Owner,
  { controller = true, blockOwnerDeletion = true }: OwnerReferenceOptions = {},
): OwnerReferenceEntry {
  const { apiVersion, kind, metadata: { name, uid } = {} } = plainObject(owner) as OwnerObject;
  if (!apiVersion || !kind || !name || !uid) {
    throw new TypeError(
      `Owner reference: the owner needs apiVersion, kind, metadata.name and metadata.uid, got ${
        JSON.stringify({ apiVersion, kind, name, uid })
      }. Pass an object that the cluster returned.`,
    );
  }
  return { apiVersion, kind, name, uid, controller, blockOwnerDeletion };
}

/**
 * Returns a reference to an object, for example for an Event or for `spec.claimRef`. Fields that
 * the object does not have are omitted.
 *
 * @param object The object.
 */
export function buildObjectReference(object: Owner): ObjectReferenceFields {
  const { apiVersion, kind, metadata: { name, namespace, uid } = {} } = plainObject(object) as OwnerObject;
  const fields = { apiVersion, kind, name, namespace, uid };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ""));
}

const NAME: Path = ["metadata", "name"];
const GENERATE_NAME: Path = ["metadata", "generateName"];
const NAMESPACE: Path = ["metadata", "namespace"];

/**
 * Rejects a reference that the API server rejects, or whose object the garbage collector deletes.
 */
function checkReference(child: unknown, reference: OwnerReferenceEntry, ownerNamespace: string | undefined): void {
  const { kind, metadata: { name, generateName = "", namespace } = {} } = child as {
    readonly kind?: string;
    readonly metadata?: ChildMetadata;
  };
  const described = `${kind ?? "the object"} "${name ?? generateName}"`;
  const problem = `Owner reference: ${reference.kind} "${reference.name}" cannot own ${described}`;
  if (ownerNamespace !== undefined && namespace !== undefined && namespace !== ownerNamespace) {
    throw new TypeError(
      `${problem}: it is in namespace "${namespace}", and its owner in "${ownerNamespace}". ` +
        "Delete it in an on.delete handler instead.",
    );
  }
  const other = reference.controller ? ownerReferencesOf(child).find(({ controller }) => controller) : undefined;
  if (other !== undefined) {
    throw new TypeError(
      `${problem}: its controller is ${other.kind} "${other.name}". Pass { controller: false } for another owner.`,
    );
  }
}

function ownerReferencesOf(child: unknown): readonly OwnerReferenceEntry[] {
  const references = valueAt(child, ["metadata", "ownerReferences"]);
  return Array.isArray(references) ? references : [];
}

/** Applies a function to an object, or to each object of a list. */
function mapObjects<T extends object>(children: T, change: (child: object) => unknown): Plain<T> {
  if (Array.isArray(children)) return children.map((child) => mapObjects(child, change)) as Plain<T>;
  return change(plainObject(children)) as Plain<T>;
}

function metadataOf(owner: Owner): NonNullable<OwnerObject["metadata"]> {
  return (plainObject(owner) as OwnerObject).metadata ?? {};
}

function plainObject(object: object): object {
  return "toJSON" in object && typeof object.toJSON === "function" ? object.toJSON() : object;
}
