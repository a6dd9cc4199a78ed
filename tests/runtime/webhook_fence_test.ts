/**
 * Certificates of webhooks are written by the replica that holds the Lease, and by no other: however long one stood still, and wherever. So it is made to
 * stand still before and at each of its writes, while another takes its place and does what it was about to do.
 */
import assert from "node:assert/strict";
import { readCertificates } from "../../src/runtime/webhooks/x509.ts";
import { type Asked, Place, Replica, type StandingStill } from "./_certificate_replicas.ts";

/** Longer than a Lease is held without being renewed. */
const LONG = 16_000;

const STORIES = [
  { name: "the first certificates are made", isRenewal: false },
  { name: "the authority is renewed", isRenewal: true },
];

for (const { name, isRenewal } of STORIES) {
  Deno.test(`while ${name}, a replica that stood still before a write does not send it, and one on its way changes nothing`, async (t) => {
    const asked = await askedBy(isRenewal);
    const writes = asked.flatMap((at, i) => at.isGuarded ? [{ at, before: asked[i - 1]! }] : []);
    // Each of the three targets is told of each bundle.
    assert.equal(writes.length, isRenewal ? 4 + 1 + 4 : 4);
    for (const { at, before } of writes) {
      const told = `${at.method} of ${at.path}, the write number ${at.writes}`;
      await t.step(`before the ${told}`, () => check(isRenewal, { at: before, when: "answered" }));
      await t.step(`with the ${told}, on its way`, () => check(isRenewal, { at, when: "asked" }));
    }
  });
}

/** What a replica asks for that nothing happens to, besides the Lease. */
async function askedBy(isRenewal: boolean): Promise<Asked[]> {
  const place = await Place.make();
  await using one = new Replica(place, "one");
  const before = await begin(place, one, isRenewal);
  const began = before === undefined ? 0 : one.asked.length;
  while (!await isSettled(place, [one], before)) await one.pass(1000);
  assert.deepEqual(one.asked.filter(isUnfenced), []);
  return one.asked.slice(began).filter(({ path }) => !path.includes("/leases"));
}

async function check(isRenewal: boolean, still: StandingStill): Promise<void> {
  const place = await Place.make();
  await using one = new Replica(place, "one", still);
  const before = await begin(place, one, isRenewal);
  while (!one.isStill) await one.pass(1000);
  const late = one.asked.findLast(({ isGuarded }) => isGuarded);

  await using other = new Replica(place, "other");
  let lost = await other.pass(LONG);
  while (!await isSettled(place, [other], before)) lost += await other.pass(1000);
  one.wake(lost);
  await one.pass(1000);
  while (!await isSettled(place, [one, other], before)) await Promise.all([one.pass(1000), other.pass(1000)]);

  for (const { asked } of [one, other]) assert.deepEqual(asked.filter(isUnfenced), []);
  if (still.when === "asked") assert.equal(late?.status, 409);
}

function isUnfenced({ isGuarded, isLeading }: Asked): boolean {
  return isGuarded && !isLeading;
}

/** Up to where the story begins; answers the bundle that is there then. */
async function begin(place: Place, one: Replica, isRenewal: boolean): Promise<string | undefined> {
  if (!isRenewal) return undefined;
  while (!await isSettled(place, [one])) await one.pass(1000);
  const [bundle] = await place.bundles();
  await place.askForRenewal();
  return bundle;
}

/** Whether one authority, and not the one before, is told everywhere, and all show a certificate by it. */
async function isSettled(place: Place, replicas: readonly Replica[], before?: string): Promise<boolean> {
  const [bundle, ...others] = await place.bundles();
  if (!bundle || bundle === before || others.some((other) => other !== bundle)) return false;
  const authorities = readCertificates(bundle);
  return authorities.length === 1 &&
    replicas.every(({ shown }) =>
      shown !== undefined && readCertificates(shown)[0]?.authorityKeyId === authorities[0]?.keyId
    );
}
