/**
 * Definitions with one change that may make them what no API server takes, in a random schema or around it: the real API server and the one in the process
 * say the same, with the same words.
 */
import assert from "node:assert/strict";
import { equal, isObject } from "../../src/base/json.ts";
import fc from "../_property.ts";
import { DEFINITION_CHANGES, fullDefinition } from "./_definition_changes.ts";
import { Random } from "./_random.ts";
import { changedSchema, smallSchema } from "./_schema_changes.ts";
import { definition, DEFINITIONS, forEachOf, ourServer, realServer, type Server } from "./_servers.ts";
import { type Verdict, verdictOf } from "./_verdict.ts";

const seed = (fc.readConfigureGlobal()?.seed ?? 0) + 2000;
const COUNT = 800;

Deno.test(`schemas are taken or refused as by the real API server (PROPERTY_SEED=${seed - 2000})`, async () => {
  const random = new Random(seed);
  await using real = await realServer();
  await using ours = ourServer();
  const wrong: unknown[] = [];
  const codes: number[] = [];
  await forEachOf(
    random.times(COUNT, (i) => ({ i, ...changedSchema(random, smallSchema(random)) })),
    async ({ i, schema, change }) => {
      const kind = { group: "random.example.com", kind: `Kind${i}`, versions: { v1: schema } };
      const [expected, actual] = [await tried(real, definition(kind)), await tried(ours, definition(kind))];
      codes.push(expected.code);
      if (!equal(expected, actual)) wrong.push({ change, schema, real: expected, ours: actual });
    },
    8,
  );

  assert(codes.filter((code) => code === 201).length >= COUNT / 5);
  assert(codes.filter((code) => code === 422).length >= COUNT / 5);
  assert.equal(
    wrong.length,
    0,
    `${wrong.length} definitions, such as\n${
      JSON.stringify(wrong.slice(0, Number(Deno.env.get("SHOW") ?? 5)), undefined, 1)
    }`,
  );
});

Deno.test("definitions are taken or refused as by the real API server", async () => {
  await using real = await realServer();
  await using ours = ourServer();
  const wrong: unknown[] = [];
  await forEachOf(DEFINITION_CHANGES, async ({ name, change }) => {
    const sent = fullDefinition();
    change(sent);
    const [expected, actual] = [await tried(real, sent), await tried(ours, sent)];
    if (!equal(expected, actual)) wrong.push({ name, real: expected, ours: actual });
  }, 8);
  assert.equal(
    wrong.length,
    0,
    `${wrong.length} definitions, such as\n${
      JSON.stringify(wrong.slice(0, Number(Deno.env.get("SHOW") ?? 5)), undefined, 1)
    }`,
  );
});

async function tried(server: Server, sent: unknown): Promise<Verdict> {
  const path = `${DEFINITIONS}?dryRun=All&fieldValidation=Strict`;
  const { object, ...verdict } = verdictOf(await server.send("POST", path, JSON.stringify(sent)));
  return isObject(object) ? { ...verdict, object: object.spec } : verdict;
}
