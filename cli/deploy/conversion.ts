/** Conversion webhooks of definitions, which must not keep the garbage collector from seeing that objects were deleted. */
import { CustomResourceDefinition } from "@op/sdk/kinds";
import { ApiError } from "@op/sdk";
import type { Cluster } from "../cluster.ts";
import { MANAGER } from "../field_manager.ts";

/**
 * Sets the conversion of definitions to `None`, so that the API server lists their objects without asking a webhook. Use it only when no object is left,
 * or when none will be read by its operator again: without conversion, fields of other versions are lost.
 *
 * The garbage collector lists the version that the cluster prefers. If nobody answers the conversion, it does not notice that an owner was deleted; and
 * once the definition is gone it cannot look the owner up any more, so that it never deletes what the owner owned.
 *
 * @param cluster The cluster.
 * @param definitions Names of the definitions.
 * @returns Restores the conversions.
 */
export async function withoutConversion(
  { client }: Cluster,
  definitions: readonly string[],
): Promise<() => Promise<void>> {
  const restore: (() => Promise<void>)[] = [];
  for (const name of definitions) {
    const conversion = await conversionOf(name);
    if (conversion?.strategy !== "Webhook") continue;
    await replace(name, { strategy: "None" });
    restore.push(() => replace(name, conversion));
  }
  return async () => {
    for (const one of restore) await one();
  };

  async function conversionOf(name: string) {
    try {
      return (await client.get(CustomResourceDefinition, name)).spec.conversion;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  async function replace(name: string, value: unknown): Promise<void> {
    await client.patch(CustomResourceDefinition, name, [{ op: "replace", path: "/spec/conversion", value }], {
      type: "json",
      manager: MANAGER,
    });
  }
}
