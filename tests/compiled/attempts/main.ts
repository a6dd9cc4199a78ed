/**
 * An operator that makes the attempt that an object names. It declares only what most operators do:
 * its own kind, and a kind that it owns.
 */
import { controller, operator } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { Attempt } from "./attempt.ts";
import { ATTEMPTS } from "./attempts.ts";

export const attempts = controller(Attempt, {
  owns: [ConfigMap],
  async reconcile({ metadata, spec }, { status }) {
    const targets = { url: spec.url, namespace: metadata.namespace ?? "", name: metadata.name };
    try {
      await ATTEMPTS[spec.attempt]?.(targets);
      status({ outcome: "succeeded" });
    } catch (error) {
      status({ outcome: `${(error as Error).name}: ${(error as Error).message}` });
    }
  },
});

const op = operator({ name: "probe", version: "0.1.0", parts: { attempts } });
export default op;
if (import.meta.main) await op.main();
