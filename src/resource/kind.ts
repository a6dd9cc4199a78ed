/** What every room knows of a kind: its names, and by {@linkcode Infer} and {@linkcode Input} the types of its objects. */
import type { JsonSchema } from "../schema/json_schema.ts";

/** `metadata` of an object as the server answers it. */
export interface ObjectMeta {
  readonly name: string;
  /** Absent on objects of a cluster-wide kind. */
  readonly namespace?: string;
  /** Of this object alone: one made anew under its name has another. */
  readonly uid: string;
  /** Which version it is; each write makes another. */
  readonly resourceVersion: string;
  /** RFC 3339, in UTC. */
  readonly creationTimestamp: string;
  /** Counts the changes of what is wanted: of the spec, not of the status. */
  readonly generation?: number;
  /** What the server made the name of. */
  readonly generateName?: string;
  /** When it goes, RFC 3339: there once it is deleted, while finalizers or a grace period hold it. */
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: { readonly [key: string]: string };
  readonly annotations?: { readonly [key: string]: string };
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFields[];
}

/** An entry of `metadata.ownerReferences`. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** An entry of `metadata.managedFields`. */
export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: unknown;
  readonly subresource?: string;
}

/** `metadata` as a user writes it. What is undefined is not sent. */
export interface ObjectMetaInput {
  readonly name?: string | undefined;
  /** Of a kind that lives in namespaces. */
  readonly namespace?: string | undefined;
  /** In place of a name: what the server's name for it begins with. */
  readonly generateName?: string | undefined;
  readonly labels?: { readonly [key: string]: string } | undefined;
  readonly annotations?: { readonly [key: string]: string } | undefined;
  readonly finalizers?: readonly string[] | undefined;
  readonly ownerReferences?: readonly OwnerReference[] | undefined;
  /** The version that is to be changed: where another is stored by now, the write is refused with 409. */
  readonly resourceVersion?: string | undefined;
}

/** Any object as the server answers it. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** A condition of a status, as Kubernetes' API conventions have it (metav1.Condition). */
export interface Condition {
  /** What it is about, in CamelCase: `Ready`. One of a type is there at the most. */
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  /** Why it is so, for programs: one word in CamelCase. */
  readonly reason: string;
  /** Why it is so, for people; it may be empty. */
  readonly message: string;
  /** When `status` changed last: RFC 3339, in UTC. */
  readonly lastTransitionTime: string;
  /** The `metadata.generation` of which it speaks. */
  readonly observedGeneration?: number;
}

/** Holds a kind's types. There is no value behind it. */
declare const types: unique symbol;

/**
 * A kind of object. Group, version and kind are literals of the type, so that two kinds of one shape are not interchangeable.
 *
 * @typeParam Object The object as read: `metadata` and `spec` there, defaults filled.
 * @typeParam Written The object as written, without `apiVersion` and `kind`: what has a default may be left out.
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
  /** Such as `v1`. */
  readonly version: Version;
  /** In CamelCase, singular. */
  readonly kind: Name;
  /** `group/version`, or the version alone for the core group. */
  readonly apiVersion: string;
  /** In lower case, as paths and roles have it. */
  readonly plural: string;
  /** In lower case; some clusters leave it empty. */
  readonly singular: string;
  /** What lists of it are called. */
  readonly listKind: string;
  /** What kubectl takes in place of the plural. */
  readonly shortNames: readonly string[];
  /** Whether its objects live in namespaces. */
  readonly namespaced: boolean;
  /** Present on a kind that {@linkcode resource} made: the CustomResourceDefinition, as it is sent to a cluster. */
  readonly crd?: CustomResourceDefinitionManifest;
  readonly [types]?: { readonly object: Object; readonly written: Written };
}

/** A kind, whatever its objects are. */
// deno-lint-ignore no-explicit-any
export type AnyKind = Kind<any, any>;

/**
 * The object of a kind as read: metadata and spec there, defaults filled.
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
 * The object of a kind as written: defaults may be left out, `apiVersion` and `kind` are known.
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
 * ({ metadata: { name: "shop" }, spec: { host: "shop.example.com" } }) satisfies Input<typeof Website>;
 * ```
 */
export type Input<K> = K extends Kind<infer _Read, infer Written> ? Written : never;

/** A CustomResourceDefinition as it is sent to a cluster. */
export interface CustomResourceDefinitionManifest {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly kind: "CustomResourceDefinition";
  readonly metadata: {
    readonly name: string;
    readonly labels?: { readonly [key: string]: string };
    readonly annotations?: { readonly [key: string]: string };
  };
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
    /** Absent where there is one version: then there is nothing to convert. */
    readonly conversion?: { readonly strategy: "None" } | WebhookConversion;
  };
}

/** Versions that are converted by whoever is called. */
export interface WebhookConversion {
  readonly strategy: "Webhook";
  readonly webhook: {
    readonly clientConfig: {
      readonly url?: string;
      readonly service?: {
        readonly namespace: string;
        readonly name: string;
        readonly path?: string;
        readonly port?: number;
      };
      /** Base64 of PEM. */
      readonly caBundle?: string;
    };
    readonly conversionReviewVersions: readonly string[];
  };
}

/** One version of a kind in its CustomResourceDefinition. */
export interface DefinitionVersion {
  readonly name: string;
  /** Whether the API server answers requests for it. */
  readonly served: boolean;
  /** Whether objects are kept in it. Of all versions one is. */
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema: { readonly openAPIV3Schema: JsonSchema };
  readonly subresources?: {
    readonly status?: Record<string, never>;
    readonly scale?: {
      readonly specReplicasPath: string;
      readonly statusReplicasPath: string;
      readonly labelSelectorPath?: string;
    };
  };
  readonly additionalPrinterColumns?: readonly {
    readonly name: string;
    readonly type: string;
    readonly jsonPath: string;
    readonly format?: string;
    readonly priority?: number;
    readonly description?: string;
  }[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}
