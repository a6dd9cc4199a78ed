/**
 * Definitions with one change that may make them invalid, in a random schema or around it: the real
 * API server and ours return the same response.
 */
import assert from "node:assert/strict";
import { equal, isObject } from "../../src/base/json.ts";
import fc, { runs } from "../fixtures/property.ts";
import { DEFINITION_CHANGES, fullDefinition } from "./_definition_changes.ts";
import { Random } from "../fixtures/random.ts";
import { changedSchema, smallSchema } from "./_schema_changes.ts";
import { definition, DEFINITIONS, forEachOf, ourServer, realServer, type Server } from "./_servers.ts";
import { type Verdict, verdictOf } from "./_verdict.ts";

const seed = (fc.readConfigureGlobal()?.seed ?? 0) + 2000;
const COUNT = 500 * runs;

Deno.test(`definitions get the same response from our API server as from the real one (PROPERTY_SEED=${seed - 2000})`, async (t) => {
  await using real = await realServer();
  await using ours = ourServer();

  await t.step("with a random schema that has one change", async () => {
    const random = new Random(seed);
    const differences: unknown[] = [];
    const codes: number[] = [];
    const schemas = random.times(COUNT, (i) => ({ i, ...changedSchema(random, smallSchema(random)) }));
    await forEachOf(schemas, async ({ i, schema, change }) => {
      const kind = { group: "random.example.com", kind: `Kind${i}`, versions: { v1: schema } };
      const [expected, actual] = [await trial(real, definition(kind)), await trial(ours, definition(kind))];
      codes.push(expected.code);
      if (!equal(expected, actual)) differences.push({ change, schema, real: expected, ours: actual });
    }, 8);
    console.log(countsOf(codes));
    assert(codes.filter((code) => code === 201).length >= COUNT / 5);
    assert(codes.filter((code) => code === 422).length >= COUNT / 5);
    assertNone(differences);
  });

  await t.step("with one change around the schema", async () => {
    const differences: unknown[] = [];
    const codes: number[] = [];
    await forEachOf(DEFINITION_CHANGES, async ({ name, change }) => {
      const sent = fullDefinition();
      change(sent);
      const [expected, actual] = [await trial(real, sent), await trial(ours, sent)];
      codes.push(expected.code);
      if (!equal(expected, actual)) differences.push({ name, real: expected, ours: actual });
    }, 8);
    console.log(countsOf(codes));
    assertNone(differences);
  });
});

function countsOf(codes: readonly number[]): string {
  const counts = Object.entries(Object.groupBy(codes, String)).map(([code, all = []]) => `${all.length} times ${code}`);
  return `${codes.length} definitions: ${counts.join(", ")}`;
}

/** Fails with some of the differences, if there are any. */
function assertNone(differences: readonly unknown[]): void {
  const shown = JSON.stringify(differences.slice(0, 5), undefined, 1);
  assert.equal(differences.length, 0, `${differences.length} definitions, such as\n${shown}`);
}

async function trial(server: Server, sent: unknown): Promise<Verdict> {
  const path = `${DEFINITIONS}?dryRun=All&fieldValidation=Strict`;
  const { object, ...verdict } = verdictOf(await server.send("POST", path, JSON.stringify(sent)));
  return isObject(object) ? { ...verdict, object: object.spec } : verdict;
}
