/**
 * Each feature of kinds is used by a kind. The real API server and ours accept the definitions
 * unchanged.
 */
import assert from "node:assert/strict";
import { applyDefaults } from "../../src/schema/mod.ts";
import { FEATURES } from "./_features.ts";
import { DEFINITIONS, ourServer, realServer, type Server } from "./_servers.ts";
import { table } from "./_table.ts";
import { type UsedKind, usedKinds } from "./kinds/mod.ts";
import { HANG_LIMIT } from "../eventually.ts";

const kinds = usedKinds();

Deno.test("each feature of schemas and kinds is used by a kind", () => {
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

Deno.test("servers accept the kinds with strict field validation, and return them unchanged", async (t) => {
  for (const open of [realServer, async () => await ourServer()]) {
    await using server = await open();
    for (const kind of kinds) await t.step(`${kind.name}, ${server.name}`, () => isTaken(server, kind));
    for (const kind of kinds) await t.step(`an object of ${kind.name}, ${server.name}`, () => isServed(server, kind));
  }
});

/** Checks that a definition is created and returned unchanged. */
async function isTaken(server: Server, { crd }: UsedKind): Promise<void> {
  const sent = plain(crd);
  const made = await server.send("POST", `${DEFINITIONS}?fieldValidation=Strict`, JSON.stringify(sent));
  assert.equal(made.code, 201, made.body.message);
  assert.deepEqual(made.warnings, []);
  // With several versions it is explicit; with one version the server adds it.
  assert.deepEqual(made.body.spec, { conversion: { strategy: "None" }, ...sent.spec });
  const { name, labels, annotations } = made.body.metadata;
  assert.deepEqual(plain({ name, labels, annotations }), sent.metadata);
}

/** Checks that an object is created and returned with its defaults. */
async function isServed(server: Server, { crd, example, version }: UsedKind): Promise<void> {
  const { group, names, scope, versions } = crd.spec;
  const namespace = scope === "Namespaced" ? "/namespaces/default" : "";
  const written = { apiVersion: `${group}/${version}`, kind: names.kind, ...example };
  const path = `/apis/${group}/${version}${namespace}/${names.plural}?fieldValidation=Strict`;
  const made = await whenServed(() => server.send("POST", path, JSON.stringify(written)));
  assert.equal(made.code, 201, JSON.stringify(made.body));
  const { schema } = versions.find((each) => each.name === version)!;
  const { apiVersion: _, kind: __, metadata: ___, ...answered } = made.body;
  const { metadata: ____, ...given } = example;
  assert.deepEqual(answered, plain(applyDefaults(schema.openAPIV3Schema, given)));
}

function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

/** Waits until a definition is served. If it never is, the test fails. */
async function whenServed<T extends { readonly code: number }>(send: () => Promise<T>): Promise<T> {
  for (const late = AbortSignal.timeout(HANG_LIMIT);; late.throwIfAborted()) {
    const answer = await send();
    if (answer.code !== 404) return answer;
  }
}
