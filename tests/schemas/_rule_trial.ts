/**
 * Tries objects of kinds with rules on a server: creates them, or stores them without validation
 * and updates them.
 */
import assert from "node:assert/strict";
import type { JsonSchema } from "../../src/schema/json_schema.ts";
import { applyDefaults, prune, validate } from "../../src/schema/mod.ts";
import { collection, type Definition, forEachOf, type Server } from "./_servers.ts";
import { causeText, type Verdict, verdictOf } from "./_verdict.ts";
import type { RuleCase, RuleKind } from "./rules/levels.ts";

/** The server's result for a case. */
export interface RuleVerdict {
  readonly verdict: Verdict;
  /** The old object as the server returns it. Omitted for a create. */
  readonly old?: unknown;
}

/**
 * Returns the definition of a kind. Its first version accepts any object, so that stored objects
 * may be invalid in the second.
 */
export function ruleDefinition({ kind, schema }: RuleKind): Definition {
  const spec = { "x-kubernetes-preserve-unknown-fields": true };
  return { group: "levels.example.com", kind, versions: { v1: { type: "object", properties: { spec } }, v2: schema } };
}

/** Returns a server's results for all cases of kinds that are defined there. */
export async function tryRules(server: Server, kinds: readonly RuleKind[]): Promise<Map<RuleCase, RuleVerdict>> {
  const verdicts = new Map<RuleCase, RuleVerdict>();
  const all = kinds.flatMap((kind) =>
    kind.cases.map((each, i) => ({ kind: ruleDefinition(kind), each, name: `c${i}` }))
  );
  await forEachOf(all, async ({ kind, each, name }) => {
    verdicts.set(
      each,
      each.old === undefined ? await create(server, kind, each) : await update(server, kind, each, name),
    );
  });
  return verdicts;
}

async function create(server: Server, kind: Definition, { object }: RuleCase): Promise<RuleVerdict> {
  const sent = { ...typeOf(kind, "v2"), metadata: { name: "name" }, ...object };
  return {
    verdict: verdictOf(await server.send("POST", `${collection(kind, "v2")}?dryRun=All`, JSON.stringify(sent))),
  };
}

async function update(server: Server, kind: Definition, { old, object }: RuleCase, name: string): Promise<RuleVerdict> {
  const stored = { ...typeOf(kind, "v1"), metadata: { name }, ...old };
  const created = await server.send("POST", collection(kind, "v1"), JSON.stringify(stored));
  assert.equal(created.code, 201, JSON.stringify(created.body));
  const path = `${collection(kind, "v2")}/${name}`;
  const before = (await server.send("GET", path)).body;
  const sent = {
    ...typeOf(kind, "v2"),
    metadata: { name, resourceVersion: before.metadata.resourceVersion },
    ...object,
  };
  const verdict = verdictOf(await server.send("PUT", `${path}?dryRun=All`, JSON.stringify(sent)));
  const { managedFields: _, uid: _uid, creationTimestamp: _when, resourceVersion: _version, ...metadata } =
    before.metadata;
  return { verdict, old: { ...before, metadata } };
}

function typeOf({ group, kind }: Definition, version: string): { apiVersion: string; kind: string } {
  return { apiVersion: `${group}/${version}`, kind };
}

/** Returns the errors of `validate` for a case. */
export function validateCase(kind: RuleKind, { object }: RuleCase, old: unknown): string[] {
  const { metadata } = (old ?? { metadata: { name: "name" } }) as { metadata: object };
  const sent = { ...typeOf(ruleDefinition(kind), "v2"), metadata, ...object };
  return validated(kind.schema, sent, old);
}

/** Returns the sorted errors of `validate` for an object. */
export function validated(schema: JsonSchema, object: unknown, old?: unknown): string[] {
  const filled = applyDefaults(schema, prune(schema, object).value);
  return validate(schema, filled, { isResource: true, ...(old !== undefined && { old }) }).map(causeText).sort();
}
