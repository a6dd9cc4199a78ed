/**
 * The table of part types. Everything that the SDK must know about a type of parts is an entry here
 * or, for what runs, in the tables of unit types (`units.ts`, `operator/unit_checks.ts`).
 */
import type { AnyKind } from "../resource/kind.ts";
import type { Part } from "./controller.ts";
import { groupKey, type HandlerGroup, withHandler } from "./handlers/group.ts";
import type { SandboxPermissions } from "./sandbox.ts";
import type { UnitOf, Units } from "./units.ts";

/** Parts by key. */
export type Parts = Readonly<Record<string, Part>>;

/** The kinds that a part declares, by use. */
export interface DeclaredKinds {
  /** Kinds whose objects the part handles. Of the versions of one kind, the latest is first. */
  readonly own: readonly AnyKind[];
  /** Kinds that it creates. */
  readonly owned: readonly AnyKind[];
  /** Kinds that it reads from a cache. */
  readonly read: readonly AnyKind[];
  /** Kinds with a watch of their own options. They may be in the lists above too. */
  readonly watched: readonly AnyKind[];
  /** Kinds of direct calls to the API server. */
  readonly used: readonly AnyKind[];
}

/** Units to which parts are added. */
export type UnitsDraft = { readonly [T in keyof Units]: Map<string, UnitOf<T>> };

/** What the SDK needs to know about a type of parts. */
export interface PartType<P> {
  /** Returns the kinds that a part declares. */
  kinds(part: P): DeclaredKinds;
  /** Returns the sandbox permissions that a part declares. */
  sandbox(part: P): SandboxPermissions;
  /**
   * Adds a part to the units. Parts that run as one unit add themselves to the same unit; the order
   * of the calls is the order of the parts.
   */
  addTo(units: UnitsDraft, key: string, part: P): void;
}

/** The types of parts. The compiler rejects the table if a type has no entry. */
export const PART_TYPES: { readonly [T in Part["part"]]: PartType<Extract<Part, { readonly part: T }>> } = {
  controller: {
    kinds: ({ kind, owns, reads, watches, uses }) => ({
      own: [kind],
      owned: owns,
      read: reads,
      watched: watches.map(({ kind }) => kind),
      used: uses.map(({ kind }) => kind),
    }),
    sandbox: ({ sandbox }) => sandbox,
    addTo: ({ controllers }, key, part) => void controllers.set(key, part),
  },
  handler: {
    kinds: ({ kind, options: { owns = [], reads = [], uses = [] } }) => ({
      own: [kind],
      owned: owns,
      read: reads,
      watched: [],
      used: uses.map(({ kind }) => kind),
    }),
    sandbox: ({ options: { sandbox = {} } }) => sandbox,
    addTo: ({ controllers }, key, part) => {
      const id = groupKey(part.kind);
      controllers.set(id, withHandler(controllers.get(id) as HandlerGroup | undefined, key, part));
    },
  },
  webhook: {
    kinds: ({ kind, reads, uses }) => ({
      own: [kind],
      owned: [],
      read: reads,
      watched: [],
      used: uses.map(({ kind }) => kind),
    }),
    sandbox: ({ sandbox }) => sandbox,
    addTo: ({ webhooks }, key, part) => void webhooks.set(key, part),
  },
  conversion: {
    // The definition of the later version has both versions.
    kinds: ({ kind, into }) => ({ own: [into, kind], owned: [], read: [], watched: [], used: [] }),
    sandbox: () => ({}),
    addTo: ({ conversions }, key, part) => void conversions.set(key, part),
  },
};

/**
 * Returns the entry of a part in {@linkcode PART_TYPES}.
 *
 * @param part The part.
 */
export function partTypeOf(part: Part): PartType<Part> {
  return PART_TYPES[part.part];
}

/**
 * Compiles parts into the units that run them.
 *
 * @param parts The parts.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { controller, webhook } from "@op/sdk";
 * import { Pod } from "@op/sdk/kinds";
 *
 * const parts = {
 *   pods: controller(Pod, { reconcile() {} }),
 *   podRules: webhook(Pod, { validate() {} }),
 * };
 * const { controllers, webhooks } = compile(parts);
 * assert.equal(controllers.get("pods"), parts.pods);
 * assert.equal(webhooks.get("podRules"), parts.podRules);
 * ```
 */
export function compile(parts: Parts): Units {
  const units: UnitsDraft = { controllers: new Map(), webhooks: new Map(), conversions: new Map() };
  for (const [key, part] of Object.entries(parts)) partTypeOf(part).addTo(units, key, part);
  return units;
}
