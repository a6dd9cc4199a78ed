/** Kinds of one's own: one declaration gives the types and the CustomResourceDefinition. */
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

/** A kind that {@linkcode resource} made. Its names come first: they are what the compiler shows of it in a message. */
export interface Resource<
  Group extends string,
  Version extends string,
  Name extends string,
  Object extends ResourceMeta,
  Written,
> extends Kind<Object, Written, Group, Version, Name> {
  /** The CustomResourceDefinition, as it is sent to a cluster: plain data, frozen. */
  readonly crd: CustomResourceDefinitionManifest;
}

/** What every object of a kind has, with the kind's own names. */
export interface ResourceMeta<ApiVersion extends string = string, Name extends string = string> {
  /** `group/version`, as a literal type. */
  readonly apiVersion: ApiVersion;
  /** The kind, as a literal type. */
  readonly kind: Name;
  /** Name, labels and what the server keeps. */
  readonly metadata: ObjectMeta;
}

/**
 * An object of a kind as read: with `spec` where the kind has one, and `status`, none of whose properties is sure to be there.
 *
 * @typeParam When Whether the spec has to be there.
 * @typeParam Root What else there is.
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
  & ([Root] extends [never] ? unknown : BesideMeta<Root>)
>;

/** Without what every object has: of it a schema can say less than is known. */
type BesideMeta<Root> = { readonly [Key in keyof Root as Key extends keyof ResourceMeta ? never : Key]: Root[Key] };

/** An object of a kind as written. `apiVersion` and `kind` are known, and may be said. */
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
  & ([Root] extends [never] ? unknown : BesideMeta<Root>)
>;

/** Options of {@linkcode resource} that do not depend on its schemas. */
export interface ResourceOptions {
  /**
   * A domain name of yours, such as `demo.example.com`. Those below `k8s.io` and `kubernetes.io` are the community's: a kind in them needs the
   * annotation `api-approved.kubernetes.io`.
   */
  readonly group: string;
  /** Such as `v1` or `v1alpha1`. */
  readonly version: string;
  /** In CamelCase, singular. */
  readonly kind: string;
  /** The name of lists in paths and roles, in lower case. @default {the kind in lower case, by the rules of English} */
  readonly plural?: string;
  /** What kubectl takes in place of the plural, in lower case. @default {the kind in lower case} */
  readonly singular?: string;
  /** What lists of it are called, in CamelCase. @default {the kind and "List"} */
  readonly listKind?: string;
  /** What kubectl takes in place of the plural. @default {none} */
  readonly shortNames?: readonly string[];
  /** Groups of kinds that kubectl lists together, such as `all`. @default {none} */
  readonly categories?: readonly string[];
  /** Whether objects live in namespaces. @default {"Namespaced"} */
  readonly scope?: "Namespaced" | "Cluster";
  /** Shown by `kubectl explain`. @default {none} */
  readonly description?: string;
  /** CEL rules on the whole object: `self.spec`, `self.status`, and `self.metadata.name` are there to be compared. @default {none} */
  readonly validations?: readonly ValidationRule[];
  /** Whether the API server answers requests for this version. @default {true} */
  readonly served?: boolean;
  /** Whether the API server warns whoever uses this version: in its own words, which name the newest version, or in these. @default {false} */
  readonly deprecated?: boolean | string;
  /** The version in which objects are stored. @default {this one} */
  readonly storage?: string;
  /** Labels of the CustomResourceDefinition. @default {none} */
  readonly labels?: { readonly [key: string]: string };
  /** Annotations of the CustomResourceDefinition. @default {none} */
  readonly annotations?: { readonly [key: string]: string };
  /**
   * Whether another project defines the kind. The operator then never installs, changes or deletes its CustomResourceDefinition or its objects,
   * and waits until the kind is served. `memoryCluster` installs it for tests. A controller writes its status only with `writesStatus: true`.
   * @default {false}
   */
  readonly external?: boolean;
}

/** The schema of an object; of anything else, the sentence that the compiler shows. What is said nothing of may be one. */
type ObjectOnly<Read, Written, When extends Presence, Why extends string> = unknown extends Read
  ? Schema<Read, Written, When>
  : [Read] extends [readonly unknown[]] ? Why
  : [Read] extends [object] ? Schema<Read, Written, When>
  : Why;

/** The schema of a status; of one that says when it is there, the sentence that the compiler shows. */
type StatusSchema<Read, When extends Presence> = [When] extends ["required"]
  ? ObjectOnly<Read, unknown, When, "a status is an object: use s.object">
  : "a status may always be missing: take s.optional or its default away";

/** The schema of what else there is; of one that says when it is there, the sentence that the compiler shows. */
type RootSchema<Read, Written, When extends Presence> = [When] extends ["required"]
  ? ObjectOnly<Read, Written, When, "an object has properties: use s.object">
  : "it is the object itself, which is always there: take s.optional or its default away";

/** Every option that {@linkcode resource} takes. */
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

/** What is an option, whatever it is; of what is none, the sentence that the compiler shows. */
type OnlyOptions<Key extends string> = {
  readonly [Name in Key]?: Name extends OptionName ? unknown : `resource() has no option ${Name}${Meant<Name>}`;
};

/** Options that begin alike. */
type Meant<Name extends string> = Name extends `${infer A}${infer B}${infer C}${string}`
  ? [Extract<OptionName, `${A}${B}${C}${string}`>] extends [infer Near extends string]
    ? [Near] extends [never] ? "" : `: did you mean ${Near}?`
  : ""
  : "";

/** The name of a kind; where its group or its version is missing, the sentence that the compiler shows. */
type KindName<Name, Key extends string> = [Exclude<"group" | "version", Key>] extends [infer Lacking extends string]
  ? [Lacking] extends [never] ? Name : `a kind needs a ${Lacking} too`
  : never;

/** A kind that {@linkcode resource} made, as another version of one. */
export interface OtherVersion<Group extends string, Name extends string> {
  /** The same as that of the kind it is a version of. */
  readonly group: Group;
  /** The same as that of the kind it is a version of. */
  readonly kind: Name;
  /** Another one. */
  readonly version: string;
  /** Its definition, out of which the schema of the version is taken. */
  readonly crd: CustomResourceDefinitionManifest;
  /** The same as that of the kind it is a version of. */
  readonly external?: true;
}

/**
 * Declares a kind.
 *
 * @param options Names and schemas. Columns are those of `kubectl get` after the name; with columns of one's own, Kubernetes leaves out the
 * age: `Age: ".metadata.creationTimestamp"` brings it back.
 * @returns The kind, with its CustomResourceDefinition as `crd`: plain data, frozen.
 * @throws {TypeError} If an API server would reject a name, a schema, a rule or a path: the message says where and why.
 * In an executable schemas are not looked at once more: `op build` has.
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
 *   spec: s.object({ host: s.string({ format: "hostname" }), replicas: s.integer({ default: 1 }) }),
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
 * const NoteV1 = resource({ ...names, version: "v1", deprecated: true, spec: s.object({ text: s.string() }) });
 * const Note = resource({
 *   ...names,
 *   version: "v2",
 *   spec: s.object({ text: s.string(), author: s.optional(s.string()) }),
 *   versions: [NoteV1],
 * });
 *
 * assert.deepEqual(Note.crd.spec.versions.map(({ name, storage }) => `${name} ${storage}`), ["v2 true", "v1 false"]);
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
    /** What users write: an object. It has to be there, unless it is `s.optional` or has a default. */
    readonly spec?: ObjectOnly<SpecRead, SpecWritten, When, "a spec is an object: use s.object">;
    /**
     * What the operator reports: an object. Being there is what asks for the status subresource; `conditions` and `observedGeneration` are
     * added. No property is required, whatever the schema says: a first run that failed has to be reported too. `true` asks for the subresource
     * alone: what a status is, and what of it is required, is then said by `root`, or by nobody.
     */
    readonly status?: StatusSchema<StatusRead, StatusWhen> | true;
    /** Whether `conditions` and `observedGeneration` are added to the status. @default {true} */
    readonly conditions?: Added;
    /**
     * What stands beside `spec` and `status`, as `data` of a ConfigMap: an object, whose options are those of the whole object. A `metadata` in it
     * can narrow down the names of objects.
     */
    readonly root?: RootSchema<RootRead, RootWritten, RootWhen>;
    /** What `kubectl get` shows after the name, by heading. */
    readonly columns?: CheckedColumns<
      C,
      ResourceObject<Group, Version, Name, SpecRead, StatusRead, Added, When, RootRead>
    >;
    /** What `/scale` reads and writes: then `kubectl scale` and a HorizontalPodAutoscaler can change the replicas. */
    readonly scale?: {
      /** An integer below `.spec`: how many are wanted. */
      readonly specReplicas: ReplicasPath<
        SpecReplicas,
        ".spec",
        ResourceObject<Group, Version, Name, SpecRead, StatusRead, Added, When, RootRead>
      >;
      /** An integer below `.status`: how many there are. */
      readonly statusReplicas: ReplicasPath<
        StatusReplicas,
        ".status",
        ResourceObject<Group, Version, Name, SpecRead, StatusRead, Added, When, RootRead>
      >;
      /** A string below `.spec` or `.status`: which pods they are, as a label selector. A HorizontalPodAutoscaler needs it. */
      readonly labelSelector?: SelectorPath<
        LabelSelector,
        ResourceObject<Group, Version, Name, SpecRead, StatusRead, Added, When, RootRead>
      >;
    };
    /** Paths of up to eight fields by which objects can be selected on the server, besides name and namespace. */
    readonly selectableFields?: CheckedFields<
      F,
      ResourceObject<Group, Version, Name, SpecRead, StatusRead, Added, When, RootRead>
    >;
    /**
     * Other versions of the kind, each made by `resource()`: the CustomResourceDefinition then has all of them. Names and scope must agree. An
     * object can be read and written in any served version. Nothing is converted: an object is the same in all of them, but that a version
     * neither shows nor keeps what is not in its schema, nor in that of the version in which objects are stored.
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
  const one = definition(names, options as ResourceOptions as DefinitionOptions);
  const crd = withVersions(one, { versions, storage, external });
  const { categories: _, ...known } = names;
  // What is made here is frozen; what was handed in stays as it is.
  return frozenCopy({
    ...known,
    apiVersion: `${group}/${version}`,
    namespaced: scope === "Namespaced",
    crd,
    ...(external ? { external: true as const } : {}),
  }) as never;
}
