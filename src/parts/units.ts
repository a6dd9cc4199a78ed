/**
 * The units that an operator runs. `compile` (`part_types.ts`) builds them from the parts: usually
 * one unit per part, but parts can share one. RBAC permissions, names that clusters store and
 * everything that starts are derived from units.
 */
import type { Conversion } from "./conversion.ts";
import type { ControllerUnit } from "./handlers/group.ts";
import { controllerRbacRules, type PartRbacRule, webhookRbacRules } from "./rbac.ts";
import type { Webhook } from "./webhook.ts";

/** The units of an operator by type. The key of a unit that has one part is the key of the part. */
export interface Units {
  readonly controllers: ReadonlyMap<string, ControllerUnit>;
  readonly webhooks: ReadonlyMap<string, Webhook>;
  readonly conversions: ReadonlyMap<string, Conversion>;
}

/** A unit of one type. */
export type UnitOf<T extends keyof Units> = Units[T] extends ReadonlyMap<string, infer Unit> ? Unit : never;

/**
 * The component of a running operator that runs a unit: a controller loop, which only the leader
 * has, or the webhook server, which each replica has.
 */
export type Runner = "controllerLoop" | "webhookServer";

/** What the SDK needs to know about a type of units. */
export interface UnitType<Unit> {
  readonly runner: Runner;
  /** Returns the RBAC permissions that a unit needs, without duplicates. */
  rbac(unit: Unit): readonly PartRbacRule[];
}

/** The types of units, in the order of their RBAC rules. */
export const UNIT_TYPES: { readonly [T in keyof Units]: UnitType<UnitOf<T>> } = {
  controllers: { runner: "controllerLoop", rbac: controllerRbacRules },
  webhooks: { runner: "webhookServer", rbac: webhookRbacRules },
  conversions: { runner: "webhookServer", rbac: () => [] },
};

/** The names of the types, in the order of {@linkcode UNIT_TYPES}. */
export const UNIT_TYPE_NAMES = Object.keys(UNIT_TYPES) as (keyof Units)[];

/**
 * Returns the RBAC permissions of all units, each with the key of its unit.
 *
 * @param units The units.
 */
export function unitRbacRules(units: Units): (readonly [key: string, rule: PartRbacRule])[] {
  return UNIT_TYPE_NAMES.flatMap((name) => {
    const type: UnitType<UnitOf<keyof Units>> = UNIT_TYPES[name];
    return [...units[name]].flatMap(([key, unit]) => type.rbac(unit).map((rule) => [key, rule] as const));
  });
}

/**
 * Returns whether a component of a running operator has any unit to run.
 *
 * @param units The units.
 * @param runner The component.
 */
export function needsRunner(units: Units, runner: Runner): boolean {
  return UNIT_TYPE_NAMES.some((name) => UNIT_TYPES[name].runner === runner && units[name].size > 0);
}

/**
 * Returns the units without those that some components run.
 *
 * @param units The units.
 * @param runners The components.
 */
export function withoutRunners(units: Units, runners: readonly Runner[]): Units {
  const skipped = UNIT_TYPE_NAMES.filter((name) => runners.includes(UNIT_TYPES[name].runner));
  return { ...units, ...Object.fromEntries(skipped.map((name) => [name, new Map()])) };
}
