/** The kinds that are served: the built-in ones from the start, the custom ones as their definitions come and go. */
import { type BuiltinResource, resources } from "../../openapi/kubernetes.gen.ts";
import type { FieldError } from "../../schema/field_error.ts";
import type { Draft, StoredObject } from "./objects.ts";
import { builtinSchema, type ServerSchema } from "./server_schema.ts";

/** The collection of CustomResourceDefinitions. */
export const DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions";

/** Keeps a definition that is being deleted until its objects are gone. */
export const CLEANUP = "customresourcecleanup.apiextensions.k8s.io";

/** A part of a resource with its own path, such as `status`. */
export interface Subresource {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/** What {@linkcode Rules.decode} made of a body. */
export interface Decoded {
  readonly object: Draft;
  /** Fields that were not known, as the server names them: `spec.size`. */
  readonly unknown: readonly string[];
}

/** What differs from kind to kind on the way of an object into the store and out of it. */
export interface Rules {
  /** Checks the types of a body, drops what is not known, fills in defaults. Throws a StatusError. */
  decode(object: Draft): Decoded;
  /** The same for what an apply made, where that is another thing: what it left of a field may be null. */
  decodeApplied?(object: Draft): Decoded;
  /** What the server's own admission adds to an object that is new, before anybody is asked about it. */
  admitted?(object: StoredObject): StoredObject;
  /** Sets what only the server may set on an object that is new. */
  prepareCreate(object: StoredObject, now: number): StoredObject;
  /** Takes back what a write to this path must not change, and counts the generation. */
  prepareUpdate(object: StoredObject, old: StoredObject, subresource?: string): StoredObject;
  /** What is wrong with an object about to be stored; `old` is absent on create. */
  validate(object: StoredObject, old?: StoredObject, subresource?: string): FieldError[];
  /** What the server warns of in a write. */
  warnings?(object: StoredObject, old?: StoredObject, subresource?: string): string[];
  /** The object as it is kept, where that is in another version than this one. */
  stored?(object: StoredObject): StoredObject;
  /** The rules of another version of the kind. */
  ofVersion?(apiVersion: string): Rules | undefined;
  /** Has an object converted to all versions that are served, where a webhook does that: whoever watches finds it so. */
  convertAll?(stored: StoredObject): void;
  /** Has the webhook asked anew how an object looks in this version, where one converts. Throws a StatusError. */
  refresh?(stored: StoredObject): Promise<void>;
  /** The object as this version shows it. The same object for the same input. */
  read(stored: StoredObject): StoredObject;
  /** Whether a full update needs no resourceVersion. */
  readonly allowsUnconditionalUpdate: boolean;
}

/** A column of a kind's table, as `meta.k8s.io/v1` has it, and where its cells come from. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly cell: (object: StoredObject, now: number) => unknown;
}

/** Where `/scale` finds what it shows. */
export interface DeclaredScale {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** A kind as served in one version. */
export interface ServedKind {
  readonly group: string;
  readonly version: string;
  /** `group/version`, or the version alone for the core group. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly subresources: readonly Subresource[];
  /** Where its objects are kept in the store, whatever version they are written in. */
  readonly collection: string;
  readonly isBuiltin: boolean;
  /** The schema by which fields are owned, merged and explained, `metadata` included. */
  readonly schema: ServerSchema;
  readonly rules: Rules;
  /** Absent where a table shows name and age only. */
  readonly columns?: readonly Column[];
  /** Paths of fields that a field selector may name, besides name and namespace, with how to read them. */
  readonly selectableFields?: ReadonlyMap<string, (object: StoredObject) => string>;
  /** Where a custom kind has what its `/scale` shows. */
  readonly scale?: DeclaredScale;
  /** Where the replicas are in each version of a custom kind, as `managedFields` names their place; undefined where a version has no scale. */
  readonly replicasPaths?: ReadonlyMap<string, readonly string[] | undefined>;
  /** The version in which objects of a custom kind are stored. */
  readonly storageVersion?: string;
  /** The warning that goes with each answer of a version that is on its way out. */
  readonly deprecation?: string;
}

/** All kinds that are served. */
export class Kinds {
  /** By `group/version/plural`. */
  #kinds = new Map<string, ServedKind>();
  /** Group versions in the order in which discovery lists them. */
  #generation = 0;
  #converted: { readonly generation: number; readonly value: boolean } | undefined;

  /** Grows with each change of what is served. */
  get generation(): number {
    return this.#generation;
  }

  /** Whether objects of any kind are converted by a webhook: then a request may have to begin anew. */
  get areConverted(): boolean {
    if (this.#converted?.generation !== this.#generation) {
      const value = this.all.some(({ rules }) => rules.convertAll !== undefined);
      this.#converted = { generation: this.#generation, value };
    }
    return this.#converted.value;
  }

  get all(): readonly ServedKind[] {
    return [...this.#kinds.values()];
  }

  get(group: string, version: string, plural: string): ServedKind | undefined {
    return this.#kinds.get(`${group}/${version}/${plural}`);
  }

  /** The kind of an `apiVersion` and kind, as owner references and bodies name it. */
  named(apiVersion: string, kind: string): ServedKind | undefined {
    return this.all.find((served) => served.apiVersion === apiVersion && served.kind === kind);
  }

  /** Any served version of the kind whose objects a collection holds. */
  ofCollection(collection: string): ServedKind | undefined {
    return this.all.find((served) => served.collection === collection);
  }

  isServed(group: string, version?: string): boolean {
    return this.all.some((kind) => kind.group === group && (version === undefined || kind.version === version));
  }

  set(kind: ServedKind): void {
    this.#generation++;
    this.#kinds.set(`${kind.group}/${kind.version}/${kind.plural}`, kind);
  }

  delete(kind: ServedKind): void {
    this.#generation++;
    this.#kinds.delete(`${kind.group}/${kind.version}/${kind.plural}`);
  }
}

/**
 * Makes the served form of each built-in kind.
 *
 * @param rulesFor The rules of a kind.
 * @param columnsFor The columns of a kind's table.
 */
export function builtinKinds(
  rulesFor: (kind: ServedKind) => Rules,
  columnsFor: (group: string, plural: string) => readonly Column[] | undefined,
): ServedKind[] {
  return resources.map((resource) => {
    let rules: Rules | undefined;
    const columns = columnsFor(resource.group, resource.plural);
    const kind = Object.defineProperties({ ...served(resource), ...(columns && { columns }) } as ServedKind, {
      // A run looks at few of the kinds: the rest are not worked out.
      schema: { get: () => builtinSchema(resource.schema ?? "") },
      rules: { get: () => rules ??= rulesFor(kind) },
    });
    return kind;
  });
}

/** Kinds that are stored together, since they are two forms of one. */
const SHARED_COLLECTIONS: Readonly<Record<string, string>> = { "events.k8s.io/events": "/events" };

function served(resource: BuiltinResource): Omit<ServedKind, "rules" | "schema"> {
  const { group, version, kind, plural, singular, namespaced, verbs } = resource;
  const collection = `${group}/${plural}`;
  return {
    group,
    version,
    apiVersion: group === "" ? version : `${group}/${version}`,
    kind,
    listKind: `${kind}List`,
    plural,
    singular,
    namespaced,
    verbs,
    shortNames: resource.shortNames ?? [],
    categories: resource.categories ?? [],
    subresources: resource.subresources ?? [],
    collection: SHARED_COLLECTIONS[collection] ?? collection,
    isBuiltin: true,
    ...DEPRECATED[collection] !== undefined && { deprecation: DEPRECATED[collection] },
  };
}

/** Kinds that are on their way out (`zz_generated.prerelease-lifecycle.go` of `k8s.io/api`). */
const DEPRECATED: Readonly<Record<string, string>> = {
  "/componentstatuses": "v1 ComponentStatus is deprecated in v1.19+",
  "/endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
};
