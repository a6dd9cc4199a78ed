/**
 * A context that writes down what a reconciler does, for those who want no server at all. It is no server: nothing is defaulted, validated, refused
 * or collected in it, and an apply merges. What is to be known of those is tested with `memoryCluster`.
 */
import { applyJsonPatch, type JsonPatchOperation } from "../base/json_patch.ts";
import { isObject } from "../base/json.ts";
import { applyMergePatch } from "../base/merge_patch.ts";
import type { Clock } from "../base/clock.ts";
import { VirtualClock } from "../base/virtual_clock.ts";
import type {
  DeleteOptions,
  EventOptions,
  Events,
  ListOptions,
  Log,
  NamespaceOptions,
  PatchOptions,
  Reason,
} from "../parts/context.ts";
import type { Controller } from "../parts/controller.ts";
import { checkWritesStatus } from "../parts/status_owner.ts";
import type { AnyKind, Condition, KubeObject } from "../resource/kind.ts";

/** Options of {@linkcode fakeContext}. */
export interface FakeContextOptions<Services = unknown> {
  /** What is there already, each with its kind. An apply is answered by the object merged into it: so a child can have a status. @default {nothing} */
  readonly objects?: readonly (readonly [AnyKind, FakeObject])[];
  /** The namespace of the object that is reconciled. @default {"default"} */
  readonly namespace?: string;
  /** The controller: needed for `index`, and to reject `status` where it does not write the status of its kind. @default {none: `index` throws} */
  readonly controller?: Controller;
  /** What the operator would make at its start. @default {nothing} */
  readonly services?: Services;
  /** The time that `now` and `clock` tell. @default {a `VirtualClock` at 2030-01-01T00:00:00Z} */
  readonly clock?: Clock;
  /** Which try it is. @default {1} */
  readonly attempt?: number;
  /** Why the run happens. @default {"changed"} */
  readonly reason?: Reason;
  /** What `signal` of the context is. @default {one that is never aborted} */
  readonly signal?: AbortSignal;
}

/** An object as a test writes it: as much of it as is asked for. */
export interface FakeObject {
  /** Its name, its namespace where that is not the run's own, and whatever else is asked for. */
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [key: string]: unknown };
  /** Spec, status, data: as much as the reconciler looks at. */
  readonly [key: string]: unknown;
}

/** A write, as it was asked for. */
export interface FakeWrite {
  /** Which function of the context was called. */
  readonly verb: "apply" | "create" | "patch" | "delete";
  /** Such as `Deployment`. */
  readonly kind: string;
  /** The object's name. */
  readonly name: string;
  /** Absent for kinds that have none. */
  readonly namespace?: string;
  /** The object that was wanted, or the patch; absent for a deletion. */
  readonly body?: unknown;
  /** Of a patch: such as `status`. */
  readonly subresource?: string;
  /** Of a deletion: what was asked besides the object's place. */
  readonly options?: Pick<DeleteOptions, "propagationPolicy" | "preconditions">;
}

/** Which kinds a reconciler may name is for its own types to say: here any will do, so that this is a context of any controller. */
// deno-lint-ignore no-explicit-any
type Whatever = any;

/** A context that writes down what is done with it. */
export interface FakeContext<Services = unknown> {
  /** All writes, in order. What changes nothing is among them: only a server knows. */
  readonly writes: readonly FakeWrite[];
  /** What was reported as status, put together. */
  readonly reported: Readonly<Record<string, unknown>>;
  /** The conditions that were reported; of each type the last. */
  readonly conditions: readonly (Pick<Condition, "type" | "status" | "reason"> & { readonly message?: string })[];
  /** The events that were told, in order. */
  readonly told: readonly { readonly type: "Normal" | "Warning"; readonly reason: string; readonly note: string }[];
  /** What was logged, in order. */
  readonly logged: readonly { readonly level: keyof Log; readonly message: string; readonly fields?: unknown }[];

  /** Reads an object: one that was given, or was written meanwhile; nothing when there is none. */
  get(kind: Whatever, name: string, options?: NamespaceOptions): Promise<Whatever>;
  /** The same: there is no cache to go past. */
  getLive(kind: Whatever, name: string, options?: NamespaceOptions): Promise<Whatever>;
  /** Lists objects, of a namespace and with labels where those are asked for. */
  list(kind: Whatever, options?: ListOptions): Promise<readonly Whatever[]>;
  /** The objects of a kind in the run's namespace: the object is taken for the owner of all of them, and of those written meanwhile. */
  owned(kind: Whatever): readonly Whatever[];
  /** The objects that an index of the option `controller` has under a key. @throws {TypeError} If it has no such index. */
  index(name: string, key: string): readonly Whatever[];
  /** Writes an apply down, merges it into what is there and answers that. */
  apply(kind: Whatever, wanted: Whatever, options?: unknown): Promise<Whatever>;
  /** The same of each, in their order. Nothing is pruned. */
  applyAll(children: Whatever): Promise<Whatever>;
  /** Writes a creation down and answers the object. */
  create(kind: Whatever, object: Whatever): Promise<Whatever>;
  /** Writes a patch down and answers what it makes of the object. A strategic one counts as a merge patch. */
  patch(kind: Whatever, name: string, patch: unknown, options?: PatchOptions): Promise<Whatever>;
  /** Records a deletion, and deletes the object if there is one. Preconditions are not checked. */
  delete(kind: Whatever, name: string, options?: DeleteOptions): Promise<void>;
  /** Puts together what is reported: it is in `reported`. */
  status(part: object): void;
  /** Notes a condition: it is in `conditions`. */
  condition(condition: Pick<Condition, "type" | "status" | "reason"> & { readonly message?: string }): void;
  /** Notes events: they are in `told`. */
  readonly events: Events;
  /** What the option `services` says. */
  readonly services: Services;
  /** The time of the option `clock`. */
  now(): Date;
  /** The option `clock`. */
  readonly clock: Clock;
  /** Notes lines: they are in `logged`. */
  readonly log: Log;
  /** What the option `signal` says. */
  readonly signal: AbortSignal;
  /** What the option `attempt` says. */
  readonly attempt: number;
  /** What the option `reason` says. */
  readonly reason: Reason;
}

/**
 * A context for a call of `reconcile` or `cleanup` by hand. It answers reads from the objects it is given, and what was written meanwhile.
 *
 * @typeParam Services What the controller takes of the operator's services.
 * @param options What is there, and what the run is told.
 * @returns The context, with what was done with it.
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
 *     await apply(ConfigMap, { metadata: { name: "welcome", namespace: name }, data: { text: `This is ${name}` } });
 *     log.info("Welcomed");
 *   },
 * });
 *
 * const context = fakeContext();
 * await welcome.reconcile({ metadata: { name: "team" } }, context);
 * const [write] = context.writes;
 * assert.equal(`${write?.verb} ${write?.kind} ${write?.namespace}/${write?.name}`, "apply ConfigMap team/welcome");
 * assert.deepEqual(context.logged, [{ level: "info", message: "Welcomed" }]);
 * ```
 */
export function fakeContext<Services = unknown>(options: FakeContextOptions<Services> = {}): FakeContext<Services> {
  const { objects = [], namespace = "default", controller, services, attempt = 1, reason = "changed" } = options;
  const { signal = new AbortController().signal, clock = new VirtualClock() } = options;
  const world = new World(namespace);
  for (const [kind, object] of objects) world.put(kind, object);
  const writes: FakeWrite[] = [];
  const told: FakeContext["told"][number][] = [];
  const logged: FakeContext["logged"][number][] = [];
  const conditions = new Map<string, FakeContext["conditions"][number]>();
  let reported: Record<string, unknown> = {};

  function write(verb: FakeWrite["verb"], kind: AnyKind, place: Place, rest: Partial<FakeWrite> = {}): void {
    const { name, namespace } = world.placed(kind, place);
    writes.push({ verb, kind: kind.kind, name, ...namespace !== undefined && { namespace }, ...rest });
  }
  const answer = (object: KubeObject | undefined): Promise<Whatever> => Promise.resolve(object);
  const get = (kind: AnyKind, name: string, place: NamespaceOptions = {}) =>
    answer(world.get(kind, { name, ...place }));
  const make = (verb: "apply" | "create", kind: AnyKind, wanted: unknown) => {
    const { metadata } = wanted as FakeObject;
    write(verb, kind, metadata, { body: wanted });
    const there = verb === "apply" ? world.get(kind, metadata) : undefined;
    return answer(world.put(kind, applyMergePatch(there ?? {}, wanted) as FakeObject));
  };
  const tell = (type: "Normal" | "Warning") => (reason: string, note: string, _options?: EventOptions) =>
    void told.push({ type, reason, note });
  const say = (level: keyof Log) => (message: string, fields?: Record<string, unknown>) =>
    void logged.push({ level, message, ...fields !== undefined && { fields } });

  return {
    writes,
    told,
    logged,
    get reported() {
      return reported;
    },
    get conditions() {
      return [...conditions.values()];
    },
    get,
    getLive: get,
    list: (kind, { namespace, selector = {} } = {}) => {
      const labels = Object.entries(selector);
      const found = world.list(kind, namespace).filter(({ metadata }) =>
        labels.every(([key, value]) => metadata.labels?.[key] === value)
      );
      return Promise.resolve(found);
    },
    owned: (kind) => world.list(kind),
    index: (name, key) => {
      const index = controller?.indexes[name];
      if (index === undefined) {
        throw new TypeError(
          `Cannot look in index "${name}": ${
            controller === undefined
              ? 'give fakeContext the "controller" that has it'
              : "the controller has none of that name"
          }`,
        );
      }
      return world.list(index.kind, "*").filter((object) => [index.keys(object) ?? []].flat().includes(key));
    },
    apply: (kind, wanted) => make("apply", kind, wanted),
    applyAll: (children) =>
      Promise.all((children as [AnyKind, unknown][]).map(([kind, wanted]) => make("apply", kind, wanted))),
    create: (kind, object) => make("create", kind, object),
    patch: (kind, name, patch, { namespace, subresource, type = "merge" } = {}) => {
      const place = { name, ...namespace !== undefined && { namespace } };
      write("patch", kind, place, { body: patch, ...subresource !== undefined && { subresource } });
      const there = world.get(kind, place) ?? { metadata: place };
      const patched = type === "json"
        ? applyJsonPatch(there, patch as readonly JsonPatchOperation[])
        : applyMergePatch(there, patch);
      return answer(world.put(kind, patched as FakeObject));
    },
    delete: (kind, name, { namespace, ...options } = {}) => {
      const place = { name, ...namespace !== undefined && { namespace } };
      write("delete", kind, place, Object.keys(options).length === 0 ? {} : { options });
      world.delete(kind, place);
      return Promise.resolve();
    },
    status: (part) => {
      if (controller !== undefined) checkWritesStatus(controller, "status()");
      reported = { ...reported, ...part };
    },
    condition: (condition) => {
      if (controller !== undefined) checkWritesStatus(controller, "condition()");
      conditions.set(condition.type, condition);
    },
    events: { normal: tell("Normal"), warning: tell("Warning") },
    log: { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") },
    services: services as Services,
    now: () => new Date(clock.now()),
    clock,
    signal,
    attempt,
    reason,
  };
}

interface Place {
  readonly name: string;
  readonly namespace?: string;
}

/** The objects of a fake context. */
class World {
  readonly #objects = new Map<string, { readonly kind: string; readonly object: KubeObject }>();
  readonly #namespace: string;

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /** A place with the namespace that is meant; without one for kinds that have none. */
  placed(kind: AnyKind, { name, namespace = this.#namespace }: Place): Place {
    return kind.namespaced ? { name, namespace } : { name };
  }

  get(kind: AnyKind, place: Place): KubeObject | undefined {
    return this.#objects.get(this.#key(kind, place))?.object;
  }

  list(kind: AnyKind, namespace: string = this.#namespace): readonly KubeObject[] {
    const isMeant = ({ metadata }: KubeObject) =>
      namespace === "*" || !kind.namespaced || metadata.namespace === namespace;
    return [...this.#objects.values()].filter((each) => each.kind === identity(kind) && isMeant(each.object))
      .map(({ object }) => object);
  }

  put(kind: AnyKind, object: FakeObject): KubeObject {
    const { apiVersion } = kind;
    const metadata = { ...isObject(object.metadata) ? object.metadata : {}, ...this.placed(kind, object.metadata) };
    const whole = { apiVersion, kind: kind.kind, ...object, metadata } as unknown as KubeObject;
    this.#objects.set(this.#key(kind, object.metadata), { kind: identity(kind), object: whole });
    return whole;
  }

  delete(kind: AnyKind, place: Place): void {
    this.#objects.delete(this.#key(kind, place));
  }

  #key(kind: AnyKind, place: Place): string {
    const { name, namespace = "" } = this.placed(kind, place);
    return `${identity(kind)} ${namespace}/${name}`;
  }
}

function identity({ group, kind }: AnyKind): string {
  return `${group}/${kind}`;
}
