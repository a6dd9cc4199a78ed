/**
 * Two processes of one operator on a real API server. SIGSTOP freezes the leader for longer than
 * its Lease: for 20 s, or for a whole minute with OP_TEST_FAULTS=full.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { sleep, systemClock } from "../../src/base/clock.ts";
import { ConfigMap, Lease } from "../../src/kinds/mod.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient, watched } from "../fixtures/watched.ts";
import op, { Note } from "../fixtures/operators/elected.ts";
import { install } from "../fixtures/install.ts";
import { type OperatorCommand, startOperator } from "../fixtures/operator_process.ts";
import { temporaryFolder } from "../fixtures/kubeconfig_clients.ts";

const IN_DEFAULT = { namespace: "default" };
const MAIN = fileURLToPath(new URL("../fixtures/operators/elected.ts", import.meta.url));
/** The number of notes that exist when the leader is frozen. */
const NOTES_BEFORE_FREEZE = 201;
// The Lease lasts 15 s.
const FREEZE_TIME = Deno.env.get("OP_TEST_FAULTS") === "full" ? 60_000 : 20_000;

Deno.test("a leader that is frozen past its Lease makes no other write when it resumes, and leads again later", async () => {
  await using cluster = await realCluster();
  await using home = await temporaryFolder();
  const client = adminClient(cluster);
  await install(client, op);
  await using leases = await watched(client, Lease);
  await using maps = await watched(client, ConfigMap);
  const holder = () => client.get(Lease, "elected-operator", IN_DEFAULT).then(({ spec }) => spec?.holderIdentity);
  const start = async (host: string): Promise<OperatorCommand> => {
    const { token } = await cluster.user(host, { groups: ["system:masters"] });
    return await startOperator({ home: home.path, main: MAIN, pod: { ...cluster, token }, env: { HOSTNAME: host } });
  };
  await using first = await start("first");
  await first.logged(({ msg }) => msg === "Leadership gained");
  await using second = await start("second");
  await second.logged(({ msg, leader }) => msg === "Standing by" && String(leader).startsWith("first_"));

  await client.create(Note, { metadata: { name: "busy" }, spec: { text: "one" } }, IN_DEFAULT);
  await maps.until((all) => all.some(({ metadata, data }) => metadata.name === "busy" && data?.text !== "one"));
  let frozen = 0;
  for (let i = 0; i < 300; i++) {
    await client.create(Note, { metadata: { name: `n${i}` }, spec: { text: "one" } }, IN_DEFAULT);
    // Freezes the leader in the middle of a reconcile.
    if (i === NOTES_BEFORE_FREEZE - 1) {
      await client.create(Note, { metadata: { name: "blocking" }, spec: { text: "two" } }, IN_DEFAULT);
      await first.logged(({ msg }) => msg === "Blocks");
      first.signal("SIGSTOP");
      frozen = systemClock.now();
    }
  }
  await second.logged(({ msg }) => msg === "Leadership gained");
  await maps.until((all) => all.filter(({ data }) => data?.text === "one").length === 300);
  assert.match(await holder() ?? "", /^second_/);
  await sleep(systemClock, FREEZE_TIME - (systemClock.now() - frozen));
  const resumed = systemClock.now();
  first.signal("SIGCONT");
  await first.logged(({ msg }) => msg === "Leadership lost");
  await first.logged(({ msg, leader }) => msg === "Standing by" && String(leader).startsWith("second_"));
  await client.patch(Note, "n0", { spec: { text: "two" } }, IN_DEFAULT);
  await maps.until((all) => all.some(({ metadata, data }) => metadata.name === "n0" && data?.text === "two"));

  // Requests that it had passed to its HTTP connection before the freeze are sent as soon as it
  // resumes, and cannot be canceled. There is at most one such request for each object that existed
  // before the freeze, because a controller makes one write to an object at a time.
  const log = await cluster.auditLog();
  const after = (from: number) =>
    log.filter(({ user, objectRef, requestReceivedTimestamp }) =>
      user.username === "first" && objectRef?.resource !== "leases" && Date.parse(requestReceivedTimestamp) > from
    );
  const names = after(resumed).map(({ objectRef }) => objectRef?.name ?? "");
  const namesAfterFreeze = new Set(Array.from({ length: 300 }, (_, i) => `n${i}`).slice(NOTES_BEFORE_FREEZE));
  const late = names.filter((name, i) => namesAfterFreeze.has(name) || names.indexOf(name) !== i);
  // It resumes in the middle of a turn of the event loop, before it learns that its term is over,
  // so only the fence stops writes.
  const ofBlocked = after(frozen).filter(({ objectRef }) => objectRef?.name === "blocking");
  assert.deepEqual(ofBlocked.map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}`), []);
  console.log(
    `frozen for ${((resumed - frozen) / 1000).toFixed(1)} s; ${names.length} requests were already sent`,
  );
  assert.deepEqual(late, [], `written after it resumed: ${names}`);

  assert.equal(await second.stop(), 0);
  await leases.until((all) => all.some(({ spec }) => spec?.holderIdentity?.startsWith("first_") ?? false));
  await client.patch(Note, "n0", { spec: { text: "three" } }, IN_DEFAULT);
  await maps.until((all) => all.some(({ metadata, data }) => metadata.name === "n0" && data?.text === "three"));
  assert.equal(await first.stop(), 0);
  assert.equal(await holder(), undefined, "the Lease was not released");
});
