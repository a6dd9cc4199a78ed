/** Kinds on a real API server with the tested expressions as rules. */
import assert from "node:assert/strict";
import type { RealCluster } from "../../src/testing/real_cluster.ts";
import type { Case } from "../cel_libraries/case.ts";
import { type Expected, expectedOf, refusalIn } from "./_cel_rules.ts";
import { eventually } from "../eventually.ts";

/** A cause of a rejection. */
export interface Cause {
  readonly field: string;
  readonly message: string;
}

/** A server's response. */
export interface Answer {
  readonly status: number;
  readonly causes: readonly Cause[];
}

/**
 * Checks that a server rejects, evaluates and fails like `src/cel`, in one step for each table and
 * response.
 *
 * @param t The test.
 * @param cluster The server.
 * @param tables The expressions.
 */
export async function checkTables(
  t: Deno.TestContext,
  cluster: RealCluster,
  tables: Readonly<Record<string, readonly Case[]>>,
): Promise<void> {
  const expected = Object.entries(tables).map(([kind, cases]) => {
    const rules = cases.map(([expression]) => expectedOf(expression));
    const isRefused = ({ refusal }: Expected) => refusal !== undefined;
    return { kind, refused: rules.filter(isRefused), taken: rules.filter((rule) => !isRefused(rule)) };
  });

  for (const { kind, refused } of expected) {
    await t.step(`${kind}: ${refused.length} are rejected when the kind is defined`, async () => {
      const { status, causes } = await define(cluster, kind, objectWith(refused));
      assert.equal(status, 422);
      const heard = new Map<number, string>();
      for (const { field, message } of causes) {
        const place = Number(/x-kubernetes-validations\[(\d+)\]\.rule$/.exec(field)?.[1]);
        if (!heard.has(place)) heard.set(place, refusalIn(message));
      }
      assert.deepEqual(
        refused.map(({ given }, place) => [given.rule, heard.get(place)]),
        refused.map(({ given, refusal }) => [given.rule, refusal]),
      );
    });
  }

  // All kinds are defined first, because a server takes seconds to serve a new kind.
  for (const { kind, taken } of expected) {
    await t.step(`${kind}: ${taken.length} are accepted`, async () => {
      assert.deepEqual(await define(cluster, kind, objectWith(taken)), { status: 201, causes: [] });
    });
  }
  for (const { kind, taken } of expected) {
    await t.step(`${kind}: ${taken.length} have the same results`, async () => {
      const { causes } = await eventually(async () => {
        const answer = await make(cluster, kind, {});
        assert.equal(answer.status, 422);
        return answer;
      });
      assert.deepEqual(
        taken.map(({ given }, place) => [given, causes[place]?.message]),
        taken.map(({ given, message }) => [given, message]),
      );
    });
  }
}

function objectWith(rules: readonly Expected[]): Record<string, unknown> {
  return { type: "object", "x-kubernetes-validations": rules.map(({ given }) => given) };
}

/** Defines a kind with a schema for its `spec`. */
export async function define(cluster: RealCluster, kind: string, spec: Record<string, unknown>): Promise<Answer> {
  const plural = kind.toLowerCase();
  return await post(cluster, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.cel.example.com` },
    spec: {
      group: "cel.example.com",
      scope: "Cluster",
      names: { plural, singular: plural, kind },
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
      }],
    },
  });
}

/** Sends a create request with dry run. */
export async function make(cluster: RealCluster, kind: string, spec: Record<string, unknown>): Promise<Answer> {
  const object = { apiVersion: "cel.example.com/v1", kind, metadata: { name: "one" }, spec };
  return await post(cluster, `/apis/cel.example.com/v1/${kind.toLowerCase()}?dryRun=All`, object);
}

async function post(cluster: RealCluster, path: string, body: unknown): Promise<Answer> {
  const response = await cluster.fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const answer = text.startsWith("{") ? JSON.parse(text) : {};
  return { status: response.status, causes: answer.details?.causes ?? [] };
}
