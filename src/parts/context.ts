/** What a reconciler is handed beside the object. */
import type { Clock } from "../base/clock.ts";
import type { AnyKind, Condition, CustomResourceDefinitionManifest, Infer, Input } from "../resource/kind.ts";
import type { Access, Verb } from "./access.ts";
import type { Index } from "./watch.ts";

/** A kind's identity as text, so that kinds of one shape are told apart. */
type Key<K extends AnyKind> = K extends AnyKind ? `${K["group"]}/${K["version"]}/${K["kind"]}` : never;

/** The kinds of `uses` that were declared with a verb. */
type Used<Uses extends readonly Access[], V extends Verb> = Uses[number] extends infer A
  ? A extends Access<infer K, infer W> ? V extends W ? K : never : never
  : never;

/** `K` itself where it is among the declared kinds; otherwise the sentence that the compiler shows. */
type Declared<K extends AnyKind, Kinds extends AnyKind, Fix extends string> = [Key<K>] extends [Key<Kinds>] ? K
  : `${K["kind"]} is not declared here: ${Fix}`;

/** `K` where it may be read: the own kind, `owns`, `reads`, or `uses` with the verb. */
export type Readable<
  K extends AnyKind,
  Own extends AnyKind,
  Owns extends readonly AnyKind[],
  Reads extends readonly AnyKind[],
  Uses extends readonly Access[],
  V extends "get" | "list",
> = Declared<K, Own | Owns[number] | Reads[number] | Used<Uses, V>, ReadFix<K, Own, V>>;

/** What the compiler advises for a kind that may not be read. A webhook has no own kind and no watches. */
type ReadFix<K extends AnyKind, Own extends AnyKind, V extends "get" | "list"> =
  `add it to "reads" (cached), or access(${K["kind"]}, "${V}") to "uses" (live)${V extends "get"
    ? [Own] extends [never] ? "" : `, or watch(${K["kind"]}, { names }) to "watches" (only named objects)`
    : ""}`;

/** What the compiler says of a kind that may not be written: of the own kind, that patching it is asked for as a live call. */
type WriteFix<K extends AnyKind, Own extends AnyKind> = [Key<K>] extends [Key<Own>]
  ? `it is the controller's own kind: add access(${K["kind"]}, "patch") to "uses" and patch it`
  : `add it to "owns"`;

/** `K` where it may be applied: `owns`. */
export type Owned<K extends AnyKind, Own extends AnyKind, Owns extends readonly AnyKind[]> = Declared<
  K,
  Owns[number],
  WriteFix<K, Own>
>;

/** `K` where it is a kind of `owns`. */
export type Child<K extends AnyKind, Owns extends readonly AnyKind[]> = Declared<
  K,
  Owns[number],
  `add it to "owns"`
>;

/** `K` where it may be created or patched: `owns`, or `uses` with the verb. */
export type Writable<
  K extends AnyKind,
  Own extends AnyKind,
  Owns extends readonly AnyKind[],
  Uses extends readonly Access[],
  V extends "create" | "patch",
> = Declared<K, Owns[number] | Used<Uses, V>, WriteFix<K, Own>>;

/** `K` where it may be deleted: `uses` with `delete`. */
export type Deletable<K extends AnyKind, Uses extends readonly Access[]> = Declared<
  K,
  Used<Uses, "delete">,
  `add access(${K["kind"]}, "delete") to "uses"`
>;

/** The indexes of a controller, by name. */
export type IndexMap = { readonly [name: string]: Index };

/** A list of kinds of `owns`, each with an object as written. */
type ChildrenOf<Children, Own extends AnyKind, Owns extends readonly AnyKind[]> = {
  readonly [I in keyof Children]: Children[I] extends readonly [infer K extends AnyKind, unknown]
    ? readonly [Owned<K, Own, Owns>, Input<K>]
    : never;
};

/** Which namespace a call is about: the object's, unless given. */
export interface NamespaceOptions {
  /** A namespace's name. @default {the object's} */
  readonly namespace?: string;
}

/** Options of a list. */
export interface ListOptions {
  /** A namespace, or `"*"` for all. @default {the object's} */
  readonly namespace?: string;
  /** Labels that must all be there with these values. @default {any} */
  readonly selector?: { readonly [label: string]: string };
}

/** Options of {@linkcode Context.patch}. */
export interface PatchOptions extends NamespaceOptions {
  /** How the patch is written: a JSON merge patch (RFC 7396), a JSON patch (RFC 6902), or Kubernetes' own for built-in kinds. @default {"merge"} */
  readonly type?: "merge" | "json" | "strategic";
  /** Such as `status` or `scale`. @default {the object itself} */
  readonly subresource?: string;
}

/** Options of {@linkcode Context.delete}. */
export interface DeleteOptions extends NamespaceOptions {
  /**
   * What happens to the objects that the deleted object owns. `"Background"`: the garbage collector deletes them afterwards. `"Foreground"`: they are
   * deleted first. `"Orphan"`: they stay.
   *
   * @default {"Background"}
   */
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan" | undefined;
  /** What the object must be to be deleted. If it is something else, the call rejects with an {@linkcode ApiError} with status 409. @default {any} */
  readonly preconditions?: {
    /** The object's `metadata.uid`: another object of the same name is not deleted. */
    readonly uid?: string | undefined;
    /** The object's `metadata.resourceVersion`: an object that has changed since is not deleted. */
    readonly resourceVersion?: string | undefined;
  } | undefined;
}

/** Options of {@linkcode Context.apply}. */
export interface ApplyOptions {
  /**
   * Whether the object owns what is applied: an owner reference is set, a change wakes the controller, and Kubernetes deletes it with the
   * object. Without an owner, `cleanup` has to delete it. @default {true}
   */
  readonly owner?: boolean;
  /** Whether to take fields over from other managers. @default {true} */
  readonly force?: boolean;
}

/** Options of an event. */
export interface EventOptions {
  /** What was done, in one word of CamelCase. @default {"Reconcile"} */
  readonly action?: string;
  /** Another object that it is about. @default {none} */
  readonly related?: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string };
  };
}

/**
 * Kubernetes Events about the object, as `kubectl describe` shows them (events.k8s.io/v1). Repeats become a series; too many are left out; one that cannot
 * be written fails nothing.
 */
export interface Events {
  /** Tells what went as it should: `normal("Published", "The page is at https://…")`. */
  normal(reason: string, note: string, options?: EventOptions): void;
  /** Tells what did not. */
  warning(reason: string, note: string, options?: EventOptions): void;
}

/** A structured log that carries the object's keys. Messages are constant; what varies goes into fields. */
export interface Log {
  /** What only those who look for a fault want to read; not shown unless the setting `log_level` says `debug`. */
  debug(message: string, fields?: Record<string, unknown>): void;
  /** What went as it should. */
  info(message: string, fields?: Record<string, unknown>): void;
  /** What somebody should look at some day. */
  warn(message: string, fields?: Record<string, unknown>): void;
  /** What somebody should look at now. An `error` among the fields is written with its causes and its stack. */
  error(message: string, fields?: Record<string, unknown>): void;
}

/** Why a run happens. It is data for logs and tests, never the trigger. */
export type Reason =
  | "changed"
  | "owned changed"
  | "watched changed"
  | "found at start"
  | "requeued"
  | "retried"
  | "triggered";

/** The part of a status that a reconciler reports. In the status of an own kind, `conditions` and `observedGeneration` are the SDK's. */
export type StatusPart<K extends AnyKind> = Infer<K> extends { readonly status?: infer S } ? Partial<
    {
      readonly [P in Exclude<keyof NonNullable<S>, SdkStatus<K>>]: NonNullable<S>[P] | undefined;
    }
  >
  : never;

/** The properties of a status that the SDK writes: none in the status of a kind that others define. */
type SdkStatus<K extends AnyKind> = K extends { readonly writesStatus: true } ? never
  : "conditions" | "observedGeneration";

/**
 * The own kind of a controller with `writesStatus: true`, as the type of its context has it. Functions that take the context need it.
 *
 * @typeParam K A built-in or an external kind.
 *
 * @example Usage
 * ```ts
 * import { type Context, controller, type Infer, type WritesStatus } from "@op/sdk";
 * import { Ingress } from "@op/sdk/kinds";
 *
 * const ingresses = controller(Ingress, {
 *   writesStatus: true,
 *   reconcile: (ingress, context) => report(ingress, context),
 * });
 *
 * function report(_ingress: Infer<typeof Ingress>, { status }: Context<WritesStatus<typeof Ingress>>): void {
 *   status({ loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } });
 * }
 * ```
 */
export type WritesStatus<K extends AnyKind> = K & { readonly writesStatus: true };

/** Whether the controller of a kind writes its status: it is the operator's own, or the controller has `writesStatus: true`. A kind of unknown name may be either. */
type IsStatusOurs<K extends AnyKind> = K extends { readonly writesStatus: true } ? true
  : K extends { readonly external: true } ? false
  : K extends { readonly crd: CustomResourceDefinitionManifest } ? true
  : string extends K["kind"] ? true
  : false;

/** `Report` where the controller writes the status; otherwise the sentence that the compiler shows. */
type Reported<K extends AnyKind, Report> = IsStatusOurs<K> extends true
  ? [Report] extends [never]
    ? string extends K["kind"] ? Report : `${K["kind"]} has no status: add "status" to its resource()`
  : Report
  : `the status of ${K[
    "kind"
  ]} is not this operator's: add writesStatus: true only if the operator implements the kind`;

/**
 * What a reconciler is handed beside the object. Reads and writes take only kinds that the controller declares, and wait for the server where they ask it:
 * once the run's signal is aborted, they reject. What the server refuses is an {@linkcode ApiError}; a reconciler that lets it through is tried again.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { controller } from "@op/sdk";
 * import { ConfigMap, Namespace } from "@op/sdk/kinds";
 * import { memoryCluster } from "@op/sdk/testing";
 *
 * const welcome = controller(Namespace, {
 *   owns: [ConfigMap],
 *   async reconcile({ metadata: { name } }, { apply, events, log }) {
 *     const made = await apply(ConfigMap, { metadata: { name: "welcome", namespace: name }, data: { text: `This is ${name}` } });
 *     log.info("Welcomed", { resourceVersion: made.metadata.resourceVersion });
 *     events.normal("Welcomed", "There is a ConfigMap that says so");
 *   },
 * });
 *
 * await using cluster = await memoryCluster({ parts: { welcome }, namespaces: ["team"] });
 * await cluster.settle();
 * assert(await cluster.exists(ConfigMap, "welcome", { namespace: "team" }));
 * ```
 */
export interface Context<
  Own extends AnyKind = AnyKind,
  Owns extends readonly AnyKind[] = readonly AnyKind[],
  Reads extends readonly AnyKind[] = readonly AnyKind[],
  Uses extends readonly Access[] = readonly Access[],
  Indexes extends IndexMap = IndexMap,
  Services = unknown,
> {
  /**
   * Reads an object: from the cache for the own kind, `owns`, `reads` and `watches`; live for `uses`. Nothing when there is none.
   *
   * @throws {TypeError} If the kind lives in namespaces, the object of the run in none, and no namespace is said; if a watch by `names` is of other names.
   */
  get<K extends AnyKind>(
    kind: Readable<K, Own, Owns, Reads, Uses, "get">,
    name: string,
    options?: NamespaceOptions,
  ): Promise<Infer<K> | undefined>;
  /** Lists objects: from the cache for the own kind, `owns`, `reads` and `watches`; live for `uses`. */
  list<K extends AnyKind>(
    kind: Readable<K, Own, Owns, Reads, Uses, "list">,
    options?: ListOptions,
  ): Promise<readonly Infer<K>[]>;
  /**
   * Returns the object's children of a kind, from the cache: the objects whose controller owner reference has the uid of the reconciled object. Children
   * that are being deleted are included.
   *
   * @example Usage
   * ```ts
   * import { controller, resource, s } from "@op/sdk";
   * import { Job } from "@op/sdk/kinds";
   *
   * const Backup = resource({
   *   group: "demo.example.com",
   *   version: "v1",
   *   kind: "Backup",
   *   spec: s.object({}),
   *   status: s.object({ active: s.optional(s.integer()) }),
   * });
   *
   * const backups = controller(Backup, {
   *   owns: [Job],
   *   reconcile(_backup, { owned, status }) {
   *     status({ active: owned(Job).filter((job) => job.status?.active !== undefined).length });
   *   },
   * });
   * ```
   */
  owned<K extends AnyKind>(kind: Child<K, Owns>): readonly Infer<K>[];
  /** The objects that an index of the controller has under a key. */
  index<Name extends keyof Indexes & string>(name: Name, key: string): readonly Infer<Indexes[Name]["kind"]>[];
  /** Reads an object of a kind in `uses` from the server, past the cache: for the rare case in which what is cached will not do. */
  getLive<K extends AnyKind>(
    kind: Declared<K, Used<Uses, "get">, `add access(${K["kind"]}, "get") to "uses"`>,
    name: string,
    options?: NamespaceOptions,
  ): Promise<Infer<K> | undefined>;
  /**
   * Makes an object as wanted (server-side apply) and answers the live one. What would change nothing is not sent.
   *
   * @throws {TypeError} If it has no name, was read from the server in place of being written, or is where an owner reference does not reach.
   * @throws {TemporaryError} If another object's controller owns it: it may be about to be collected.
   * @throws {ApiError} With status 422 if a field is wrong; with `{ force: false }`, 409 if one is another manager's.
   */
  apply<K extends AnyKind>(
    kind: Owned<K, Own, Owns>,
    wanted: Input<K>,
    options?: ApplyOptions,
  ): Promise<Infer<K>>;
  /**
   * Makes all that the object is to own, in this order, and answers the live objects. What the controller applied for it before, of the kinds in `owns`, and
   * what is not among them is deleted, where the controller says `prune: true`. What other controllers made for the object stays, and so does what `create` made.
   */
  applyAll<const Children extends readonly (readonly [AnyKind, unknown])[]>(
    children: Children & ChildrenOf<Children, Own, Owns>,
  ): Promise<{ -readonly [I in keyof Children]: Infer<Children[I][0]> }>;
  /**
   * Creates an object and answers it. Kinds of `owns` get an owner reference.
   *
   * @throws {ApiError} With status 409 if it is there already, with 422 if a field is wrong.
   */
  create<K extends AnyKind>(kind: Writable<K, Own, Owns, Uses, "create">, object: Input<K>): Promise<Infer<K>>;
  /**
   * Changes an object by a patch, a JSON merge patch unless another type is named, and answers it.
   *
   * @throws {ApiError} With status 404 if there is none, with 422 if a field is wrong or a JSON patch does not fit.
   */
  patch<K extends AnyKind>(
    kind: Writable<K, Own, Owns, Uses, "patch">,
    name: string,
    patch: unknown,
    options?: PatchOptions,
  ): Promise<Infer<K>>;
  /**
   * Deletes an object. An object that does not exist is not an error.
   *
   * @throws {ApiError} With status 409 if the object does not meet `preconditions`.
   */
  delete<K extends AnyKind>(kind: Deletable<K, Uses>, name: string, options?: DeleteOptions): Promise<void>;
  /**
   * Collects properties of the object's status: written once, when the reconcile ends. A property that is `undefined` is removed.
   *
   * @throws {TypeError} If the kind has no status subresource, or is built in or external and the controller does not have `writesStatus: true`.
   */
  status(part: Reported<Own, StatusPart<Own>>): void;
  /**
   * Collects a condition of the object's status: written once, when the reconcile ends, with its transition time and generation.
   *
   * @throws {TypeError} As {@linkcode Context.status} does.
   */
  condition(
    condition: Reported<
      Own,
      [StatusPart<Own>] extends [never] ? never
        : Pick<Condition, "type" | "status" | "reason"> & { readonly message?: string }
    >,
  ): void;
  /** Kubernetes Events about the object. */
  readonly events: Events;
  /** What the operator made at its start; see the option `services` of `operator`. */
  readonly services: Services;
  /** Returns the current time, by the operator's clock. In a memory cluster it is the cluster's time, which the test moves; `Date` is not. */
  now(): Date;
  /** The operator's clock: system time, or in a memory cluster the cluster's. */
  readonly clock: Clock;
  /** A log with the object's keys. */
  readonly log: Log;
  /** Aborted when the object is deleted, the run takes too long, or the operator stops. */
  readonly signal: AbortSignal;
  /** Which try this is, from 1: failed runs of the object in a row before this one, and one. */
  readonly attempt: number;
  /** Why the run happens. */
  readonly reason: Reason;
}
