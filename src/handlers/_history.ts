/**
 * Runs histories of an object and its handlers: changes, failures, crashes, upgrades. A history
 * runs in a model of the cluster and of the process. Each step checks the invariants.
 */
import assert from "node:assert/strict";
import { equal } from "../base/json.ts";
import { type HandlerDefinition, type HandlerSet, hasBaseline, isCreator } from "./handler_set.ts";
import type { Live } from "./live.ts";
import type { nextState, Outcome } from "./next_state.ts";
import { outermost, type Path, project, valueAt } from "./path.ts";
import type { Call, plan } from "./plan.ts";
import type { decodeRecord, encodeRecord, RecordRules } from "./record.ts";
import type { HandlerState } from "./state.ts";

/** The functions that are tested. */
export interface Core {
  readonly plan: typeof plan;
  readonly nextState: typeof nextState;
  readonly encodeRecord: typeof encodeRecord;
  readonly decodeRecord: typeof decodeRecord;
}

/** A handler of a history. */
export interface ModelHandler extends HandlerDefinition {
  /** The path of its subject. */
  readonly path?: Path;
  /** Whether its subject is computed from the field `a`. */
  readonly isComputed?: boolean;
  /** The label that it requires. @default {none} */
  readonly label?: string;
}

/** An event of a history. */
export type Step =
  | { readonly type: "set"; readonly field: "a" | "b"; readonly value: number | undefined }
  | { readonly type: "label"; readonly value: string | undefined }
  | { readonly type: "items"; readonly items: readonly (readonly [string, number])[] }
  | { readonly type: "delete" }
  | { readonly type: "replace" }
  | { readonly type: "wait"; readonly time: number }
  | { readonly type: "crash" }
  /**
   * A reconcile whose calls end with the given results. The object may change during the calls, and
   * the process may crash before the write.
   */
  | {
    readonly type: "reconcile";
    readonly results: readonly Outcome["result"][];
    readonly change?: number | undefined;
    readonly crashes?: boolean;
  }
  /** Starts another version of the program, which has other handlers. */
  | { readonly type: "upgrade"; readonly handlers: readonly ModelHandler[] };

interface Spec {
  readonly a?: number;
  readonly b?: number;
  readonly items: readonly { readonly id: string; readonly size: number }[];
}

interface StoredObject {
  readonly uid: string;
  readonly spec: Spec;
  readonly label: string | undefined;
  readonly isDeleting: boolean;
  readonly hasFinalizer: boolean;
  readonly record: string | undefined;
}

/** A successful call and the uid of its object. */
interface Handled {
  readonly uid: string;
  readonly call: Call;
}

const EMPTY: Spec = { items: [] };

/** Runs a history. */
export class History {
  readonly #core: Core;
  #handlers: readonly ModelHandler[];
  #uids = 0;
  #now = 0;
  #object: StoredObject | undefined;
  /** The memory of the process; `undefined` after a crash. */
  #memory: { readonly record: string | undefined; readonly state: HandlerState } | undefined;
  /** Whether the process was started after the object was created. */
  #isFoundAtStart = false;
  /** Successful calls whose state was stored, by call. */
  #storedCalls = new Map<string, Handled>();
  /**
   * Handlers that must be called with `create`, because they existed when the object was created.
   */
  #expectsCreation = new Set<string>();
  /** The `old` value that the first call of an update handler must receive, by handler. */
  #initial = new Map<string, unknown>();
  /** For calls that gave up: the digest of the object that they received, by call. */
  #gaveUp = new Map<string, string>();
  /** Number of times that the retry annotation was changed. */
  #retries = 0;
  /** Delete handlers that succeeded or gave up for the current object. */
  readonly #finishedDeletions = new Set<string>();
  /** Number of records written. */
  writes = 0;

  constructor(core: Core, handlers: readonly ModelHandler[]) {
    this.#core = core;
    this.#handlers = handlers;
    this.#create(EMPTY, undefined);
  }

  /** Performs a step. Throws if an invariant does not hold. */
  perform(step: Step): void {
    switch (step.type) {
      case "set":
        return this.#change((spec) => ({ ...spec, [step.field]: step.value }));
      case "items": {
        const items = new Map(step.items);
        return this.#change((spec) => ({ ...spec, items: [...items].map(([id, size]) => ({ id, size })) }));
      }
      case "label":
        return this.#edit({ label: step.value });
      case "delete":
        return this.#delete();
      case "replace":
        return this.#replace();
      case "wait":
        this.#now += step.time;
        return;
      case "crash":
        return this.#crash();
      case "reconcile":
        return this.#reconcile(step);
      case "upgrade":
        return this.#upgrade(step.handlers);
    }
  }

  /** Reconciles without failures until no call is due, and checks that each change was handled. */
  finish(): void {
    this.#retries++;
    // Each reconcile can unblock the calls that waited for the previous ones, so this many suffice.
    for (let i = 0; i < this.#handlers.length + 2; i++) {
      this.#now += 1000;
      this.#reconcile({ type: "reconcile", results: [] });
    }
    const { writes } = this;
    this.#crash();
    this.#now += 1000;
    this.#reconcile({ type: "reconcile", results: [] }, true);
    assert.equal(this.writes, writes, "A restart without changes wrote a record");
    this.#checkAllHandled();
  }

  #create(spec: Spec, label: string | undefined): void {
    this.#object = {
      uid: `${String(this.#uids++).padStart(8, "0")}-uid`,
      spec,
      label,
      isDeleting: false,
      hasFinalizer: false,
      record: undefined,
    };
    this.#isFoundAtStart = false;
    this.#storedCalls = new Map();
    this.#expectsCreation = new Set(this.#handlers.map(({ key }) => key));
    this.#initial = new Map();
    this.#gaveUp = new Map();
    this.#finishedDeletions.clear();
  }

  #edit(changes: Partial<StoredObject>): void {
    if (this.#object !== undefined) this.#object = { ...this.#object, ...changes };
  }

  #change(change: (spec: Spec) => Spec): void {
    if (this.#object !== undefined) this.#edit({ spec: change(this.#object.spec) });
  }

  #delete(): void {
    if (this.#object?.hasFinalizer) this.#edit({ isDeleting: true });
    else this.#replace();
  }

  /**
   * Replaces the object by another one of the same name that has a copy of its spec and record, as
   * backup tools do.
   */
  #replace(): void {
    const old = this.#object;
    this.#create(old?.spec ?? EMPTY, old?.label);
    if (old?.record !== undefined) this.#edit({ record: old.record });
  }

  #crash(): void {
    this.#memory = undefined;
    this.#isFoundAtStart = true;
  }

  #upgrade(handlers: readonly ModelHandler[]): void {
    this.#crash();
    const keys = new Map(
      handlers.flatMap(({ key, renamedFrom = [] }) => [key, ...renamedFrom].map((old) => [old, key])),
    );
    const before = this.#handlers;
    this.#handlers = handlers;
    const isSame = (key: string, old: string): boolean => {
      const [one, other] = [handlers.find((each) => each.key === key), before.find((each) => each.key === old)];
      return one?.subject === other?.subject && equal(one?.path, other?.path) &&
        one?.isComputed === other?.isComputed &&
        equal([...one?.causes ?? []], [...other?.causes ?? []]);
    };
    const continued = (old: string): string | undefined => {
      const key = keys.get(old);
      return key !== undefined && isSame(key, old) ? key : undefined;
    };
    const isRecorded = this.#object?.record !== undefined;
    const expected = [...this.#expectsCreation].flatMap((old) => continued(old) ?? []);
    // For an object without a record, all handlers are new.
    this.#expectsCreation = new Set(isRecorded ? expected : handlers.map(({ key }) => key));
    for (const { key, isForExistingObjects } of handlers) if (isForExistingObjects) this.#expectsCreation.add(key);
    this.#initial = new Map([...this.#initial].flatMap(([old, value]) => {
      const key = continued(old);
      return key === undefined ? [] : [[key, value] as const];
    }));
    for (const [id, { uid, call }] of [...this.#storedCalls]) {
      this.#storedCalls.delete(id);
      // A handler whose subject has changed counts as a new handler.
      const key = continued(call.key);
      if (key !== undefined) this.#storedCalls.set(id.replace(call.key, key), { uid, call: { ...call, key } });
    }
  }

  #reconcile({ results, change, crashes }: Step & { type: "reconcile" }, isFinished = false): void {
    const seen = this.#object;
    if (seen === undefined) return;
    const set: HandlerSet = { handlers: this.#handlers };
    const rules = rulesOf(this.#handlers);
    const live = this.#liveOf(seen);
    const projection = project(contentOf(seen), rules.paths);
    const computed = new Map(
      this.#handlers.filter(({ isComputed }) => isComputed).map(({ key }) => [key, live.values.get(key)]),
    );
    const decoded = seen.record === undefined
      ? undefined
      : this.#core.decodeRecord(set, rules, seen.record, { uid: seen.uid, projection, computed });
    const state = this.#memory !== undefined && this.#memory.record === seen.record &&
        this.#memory.state.uid === seen.uid
      ? this.#memory.state
      : decoded?.state;
    const { finalizer, calls, blockedBy } = this.#core.plan(set, live, state, this.#now);
    if (isFinished) {
      assert.deepEqual(
        calls.filter(({ cause }) => cause !== "resume").map(({ id }) => id),
        [],
        "Calls are due after all changes were handled",
      );
    }
    if (finalizer === "add") {
      this.#edit({ hasFinalizer: true });
      live.hasFinalizer = true;
    }
    if (finalizer === "remove" && !seen.isDeleting) this.#edit({ hasFinalizer: false });
    if (finalizer === "remove" && seen.isDeleting) return this.#release();
    assert(
      blockedBy.every((key) => this.#finishedDeletions.has(key)),
      "A handler that did not give up blocks the deletion",
    );
    const outcomes = calls.map((call, i): Outcome => {
      this.#checkCall(call, seen);
      return { call, result: results[i] ?? "success", since: this.#now, dueAt: this.#now + 100 };
    });
    if (change !== undefined) this.#change((spec) => ({ ...spec, a: change }));
    const next = this.#core.nextState(set, live, state, outcomes, this.#now);
    for (const { call, result } of outcomes) {
      if (call.cause === "delete" && result === "success") this.#finishedDeletions.add(call.key);
    }
    for (const { call } of next.gaveUp) if (call.cause === "delete") this.#finishedDeletions.add(call.key);
    if (crashes) return this.#crash();
    const writes = next.write || (decoded?.isOutdated ?? false);
    if (writes && this.#object?.uid === seen.uid) {
      this.#edit({ record: this.#core.encodeRecord(set, rules, next.state, projection, decoded?.unknown) });
      this.writes++;
    }
    for (const { call, result } of outcomes) {
      if (result === "success" && call.cause !== "resume") this.#storedCalls.set(call.id, { uid: seen.uid, call });
    }
    for (const { call: { id } } of next.gaveUp) this.#gaveUp.set(id, live.digest(id));
    if (writes) this.#recordInitial(live, outcomes);
    this.#memory = { record: this.#object?.record, state: next.state };
  }

  /** Records the first `old` value of handlers that are not called at creation. */
  #recordInitial(live: Live, outcomes: readonly Outcome[]): void {
    const creators = this.#handlers.filter((handler) => isCreator(handler) && live.matching.has(handler.key));
    const isCreated = outcomes.some(({ call: { key, cause }, result }) =>
      cause === "create" && result === "success" && creators.some((handler) => handler.key === key)
    );
    const areDone = creators.every(({ key }) =>
      this.#storedCalls.has(key) || !this.#expectsCreation.has(key) || this.#gaveUp.get(key) === live.digest(key)
    );
    for (const { key, causes } of this.#handlers) {
      if (!causes.has("update") || causes.has("create") || !live.matching.has(key) || this.#initial.has(key)) continue;
      if ((isCreated || areDone) && this.#expectsCreation.has(key)) this.#initial.set(key, live.values.get(key));
    }
  }

  #release(): void {
    for (const handler of this.#handlers) {
      if (!handler.causes.has("delete") || !this.#isMatching(handler, this.#object!)) continue;
      assert(
        this.#finishedDeletions.has(handler.key),
        `The object was released before "${handler.key}" handled its deletion`,
      );
    }
    const { spec, label } = this.#object!;
    this.#create(spec, label);
  }

  /**
   * Checks that a call does not repeat the last stored call, and that its `old` is that call's
   * state.
   */
  #checkCall({ id, key, cause, item, old, current }: Call, { uid }: StoredObject): void {
    if (cause === "resume") return;
    const before = this.#storedCalls.get(id);
    const handlerName = `"${key}"${item === undefined ? "" : ` of item ${item}`}`;
    if (before?.uid !== uid) {
      if (cause === "update" && this.#initial.has(key)) {
        assert.deepEqual(old, this.#initial.get(key), `"old" of ${handlerName} is not the state at creation`);
      }
      return;
    }
    assert(cause !== "create" && cause !== "delete", `${handlerName} is called again with "${cause}"`);
    assert(!equal(before.call.current, current), `${handlerName} is called again for the same state`);
    assert.deepEqual(old, before.call.current, `"old" of ${handlerName} is not the state that its last call received`);
  }

  /** Checks that each matching handler has handled the current state of the object. */
  #checkAllHandled(): void {
    const object = this.#object;
    if (object === undefined || object.isDeleting) return;
    const live = this.#liveOf(object);
    for (const handler of this.#handlers) {
      if (!hasBaseline(handler) || !live.matching.has(handler.key)) continue;
      const { key, subject, causes } = handler;
      const current = live.values.get(key);
      const stored: readonly Handled[] = [...this.#storedCalls.values()].filter(({ uid, call }) =>
        uid === object.uid && call.key === key
      );
      const handlerName = `"${key}"`;
      if (causes.has("create") && this.#expectsCreation.has(key) && !isEmpty(current, handler)) {
        assert.notEqual(stored.length, 0, `${handlerName} was not called for the creation`);
      }
      if (!causes.has("update")) continue;
      if (subject === "items") {
        const handled = stored.flatMap(({ call }) => call.current === undefined ? [] : [[call.item, call.current]]);
        if (this.#expectsCreation.has(key)) {
          assert.deepEqual(Object.fromEntries(handled), current, `${handlerName} missed items`);
        }
      } else if (stored.length > 0) {
        assert.deepEqual(stored[0]!.call.current, current, `${handlerName} did not receive the last state`);
      } else if (this.#initial.has(key)) {
        assert.deepEqual(this.#initial.get(key), current, `${handlerName} did not receive any change`);
      }
    }
  }

  #isMatching({ label }: ModelHandler, object: StoredObject): boolean {
    return label === undefined || label === object.label;
  }

  #liveOf(object: StoredObject): Live & { hasFinalizer: boolean } {
    const content = contentOf(object);
    const values = new Map(this.#handlers.map((handler) => [handler.key, valueOf(handler, content)]));
    return {
      uid: object.uid,
      isDeleting: object.isDeleting,
      hasFinalizer: object.hasFinalizer,
      isFoundAtStart: this.#isFoundAtStart,
      matching: new Set(this.#handlers.filter((handler) => this.#isMatching(handler, object)).map(({ key }) => key)),
      values,
      digest: (id) => JSON.stringify([content, id, this.#retries]),
    };
  }
}

function contentOf({ spec, label }: StoredObject): Record<string, unknown> {
  return JSON.parse(JSON.stringify({ metadata: { labels: { label } }, spec }));
}

function valueOf({ subject, path, isComputed }: ModelHandler, content: unknown): unknown {
  if (subject === "none") return undefined;
  if (isComputed) return Number(valueAt(content, ["spec", "a"]) ?? 0) > 1;
  const value = valueAt(content, path ?? []);
  if (subject !== "items") return value;
  return Object.fromEntries(((value ?? []) as { id: string }[]).map((item) => [item.id, item]));
}

function rulesOf(handlers: readonly ModelHandler[]): RecordRules {
  const find = (key: string) => handlers.find((handler) => handler.key === key)!;
  const hasPath = (handler: ModelHandler) => handler.subject !== "none" && !handler.isComputed;
  return {
    apiVersion: "example.com/v1",
    paths: outermost(handlers.filter(hasPath).map(({ path = [] }) => path)),
    pathOf: (key) => hasPath(find(key)) ? find(key).path ?? [] : undefined,
    valueIn: (key, projection) => valueOf(find(key), projection),
    isComputed: (key) => find(key).isComputed ?? false,
    adapt: (projection) => projection,
  };
}

function isEmpty(value: unknown, { subject }: ModelHandler): boolean {
  return subject === "value" && value === undefined || subject === "items" && Object.keys(value as object).length === 0;
}
