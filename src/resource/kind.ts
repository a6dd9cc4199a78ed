/**
 * Kinds: their names, and the types of their objects ({@linkcode Infer} and {@linkcode Input}).
 */
import type { JsonSchema } from "../schema/json_schema.ts";

/** `metadata` of an object as the server returns it. */
export interface ObjectMeta {
  /** Unique among the objects of its kind in its namespace. */
  readonly name: string;
  /** Absent for objects of a cluster-scoped kind. */
  readonly namespace?: string;
  /** Unique for each object: an object that is created again with the same name has another uid. */
  readonly uid: string;
  /** The version of the object, which changes with each write. */
  readonly resourceVersion: string;
  /** The time of creation, in RFC 3339 and UTC. */
  readonly creationTimestamp: string;
  /**
   * Increases with each change of the desired state, that is, of the spec but not of the status.
   */
  readonly generation?: number;
  /** The prefix from which the server generated the name. */
  readonly generateName?: string;
  /**
   * The time when the object is to be removed, in RFC 3339. Set on deletion while finalizers or a
   * grace period delay the removal.
   */
  readonly deletionTimestamp?: string;
  /** Seconds between deletion and removal; only Pods and similar kinds have it. */
  readonly deletionGracePeriodSeconds?: number;
  /** Labels, by which objects are selected. */
  readonly labels?: { readonly [key: string]: string };
  /** Annotations: data of programs and people. Selectors cannot use them. */
  readonly annotations?: { readonly [key: string]: string };
  /** Names of pending cleanups. The object is not removed until its finalizers are removed. */
  readonly finalizers?: readonly string[];
  /** The owners. Kubernetes deletes the object when all of its owners are deleted. */
  readonly ownerReferences?: readonly OwnerReference[];
  /**
   * The field managers. An operator's cache contains only its own entries, unless a watch has
   * `managedFields: true`.
   */
  readonly managedFields?: readonly ManagedFields[];
}

/** An entry of `metadata.ownerReferences`. */
export interface OwnerReference {
  /** Group and version of the owner, such as `apps/v1`. */
  readonly apiVersion: string;
  /** The kind of the owner. */
  readonly kind: string;
  /** The name of the owner, which is in the same namespace or cluster-scoped. */
  readonly name: string;
  /** The uid of the owner. An object that is created again with the same name is another owner. */
  readonly uid: string;
  /** Whether the owner is the managing controller; an object has at most one. @default {false} */
  readonly controller?: boolean;
  /**
   * Whether foreground deletion of the owner waits until this object is removed. @default {false}
   */
  readonly blockOwnerDeletion?: boolean;
}

/** An entry of `metadata.managedFields`. */
export interface ManagedFields {
  /** The field manager: a controller, `kubectl-edit`. */
  readonly manager?: string;
  /** The operation: `Apply` or `Update`. */
  readonly operation?: string;
  /** The API version of the field names. */
  readonly apiVersion?: string;
  /** The time of the last write in RFC 3339. */
  readonly time?: string;
  /** The format of `fieldsV1`: `FieldsV1`. */
  readonly fieldsType?: string;
  /** The fields, as a tree of `f:name`, `k:{…}` and `v:…` (structured-merge-diff). */
  readonly fieldsV1?: unknown;
  /** The subresource of the write; absent for the object itself. */
  readonly subresource?: string;
}

/** `metadata` as a user writes it. Properties that are `undefined` are not sent. */
export interface ObjectMetaInput {
  /**
   * Unique among the objects of its kind in its namespace. Without a name, `generateName` is
   * required.
   */
  readonly name?: string | undefined;
  /** The namespace, for namespaced kinds. */
  readonly namespace?: string | undefined;
  /** The prefix of a generated name, instead of a name. */
  readonly generateName?: string | undefined;
  /** Labels, by which objects are selected. A value has at most 63 characters. */
  readonly labels?: { readonly [key: string]: string } | undefined;
  /** Annotations: data of programs and people, at most 256 KiB in total. */
  readonly annotations?: { readonly [key: string]: string } | undefined;
  /** Names of pending cleanups, each in the form `domain/name`. */
  readonly finalizers?: readonly string[] | undefined;
  /** The owners. `apply` in a reconciler adds the reconciled object. */
  readonly ownerReferences?: readonly OwnerReference[] | undefined;
  /**
   * The expected version. If the stored version differs, the server rejects the write with status
   * 409.
   */
  readonly resourceVersion?: string | undefined;
}

/** Any object as the server returns it. */
export interface KubeObject {
  /** `group/version`, or only the version for the core group. */
  readonly apiVersion: string;
  /** The name of the kind, in CamelCase and singular. */
  readonly kind: string;
  /** Name, labels and fields that the server maintains. */
  readonly metadata: ObjectMeta;
}

/** A condition of a status, as defined by the Kubernetes API conventions (metav1.Condition). */
export interface Condition {
  /** The type in CamelCase: `Ready`. There is at most one condition of a type. */
  readonly type: string;
  /** Whether the condition holds; `Unknown` if it could not be determined. */
  readonly status: "True" | "False" | "Unknown";
  /** The machine-readable reason: one word in CamelCase. */
  readonly reason: string;
  /** The message for people; it may be empty. */
  readonly message: string;
  /** The time of the last change of `status`: in RFC 3339, in UTC. */
  readonly lastTransitionTime: string;
  /** The `metadata.generation` that the condition is based on. */
  readonly observedGeneration?: number;
}

/** The key of a kind's types. It has no value at run time. */
declare const types: unique symbol;

/**
 * A kind of object. Group, version and kind are literal types, so that two kinds of the same shape
 * are not interchangeable.
 *
 * @typeParam Object The object as read, with `metadata`, `spec` and all defaults.
 * @typeParam Written The object as written, without `apiVersion` and `kind`. Properties with a
 * default may be omitted.
 */
export interface Kind<
  Object extends KubeObject = KubeObject,
  Written = unknown,
  Group extends string = string,
  Version extends string = string,
  Name extends string = string,
> {
  /** API group; empty for the core group. */
  readonly group: Group;
  /** The version, such as `v1`. */
  readonly version: Version;
  /** The name of the kind, in CamelCase and singular. */
  readonly kind: Name;
  /** `group/version`, or only the version for the core group. */
  readonly apiVersion: string;
  /** The plural name in lower case, as in paths and roles. */
  readonly plural: string;
  /** The singular name in lower case. Empty in some clusters. */
  readonly singular: string;
  /** The kind of its lists. */
  readonly listKind: string;
  /** Alternative names for kubectl. */
  readonly shortNames: readonly string[];
  /** Whether its objects are namespaced. */
  readonly namespaced: boolean;
  /**
   * The CustomResourceDefinition as it is sent to a cluster. Present for kinds from
   * {@linkcode resource}.
   */
  readonly crd?: CustomResourceDefinitionManifest;
  /**
   * Present on a kind that another project defines: the operator never installs, changes or deletes
   * its CustomResourceDefinition.
   */
  readonly external?: true;
  /** The types of its objects. The property exists only for the compiler. */
  readonly [types]?: { readonly object: Object; readonly written: Written };
}

/** Any kind. */
// deno-lint-ignore no-explicit-any
export type AnyKind = Kind<any, any>;

/**
 * The type of a kind's object as read, with metadata, spec and all defaults.
 *
 * @example Usage
 * ```ts
 * import { type Infer, resource, s } from "@op/sdk";
 *
 * const Website = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Website",
 *   spec: s.object({ host: s.string(), replicas: s.integer({ default: 1 }) }),
 * });
 * type Website = Infer<typeof Website>;
 *
 * const half = ({ spec }: Website): number => spec.replicas / 2;
 * ```
 */
export type Infer<K> = K extends Kind<infer Read, infer _Written> ? Read : never;

/**
 * The type of a kind's object as written. Properties with a default may be omitted, and so may
 * `apiVersion` and `kind`.
 *
 * @example Usage
 * ```ts
 * import { type Input, resource, s } from "@op/sdk";
 *
 * const Website = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Website",
 *   spec: s.object({ host: s.string(), replicas: s.integer({ default: 1 }) }),
 * });
 *
 * ({ metadata: { name: "shop" }, spec: { host: "shop.example.com" } }) satisfies Input<
 *   typeof Website
 * >;
 * ```
 */
export type Input<K> = K extends Kind<infer _Read, infer Written> ? Written : never;

/** A CustomResourceDefinition as it is sent to a cluster. */
export interface CustomResourceDefinitionManifest {
  /** The API version of definitions. */
  readonly apiVersion: "apiextensions.k8s.io/v1";
  /** The kind of definitions. */
  readonly kind: "CustomResourceDefinition";
  /** The name is `<plural>.<group>`. */
  readonly metadata: {
    readonly name: string;
    readonly labels?: { readonly [key: string]: string };
    readonly annotations?: { readonly [key: string]: string };
  };
  /** Names, scope and versions of the kind. */
  readonly spec: {
    readonly group: string;
    readonly names: {
      readonly kind: string;
      readonly plural: string;
      readonly singular: string;
      readonly listKind: string;
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
    };
    readonly scope: "Namespaced" | "Cluster";
    readonly versions: readonly DefinitionVersion[];
    /** Absent for a single version, which needs no conversion. */
    readonly conversion?: { readonly strategy: "None" } | WebhookConversion;
  };
}

/** Conversion of versions by a webhook. */
export interface WebhookConversion {
  /** The conversion strategy. */
  readonly strategy: "Webhook";
  /**
   * The webhook, by URL or Service, and the versions of ConversionReview that it supports: `v1`.
   */
  readonly webhook: {
    readonly clientConfig: {
      readonly url?: string;
      readonly service?: {
        readonly namespace: string;
        readonly name: string;
        readonly path?: string;
        readonly port?: number;
      };
      /** The CA certificates that sign the webhook's certificate: PEM in base64. */
      readonly caBundle?: string;
    };
    readonly conversionReviewVersions: readonly string[];
  };
}

/** One version of a kind in its CustomResourceDefinition. */
export interface DefinitionVersion {
  /** The version, such as `v1`. */
  readonly name: string;
  /** Whether the API server serves this version. */
  readonly served: boolean;
  /** Whether objects are stored in this version. Exactly one version is stored. */
  readonly storage: boolean;
  /** Whether the server returns a warning to users of this version. @default {false} */
  readonly deprecated?: boolean;
  /** The warning. @default {the server's own, which names the newest version} */
  readonly deprecationWarning?: string;
  /** The schema of its objects. */
  readonly schema: { readonly openAPIV3Schema: JsonSchema };
  /** `status` if it is a subresource, and the paths that `/scale` reads and writes. */
  readonly subresources?: {
    readonly status?: Record<string, never>;
    readonly scale?: {
      readonly specReplicasPath: string;
      readonly statusReplicasPath: string;
      readonly labelSelectorPath?: string;
    };
  };
  /** Columns of `kubectl get` after the name. */
  readonly additionalPrinterColumns?: readonly {
    readonly name: string;
    readonly type: string;
    readonly jsonPath: string;
    readonly format?: string;
    readonly priority?: number;
    readonly description?: string;
  }[];
  /** Fields for field selectors in addition to name and namespace. */
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}
