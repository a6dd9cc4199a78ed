/**
 * Kinds with properties other than spec and status are imported completely, and a real API server
 * makes the same decisions.
 */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import type { Definition } from "../../cli/definitions/definition.ts";
import { lossesOf } from "../../cli/import/losses.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { compiled, deno, importAll, IMPORTED_GROUP, regrouped } from "./_imported.ts";
import { install } from "./_install.ts";
import type { Json } from "./_mutants.ts";
import { verdictOf } from "./_verdict.ts";

interface Own {
  readonly kind: string;
  readonly definition: Json;
  readonly objects: readonly Json[];
}

Deno.test("op crd import supports kinds with other properties than spec and status, and without a spec", async (t) => {
  const kinds = await ownKinds();
  await using cluster = await realCluster();
  const folder = await Deno.makeTempDir();
  try {
    const reports = await importAll(kinds, folder);
    assert.deepEqual(reports.map((report) => report.replace(/^(\w+): \d+/, "$1: N")), [
      ...kinds.map(({ kind }) => `${kind}: N schemas, 0 of them as JSON (0.0 %)\n`),
    ]);
    const definitions = await compiled(kinds.map(({ kind }) => kind), folder);
    await deno(["fmt", "--check", ...kinds.map(({ kind }) => `${kind}.ts`)], folder);
    for (const { definition } of kinds) await install(cluster, definition, "Strict");
    for (const definition of definitions) await install(cluster, regrouped(definition, IMPORTED_GROUP), "Strict");
    for (const { kind, definition, objects } of kinds) {
      await t.step(kind, async () => {
        const { names: { plural }, scope } = definition.spec as Definition["spec"];
        const [original, imported] = await Promise.all([
          cluster.fetch(`${DEFINITIONS}/${plural}.own.example.com`).then((response) => response.json()),
          cluster.fetch(`${DEFINITIONS}/${plural}.${IMPORTED_GROUP}`).then((response) => response.json()),
        ]);
        assert.deepEqual(lossesOf(regrouped(original, IMPORTED_GROUP) as unknown as Definition, imported), []);
        const served = { group: "own.example.com", plural, namespaced: scope === "Namespaced" };
        const statuses: number[] = [];
        for (const object of objects) {
          const before = await verdictOf(cluster, served, object);
          assert.deepEqual(await verdictOf(cluster, { ...served, group: IMPORTED_GROUP }, object), before);
          statuses.push(before.status);
        }
        assert(statuses.includes(201), "none is valid");
        assert(statuses.some((status) => status !== 201) || kind === "Errand", "none is rejected");
      });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

async function ownKinds(): Promise<Own[]> {
  const text = await Deno.readTextFile(new URL("roots.yaml", import.meta.url));
  const documents = parseAllDocuments(text).map((document) => document.toJS() as Json);
  return documents.filter(({ kind }) => kind === "CustomResourceDefinition").map((definition) => {
    const { kind } = (definition.spec as Definition["spec"]).names;
    return { kind, definition, objects: documents.filter((object) => object.kind === kind) };
  });
}
