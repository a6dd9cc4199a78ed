/** Tries values on the real API server and on ours. */
import assert from "node:assert/strict";
import { BASE, requestFor, type Sample, type SampledKind } from "./_samples.ts";
import { collection, define, forEachOf, ourServer, realServer, type Server } from "./_servers.ts";
import { type Verdict, verdictOf } from "./_verdict.ts";

/** The results of both servers for a value. */
export interface Tried {
  readonly sample: Sample;
  readonly real: Verdict;
  readonly ours: Verdict;
}

/**
 * Tries values on both servers, first all on one, then all on the other.
 *
 * @param kinds Their kinds.
 * @param all The values.
 */
export async function tryAll(kinds: readonly SampledKind[], all: readonly Sample[]): Promise<Tried[]> {
  await using real = await realServer();
  await using ours = ourServer();
  const expected = await tryOn(real, kinds, all);
  const actual = await tryOn(ours, kinds, all);
  return all.map((sample) => ({ sample, real: expected.get(sample)!, ours: actual.get(sample)! }));
}

async function tryOn(
  server: Server,
  kinds: readonly SampledKind[],
  all: readonly Sample[],
): Promise<Map<Sample, Verdict>> {
  await define(server, kinds);
  const versions = new Map(await Promise.all(kinds.map(async (kind) => [kind, await base(server, kind)] as const)));
  const verdicts = new Map<Sample, Verdict>();
  await forEachOf(all, async (sample) => {
    const { method, path, body } = requestFor(sample, versions.get(sample.kind)!);
    verdicts.set(sample, verdictOf(await server.send(method, path, body)));
  });
  return verdicts;
}

/** Creates the object whose status is written. */
async function base(server: Server, kind: SampledKind): Promise<string> {
  const object = { apiVersion: `${kind.group}/v1`, kind: kind.kind, metadata: { name: BASE } };
  const { code, body } = await server.send("POST", collection(kind), JSON.stringify(object));
  assert.equal(code, 201, JSON.stringify(body));
  return body.metadata.resourceVersion;
}
