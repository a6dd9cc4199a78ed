/** Custom kinds: one declaration defines the types and the CustomResourceDefinition. */
import type { Flatten, Presence, Schema, ValidationRule } from "../schema/mod.ts";
import { definition, type DefinitionOptions } from "./_definition.ts";
import { frozenCopy } from "./_freeze.ts";
import { checkNames } from "./_names.ts";
import { withVersions } from "./_versions.ts";
import type { AnyColumns, CheckedColumns } from "./columns.ts";
import type { AddedStatus } from "./conditions.ts";
import type { CustomResourceDefinitionManifest, Kind, ObjectMeta, ObjectMetaInput } from "./kind.ts";
import { pluralOf } from "./plural.ts";
import type { ReplicasPath, SelectorPath } from "./scale.ts";
import type { CheckedFields } from "./selectable_fields.ts";

/**
 * A kind from {@linkcode resource}. Its names are the first type parameters, because the compiler
 * shows them in messages.
 */
export interface Resource<
  Group extends string,
  Version extends string,
  Name extends string,
  Object extends ResourceMeta,
  Written,
> extends Kind<Object, Written, Group, Version, Name> {
  /** The CustomResourceDefinition as it is sent to a cluster: plain, frozen data. */
  readonly crd: CustomResourceDefinitionManifest;
}

/** The fields of every object of a kind. */
export interface ResourceMeta<ApiVersion extends string = string, Name extends string = string> {
  /** `group/version`, as a literal type. */
  readonly apiVersion: ApiVersion;
  /** The kind, as a literal type. */
  readonly kind: Name;
  /** Name, labels and fields that the server maintains. */
  readonly metadata: ObjectMeta;
}

/**
 * An object of a kind as read. It has a `spec` if the kind has one. All properties of its `status`
 * are optional.
 *
 * @typeParam When The presence of the spec.
 * @typeParam Root The other fields.
 */
export type ResourceObject<
  Group extends string,
  Version extends string,
  Name extends string,
  Spec,
  Status,
  Added extends boolean = true,
  When extends Presence = "required",
  Root = never,
> = Flatten<
  & ResourceMeta<`${Group}/${Version}`, Name>
  & ([Spec] extends [never] ? unknown
    : [When] extends ["required" | "defaulted"] ? { readonly spec: Spec }
    : { readonly spec?: Spec })
  & ([Status] extends [never] ? unknown
    : {
      readonly status?: Added extends false ? Partial<Status>
        : Flatten<Partial<Status> & Omit<AddedStatus, keyof Status>>;
    })
  & ([Root] extends [never] ? unknown : FieldsBesidesMeta<Root>)
>;

/**
 * The fields of a root, without those that every object has: {@linkcode ResourceMeta} declares
 * these more precisely than a schema.
 */
type FieldsBesidesMeta<Root> = {
  readonly [Key in keyof Root as Key extends keyof ResourceMeta ? never : Key]: Root[Key];
};

/** An object of a kind as written. `apiVersion` and `kind` may be omitted. */
export type ResourceInput<
  Group extends string,
  Version extends string,
  Name extends string,
  Spec,
  When,
  Root = never,
> = Flatten<
  & { readonly apiVersion?: `${Group}/${Version}`; readonly kind?: Name; readonly metadata?: ObjectMetaInput }
  & ([Spec] extends [never] ? unknown
    : When extends "required" ? { readonly spec: Spec }
    : { readonly spec?: Spec | undefined })
  & ([Root] extends [never] ? unknown : FieldsBesidesMeta<Root>)
>;

/** Options of {@linkcode resource} that do not depend on its schemas. */
export interface ResourceOptions {
  /**
   * Your domain, such as `demo.example.com`. Domains below `k8s.io` and `kubernetes.io` belong to
   * the Kubernetes community: kinds in them need the annotation `api-approved.kubernetes.io`.
   */
  readonly group: string;
  /** The version, such as `v1` or `v1alpha1`. */
  readonly version: string;
  /** The name of the kind, in CamelCase and singular. */
  readonly kind: string;
  /**
   * The name in paths and roles, in lower case. @default {the English plural of the kind in lower
   * case}
   */
  readonly plural?: string;
  /** An alternative name for kubectl, in lower case. @default {the kind in lower case} */
  readonly singular?: string;
  /** The kind of its lists, in CamelCase. @default {the kind and "List"} */
  readonly listKind?: string;
  /** Alternative names for kubectl. @default {none} */
  readonly shortNames?: readonly string[];
  /** Categories that kubectl lists together, such as `all`. @default {none} */
  readonly categories?: readonly string[];
  /** Whether objects are namespaced. @default {"Namespaced"} */
  readonly scope?: "Namespaced" | "Cluster";
  /** The description that `kubectl explain` shows. @default {none} */
  readonly description?: string;
  /**
   * CEL rules on the whole object. They may use `self.spec`, `self.status` and
   * `self.metadata.name`. @default {none}
   */
  readonly validations?: readonly ValidationRule[];
  /** Whether the API server serves this version. @default {true} */
  readonly served?: boolean;
  /**
   * Whether the API server returns a warning to users of this version: `true` for its own warning,
   * which names the newest version, or the text of the warning. @default {false}
   */
  readonly deprecated?: boolean | string;
  /** The version in which objects are stored. @default {this one} */
  readonly storage?: string;
  /** Labels of the CustomResourceDefinition. @default {none} */
  readonly labels?: { readonly [key: string]: string };
  /** Annotations of the CustomResourceDefinition. @default {none} */
  readonly annotations?: { readonly [key: string]: string };
  /**
   * Whether another project defines the kind. The operator then never installs, changes or deletes
   * its CustomResourceDefinition or its objects, and waits until the kind is served.
   * `memoryCluster` installs it for tests. A controller writes its status only with
   * `writesStatus: true`.
   * @default {false}
   */
  readonly external?: boolean;
}

/**
 * The schema of an object or of any value. For others it is the message that the compiler shows.
 */
type ObjectOnly<Read, Written, When extends Presence, Why extends string> = unknown extends Read
  ? Schema<Read, Written, When>
  : [Read] extends [readonly unknown[]] ? Why
  : [Read] extends [object] ? Schema<Read, Written, When>
  : Why;

/**
 * The schema of a status, which must not be optional or have a default. For others it is the
 * message that the compiler shows.
 */
type StatusSchema<Read, When extends Presence> = [When] extends ["required"]
  ? ObjectOnly<Read, unknown, When, "a status is an object: use s.object">
  : "a status is always optional: remove s.optional or the default";

/**
 * The schema of the root, which must not be optional or have a default. For others it is the
 * message that the compiler shows.
 */
type RootSchema<Read, Written, When extends Presence> = [When] extends ["required"]
  ? ObjectOnly<Read, Written, When, "the root is an object: use s.object">
  : "the root is the object itself, which is always present: remove s.optional or the default";

/** The names of all options of {@linkcode resource}. */
type OptionName =
  | keyof ResourceOptions
  | "spec"
  | "status"
  | "conditions"
  | "columns"
  | "scale"
  | "selectableFields"
  | "root"
  | "versions";

/** Accepts known options. For others it is the message that the compiler shows. */
type OnlyOptions<Key extends string> = {
  readonly [Name in Key]?: Name extends OptionName ? unknown
    : `resource() has no option ${Name}${SimilarOptions<Name>}`;
};

/** A suggestion of the options with the same first three letters. */
type SimilarOptions<Name extends string> = Name extends `${infer A}${infer B}${infer C}${string}`
  ? [Extract<OptionName, `${A}${B}${C}${string}`>] extends [infer Near extends string]
    ? [Near] extends [never] ? "" : `: did you mean ${Near}?`
  : ""
  : "";

/**
 * The name of a kind. If its group or version is missing, it is the message that the compiler
 * shows.
 */
type KindName<Name, Key extends string> = [Exclude<"group" | "version", Key>] extends [infer Missing extends string]
  ? [Missing] extends [never] ? Name : `resource() requires the option ${Missing}`
  : never;

/** A kind from {@linkcode resource} as another version of a kind. */
export interface OtherVersion<Group extends string, Name extends string> {
  /** The group. It must be the same in all versions. */
  readonly group: Group;
  /** The kind. It must be the same in all versions. */
  readonly kind: Name;
  /** Another version. */
  readonly version: string;
  /** The CustomResourceDefinition, which contains the schema of the version. */
  readonly crd: CustomResourceDefinitionManifest;
  /** Whether another project defines the kind. It must be the same in all versions. */
  readonly external?: true;
}

/**
 * Declares a kind.
 *
 * @param options Names and schemas. `columns` are shown by `kubectl get` after the name. With
 * columns of your own, Kubernetes omits the age; `Age: ".metadata.creationTimestamp"` restores it.
 * @returns The kind, with its CustomResourceDefinition as `crd`: plain, frozen data.
 * @throws {TypeError} If an API server would reject a name, a schema, a rule or a path. The message
 * contains its position and the reason. Executables skip this validation, because `op build`
 * performed it.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { type Infer, resource, s } from "@op/sdk";
 *
 * const Website = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Website",
 *   spec: s.object({
 *     host: s.string({ format: "hostname" }),
 *     replicas: s.integer({ default: 1 }),
 *   }),
 *   status: s.object({ ready: s.optional(s.integer()) }),
 *   columns: { Host: ".spec.host", Ready: ".status.ready" },
 *   scale: { specReplicas: ".spec.replicas", statusReplicas: ".status.ready" },
 *   selectableFields: [".spec.host"],
 * });
 * type Website = Infer<typeof Website>;
 *
 * assert.equal(Website.crd.metadata.name, "websites.demo.example.com");
 * ```
 *
 * @example Several versions
 * ```ts
 * import assert from "node:assert/strict";
 * import { resource, s } from "@op/sdk";
 *
 * const names = { group: "demo.example.com", kind: "Note" } as const;
 * const NoteV1 = resource({
 *   ...names,
 *   version: "v1",
 *   deprecated: true,
 *   spec: s.object({ text: s.string() }),
 * });
 * const Note = resource({
 *   ...names,
 *   version: "v2",
 *   spec: s.object({ text: s.string(), author: s.optional(s.string()) }),
 *   versions: [NoteV1],
 * });
 *
 * assert.deepEqual(Note.crd.spec.versions.map(({ name, storage }) => `${name} ${storage}`), [
 *   "v2 true",
 *   "v1 false",
 * ]);
 * ```
 *
 * @example A kind of another project
 * ```ts
 * import assert from "node:assert/strict";
 * import { controller, operator, resource, s } from "@op/sdk";
 *
 * const Certificate = resource({
 *   group: "cert-manager.io",
 *   version: "v1",
 *   kind: "Certificate",
 *   external: true, // cert-manager installs it
 *   spec: s.object({ secretName: s.string() }),
 * });
 *
 * const certificates = controller(Certificate, { reconcile({ spec }, { log }) {
 *   log.info("Certificate seen", { secret: spec.secretName });
 * } });
 * assert.deepEqual(operator({ name: "audit", parts: { certificates } }).crds(), []);
 * ```
 *
 * @example Without a spec
 * ```ts
 * import { type Input, resource, s } from "@op/sdk";
 *
 * const Settings = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Settings",
 *   root: s.object({ data: s.map(s.string()), sealed: s.boolean({ default: false }) }),
 *   columns: { Sealed: ".sealed" },
 * });
 *
 * ({ metadata: { name: "site" }, data: { color: "red" } }) satisfies Input<typeof Settings>;
 * ```
 */
export function resource<
  const Group extends string,
  const Version extends string,
  const Name extends string,
  SpecRead = never,
  SpecWritten = never,
  When extends Presence = never,
  StatusRead = never,
  StatusWhen extends Presence = never,
  const Added extends boolean = true,
  const C extends AnyColumns = Record<never, never>,
  const SpecReplicas extends string = never,
  const StatusReplicas extends string = never,
  const LabelSelector extends string = never,
  const F extends readonly string[] = readonly [],
  RootRead = never,
  RootWritten = never,
  RootWhen extends Presence = never,
  Key extends string = never,
  const External extends boolean = false,
>(
  options: ResourceOptions & OnlyOptions<Key> & {
    readonly group: Group;
    readonly version: Version;
    readonly kind: KindName<Name, Key>;
    /** The desired state: an object. It is required, unless it is `s.optional` or has a default. */
    readonly spec?: ObjectOnly<SpecRead, SpecWritten, When, "a spec is an object: use s.object">;
    /**
     * The observed state: an object. Defining it adds the status subresource, and the fields
     * `conditions` and `observedGeneration`. All its properties are optional, even if the schema
     * requires them, because a failed first reconcile may store a partial status. `true` adds only
     * the subresource; `root` may then declare the schema of the status and its required
     * properties.
     */
    readonly status?: StatusSchema<StatusRead, StatusWhen> | true;
    /** Whether `conditions` and `observedGeneration` are added to the status. @default {true} */
    readonly conditions?: Added;
    /**
     * Fields in addition to `spec` and `status`, such as `data` of a ConfigMap: an object, whose
     * options apply to the whole object. A `metadata` in it can restrict the names of objects.
     */
    readonly root?: RootSchema<RootRead, RootWritten, RootWhen>;
    /** Columns of `kubectl get` after the name, by heading. */
    readonly columns?: CheckedColumns<
      C,
      ResourceObject<Group, Version, Name, SpecRead, StatusRead, Added, When, RootRead>
    >;
    /**
     * The paths that `/scale` reads and writes, so that `kubectl scale` and a
     * HorizontalPodAutoscaler can change the replicas.
     */
    readonly scale?: {
      /** The path below `.spec` of an integer: the desired replicas. */
      readonly specReplicas: ReplicasPath<
        SpecReplicas,
        ".spec",
        ResourceObject<Group, Version, Name, SpecRead, StatusRead, Added, When, RootRead>
      >;
      /** The path below `.status` of an integer: the current replicas. */
      readonly statusReplicas: ReplicasPath<
        StatusReplicas,
        ".status",
        ResourceObject<Group, Version, Name, SpecRead, StatusRead, Added, When, RootRead>
      >;
      /**
       * The path below `.spec` or `.status` of a string: the label selector of the pods. A
       * HorizontalPodAutoscaler needs it.
       */
      readonly labelSelector?: SelectorPath<
        LabelSelector,
        ResourceObject<Group, Version, Name, SpecRead, StatusRead, Added, When, RootRead>
      >;
    };
    /** Paths of up to eight fields for field selectors, in addition to name and namespace. */
    readonly selectableFields?: CheckedFields<
      F,
      ResourceObject<Group, Version, Name, SpecRead, StatusRead, Added, When, RootRead>
    >;
    /**
     * Other versions of the kind, each declared with `resource()`. The CustomResourceDefinition
     * then contains all of them. Names and scope must be equal. An object can be read and written
     * in any served version. Without a `conversion`, objects are the same in all versions, and
     * fields are lost if the schema of the requested version or of the stored version does not
     * declare them.
     */
    readonly versions?: readonly OtherVersion<NoInfer<Group>, NoInfer<Name>>[];
    readonly external?: External;
  },
):
  & Resource<
    Group,
    Version,
    Name,
    ResourceObject<Group, Version, Name, SpecRead, StatusRead, Added, When, RootRead>,
    ResourceInput<Group, Version, Name, SpecWritten, When, RootWritten>
  >
  & ([External] extends [false] ? unknown : { readonly external: true }) {
  const { group, version, scope = "Namespaced", versions = [], storage = version, external = false } = options;
  const kind = options.kind as string as Name;
  const names = {
    group,
    version,
    kind,
    plural: options.plural ?? pluralOf(kind),
    singular: options.singular ?? kind.toLowerCase(),
    listKind: options.listKind ?? `${kind}List`,
    shortNames: options.shortNames ?? [],
    categories: options.categories ?? [],
  };
  checkNames(names, options);
  const ownDefinition = definition(names, options as ResourceOptions as DefinitionOptions);
  const crd = withVersions(ownDefinition, { versions, storage, external });
  const { categories: _, ...publicNames } = names;
  // Copies are frozen, so that the arguments remain mutable.
  return frozenCopy({
    ...publicNames,
    apiVersion: `${group}/${version}`,
    namespaced: scope === "Namespaced",
    crd,
    ...(external ? { external: true as const } : {}),
  }) as never;
}
