import assert from "node:assert/strict";
import { CONFIG_MAPS, configMap, DEFINITIONS, website, WEBSITES, Wire, withWebsites } from "../_wire.ts";

Deno.test("a watch sends the existing objects, then each change", async () => {
  await using wire = new Wire();
  await wire.post(CONFIG_MAPS, configMap("a"));
  await using watch = await wire.watch(`${CONFIG_MAPS}?watch=1`);

  await wire.merge(`${CONFIG_MAPS}/a`, { data: { key: "1" } });
  await wire.post(CONFIG_MAPS, configMap("b"));
  await wire.delete(`${CONFIG_MAPS}/a`);

  assert.deepEqual(await watch.names(4), ["ADDED a", "MODIFIED a", "ADDED b", "DELETED a"]);
});

Deno.test("deleting a CustomResourceDefinition ends the watches of its kind after all objects are deleted", async () => {
  await using wire = await withWebsites();
  await wire.post(WEBSITES, website("a", { host: "aa" }));
  await using watch = await wire.watch(`${WEBSITES}?watch=1`);
  await using other = await wire.watch(`${CONFIG_MAPS}?watch=1`);
  await wire.delete(`${DEFINITIONS}/websites.demo.example.com`);
  assert.deepEqual(await watch.names(2), ["ADDED a", "DELETED a"]);
  assert.equal(await watch.next(), undefined);
  await wire.post(CONFIG_MAPS, configMap("b"));
  assert.deepEqual(await other.names(1), ["ADDED b"]);
});

Deno.test("a watch from a resourceVersion sends the later changes, with increasing resourceVersions", async () => {
  await using wire = new Wire();
  const { body } = await wire.post(CONFIG_MAPS, configMap("a"));
  await wire.delete(`${CONFIG_MAPS}/a`);
  await wire.post(CONFIG_MAPS, configMap("b"));
  await using watch = await wire.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);

  const events = [await watch.next(), await watch.next()];

  assert.deepEqual(events.map(({ type }) => type), ["DELETED", "ADDED"]);
  const versions = events.map(({ object }) => Number(object.metadata.resourceVersion));
  assert(Number(body.metadata.resourceVersion) < versions[0]! && versions[0]! < versions[1]!);
});

Deno.test("a streaming list ends with an annotated bookmark", async () => {
  await using wire = await withWebsites();
  await wire.post(WEBSITES, website("a", { host: "aa" }));
  const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  await using watch = await wire.watch(`${WEBSITES}?${query}`);

  const [added, bookmark] = [await watch.next(), await watch.next()];

  assert.equal(added.type, "ADDED");
  assert.equal(bookmark.type, "BOOKMARK");
  assert.deepEqual(bookmark.object.metadata.annotations, { "k8s.io/initial-events-end": "true" });
  assert(Number(bookmark.object.metadata.resourceVersion) >= Number(added.object.metadata.resourceVersion));
});

Deno.test("a watch with a selector sends DELETED when an object stops matching, and ADDED when one starts to match", async () => {
  await using wire = new Wire();
  await wire.post(CONFIG_MAPS, configMap("a", {}, { labels: { app: "x" } }));
  await wire.post(CONFIG_MAPS, configMap("b"));
  await using watch = await wire.watch(`${CONFIG_MAPS}?watch=1&labelSelector=app`);

  await wire.merge(`${CONFIG_MAPS}/b`, { metadata: { labels: { app: "y" } } });
  await wire.merge(`${CONFIG_MAPS}/a`, { metadata: { labels: null } });
  await wire.delete(`${CONFIG_MAPS}/a`);
  await wire.delete(`${CONFIG_MAPS}/b`);

  assert.deepEqual(await watch.names(4), ["ADDED a", "ADDED b", "DELETED a", "DELETED b"]);
});

Deno.test("a watch that starts before a compaction gets the error Expired", async () => {
  await using wire = new Wire();
  const { body } = await wire.post(CONFIG_MAPS, configMap("a"));
  await wire.post(CONFIG_MAPS, configMap("b"));
  wire.server.compact();
  await using watch = await wire.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);

  const { type, object } = await watch.next();

  assert.deepEqual([type, object.code, object.reason], ["ERROR", 410, "Expired"]);
  assert.equal(await watch.next(), undefined);
});

Deno.test("a watch that starts before the retained history gets the error Expired", async () => {
  await using wire = new Wire({ history: 5 });
  const { body } = await wire.post(CONFIG_MAPS, configMap("a", { n: "0" }));
  for (let n = 1; n < 20; n++) await wire.merge(`${CONFIG_MAPS}/a`, { data: { n: String(n) } });
  await using watch = await wire.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);

  assert.equal((await watch.next()).object.reason, "Expired");
});

Deno.test("a watch ends after timeoutSeconds of virtual time, with a bookmark per minute", async () => {
  await using wire = new Wire();
  await using watch = await wire.watch(`${CONFIG_MAPS}?watch=1&timeoutSeconds=150&allowWatchBookmarks=true`);
  assert.equal(wire.server.watches, 1);

  while (wire.clock.step(wire.clock.now() + 200_000));

  assert.deepEqual([(await watch.next()).type, (await watch.next()).type], ["BOOKMARK", "BOOKMARK"]);
  assert.equal(await watch.next(), undefined);
  assert.equal(wire.server.watches, 0);
  assert.equal(wire.clock.nextDue, undefined);
});

Deno.test("cancelled and aborted watches are closed and leave no timers, for 2,000 watches", async () => {
  await using wire = new Wire();
  for (let i = 0; i < 2000; i++) {
    const watch = await wire.watch(`${CONFIG_MAPS}?watch=1&allowWatchBookmarks=true`);
    if (i % 2 === 0) watch.abort();
    else await watch[Symbol.asyncDispose]();
  }

  assert.equal(wire.server.watches, 0);
  assert.equal(wire.clock.nextDue, undefined);
});

Deno.test("stop ends open watches and rejects requests", async () => {
  await using wire = new Wire();
  await using watch = await wire.watch(`${CONFIG_MAPS}?watch=1`);

  await wire.server.stop();

  assert.equal(await watch.next(), undefined);
  await assert.rejects(wire.get(CONFIG_MAPS), { name: "TypeError" });
});

Deno.test("a watch for tables sends the columns once", async () => {
  await using wire = await withWebsites();
  await wire.post(WEBSITES, website("a", { host: "aa" }));
  await wire.post(WEBSITES, website("b", { host: "bb" }));
  const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
  const request = new Request(`http://server${WEBSITES}?watch=1`, { headers: { accept } });
  const response = await wire.server.fetch(request);
  await wire.server.stop();

  const events = (await response.text()).trim().split("\n").map((line) => JSON.parse(line));

  assert.deepEqual(events.map(({ object }) => object.rows[0].cells), [["a", "aa"], ["b", "bb"]]);
  assert.deepEqual(events.map(({ object }) => object.columnDefinitions?.length), [2, undefined]);
});

Deno.test("activity counts requests and events, and busy returns to zero", async () => {
  await using wire = new Wire();
  await using _watch = await wire.watch(`${CONFIG_MAPS}?watch=1`);
  const before = wire.server.activity;

  const response = wire.post(CONFIG_MAPS, configMap("a"));
  const busy = wire.server.busy;
  await response;
  await wire.settle();

  assert.equal(busy, 1);
  assert.equal(wire.server.busy, 0);
  // Begin and end of the request, and the event.
  assert.equal(wire.server.activity - before, 3);
});
