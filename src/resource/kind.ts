/** What every room knows of a kind: its names, and by {@linkcode Infer} and {@linkcode Input} the types of its objects. */
import type { JsonSchema } from "../schema/json_schema.ts";

/** `metadata` of an object as the server answers it. */
export interface ObjectMeta {
  /** Of this object alone among those of its kind in its namespace. */
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
  /** Seconds from the deletion until it goes; only pods and the like have any. */
  readonly deletionGracePeriodSeconds?: number;
  /** By which it is selected. */
  readonly labels?: { readonly [key: string]: string };
  /** Notes of programs and people: nothing is selected by them. */
  readonly annotations?: { readonly [key: string]: string };
  /** Who has something to do before it goes: it stays until each has taken its own off. */
  readonly finalizers?: readonly string[];
  /** What it belongs to: when all of them are gone, Kubernetes deletes it. */
  readonly ownerReferences?: readonly OwnerReference[];
  /** Who wrote which field. An operator holds of it no more than what it applied itself, unless a watch asks for all. */
  readonly managedFields?: readonly ManagedFields[];
}

/** An entry of `metadata.ownerReferences`. */
export interface OwnerReference {
  /** Group and version of the owner, such as `apps/v1`. */
  readonly apiVersion: string;
  /** Its kind. */
  readonly kind: string;
  /** Its name, in the namespace of what it owns, or in none. */
  readonly name: string;
  /** Its uid: one made anew under its name owns nothing. */
  readonly uid: string;
  /** Whether it is the one owner who takes care of the object: one at the most does. @default {false} */
  readonly controller?: boolean;
  /** Whether an owner deleted in the foreground waits until the object is gone. @default {false} */
  readonly blockOwnerDeletion?: boolean;
}

/** An entry of `metadata.managedFields`. */
export interface ManagedFields {
  /** Who wrote: a controller, `kubectl-edit`. */
  readonly manager?: string;
  /** How: `Apply` or `Update`. */
  readonly operation?: string;
  /** The version in which the fields are named. */
  readonly apiVersion?: string;
  /** When it wrote last, RFC 3339. */
  readonly time?: string;
  /** How `fieldsV1` is written: `FieldsV1`. */
  readonly fieldsType?: string;
  /** The fields, as a tree of `f:name`, `k:{…}` and `v:…` (structured-merge-diff). */
  readonly fieldsV1?: unknown;
  /** The subresource by which it wrote; absent for the object itself. */
  readonly subresource?: string;
}

/** `metadata` as a user writes it. What is undefined is not sent. */
export interface ObjectMetaInput {
  /** Of this object alone among those of its kind in its namespace; without one, `generateName` is needed. */
  readonly name?: string | undefined;
  /** Of a kind that lives in namespaces. */
  readonly namespace?: string | undefined;
  /** In place of a name: what the server's name for it begins with. */
  readonly generateName?: string | undefined;
  /** By which it is selected: at most 63 characters a value. */
  readonly labels?: { readonly [key: string]: string } | undefined;
  /** Notes of programs and people, 256 KiB in all. */
  readonly annotations?: { readonly [key: string]: string } | undefined;
  /** Who has something to do before it goes, each as `domain/name`. */
  readonly finalizers?: readonly string[] | undefined;
  /** What it belongs to. `apply` of a controller adds the object that is reconciled. */
  readonly ownerReferences?: readonly OwnerReference[] | undefined;
  /** The version that is to be changed: where another is stored by now, the write is refused with 409. */
  readonly resourceVersion?: string | undefined;
}

/** Any object as the server answers it. */
export interface KubeObject {
  /** `group/version`, or the version alone for the core group. */
  readonly apiVersion: string;
  /** In CamelCase, singular. */
  readonly kind: string;
  /** Name, labels and what the server keeps. */
  readonly metadata: ObjectMeta;
}

/** A condition of a status, as Kubernetes' API conventions have it (metav1.Condition). */
export interface Condition {
  /** What it is about, in CamelCase: `Ready`. One of a type is there at the most. */
  readonly type: string;
  /** Whether it is so; `Unknown` where nobody could tell. */
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
  /** Present on a kind that another project defines: the operator never installs, changes or deletes its CustomResourceDefinition. */
  readonly external?: true;
  /** The types of its objects: for the compiler alone, nothing stands there. */
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
  /** The version of definitions. */
  readonly apiVersion: "apiextensions.k8s.io/v1";
  /** What it is. */
  readonly kind: "CustomResourceDefinition";
  /** Its name is `<plural>.<group>`. */
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
    /** Absent where there is one version: then there is nothing to convert. */
    readonly conversion?: { readonly strategy: "None" } | WebhookConversion;
  };
}

/** Versions that are converted by whoever is called. */
export interface WebhookConversion {
  /** Somebody is called. */
  readonly strategy: "Webhook";
  /** Who is called, by URL or behind a Service, and which reviews are understood there: `v1`. */
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
  /** Such as `v1`. */
  readonly name: string;
  /** Whether the API server answers requests for it. */
  readonly served: boolean;
  /** Whether objects are kept in it. Of all versions one is. */
  readonly storage: boolean;
  /** Whether the server warns whoever uses it. @default {false} */
  readonly deprecated?: boolean;
  /** In which words. @default {the server's own, which name the newest version} */
  readonly deprecationWarning?: string;
  /** What its objects are. */
  readonly schema: { readonly openAPIV3Schema: JsonSchema };
  /** `status` where it is written by itself, and the paths that `/scale` reads and writes. */
  readonly subresources?: {
    readonly status?: Record<string, never>;
    readonly scale?: {
      readonly specReplicasPath: string;
      readonly statusReplicasPath: string;
      readonly labelSelectorPath?: string;
    };
  };
  /** What `kubectl get` shows after the name. */
  readonly additionalPrinterColumns?: readonly {
    readonly name: string;
    readonly type: string;
    readonly jsonPath: string;
    readonly format?: string;
    readonly priority?: number;
    readonly description?: string;
  }[];
  /** The fields by which the server selects, besides name and namespace. */
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}
