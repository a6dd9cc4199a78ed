/** Creates the scope of a controller's loop. */
import { linked } from "../base/abort.ts";
import { milliseconds } from "../base/duration.ts";
import type { Controller } from "../parts/controller.ts";
import { controllerRbacRules } from "../parts/rbac.ts";
import { contextOf } from "./context.ts";
import type { CurrentReconcile } from "./current_reconcile.ts";
import { finalizerName } from "./names.ts";
import { OrphanedFinalizers } from "./orphaned_finalizers.ts";
import { type NextReconcile, nextReconcileOf } from "./reconcile_result.ts";
import { type LoopScope, loopScope, type LoopUnit, partScope, type Shared } from "./scope.ts";
import { withTimeLimit } from "./time_limit.ts";

/**
 * Creates the scope of a loop that runs a controller.
 *
 * @param operator Name of the operator.
 * @param key The controller's key among the parts.
 * @param controller The controller.
 * @param shared The state that all loops share.
 */
export function controllerScope(operator: string, key: string, controller: Controller, shared: Shared): LoopScope {
  const unit: LoopUnit = {
    ...controller,
    rbacRules: controllerRbacRules(controller),
    finalizer: finalizerName(operator, key, controller),
    orphanedFinalizers: new OrphanedFinalizers(operator, shared.controllers, key),
    reconcile: async (run) => ({ next: await call(run, "reconcile") }),
    cleanup: controller.cleanup && (async (run) => {
      // A cleanup that requests another call is not complete.
      const next = await call(run, "cleanup");
      return { next, isIncomplete: next !== undefined };
    }),
  };
  const scope = loopScope(operator, key, unit, shared);
  const part = partScope(scope, operator, key, controller);
  return scope;

  async function call(run: CurrentReconcile, name: "reconcile" | "cleanup"): Promise<NextReconcile | undefined> {
    const { timeout } = controller;
    const callIn = (run: CurrentReconcile) => controller[name]!(run.object, contextOf(part, run));
    if (timeout === undefined) return nextReconcileOf(scope.clock, `${name}()`, await callIn(run));
    using controls = linked([run.signal]);
    const limit = { milliseconds: milliseconds(timeout), message: `The reconcile took longer than ${timeout}` };
    const { signal } = controls;
    const result = await withTimeLimit(scope.clock, controls, limit, () => callIn({ ...run, signal }));
    return nextReconcileOf(scope.clock, `${name}()`, result);
  }
}
