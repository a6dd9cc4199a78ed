/** Creates the scope of the loop that runs the handlers of a kind. */
import { selectorOf } from "../../handlers/filters.ts";
import type { HandlerGroup } from "../../parts/handlers/group.ts";
import { hasFinalizer } from "../../parts/handlers/handler.ts";
import { controllerRbacRules } from "../../parts/rbac.ts";
import { watch } from "../../parts/watch.ts";
import { finalizerName } from "../names.ts";
import { OrphanedFinalizers } from "../orphaned_finalizers.ts";
import { type LoopScope, loopScope, type LoopUnit, partScope, type Shared } from "../scope.ts";
import { HandlerReconciler } from "./reconcile_handlers.ts";
import type { CronParser } from "./timers.ts";

/** Creates the scope of a loop that runs the handlers of a kind. */
export type HandlerScopeFactory = (operator: string, key: string, group: HandlerGroup, shared: Shared) => LoopScope;

/**
 * Returns a function that creates the scopes of loops. If a timer has a cron schedule, loads the
 * code of cron schedules.
 *
 * @param groups All handlers of the operator.
 */
export async function handlerScopes(groups: readonly HandlerGroup[]): Promise<HandlerScopeFactory> {
  const schedules = groups.flatMap(({ handlers }) => [...handlers.values()]).map(({ schedule }) => schedule);
  const cron = schedules.some((schedule) => typeof schedule === "object")
    ? (await import("../../handlers/cron.ts")).cronSchedule
    : undefined;
  return (operator, key, group, shared) => handlerScope(operator, key, group, shared, cron);
}

function handlerScope(
  operator: string,
  key: string,
  group: HandlerGroup,
  shared: Shared,
  cron: CronParser | undefined,
): LoopScope {
  const { kind, handlers } = group;
  const finalizer = finalizerName(operator, key, group);
  const labelSelector = selectorOf(
    [...handlers.values()].map((handler) => ({ filters: handler.filters, hasFinalizer: hasFinalizer(handler) })),
  );
  const unit: LoopUnit = {
    ...group,
    // Changes of other kinds call no handler.
    owns: [],
    reads: [...group.owns, ...group.reads],
    watches: labelSelector === undefined ? [] : [watch(kind, { labelSelector })],
    rbacRules: controllerRbacRules(group),
    finalizer,
    orphanedFinalizers: new OrphanedFinalizers(operator, shared.controllers, key),
    reconcile: (run) => reconciler.reconcile(run),
    cleanup: group.cleanup && ((run) => reconciler.cleanup(run)),
    reconcileDeleting: [...handlers.values()].some(({ options }) => options.deleting)
      ? (run) => reconciler.reconcile(run)
      : undefined,
    beginTerm: (objects) => reconciler.beginTerm(objects),
    endTerm: () => reconciler.endTerm(),
    needsFinalizer: (object) => reconciler.needsFinalizer(object),
    released: () => reconciler.released(),
    paused: (object) => reconciler.paused(object),
    written: (object) => reconciler.accepted(object),
    forget: (object, signal) => reconciler.forget(object, signal),
  };
  const scope = loopScope(operator, key, unit, shared);
  const scopes = new Map([...handlers].map(([part, { options }]) => {
    const { owns = [], uses = [] } = options;
    const declared = { kind, owns, uses, prune: false, writesStatus: group.writesStatus };
    return [part, partScope(scope, operator, part, declared)] as const;
  }));
  const reconciler = new HandlerReconciler(group, { operator, finalizer, scopes, cron });
  return scope;
}
