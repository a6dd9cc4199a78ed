/** All handlers of a kind, which run as one unit. */
import type { AnyKind } from "../../resource/kind.ts";
import { ownsStatus } from "../../resource/ownership.ts";
import type { Controller } from "../controller.ts";
import type { IndexMap } from "../context.ts";
import type { SandboxPermissions } from "../sandbox.ts";
import { type Handler, hasFinalizer } from "./handler.ts";
import type { Storage } from "./options.ts";
import { storedSecret } from "./secret_fields.ts";

/** The handlers of a kind, with the declarations of all of them. */
export interface HandlerGroup extends Omit<Controller, "part" | "reconcile" | "cleanup"> {
  readonly part: "handlers";
  /** The handlers by key, in the order of the parts. */
  readonly handlers: ReadonlyMap<string, Handler>;
  /** Where the handler state of objects is stored. */
  readonly storage: Storage;
  /** The keys of the handlers that need a finalizer; `undefined` if none does. */
  readonly cleanup: readonly string[] | undefined;
}

/** A unit that reconciles the objects of a kind: a controller, or all handlers of the kind. */
export type ControllerUnit = Controller | HandlerGroup;

/** Returns the keys of the handlers whose calls are stored, which is a state of each object. */
export function statefulHandlers({ handlers, storage }: HandlerGroup): readonly string[] {
  if (storage === "memory") return [];
  return [...handlers].filter(([, { causes }]) => causes.some((cause) => cause !== "resume")).map(([key]) => key);
}

/** Returns the key of the unit that runs the handlers of a kind. Keys of parts have no slash. */
export function groupKey({ group, plural }: AnyKind): string {
  return `handlers/${plural}${group === "" ? "" : `.${group}`}`;
}

/**
 * Returns a group with one more handler.
 *
 * @param group The handlers of the kind so far.
 * @param key The key of the handler.
 * @param handler The handler.
 * @throws {TypeError} If it contradicts another handler of the kind, or would store secret values.
 */
export function withHandler(group: HandlerGroup | undefined, key: string, handler: Handler): HandlerGroup {
  const { kind, options } = handler;
  const { owns = [], reads = [], uses = [], indexes = {}, sandbox = {} } = options;
  const storage = options.storage ?? defaultStorage(kind);
  const others = [...group?.handlers ?? []];
  if (group !== undefined) {
    checkSame(group, key, "version", kind.apiVersion, group.kind.apiVersion);
    checkSame(group, key, "storage", storage, group.storage);
    if (options.finalizer !== undefined && group.finalizer !== undefined) {
      checkSame(group, key, "finalizer", options.finalizer, group.finalizer);
    }
  }
  if (storage !== "memory") checkSecrets(key, handler, storage);
  const handlers = new Map([...others, [key, handler] as const]);
  const cleanup = [...group?.cleanup ?? [], ...(hasFinalizer(handler) ? [key] : [])];
  const owned = uniqueKinds([...group?.owns ?? [], ...owns], [kind]);
  return {
    part: "handlers",
    kind,
    handlers,
    storage,
    owns: owned,
    reads: uniqueKinds([...group?.reads ?? [], ...reads], [kind, ...owned]),
    uses: [...new Set([...group?.uses ?? [], ...uses])],
    watches: [],
    indexes: mergedIndexes(key, group?.indexes ?? {}, indexes),
    triggers: [],
    prune: false,
    writesStatus: ownsStatus(kind),
    sandbox: mergedSandbox(group?.sandbox ?? {}, sandbox),
    concurrency: 10,
    timeout: undefined,
    finalizer: group?.finalizer ?? options.finalizer,
    cleanup: cleanup.length === 0 ? undefined : cleanup,
  };
}

function defaultStorage(kind: AnyKind): Storage {
  return ownsStatus(kind) ? "status" : "annotation";
}

function checkSame({ kind, handlers }: HandlerGroup, key: string, option: string, one: string, other: string): void {
  if (one === other) return;
  const [first] = handlers.keys();
  throw new TypeError(
    `Handlers of ${kind.kind}: "${first}" has the ${option} "${other}", and "${key}" has "${one}". ` +
      `All handlers of a kind have the same ${option}: set it with on.for().`,
  );
}

function checkSecrets(key: string, handler: Handler, storage: Storage): void {
  const path = storedSecret(handler);
  if (path === undefined) return;
  const { kind } = handler.kind;
  throw new TypeError(
    `Handler "${key}" of ${kind}: the values of "${path}" are secret, and the ${storage} would have them in plain text. ` +
      `Follow a digest, such as on.change(${kind}, (object) => digest(object${path}), fn), or set "storage" to "memory".`,
  );
}

/** Returns each kind once, without those that are declared otherwise. */
function uniqueKinds(list: readonly AnyKind[], declared: readonly AnyKind[]): readonly AnyKind[] {
  const id = (kind: AnyKind) => `${kind.apiVersion} ${kind.kind}`;
  const unique = new Map(list.map((kind) => [id(kind), kind]));
  for (const kind of declared) unique.delete(id(kind));
  return [...unique.values()];
}

function mergedIndexes(key: string, one: IndexMap, other: IndexMap): IndexMap {
  for (const [name, index] of Object.entries(other)) {
    if (one[name] === undefined || one[name] === index) continue;
    throw new TypeError(
      `Handler "${key}": another handler of the kind has a different index "${name}". Rename one, or share it with on.for().`,
    );
  }
  return { ...one, ...other };
}

function mergedSandbox(one: SandboxPermissions, other: SandboxPermissions): SandboxPermissions {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]) as Set<keyof SandboxPermissions>;
  const entries = [...names].map((name) => [name, [...new Set([...one[name] ?? [], ...other[name] ?? []])]]);
  return Object.fromEntries(entries);
}
