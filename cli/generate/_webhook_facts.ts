/** The declarations of an operator with a webhook, for tests of manifests. */
import { controller, operator, webhook } from "@op/sdk";
import type { InstallOptions } from "@op/sdk/operator";
import { ConfigMap } from "@op/sdk/kinds";
import type { LayoutFacts } from "./layout.ts";

/**
 * Returns the declarations of an operator "guard" with a controller and a webhook.
 *
 * @param install Where and how the operator is installed.
 */
export function webhookFacts(install: InstallOptions = {}): LayoutFacts {
  const maps = controller(ConfigMap, { reconcile() {} });
  const op = operator({ name: "guard", parts: { maps, mapRules: webhook(ConfigMap, { validate() {} }) } });
  return { name: op.name, manifests: op.manifests(install), samples: [], rbac: op.rbac() };
}
