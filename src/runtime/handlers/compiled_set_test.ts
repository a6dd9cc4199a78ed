import assert from "node:assert/strict";
import { decodeRecord, encodeRecord } from "../../handlers/record.ts";
import { nextState } from "../../handlers/next_state.ts";
import { plan } from "../../handlers/plan.ts";
import type { Handler } from "../../parts/handlers/handler.ts";
import { on } from "../../parts/handlers/on.ts";
import type { KubeObject } from "../../resource/kind.ts";
import { resource } from "../../resource/resource.ts";
import { s } from "../../schema/mod.ts";
import { CompiledSet, type ObjectReading } from "./compiled_set.ts";

const base = { group: "example.com", version: "v1", kind: "Website" } as const;
const Website = resource({ ...base, spec: s.object({ host: s.string() }) });
const WithSize = resource({ ...base, spec: s.object({ host: s.string(), size: s.integer({ default: 3 }) }) });
const fn = () => {};

function read(set: CompiledSet, object: KubeObject): ObjectReading {
  return set.read(object, { hasFinalizer: false, isFoundAtStart: false, retry: undefined, matches: () => true });
}

function websiteWith(spec: unknown): KubeObject {
  const metadata = { name: "web", uid: "0a1b2c3d" };
  return { apiVersion: "example.com/v1", kind: "Website", metadata, spec } as unknown as KubeObject;
}

/** Returns the record of an object that all handlers have handled. */
function recordOf(set: CompiledSet, object: KubeObject): string {
  const reading = read(set, object);
  const { calls } = plan(set.set, reading.live, undefined, 0);
  const outcomes = calls.map((call) => ({ call, result: "success" as const, since: 0 }));
  const { state } = nextState(set.set, reading.live, undefined, outcomes, 0);
  return encodeRecord(set.set, set.rules, state, reading.projection);
}

for (
  const [name, before, after] of [
    ["the whole object", on.update(Website, fn), on.update(WithSize, fn)],
    ["a part of it", on.field(Website, ".spec", fn), on.field(WithSize, ".spec", fn)],
  ] satisfies [string, Handler, Handler][]
) {
  Deno.test(`a new default is no change for a handler that follows ${name}`, () => {
    const record = recordOf(new CompiledSet(Website, new Map([["copy", before]])), websiteWith({ host: "a" }));
    const set = new CompiledSet(WithSize, new Map([["copy", after]]));
    for (const [size, expected] of [[3, 0], [4, 1]] as const) {
      const object = websiteWith({ host: "a", size });
      const reading = read(set, object);
      const { state } = decodeRecord(set.set, set.rulesFor(object), record, reading)!;
      assert.equal(plan(set.set, reading.live, state, 0).calls.length, expected);
    }
  });
}

Deno.test("a new default is no change for a handler of a field that was missing", () => {
  const size = on.field(WithSize, ".spec.size", fn);
  const set = new CompiledSet(WithSize, new Map([["size", size]]));
  const record = recordOf(set, websiteWith({ host: "a" }));
  const object = websiteWith({ host: "a", size: 3 });
  const reading = read(set, object);
  const { state } = decodeRecord(set.set, set.rulesFor(object), record, reading)!;
  assert.deepEqual(plan(set.set, reading.live, state, 0).calls, []);
});
