/** Creates the scope of a controller's loop. */
import type { Controller } from "../parts/controller.ts";
import { controllerRbacRules } from "../parts/rbac.ts";
import { contextOf } from "./context.ts";
import { finalizerName } from "./names.ts";
import { OrphanedFinalizers } from "./orphaned_finalizers.ts";
import { type LoopScope, loopScope, type LoopUnit, partScope, type Shared } from "./scope.ts";

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
    reconcile: (run) => controller.reconcile(run.object, contextOf(part, run)),
    cleanup: controller.cleanup && ((run) => controller.cleanup!(run.object, contextOf(part, run))),
  };
  const scope = loopScope(operator, key, unit, shared);
  const part = partScope(scope, operator, key, controller);
  return scope;
}
