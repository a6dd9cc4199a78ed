/**
 * A context that records what a reconcile does, for tests without an API server. It does not
 * default, validate or reject anything, and an apply is a merge. Use `memoryCluster` to test those.
 */
import { applyJsonPatch, type JsonPatchOperation } from "../base/json_patch.ts";
import { isObject } from "../base/json.ts";
import { applyMergePatch } from "../base/merge_patch.ts";
import { type Clock, sleep } from "../base/clock.ts";
import { type Duration, milliseconds } from "../base/duration.ts";
import { VirtualClock } from "../base/virtual_clock.ts";
import { Diff } from "../handlers/diff.ts";
import type { Memo } from "../handlers/memo.ts";
import { StepRunner } from "../handlers/steps.ts";
import type {
  Context,
  DeleteOptions,
  EventOptions,
  Events,
  ListOptions,
  Log,
  NamespaceOptions,
  PatchOptions,
  ReconcileReason,
} from "../parts/context.ts";
import type { Controller } from "../parts/controller.ts";
import { checkWritesStatus } from "../parts/status_owner.ts";
import type { AnyKind, Condition, KubeObject } from "../resource/kind.ts";

/** Options for {@linkcode fakeContext}. */
export interface FakeContextOptions<Services = unknown> {
  /**
   * Objects that exist, each with its kind. An apply merges into the existing object, so that an
   * owned object can have a status.
   *
   * @default {[]}
   */
  readonly objects?: readonly (readonly [AnyKind, FakeObject])[];
  /** Namespace of the object that is reconciled. @default {"default"} */
  readonly namespace?: string;
  /**
   * The controller. `index` needs it, and it lets `status` and `condition` throw if the controller
   * does not write the status of its kind.
   *
   * @default {none: `index` throws}
   */
  readonly controller?: Controller;
  /** Services of the operator. @default {undefined} */
  readonly services?: Services;
  /**
   * Clock for `now`, `clock` and `sleep`. A `sleep` moves a `VirtualClock` and returns.
   *
   * @default {a `VirtualClock` at 2030-01-01T00:00:00Z}
   */
  readonly clock?: Clock;
  /** Number of the attempt. @default {1} */
  readonly attempt?: number;
  /**
   * When the first attempt began. `elapsed` is the time since then. @default {the time of `clock`}
   */
  readonly started?: Date;
  /** Reason for the reconcile. @default {"changed"} */
  readonly reason?: ReconcileReason;
  /** Signal of the context. @default {one that is never aborted} */
  readonly signal?: AbortSignal;
  /** For a handler: why it is called, such as `"update"`. @default {undefined} */
  readonly cause?: string;
  /**
   * For a handler that follows changes: the value in its last successful call. @default {undefined}
   */
  readonly old?: unknown;
  /** For a handler that follows changes: the value now. @default {undefined} */
  readonly current?: unknown;
  /** For a handler of items: the item. @default {undefined} */
  readonly item?: unknown;
}

/** An object with the fields that a test needs. */
export interface FakeObject {
  /** Name, namespace if it is not that of the context, and other metadata. */
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [key: string]: unknown };
  /** Other fields, such as `spec`, `status` and `data`. */
  readonly [key: string]: unknown;
}

/** A write that a reconcile requested. */
export interface FakeWrite {
  /** Function of the context that was called. */
  readonly verb: "apply" | "create" | "patch" | "delete";
  /** Kind, such as `Deployment`. */
  readonly kind: string;
  /** Name of the object. */
  readonly name: string;
  /** Namespace of the object; `undefined` for cluster-scoped kinds. */
  readonly namespace?: string;
  /** The object, or the patch; `undefined` for a deletion. */
  readonly body?: unknown;
  /** Subresource of a patch, such as `status`. */
  readonly subresource?: string;
  /** Options of a deletion. */
  readonly options?: Pick<DeleteOptions, "propagationPolicy" | "preconditions">;
}

// deno-lint-ignore no-explicit-any
type Unchecked = any;

type FakeCondition = Pick<Condition, "type" | "status" | "reason"> & { readonly message?: string };

/** The fields that only contexts of handlers have. Most have the values of the options. */
export interface FakeHandlerFields {
  /** Why the handler is called. */
  readonly cause: Unchecked;
  /** The kind of the object: always `undefined`. */
  readonly kind: Unchecked;
  /** The value in the last successful call. */
  readonly old: Unchecked;
  /** The value now. */
  readonly current: Unchecked;
  /** The changes from `old` to `current`. Lists are compared as a whole. */
  readonly diff: Unchecked;
  /** The item. */
  readonly item: Unchecked;
  /** Returns the context's value of a memo, which is created when it is first used. */
  memo<T>(memo: Memo<T, Unchecked>): T;
  /** Runs a step. */
  step(key: Unchecked, fn: Unchecked, options?: Unchecked): Promise<Unchecked>;
  /** Runs steps in parallel. */
  steps(fns: Unchecked): Promise<Unchecked>;
}

/**
 * A context that records what a reconcile does. Created by {@linkcode fakeContext}. It accepts
 * every kind, so it is a context of every controller.
 *
 * - `get`, `getLive` and `list` return objects that were given or written. There is no cache.
 * - `owned` returns all objects of a kind in the namespace of the context, as if the reconciled
 *   object owned them.
 * - `index` needs the `controller` option. Otherwise it throws a `TypeError`.
 * - `apply` and `applyAll` merge into the existing objects, and delete nothing.
 * - `patch` treats a strategic merge patch as a merge patch.
 * - `delete` does not check preconditions.
 */
export interface FakeContext<Services = unknown>
  extends Context<Unchecked, Unchecked, Unchecked, Unchecked, Unchecked, Services>, FakeHandlerFields {
  /** All writes, in order, including those that change nothing. */
  readonly writes: readonly FakeWrite[];
  /** All calls of `status`, merged. */
  readonly reportedStatus: Readonly<Record<string, unknown>>;
  /** The last condition of each type. */
  readonly conditions: readonly (Pick<Condition, "type" | "status" | "reason"> & { readonly message?: string })[];
  /** Events that were emitted, in order. */
  readonly emittedEvents: readonly {
    readonly type: "Normal" | "Warning";
    readonly reason: string;
    readonly note: string;
  }[];
  /** Log lines, in order. */
  readonly logged: readonly { readonly level: keyof Log; readonly message: string; readonly fields?: unknown }[];
}

/**
 * Creates a context for a call of `reconcile` or `cleanup`. Reads return the given objects, with
 * the writes of the reconcile applied.
 *
 * @typeParam Services The services that the controller uses.
 * @param options The objects and properties of the context.
 * @returns The context, with a record of its calls.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { controller } from "@op/sdk";
 * import { ConfigMap, Namespace } from "@op/sdk/kinds";
 * import { fakeContext } from "@op/sdk/testing";
 *
 * const welcome = controller(Namespace, {
 *   owns: [ConfigMap],
 *   async reconcile({ metadata: { name } }, { apply, log }) {
 *     await apply(ConfigMap, {
 *       metadata: { name: "welcome", namespace: name },
 *       data: { text: `This is ${name}` },
 *     });
 *     log.info("Welcomed");
 *   },
 * });
 *
 * const context = fakeContext();
 * await welcome.reconcile({ metadata: { name: "team" } }, context);
 * const { verb, kind, namespace, name } = context.writes[0]!;
 * assert.deepEqual([verb, kind, namespace, name], ["apply", "ConfigMap", "team", "welcome"]);
 * assert.deepEqual(context.logged, [{ level: "info", message: "Welcomed" }]);
 * ```
 *
 * @example A handler
 * ```ts
 * import assert from "node:assert/strict";
 * import { on } from "@op/sdk";
 * import { ConfigMap } from "@op/sdk/kinds";
 * import { fakeContext } from "@op/sdk/testing";
 *
 * const resize = on.field(ConfigMap, ".data.size", (_map, { old, current, events }) => {
 *   events.normal("Resized", `from ${old} to ${current}`);
 * });
 *
 * const context = fakeContext({ cause: "update", old: "1", current: "2" });
 * await resize.handle({ metadata: { name: "a" } }, context);
 * assert.equal(context.emittedEvents[0]!.note, "from 1 to 2");
 * ```
 */
export function fakeContext<Services = unknown>(options: FakeContextOptions<Services> = {}): FakeContext<Services> {
  return new RecordingContext(options);
}

/**
 * Records all calls. Its functions are properties, because reconcilers destructure the context, as
 * in `{ apply, log }`.
 */
class RecordingContext<Services> implements FakeContext<Services> {
  readonly writes: FakeWrite[] = [];
  readonly emittedEvents: FakeContext["emittedEvents"][number][] = [];
  readonly logged: FakeContext["logged"][number][] = [];
  readonly services: Services;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly attempt: number;
  readonly started: Date;
  readonly elapsed: number;
  readonly reason: ReconcileReason;
  readonly cause: Unchecked;
  readonly kind: Unchecked;
  readonly old: Unchecked;
  readonly current: Unchecked;
  readonly item: Unchecked;
  readonly #controller: Controller | undefined;
  readonly #objects: FakeObjects;
  readonly #memos = new Map<unknown, unknown>();
  readonly #steps: StepRunner;
  readonly #conditions = new Map<string, FakeCondition>();
  #status: Record<string, unknown> = {};

  constructor(options: FakeContextOptions<Services>) {
    const { objects = [], namespace = "default", controller, attempt = 1, reason = "changed" } = options;
    const { signal = new AbortController().signal, clock = new VirtualClock() } = options;
    this.services = options.services as Services;
    this.clock = clock;
    this.signal = signal;
    this.attempt = attempt;
    this.started = options.started ?? this.now();
    this.elapsed = clock.now() - this.started.getTime();
    this.reason = reason;
    this.cause = options.cause;
    this.old = options.old;
    this.current = options.current;
    this.item = options.item;
    this.#steps = new StepRunner({ clock, signal, attempt, classify: () => ({ kind: "other" }) });
    this.#controller = controller;
    this.#objects = new FakeObjects(namespace);
    for (const [kind, object] of objects) this.#objects.put(kind, object);
  }

  get reportedStatus(): Readonly<Record<string, unknown>> {
    return this.#status;
  }

  get conditions(): readonly FakeCondition[] {
    return [...this.#conditions.values()];
  }

  readonly get = (kind: Unchecked, name: string, options: NamespaceOptions = {}): Promise<Unchecked> =>
    Promise.resolve(this.#objects.get(kind, { name, ...options }));

  readonly getLive = this.get;

  readonly list = (kind: Unchecked, { namespace, selector = {} }: ListOptions = {}): Promise<readonly Unchecked[]> => {
    const labels = Object.entries(selector);
    const found = this.#objects.list(kind, namespace).filter(({ metadata }) =>
      labels.every(([key, value]) => metadata.labels?.[key] === value)
    );
    return Promise.resolve(found);
  };

  readonly owned = (kind: Unchecked): readonly Unchecked[] => this.#objects.list(kind);

  readonly index = (name: string, key: string): readonly Unchecked[] => {
    const index = this.#controller?.indexes[name];
    if (index === undefined) {
      throw new TypeError(
        this.#controller === undefined
          ? `index(): cannot read index "${name}" without a controller. Pass "controller" to fakeContext()`
          : `index(): the controller has no index "${name}". Add it to "indexes"`,
      );
    }
    return this.#objects.list(index.kind, "*").filter((object) => [index.keys(object) ?? []].flat().includes(key));
  };

  readonly apply = (kind: Unchecked, wanted: Unchecked): Promise<Unchecked> => {
    const existing = this.#objects.get(kind, (wanted as FakeObject).metadata);
    return this.#put("apply", kind, wanted, existing);
  };

  readonly applyAll = (children: Unchecked): Promise<Unchecked> =>
    Promise.all((children as [AnyKind, unknown][]).map(([kind, wanted]) => this.apply(kind, wanted)));

  readonly create = (kind: Unchecked, object: Unchecked): Promise<Unchecked> => this.#put("create", kind, object);

  readonly patch = (
    kind: Unchecked,
    name: string,
    patch: unknown,
    { namespace, subresource, type = "merge" }: PatchOptions = {},
  ): Promise<Unchecked> => {
    const id = { name, ...namespace !== undefined && { namespace } };
    this.#record("patch", kind, id, { body: patch, ...subresource !== undefined && { subresource } });
    const existing = this.#objects.get(kind, id) ?? { metadata: id };
    const patched = type === "json"
      ? applyJsonPatch(existing, patch as readonly JsonPatchOperation[])
      : applyMergePatch(existing, patch);
    return Promise.resolve(this.#objects.put(kind, patched as FakeObject));
  };

  readonly delete = (kind: Unchecked, name: string, { namespace, ...options }: DeleteOptions = {}): Promise<void> => {
    const id = { name, ...namespace !== undefined && { namespace } };
    this.#record("delete", kind, id, Object.keys(options).length === 0 ? {} : { options });
    this.#objects.delete(kind, id);
    return Promise.resolve();
  };

  readonly status = (part: object): void => {
    if (this.#controller !== undefined) checkWritesStatus(this.#controller, "status()");
    this.#status = { ...this.#status, ...part };
  };

  readonly condition = (condition: FakeCondition): void => {
    if (this.#controller !== undefined) checkWritesStatus(this.#controller, "condition()");
    this.#conditions.set(condition.type, condition);
  };

  get diff(): Unchecked {
    return new Diff(this.old, this.current);
  }

  readonly memo = <T>(memo: Memo<T, Unchecked>): T => {
    if (!this.#memos.has(memo)) this.#memos.set(memo, memo.create({ metadata: { uid: "" } }));
    return this.#memos.get(memo) as T;
  };

  readonly step = (key: Unchecked, fn: Unchecked, options?: Unchecked): Promise<Unchecked> =>
    this.#steps.step(key, fn, options);

  readonly steps = (fns: Unchecked): Promise<Unchecked> => this.#steps.steps(fns);

  readonly now = (): Date => new Date(this.clock.now());

  readonly sleep = async (duration: Duration): Promise<void> => {
    const delay = milliseconds(duration);
    const due = this.clock.now() + delay;
    const slept = sleep(this.clock, delay, this.signal);
    if (this.clock instanceof VirtualClock) {
      await Promise.resolve(); // parallel sleeps begin at the same time
      while (!this.signal.aborted && this.clock.step(due));
    }
    await slept;
  };

  readonly events: Events = { normal: this.#emit("Normal"), warning: this.#emit("Warning") };

  readonly log: Log = {
    debug: this.#logAt("debug"),
    info: this.#logAt("info"),
    warn: this.#logAt("warn"),
    error: this.#logAt("error"),
  };

  #emit(type: "Normal" | "Warning"): (reason: string, note: string, options?: EventOptions) => void {
    return (reason, note) => void this.emittedEvents.push({ type, reason, note });
  }

  #logAt(level: keyof Log): (message: string, fields?: Record<string, unknown>) => void {
    return (message, fields) => void this.logged.push({ level, message, ...fields !== undefined && { fields } });
  }

  #put(verb: "apply" | "create", kind: AnyKind, wanted: unknown, existing: unknown = {}): Promise<Unchecked> {
    this.#record(verb, kind, (wanted as FakeObject).metadata, { body: wanted });
    return Promise.resolve(this.#objects.put(kind, applyMergePatch(existing, wanted) as FakeObject));
  }

  #record(verb: FakeWrite["verb"], kind: AnyKind, id: ObjectId, rest: Partial<FakeWrite>): void {
    const { name, namespace } = this.#objects.idOf(kind, id);
    this.writes.push({ verb, kind: kind.kind, name, ...namespace !== undefined && { namespace }, ...rest });
  }
}

interface ObjectId {
  readonly name: string;
  readonly namespace?: string;
}

/** The objects of a fake context. */
class FakeObjects {
  readonly #objects = new Map<string, { readonly kind: string; readonly object: KubeObject }>();
  readonly #namespace: string;

  /** @param namespace The namespace of objects without a namespace. */
  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /** Adds the default namespace to an id, or removes the namespace for cluster-scoped kinds. */
  idOf(kind: AnyKind, { name, namespace = this.#namespace }: ObjectId): ObjectId {
    return kind.namespaced ? { name, namespace } : { name };
  }

  get(kind: AnyKind, id: ObjectId): KubeObject | undefined {
    return this.#objects.get(this.#key(kind, id))?.object;
  }

  /** Lists objects of a namespace; of all namespaces if it is `*`. */
  list(kind: AnyKind, namespace: string = this.#namespace): readonly KubeObject[] {
    const isInside = ({ metadata }: KubeObject) =>
      namespace === "*" || !kind.namespaced || metadata.namespace === namespace;
    return [...this.#objects.values()].filter((each) => each.kind === groupKind(kind) && isInside(each.object))
      .map(({ object }) => object);
  }

  put(kind: AnyKind, object: FakeObject): KubeObject {
    const { apiVersion } = kind;
    const metadata = { ...isObject(object.metadata) ? object.metadata : {}, ...this.idOf(kind, object.metadata) };
    const whole = { apiVersion, kind: kind.kind, ...object, metadata } as unknown as KubeObject;
    this.#objects.set(this.#key(kind, object.metadata), { kind: groupKind(kind), object: whole });
    return whole;
  }

  delete(kind: AnyKind, id: ObjectId): void {
    this.#objects.delete(this.#key(kind, id));
  }

  #key(kind: AnyKind, id: ObjectId): string {
    const { name, namespace = "" } = this.idOf(kind, id);
    return `${groupKind(kind)} ${namespace}/${name}`;
  }
}

function groupKind({ group, kind }: AnyKind): string {
  return `${group}/${kind}`;
}
