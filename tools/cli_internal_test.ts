import assert from "node:assert/strict";
import { definitions, resources } from "../src/openapi/kubernetes.gen.ts";
import { internalModules, mergeSchemasModule } from "./cli_internal.ts";

const ADVICE = 'run "deno task generate"';

Deno.test("cli/internal has a current copy of each module that src/internal.ts imports, and no other file", async () => {
  const modules = await internalModules();
  for (const [path, text] of modules) {
    assert(await Deno.readTextFile(new URL(`../${path}`, import.meta.url)) === text, `${path} is stale: ${ADVICE}`);
  }
  assert.deepEqual(filesIn("cli/internal/"), [...modules.keys()].sort());
});

Deno.test("cli/kustomize/merge_schemas.gen.ts has the merge rules of the OpenAPI data", async () => {
  const text = await Deno.readTextFile(new URL("../cli/kustomize/merge_schemas.gen.ts", import.meta.url));
  assert(text === mergeSchemasModule({ definitions, resources }), `it is stale: ${ADVICE}`);
});

Deno.test("mergeSchemasModule keeps a property with the name of a field that it removes", () => {
  const schema = {
    description: "A list.",
    properties: { format: { type: "string" }, items: { items: { $ref: "a" }, "x-kubernetes-patch-merge-key": "name" } },
  };
  const module = mergeSchemasModule({ definitions: { list: JSON.stringify(schema) }, resources: [] });
  const reduced = {
    properties: { format: {}, items: { items: { $ref: "a" }, "x-kubernetes-patch-merge-key": "name" } },
  };
  assert(module.includes(JSON.stringify(JSON.stringify(reduced))), module);
});

function filesIn(folder: string): string[] {
  return [...Deno.readDirSync(new URL(`../${folder}`, import.meta.url))].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesIn(`${folder}${name}/`) : `${folder}${name}`
  ).sort();
}
