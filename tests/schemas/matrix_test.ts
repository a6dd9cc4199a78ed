/**
 * The example kinds together use every feature of kinds. The real API server and ours accept them
 * unchanged.
 */
import assert from "node:assert/strict";
import { applyDefaults } from "../../src/schema/mod.ts";
import { FEATURES } from "./_features.ts";
import { DEFINITIONS, ourServer, realServer, type Server } from "./_servers.ts";
import { table } from "./_table.ts";
import { type ExampleKind, exampleKinds } from "./kinds/mod.ts";
import { eventually } from "../eventually.ts";

const kinds = exampleKinds();

Deno.test("every feature of schemas and kinds is used by an example kind", () => {
  const rows = FEATURES.map((feature) => ({ feature, uses: kinds.map((kind) => feature.isIn(kind)) }));

  const head = ["feature", ...kinds.map(({ name }) => name)];
  console.log(
    `\n${
      table(
        head,
        rows.map(({ feature, uses }) => [`${feature.about}: ${feature.name}`, ...uses.map((is) => is ? "x" : "")]),
      )
    }\n${rows.length} features, ${kinds.length} kinds`,
  );
  assert.deepEqual(rows.filter(({ uses }) => !uses.includes(true)).map(({ feature }) => feature.name), []);
  for (const [i, { name }] of kinds.entries()) assert(rows.some(({ uses }) => uses[i]), `${name} uses no feature`);
});

Deno.test("the real API server and ours accept the example kinds with strict field validation, and return them unchanged", async (t) => {
  for (const open of [realServer, async () => await ourServer()]) {
    await using server = await open();
    for (const kind of kinds) await t.step(`${kind.name}, ${server.name}`, () => checkDefinition(server, kind));
    for (const kind of kinds) {
      await t.step(`an object of ${kind.name}, ${server.name}`, () => checkExample(server, kind));
    }
  }
});

/** Checks that a definition is created and returned unchanged. */
async function checkDefinition(server: Server, { crd }: ExampleKind): Promise<void> {
  const sent = plain(crd);
  const response = await server.send("POST", `${DEFINITIONS}?fieldValidation=Strict`, JSON.stringify(sent));
  assert.equal(response.code, 201, response.body.message);
  assert.deepEqual(response.warnings, []);
  // The server adds the conversion strategy to definitions with one version.
  assert.deepEqual(response.body.spec, { conversion: { strategy: "None" }, ...sent.spec });
  const { name, labels, annotations } = response.body.metadata;
  assert.deepEqual(plain({ name, labels, annotations }), sent.metadata);
}

/** Checks that an object is created and returned with its defaults. */
async function checkExample(server: Server, { crd, example, version }: ExampleKind): Promise<void> {
  const { group, names, scope, versions } = crd.spec;
  const namespace = scope === "Namespaced" ? "/namespaces/default" : "";
  const sent = { apiVersion: `${group}/${version}`, kind: names.kind, ...example };
  const path = `/apis/${group}/${version}${namespace}/${names.plural}?fieldValidation=Strict`;
  const response = await eventually(async () => {
    const response = await server.send("POST", path, JSON.stringify(sent));
    assert.notEqual(response.code, 404);
    return response;
  });
  assert.equal(response.code, 201, JSON.stringify(response.body));
  const { schema } = versions.find((each) => each.name === version)!;
  const { apiVersion: _, kind: __, metadata: ___, ...returned } = response.body;
  const { metadata: ____, ...content } = example;
  assert.deepEqual(returned, plain(applyDefaults(schema.openAPIV3Schema, content)));
}

function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}
