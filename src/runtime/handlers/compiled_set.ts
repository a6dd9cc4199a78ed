/** Compiles the handlers of a kind into what `plan` and `nextState` need. */
import { milliseconds } from "../../base/duration.ts";
import { isObject } from "../../base/json.ts";
import { own, setOwn } from "../../base/own.ts";
import { type CallId, callOf } from "../../handlers/call_id.ts";
import { Diff, type ListKeys } from "../../handlers/diff.ts";
import { digest } from "../../handlers/digest.ts";
import type { HandlerDefinition, HandlerSet } from "../../handlers/handler_set.ts";
import { jsonError } from "../../handlers/json_error.ts";
import type { Live } from "../../handlers/live.ts";
import { outermost, parsePath, type Path, project, valueAt, withValueAt } from "../../handlers/path.ts";
import { itemsOf } from "../../handlers/plan.ts";
import type { RecordedObject, RecordRules } from "../../handlers/record.ts";
import type { Handler } from "../../parts/handlers/handler.ts";
import type { AnyKind, KubeObject } from "../../resource/kind.ts";
import { applyDefaults } from "../../schema/defaults.ts";
import { followedPart, withoutNamedPart } from "./followed.ts";
import { listKeysOf } from "./list_keys.ts";

/** What a reading needs to know in addition to the object. */
export interface ObjectFacts {
  readonly hasFinalizer: boolean;
  readonly isFoundAtStart: boolean;
  /** The value of the annotation that retries handlers that gave up. */
  readonly retry: string | undefined;
  /** Returns whether the filters of a handler match the object. */
  matches(key: string, handler: Handler): boolean;
}

/** An object as `plan`, `nextState` and the record need it. */
export interface ObjectReading extends RecordedObject {
  readonly live: Live;
  /** Handlers whose functions threw an error. They are not called for this state of the object. */
  readonly errors: ReadonlyMap<string, unknown>;
}

/** The handlers of a kind. */
export class CompiledSet {
  readonly kind: AnyKind;
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly set: HandlerSet;
  /** How records of the kind's objects are read and written. */
  readonly rules: RecordRules;
  readonly #listKeys: ListKeys;
  /** The paths of the handlers' subjects, by handler. */
  readonly #paths: ReadonlyMap<string, Path>;
  readonly #ignored: readonly Path[];

  /**
   * @param kind The kind.
   * @param handlers Its handlers by key, in the order of the parts.
   */
  constructor(kind: AnyKind, handlers: ReadonlyMap<string, Handler>) {
    this.kind = kind;
    this.handlers = handlers;
    this.#listKeys = listKeysOf(kind);
    this.#paths = new Map([...handlers].flatMap(([key, { subject }]): [string, Path][] => {
      const path = pathOf(subject);
      return path === undefined ? [] : [[key, path]];
    }));
    this.#ignored = [...handlers.values()].flatMap(({ options }) => options.ignoredFields ?? []).map(parsePath);
    this.set = { handlers: [...handlers].map(([key, handler]) => this.#define(key, handler)) };
    this.rules = {
      apiVersion: kind.apiVersion,
      paths: outermost([...this.#paths.values()]),
      pathOf: (key) => this.#paths.get(key),
      valueIn: (key, projection) => this.#valueIn(key, projection),
      isComputed: (key) => handlers.get(key)?.subject.type === "computed",
      adapt: (projection) => projection,
    };
  }

  /**
   * Returns the rules for reading the record of an object. The defaults of the current schema are
   * added to the stored values, as the API server adds them to the object, so that a new default is
   * not a change.
   *
   * @param object The object, without which the parents of missing values would not be known.
   */
  rulesFor(object: KubeObject): RecordRules {
    const { crd, version } = this.kind;
    const schema = crd?.spec.versions.find(({ name }) => name === version)?.schema.openAPIV3Schema;
    if (schema === undefined) return this.rules;
    const adapt = (projection: unknown): unknown => {
      const stored = this.rules.paths.reduce<unknown>(
        (stored, path) => withValueAt(stored, path, valueAt(projection, path)),
        object,
      );
      return applyDefaults(schema, stored);
    };
    return { ...this.rules, adapt };
  }

  /** Compares two values of a handler's subject. */
  diff(key: string, old: unknown, current: unknown): Diff {
    const path = this.#paths.get(key) ?? [];
    return new Diff(old, current, (inner) => this.#listKeys([...path, ...inner]));
  }

  /** Reads what the handlers follow of an object. */
  read(object: KubeObject, facts: ObjectFacts): ObjectReading {
    const followed = followedPart(object, [...this.#paths.values()], this.#ignored);
    const [matching, values] = [new Set<string>(), new Map<string, unknown>()];
    const [computed, errors] = [new Map<string, unknown>(), new Map<string, unknown>()];
    for (const [key, handler] of this.handlers) {
      try {
        if (!facts.matches(key, handler)) continue;
        const { subject } = handler;
        const value = subject.type === "computed" ? jsonOf(key, subject.select(object)) : this.#valueIn(key, followed);
        if (subject.type === "computed") computed.set(key, value);
        matching.add(key);
        if (value !== undefined) values.set(key, value);
      } catch (error) {
        errors.set(key, error);
      }
    }
    const { uid, deletionTimestamp } = object.metadata;
    const digests = new Map<CallId, string>();
    const digestFor = (id: CallId): string => {
      const known = digests.get(id) ?? digest([this.#inputOf(id, followed, values), facts.retry]);
      digests.set(id, known);
      return known;
    };
    return {
      uid,
      projection: project(followed, this.rules.paths),
      computed,
      errors,
      live: {
        uid,
        isDeleting: deletionTimestamp !== undefined,
        hasFinalizer: facts.hasFinalizer,
        isFoundAtStart: facts.isFoundAtStart,
        matching,
        values,
        digest: digestFor,
      },
    };
  }

  #define(key: string, { causes, subject, options }: Handler): HandlerDefinition {
    const { retries, totalTimeout, onFailure, existingObjects, renamedFrom = [] } = options;
    const isCompared = subject.type === "object" || subject.type === "field";
    return {
      key,
      causes: new Set(causes),
      subject: subject.type === "field" || subject.type === "computed" ? "value" : subject.type,
      ...(isCompared ? { isSame: (one, other) => this.diff(key, one, other).size === 0 } : {}),
      retries,
      totalTimeout: totalTimeout === undefined ? undefined : milliseconds(totalTimeout),
      onFailure,
      isForExistingObjects: existingObjects === "create",
      renamedFrom: [renamedFrom].flat(),
    };
  }

  #valueIn(key: string, followed: unknown): unknown {
    const { subject } = this.handlers.get(key)!;
    switch (subject.type) {
      case "object":
        return withoutNamedPart(isObject(followed) ? followed : {});
      case "field":
        return valueAt(followed, this.#paths.get(key)!);
      case "items":
        return itemsByKey(subject.path, valueAt(followed, this.#paths.get(key)!), subject.key);
      default:
        return undefined;
    }
  }

  /** Returns what a call receives. If it changes, a call that gave up is retried. */
  #inputOf(id: CallId, followed: Record<string, unknown>, values: ReadonlyMap<string, unknown>): unknown {
    const { key, item } = callOf(id);
    if (item !== undefined) return own(itemsOf(values.get(key)), item);
    const type = this.handlers.get(key)?.subject.type;
    return type === "none" || type === "object" ? withoutNamedPart(followed) : values.get(key);
  }
}

function pathOf(subject: Handler["subject"]): Path | undefined {
  if (subject.type === "object") return [];
  return subject.type === "field" || subject.type === "items" ? parsePath(subject.path) : undefined;
}

/** Returns the items of a list by their keys. Returns `undefined` if there is no list. */
function itemsByKey(
  path: string,
  list: unknown,
  keyOf: (item: unknown) => string,
): Record<string, unknown> | undefined {
  if (!Array.isArray(list)) return undefined;
  const items: Record<string, unknown> = {};
  for (const item of list) {
    const key = keyOf(item);
    if (typeof key !== "string") {
      throw new TypeError(`on.item(): the key of an item of ${path} must be a string, got ${Deno.inspect(key)}.`);
    }
    if (own(items, key) !== undefined) {
      throw new TypeError(
        `on.item(): two items of ${path} have the key "${key}". Return a key that is unique in the list.`,
      );
    }
    setOwn(items, key, item);
  }
  return items;
}

/** Returns a selected value as JSON stores it. */
function jsonOf(key: string, value: unknown): unknown {
  if (value === undefined) return undefined;
  const error = jsonError(value);
  if (error === undefined) return JSON.parse(JSON.stringify(value));
  throw new TypeError(
    `on.change(): the value that handler "${key}" selects cannot be stored as JSON: ${error}. Return strings, numbers, ` +
      "booleans, null, lists and plain objects.",
  );
}
