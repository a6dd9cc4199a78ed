/**
 * Updates of objects that were stored when their kind was less strict: errors in unchanged parts
 * are ignored, others are reported (KEP-4008, ratcheting). The real API server, ours, and
 * `validate` with `old` agree.
 */
import assert from "node:assert/strict";
import { equal, isObject } from "../../src/base/json.ts";
import { applyDefaults, prune, validate } from "../../src/schema/mod.ts";
import fc, { runs } from "../fixtures/property.ts";
import { jsonText } from "./_json_text.ts";
import { changed, type Node, targets } from "./_node.ts";
import { Random } from "../fixtures/random.ts";
import { wideSchema } from "./_schemas.ts";
import { collection, define, type Definition, forEachOf, ourServer, realServer, type Server } from "./_servers.ts";
import { causeText, type Verdict, verdictOf } from "./_verdict.ts";

const seed = (fc.readConfigureGlobal()?.seed ?? 0) + 1000;
const COUNT = 300 * runs;

/** A kind that accepts any object in its first version, and is strict in its second. */
interface Ratcheted extends Definition {
  readonly node: Node;
}

/** A stored object and its update. */
interface Update {
  readonly kind: Ratcheted;
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

interface Updated {
  /** The object as read before the update. */
  readonly old: unknown;
  readonly verdict: Verdict;
}

Deno.test(`updates of stored invalid objects get the same response from our API server as from the real one (PROPERTY_SEED=${seed - 1000})`, async () => {
  const random = new Random(seed);
  const kinds = random.times(4, (i) => ratcheted(`Ratchet${i}`, wideSchema(seed + i)));
  const updates = random.times(COUNT, (i) => update(random, random.pick(kinds), `u${i}`));

  await using real = await realServer();
  await using ours = ourServer();
  const expected = await updateAll(real, kinds, updates);
  const actual = await updateAll(ours, kinds, updates);

  const verdicts = updates.map((each) => expected.get(each)!.verdict.code);
  assert(verdicts.filter((code) => code === 200).length >= COUNT / 5);
  assert(verdicts.filter((code) => code === 422).length >= COUNT / 5);
  const differences = updates.flatMap((each) => {
    const [real, ours] = [expected.get(each)!, actual.get(each)!];
    const local = validated(each, real.old);
    const isSame = equal(real, ours) && equal(local, real.verdict.causes ?? []);
    return isSame ? [] : [{ ...each, kind: each.kind.kind, real, ours, local }];
  });
  const shown = differences.toSorted((a, b) => a.after.length - b.after.length).slice(0, 5);
  assert.equal(differences.length, 0, `${differences.length} updates, such as\n${JSON.stringify(shown, undefined, 1)}`);
});

function ratcheted(kind: string, node: Node): Ratcheted {
  const anything = { "x-kubernetes-preserve-unknown-fields": true };
  const versions = {
    v1: { type: "object", properties: { spec: anything } },
    v2: { type: "object", properties: { spec: node.schema } },
  };
  return { group: "ratchets.example.com", kind, versions, node };
}

/** Violations that no version can store or return. */
const UNSTORABLE = /^(duplicate field|embedded)/;

function update(random: Random, kind: Ratcheted, name: string): Update {
  const violations = [...targets(kind.node, "violations")].filter(({ change }) => !UNSTORABLE.test(change.keyword));
  const before = changed(random, kind.node.valid(random), random.pick(violations));
  const after = random.pick([
    () => before,
    () => kind.node.valid(random),
    () => ({ ...before as object, ...kind.node.valid(random) as object }),
    () => ({ ...kind.node.valid(random) as object, ...before as object }),
    () => isObject(before) ? changed(random, before, random.pick(violations)) : before,
    () => edited(random, before),
    () => edited(random, before),
  ])();
  return { kind, name, before: plainText(before), after: plainText(after) };
}

/** Removes literals: for the real server, a change from `3` to `3.0` is a change. */
function plainText(value: unknown): string {
  return JSON.stringify(JSON.parse(jsonText(value)));
}

/** Returns a value with a small change, which may move parts to other positions. */
function edited(random: Random, value: unknown): unknown {
  if (Array.isArray(value) && value.length > 0) {
    const at = random.integer(0, value.length - 1);
    return random.pick([
      () => value.toReversed(),
      () => value.toSpliced(at, 1),
      () => [...value, value[at]],
      () => [value[at], ...value],
      () => value.with(at, edited(random, value[at])),
    ])();
  }
  if (!isObject(value) || Object.keys(value).length === 0) return value;
  const [key, part] = random.pick(Object.entries(value));
  const { [key]: _, ...rest } = value;
  return random.chance(0.2) ? rest : { ...value, [key]: edited(random, part) };
}

async function updateAll(
  server: Server,
  kinds: readonly Ratcheted[],
  updates: readonly Update[],
): Promise<Map<Update, Updated>> {
  await define(server, kinds);
  const updated = new Map<Update, Updated>();
  await forEachOf(updates, async (each) => {
    const { kind, name, before, after } = each;
    const created = await server.send("POST", collection(kind, "v1"), objectText(kind, "v1", { name }, before));
    assert.equal(created.code, 201, JSON.stringify(created.body));
    const path = `${collection(kind, "v2")}/${name}`;
    const { metadata, ...old } = (await server.send("GET", path)).body;
    const sent = objectText(kind, "v2", { name, resourceVersion: metadata.resourceVersion }, after);
    updated.set(each, { old, verdict: verdictOf(await server.send("PUT", path, sent)) });
  });
  return updated;
}

function objectText({ group, kind }: Definition, version: string, metadata: object, spec: string): string {
  return `{"apiVersion":"${group}/${version}","kind":"${kind}","metadata":${JSON.stringify(metadata)},"spec":${spec}}`;
}

/** Returns the errors of `validate`. */
function validated({ kind, after }: Update, old: unknown): string[] {
  const schema = kind.versions.v2 as Parameters<typeof validate>[0];
  const value = { ...old as object, spec: JSON.parse(after) as unknown };
  const filled = applyDefaults(schema, prune(schema, value).value);
  return validate(schema, filled, { old, isResource: true }).map(causeText).sort();
}
