/**
 * Suspends conversion webhooks, so that the garbage collector notices that objects were deleted.
 */
import { CustomResourceDefinition } from "@op/sdk/kinds";
import { type Cluster, ifFound } from "../cluster.ts";
import { MANAGER } from "../field_manager.ts";

/**
 * Sets the conversion of CustomResourceDefinitions to `None`, so that the API server lists their
 * objects without calling a webhook. Use it only if no object exists, or if the operator does not
 * read the objects again, because without conversion, fields of other versions are lost.
 *
 * The garbage collector lists the version that the cluster prefers. If the webhook does not
 * respond, the garbage collector does not notice that an owner was deleted. After the definition is
 * deleted, it cannot look up the owner, and never deletes the owner's dependents.
 *
 * @param cluster The cluster.
 * @param definitions Names of the definitions.
 * @returns A function that restores the conversions.
 */
export async function withoutConversion(
  { client }: Cluster,
  definitions: readonly string[],
): Promise<() => Promise<void>> {
  const restore: (() => Promise<void>)[] = [];
  for (const name of definitions) {
    const conversion = (await ifFound(() => client.get(CustomResourceDefinition, name)))?.spec.conversion;
    if (conversion?.strategy !== "Webhook") continue;
    await replace(name, { strategy: "None" });
    restore.push(() => replace(name, conversion));
  }
  return async () => {
    for (const one of restore) await one();
  };

  async function replace(name: string, value: unknown): Promise<void> {
    await client.patch(CustomResourceDefinition, name, [{ op: "replace", path: "/spec/conversion", value }], {
      type: "json",
      manager: MANAGER,
    });
  }
}
