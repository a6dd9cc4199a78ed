/**
 * The served kinds: built-in kinds from the start, and custom kinds while their definitions exist.
 */
import { type BuiltinResource, resources } from "../../openapi/kubernetes.gen.ts";
import type { FieldError } from "../../schema/field_error.ts";
import type { Draft, StoredObject } from "./objects.ts";
import { builtinSchema, type ServerSchema } from "./server_schema.ts";

/** The collection of CustomResourceDefinitions. */
export const DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions";

/** Finalizer of a definition that is being deleted and still has objects. */
export const CLEANUP = "customresourcecleanup.apiextensions.k8s.io";

/** A subresource, such as `status`. */
export interface Subresource {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/** Result of {@linkcode Rules.decode}. */
export interface Decoded {
  readonly object: Draft;
  /** Paths of unknown fields, such as `spec.size`. */
  readonly unknown: readonly string[];
}

/** The behavior of a kind when its objects are written and read. */
export interface Rules {
  /** Checks the types of a body, drops unknown fields, and sets defaults. Throws a StatusError. */
  decode(object: Draft): Decoded;
  /**
   * Like `decode`, but for the result of a server-side apply, in which fields may be null. If
   * absent, `decode` is used.
   */
  decodeApplied?(object: Draft): Decoded;
  /**
   * Adds what the server's own admission plugins set on a new object, before webhooks are called.
   */
  admitted?(object: StoredObject): StoredObject;
  /** Sets the fields of a new object that only the server sets. */
  prepareCreate(object: StoredObject, now: number): StoredObject;
  /**
   * Reverts changes that a write to this path must not make, and increments the generation if the
   * spec changes.
   */
  prepareUpdate(object: StoredObject, old: StoredObject, subresource?: string): StoredObject;
  /** Returns the errors of an object before it is stored; `old` is absent on create. */
  validate(object: StoredObject, old?: StoredObject, subresource?: string): FieldError[];
  /** Returns the warnings of a write. */
  warnings?(object: StoredObject, old?: StoredObject, subresource?: string): string[];
  /**
   * Converts an object to the version in which it is stored; absent if all versions are stored as
   * they are.
   */
  stored?(object: StoredObject): StoredObject;
  /** Returns the rules of another version of the kind. */
  ofVersion?(apiVersion: string): Rules | undefined;
  /**
   * Converts an object to all served versions, so that watches find the results. Only present if a
   * webhook converts.
   */
  convertAll?(stored: StoredObject): void;
  /**
   * Calls the conversion webhook again for an object in this version. Only present if a webhook
   * converts. Throws a StatusError if the webhook fails.
   */
  refresh?(stored: StoredObject): Promise<void>;
  /** Returns an object in this version. Returns the same object for the same input. */
  read(stored: StoredObject): StoredObject;
  /** Whether a full update may omit the resourceVersion. */
  readonly allowsUnconditionalUpdate: boolean;
}

/** A column of a kind's table as in `meta.k8s.io/v1`, and the function that returns its cells. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly cell: (object: StoredObject, now: number) => unknown;
}

/** JSON paths of the `scale` subresource of a custom kind. */
export interface DeclaredScale {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** A kind in one served version. */
export interface ServedKind {
  readonly group: string;
  readonly version: string;
  /** `group/version`, or only the version for the core group. */
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
  /** Collection in the store that contains the objects. It is the same for all versions. */
  readonly collection: string;
  readonly isBuiltin: boolean;
  /** Whether a deletion returns the deleted object; otherwise, it returns a Status. */
  readonly returnsDeleted?: boolean;
  /** Schema for field ownership, merging and OpenAPI, including `metadata`. */
  readonly schema: ServerSchema;
  readonly rules: Rules;
  /** Columns of the table; by default, name and age. */
  readonly columns?: readonly Column[];
  /**
   * Functions that read the fields that field selectors may use, by path. Name and namespace are
   * not included.
   */
  readonly selectableFields?: ReadonlyMap<string, (object: StoredObject) => string>;
  /** JSON paths of the `scale` subresource of a custom kind. */
  readonly scale?: DeclaredScale;
  /**
   * Path of the replicas in each version of a custom kind, in the form of `managedFields`;
   * undefined for a version without scale.
   */
  readonly replicasPaths?: ReadonlyMap<string, readonly string[] | undefined>;
  /** Version in which the objects of a custom kind are stored. */
  readonly storageVersion?: string;
  /** Warning in each response of a deprecated version. */
  readonly deprecation?: string;
}

/** All served kinds. */
export class Kinds {
  /** By `group/version/plural`. */
  #kinds = new Map<string, ServedKind>();
  /** Counts changes, so that callers can detect them. */
  #generation = 0;
  #conversionWebhooks: { readonly generation: number; readonly value: boolean } | undefined;
  /** Increases with each change of the served kinds. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Whether any kind has a conversion webhook. If so, a request may be processed again after a
   * conversion.
   */
  get hasConversionWebhooks(): boolean {
    if (this.#conversionWebhooks?.generation !== this.#generation) {
      const value = this.all.some(({ rules }) => rules.convertAll !== undefined);
      this.#conversionWebhooks = { generation: this.#generation, value };
    }
    return this.#conversionWebhooks.value;
  }

  get all(): readonly ServedKind[] {
    return [...this.#kinds.values()];
  }

  get(group: string, version: string, plural: string): ServedKind | undefined {
    return this.#kinds.get(`${group}/${version}/${plural}`);
  }

  /**
   * Returns the kind with the given `apiVersion` and `kind`, as owner references and bodies contain
   * them.
   */
  named(apiVersion: string, kind: string): ServedKind | undefined {
    return this.all.find((served) => served.apiVersion === apiVersion && served.kind === kind);
  }

  /** Returns any served version of the kind whose objects are in a collection. */
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
 * Returns the served form of each built-in kind.
 *
 * @param rulesFor Returns the rules of a kind.
 * @param columnsFor Returns the table columns of a kind.
 */
export function builtinKinds(
  rulesFor: (kind: ServedKind) => Rules,
  columnsFor: (group: string, plural: string) => readonly Column[] | undefined,
): ServedKind[] {
  return resources.map((resource) => {
    let rules: Rules | undefined;
    const columns = columnsFor(resource.group, resource.plural);
    const kind = Object.defineProperties({ ...servedKind(resource), ...(columns && { columns }) } as ServedKind, {
      // A test uses few kinds, so schemas and rules are created on demand.
      schema: { get: () => builtinSchema(resource.schema ?? "") },
      rules: { get: () => rules ??= rulesFor(kind) },
    });
    return kind;
  });
}

/** Kinds that share a collection, because they are two forms of one kind. */
const SHARED_COLLECTIONS: Readonly<Record<string, string>> = { "events.k8s.io/events": "/events" };

function servedKind(resource: BuiltinResource): Omit<ServedKind, "rules" | "schema"> {
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
    returnsDeleted: resource.returnsDeleted === true,
    ...DEPRECATED[collection] !== undefined && { deprecation: DEPRECATED[collection] },
  };
}

/** Deprecated kinds (`zz_generated.prerelease-lifecycle.go` of `k8s.io/api`). */
const DEPRECATED: Readonly<Record<string, string>> = {
  "/componentstatuses": "v1 ComponentStatus is deprecated in v1.19+",
  "/endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
};
