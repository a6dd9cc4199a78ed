/** Logs each Namespace. */
import { controller } from "@op/sdk";
import { Namespace } from "@op/sdk/kinds";

export const namespaces = controller(Namespace, {
  reconcile(object, { log }) {
    log.info("Namespace seen", { name: object.metadata.name });
  },
});
