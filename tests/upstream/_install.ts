/** Creates definitions on a server. */
import assert from "node:assert/strict";
import type { RealCluster } from "../../src/testing/real_cluster.ts";
import type { Json } from "./_mutants.ts";

/**
 * Creates a CustomResourceDefinition.
 *
 * @param cluster The server.
 * @param definition The definition.
 * @param fieldValidation Whether unknown fields are errors.
 */
export async function install(
  cluster: RealCluster,
  definition: Json,
  fieldValidation: "Ignore" | "Strict",
): Promise<void> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions?fieldValidation=${fieldValidation}`;
  const response = await cluster.fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(definition),
  });
  const status = await response.json();
  assert.equal(response.status, 201, JSON.stringify(status).slice(0, 2000));
}
