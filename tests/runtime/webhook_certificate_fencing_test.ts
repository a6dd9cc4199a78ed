/**
 * Only the replica that holds the Lease writes webhook certificates. Each test pauses a replica
 * before or during one of its writes, until another replica has acquired the Lease and made that
 * write.
 */
import assert from "node:assert/strict";
import { readCertificates } from "../../src/runtime/webhooks/x509.ts";
import { type Pause, Replica, type ReplicaRequest, ReplicaServer } from "./_certificate_replicas.ts";

/** Longer than the duration of the Lease, in milliseconds. */
const PAUSE_LENGTH = 16_000;

const CASES = [
  { name: "the first certificates are issued", isRenewal: false },
  { name: "the authority is renewed", isRenewal: true },
];

for (const { name, isRenewal } of CASES) {
  Deno.test(`while ${name}, a replica that was paused before a write does not send it, and a write that was delayed has no effect`, async (t) => {
    const requests = await requestsWithoutPause(isRenewal);
    const writes = requests.flatMap((at, i) => at.isGuarded ? [{ at, before: requests[i - 1]! }] : []);
    // Each bundle is written to three targets.
    assert.equal(writes.length, isRenewal ? 4 + 1 + 4 : 4);
    for (const { at, before } of writes) {
      const write = `write ${at.writes}, ${at.method} ${at.path}`;
      await t.step(`paused before ${write}`, () => checkPaused(isRenewal, { at: before, when: "after the response" }));
      await t.step(`paused during ${write}`, () => checkPaused(isRenewal, { at, when: "before it arrives" }));
    }
  });
}

/** Returns the requests of a replica that is not paused, without those for the Lease. */
async function requestsWithoutPause(isRenewal: boolean): Promise<ReplicaRequest[]> {
  const server = await ReplicaServer.create();
  await using one = new Replica(server, "one");
  const before = await prepare(server, one, isRenewal);
  const began = before === undefined ? 0 : one.requests.length;
  while (!await isSettled(server, [one], before)) await one.advance(1000);
  assert.deepEqual(one.requests.filter(isUnfenced), []);
  return one.requests.slice(began).filter(({ path }) => !path.includes("/leases"));
}

async function checkPaused(isRenewal: boolean, pause: Pause): Promise<void> {
  const server = await ReplicaServer.create();
  await using one = new Replica(server, "one", pause);
  const before = await prepare(server, one, isRenewal);
  while (!one.isPaused) await one.advance(1000);
  const pausedWrite = one.requests.findLast(({ isGuarded }) => isGuarded);

  await using other = new Replica(server, "other");
  let elapsed = await other.advance(PAUSE_LENGTH);
  while (!await isSettled(server, [other], before)) elapsed += await other.advance(1000);
  one.resume(elapsed);
  await one.advance(1000);
  while (!await isSettled(server, [one, other], before)) await Promise.all([one.advance(1000), other.advance(1000)]);

  for (const { requests } of [one, other]) assert.deepEqual(requests.filter(isUnfenced), []);
  if (pause.when === "before it arrives") assert.equal(pausedWrite?.status, 409);
}

/** Returns whether a replica wrote without holding the Lease. */
function isUnfenced({ isGuarded, isLeading }: ReplicaRequest): boolean {
  return isGuarded && !isLeading;
}

/** Brings a replica to the start of the case. Returns the published bundle, if there is one. */
async function prepare(server: ReplicaServer, one: Replica, isRenewal: boolean): Promise<string | undefined> {
  if (!isRenewal) return undefined;
  while (!await isSettled(server, [one])) await one.advance(1000);
  const [bundle] = await server.bundles();
  await server.requestRenewal();
  return bundle;
}

/**
 * Returns whether all targets have the same authority, another than `before`, and all replicas
 * serve certificates of it.
 */
async function isSettled(server: ReplicaServer, replicas: readonly Replica[], before?: string): Promise<boolean> {
  const [bundle, ...others] = await server.bundles();
  if (!bundle || bundle === before || others.some((other) => other !== bundle)) return false;
  const authorities = readCertificates(bundle);
  return authorities.length === 1 &&
    replicas.every(({ certificate }) =>
      certificate !== undefined && readCertificates(certificate)[0]?.authorityKeyId === authorities[0]?.keyId
    );
}
