/** The context of a reconcile. */
import type { Clock } from "../base/clock.ts";
import type { Duration } from "../base/duration.ts";
import type { AnyKind, Condition, CustomResourceDefinitionManifest, Infer, Input } from "../resource/kind.ts";
import type { Access, Verb } from "./access.ts";
import type { Index } from "./watch.ts";

/** The identity of a kind as a string type. It distinguishes kinds that have the same shape. */
type Key<K extends AnyKind> = K extends AnyKind ? `${K["group"]}/${K["version"]}/${K["kind"]}` : never;

/** The kinds in `uses` that are declared with the verb `V`. */
type Used<Uses extends readonly Access[], V extends Verb> = Uses[number] extends infer A
  ? A extends Access<infer K, infer W> ? V extends W ? K : never : never
  : never;

/** `K` if it is among the declared kinds, otherwise the message that the compiler shows. */
type Declared<K extends AnyKind, Kinds extends AnyKind, Fix extends string> = [Key<K>] extends [Key<Kinds>] ? K
  : `${K["kind"]} is not declared here: ${Fix}`;

/** `K` if it may be read: it is the own kind, in `owns` or `reads`, or in `uses` with the verb. */
export type Readable<
  K extends AnyKind,
  Own extends AnyKind,
  Owns extends readonly AnyKind[],
  Reads extends readonly AnyKind[],
  Uses extends readonly Access[],
  V extends "get" | "list",
> = Declared<K, Own | Owns[number] | Reads[number] | Used<Uses, V>, ReadFix<K, Own, V>>;

/** The advice for a kind that may not be read. A webhook has no own kind and no watches. */
type ReadFix<K extends AnyKind, Own extends AnyKind, V extends "get" | "list"> =
  `add it to "reads" (cached), or access(${K["kind"]}, "${V}") to "uses" (live)${V extends "get"
    ? [Own] extends [never] ? "" : `, or watch(${K["kind"]}, { names }) to "watches" (only named objects)`
    : ""}`;

/** The advice for a kind that may not be written. The own kind may be patched by a direct call. */
type WriteFix<K extends AnyKind, Own extends AnyKind> = [Key<K>] extends [Key<Own>]
  ? `it is the controller's own kind: add access(${K["kind"]}, "patch") to "uses" and patch it`
  : `add it to "owns"`;

/** `K` if it may be applied because it is in `owns`. */
export type Owned<K extends AnyKind, Own extends AnyKind, Owns extends readonly AnyKind[]> = Declared<
  K,
  Owns[number],
  WriteFix<K, Own>
>;

/** `K` if it is in `owns`. */
export type Child<K extends AnyKind, Owns extends readonly AnyKind[]> = Declared<
  K,
  Owns[number],
  `add it to "owns"`
>;

/** `K` if it may be created or patched: it is in `owns`, or in `uses` with the verb. */
export type Writable<
  K extends AnyKind,
  Own extends AnyKind,
  Owns extends readonly AnyKind[],
  Uses extends readonly Access[],
  V extends "create" | "patch",
> = Declared<K, Owns[number] | Used<Uses, V>, WriteFix<K, Own>>;

/** `K` if it may be deleted: it is in `uses` with the verb `delete`. */
export type Deletable<K extends AnyKind, Uses extends readonly Access[]> = Declared<
  K,
  Used<Uses, "delete">,
  `add access(${K["kind"]}, "delete") to "uses"`
>;

/** The indexes of a controller, by name. */
export type IndexMap = { readonly [name: string]: Index };

/** A list of pairs of a kind in `owns` and an object to apply. */
type ChildrenOf<Children, Own extends AnyKind, Owns extends readonly AnyKind[]> = {
  readonly [I in keyof Children]: Children[I] extends readonly [infer K extends AnyKind, unknown]
    ? readonly [Owned<K, Own, Owns>, Input<K>]
    : never;
};

/** The namespace of a call. */
export interface NamespaceOptions {
  /** The name of the namespace. @default {the namespace of the reconciled object} */
  readonly namespace?: string;
}

/** Options of a list. */
export interface ListOptions {
  /**
   * The name of a namespace, or `"*"` for all. @default {the namespace of the reconciled object}
   */
  readonly namespace?: string;
  /** Labels that objects must have, with these values. @default {all objects} */
  readonly selector?: { readonly [label: string]: string };
}

/** Options of {@linkcode Context.patch}. */
export interface PatchOptions extends NamespaceOptions {
  /**
   * The format of the patch: JSON merge patch (RFC 7396), JSON patch (RFC 6902), or strategic merge
   * patch, which only built-in kinds support. @default {"merge"}
   */
  readonly type?: "merge" | "json" | "strategic";
  /** The subresource to patch, such as `status` or `scale`. @default {none: the object itself} */
  readonly subresource?: string;
}

/** Options of {@linkcode Context.delete}. */
export interface DeleteOptions extends NamespaceOptions {
  /**
   * How the objects that the deleted object owns are deleted. `"Background"`: the garbage collector
   * deletes them afterwards. `"Foreground"`: they are deleted first. `"Orphan"`: they are kept.
   *
   * @default {"Background"}
   */
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan" | undefined;
  /**
   * Conditions that the object must meet. Otherwise it is not deleted, and the call rejects with an
   * {@linkcode ApiError} with status 409. @default {none}
   */
  readonly preconditions?: {
    /** The object's `metadata.uid`: another object of the same name is not deleted. */
    readonly uid?: string | undefined;
    /** The object's `metadata.resourceVersion`: an object that has changed is not deleted. */
    readonly resourceVersion?: string | undefined;
  } | undefined;
}

/** Options of {@linkcode Context.apply}. */
export interface ApplyOptions {
  /**
   * Whether to set an owner reference. With it, a change of the applied object reconciles the
   * owner, and Kubernetes deletes the applied object together with the owner. Without it, `cleanup`
   * has to delete the applied object. @default {true}
   */
  readonly owner?: boolean;
  /** Whether to take over fields from other field managers. @default {true} */
  readonly force?: boolean;
}

/** Options of an Event. */
export interface EventOptions {
  /** The action in one word, in CamelCase. @default {"Reconcile"} */
  readonly action?: string;
  /** Another object that the Event is about. @default {none} */
  readonly related?: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string };
  };
}

/**
 * Reports Kubernetes Events about the object (events.k8s.io/v1), which `kubectl describe` shows.
 * Repeated Events become a series. Events are rate-limited, and failing to write one does not fail
 * the reconcile.
 */
export interface Events {
  /** Reports a normal Event: `normal("Published", "The page is at https://...")`. */
  normal(reason: string, note: string, options?: EventOptions): void;
  /** Reports a warning. */
  warning(reason: string, note: string, options?: EventOptions): void;
}

/** A structured log with the object's keys. Messages are constant; values are fields. */
export interface Log {
  /** Logs a message for debugging. It is written only if the setting `log_level` is `debug`. */
  debug(message: string, fields?: Record<string, unknown>): void;
  /** Logs a normal event. */
  info(message: string, fields?: Record<string, unknown>): void;
  /** Logs a condition that someone should look into eventually. */
  warn(message: string, fields?: Record<string, unknown>): void;
  /**
   * Logs a condition that someone should look into now. A field `error` is written with its causes
   * and stack.
   */
  error(message: string, fields?: Record<string, unknown>): void;
}

/**
 * Why a reconcile was triggered. It is data for logs and tests; reconcilers must not depend on it.
 */
export type ReconcileReason =
  | "changed"
  | "owned changed"
  | "watched changed"
  | "found at start"
  | "requeued"
  | "retried"
  | "triggered";

/**
 * The properties of a status that a reconciler may set. In the status of an own kind, the SDK
 * maintains `conditions` and `observedGeneration`.
 */
export type StatusPart<K extends AnyKind> = Infer<K> extends { readonly status?: infer S } ? Partial<
    {
      readonly [P in Exclude<keyof NonNullable<S>, SdkStatus<K>>]: NonNullable<S>[P] | undefined;
    }
  >
  : never;

/** The properties of a status that the SDK maintains: none for a kind that others define. */
type SdkStatus<K extends AnyKind> = K extends { readonly writesStatus: true } ? never
  : "conditions" | "observedGeneration";

/**
 * The own kind of a controller with `writesStatus: true`, as the type argument of its context.
 * Functions that receive the context need it.
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
 * function report(
 *   _ingress: Infer<typeof Ingress>,
 *   { status }: Context<WritesStatus<typeof Ingress>>,
 * ): void {
 *   status({ loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } });
 * }
 * ```
 */
export type WritesStatus<K extends AnyKind> = K & { readonly writesStatus: true };

/**
 * Whether the controller of a kind writes its status: it is the operator's own kind, or the
 * controller has `writesStatus: true`. It is `true` for a kind whose name the compiler does not
 * know, such as `AnyKind`.
 */
type IsStatusOurs<K extends AnyKind> = K extends { readonly writesStatus: true } ? true
  : K extends { readonly external: true } ? false
  : K extends { readonly crd: CustomResourceDefinitionManifest } ? true
  : string extends K["kind"] ? true
  : false;

/**
 * `Report` if the controller writes the status, otherwise the message that the compiler shows.
 * `any` in a context of every controller: a fake one.
 */
// deno-lint-ignore no-explicit-any
type Reported<K extends AnyKind, Report> = unknown extends K ? any
  : IsStatusOurs<K> extends true
    ? [Report] extends [never]
      ? string extends K["kind"] ? Report : `${K["kind"]} has no status: add "status" to its resource()`
    : Report
  : `the status of ${K[
    "kind"
  ]} is not this operator's: add writesStatus: true only if the operator implements the kind`;

/**
 * The context of a reconcile. Reads and writes accept only kinds that the controller declares.
 * Calls to the API server reject when the reconcile's signal is aborted, and with an
 * {@linkcode ApiError} if the server responds with an error; a reconciler that does not catch it is
 * retried.
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
 *     const metadata = { name: "welcome", namespace: name };
 *     const applied = await apply(ConfigMap, { metadata, data: { text: `This is ${name}` } });
 *     log.info("Welcomed", { resourceVersion: applied.metadata.resourceVersion });
 *     events.normal("Welcomed", "Created the ConfigMap welcome");
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
   * Returns an object, or `undefined` if it does not exist. It reads the cache for the own kind,
   * `owns`, `reads` and `watches`, and the API server for `uses`.
   *
   * @throws {TypeError} If the kind is namespaced, the reconciled object is cluster-scoped, and no
   *   namespace is given; or if a watch by `names` does not include the name.
   */
  get<K extends AnyKind>(
    kind: Readable<K, Own, Owns, Reads, Uses, "get">,
    name: string,
    options?: NamespaceOptions,
  ): Promise<Infer<K> | undefined>;
  /**
   * Lists objects. It reads the cache for the own kind, `owns`, `reads` and `watches`, and the API
   * server for `uses`.
   */
  list<K extends AnyKind>(
    kind: Readable<K, Own, Owns, Reads, Uses, "list">,
    options?: ListOptions,
  ): Promise<readonly Infer<K>[]>;
  /**
   * Returns the object's children of a kind, from the cache: the objects whose controller owner
   * reference has the uid of the reconciled object. Children that are being deleted are included.
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
  /** Returns the objects that an index of the controller has under a key. */
  index<Name extends keyof Indexes & string>(name: Name, key: string): readonly Infer<Indexes[Name]["kind"]>[];
  /**
   * Returns an object of a kind in `uses` from the API server, or `undefined` if it does not exist.
   * Use it in the rare cases in which the cache is not current enough.
   */
  getLive<K extends AnyKind>(
    kind: Declared<K, Used<Uses, "get">, `add access(${K["kind"]}, "get") to "uses"`>,
    name: string,
    options?: NamespaceOptions,
  ): Promise<Infer<K> | undefined>;
  /**
   * Applies an object (server-side apply) and returns it as stored. If the stored object already
   * has the applied values, no request is sent.
   *
   * @throws {TypeError} If the object has no name, was read from the API server, or cannot have an
   *   owner reference to the reconciled object.
   * @throws {TemporaryError} If another object is its controller owner, because the object may be
   *   about to be garbage-collected.
   * @throws {ApiError} With status 422 if a field is invalid; with `{ force: false }`, with status
   *   409 if another field manager owns a field.
   */
  apply<K extends AnyKind>(
    kind: Owned<K, Own, Owns>,
    wanted: Input<K>,
    options?: ApplyOptions,
  ): Promise<Infer<K>>;
  /**
   * Applies all children of the object in this order and returns them as stored. If the controller
   * has `prune: true`, it then deletes the objects of the kinds in `owns` that it applied for the
   * object earlier and that are not in the list. Objects of other controllers, and those that
   * `create` created, are not deleted.
   */
  applyAll<const Children extends readonly (readonly [AnyKind, unknown])[]>(
    children: Children & ChildrenOf<Children, Own, Owns>,
  ): Promise<{ -readonly [I in keyof Children]: Infer<Children[I][0]> }>;
  /**
   * Creates an object and returns it. Kinds in `owns` get an owner reference.
   *
   * @throws {ApiError} With status 409 if the object exists, with 422 if a field is invalid.
   */
  create<K extends AnyKind>(kind: Writable<K, Own, Owns, Uses, "create">, object: Input<K>): Promise<Infer<K>>;
  /**
   * Patches an object and returns it. The default format is JSON merge patch.
   *
   * @throws {ApiError} With status 404 if the object does not exist, with 422 if a field is invalid
   *   or a JSON patch does not apply.
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
   * Sets properties of the object's status. They are written once, when the reconcile ends. A
   * property that is `undefined` is removed.
   *
   * @throws {TypeError} If the kind has no status subresource, or is built in or external and the
   *   controller does not have `writesStatus: true`.
   */
  status(part: Reported<Own, StatusPart<Own>>): void;
  /**
   * Sets a condition of the object's status. It is written once, when the reconcile ends, with its
   * transition time and generation.
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
  /** The services that the operator created at start; see the option `services` of `operator`. */
  readonly services: Services;
  /**
   * Returns the current time of the operator's clock. In a memory cluster the test moves this
   * clock; `Date` does not follow it.
   */
  now(): Date;
  /** The operator's clock: system time, or the clock of the memory cluster. */
  readonly clock: Clock;
  /** A log with the object's keys. */
  readonly log: Log;
  /**
   * Aborted when the object is deleted, the reconcile exceeds its time limit, or the operator
   * stops.
   */
  readonly signal: AbortSignal;
  /** The attempt number, starting at 1: consecutive failures of the object plus one. */
  readonly attempt: number;
  /**
   * When the first attempt began. With {@linkcode Context.elapsed}, it shows how long an object
   * fails.
   */
  readonly started: Date;
  /** Milliseconds from the start of the first attempt to the start of this one; 0 in the first. */
  readonly elapsed: number;
  /**
   * Waits on the operator's clock. In a memory cluster, `settle` and `advance` end the wait.
   *
   * Use it for short waits. While a reconciler waits, it counts towards `concurrency`, and changes
   * of the object are not reconciled. `requeue` and `TemporaryError` wait without both.
   *
   * A wait that is not over when the reconcile ends is canceled: its promise never settles.
   *
   * @throws The reason of {@linkcode Context.signal} when it is aborted.
   *
   * @example Usage
   * ```ts
   * import assert from "node:assert/strict";
   * import { controller } from "@op/sdk";
   * import { Namespace } from "@op/sdk/kinds";
   * import { fakeContext } from "@op/sdk/testing";
   *
   * const namespaces = controller(Namespace, {
   *   async reconcile(_namespace, { sleep, now, log }) {
   *     await sleep("500ms");
   *     log.info("Waited", { until: now() });
   *   },
   * });
   *
   * const context = fakeContext();
   * await namespaces.reconcile({ metadata: { name: "team" } }, context);
   * assert.equal(context.now().toISOString(), "2030-01-01T00:00:00.500Z");
   * ```
   */
  sleep(duration: Duration): Promise<void>;
  /** Why the reconcile was triggered. */
  readonly reason: ReconcileReason;
}
