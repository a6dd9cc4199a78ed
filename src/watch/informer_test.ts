import assert from "node:assert/strict";
import { ConfigMap } from "../kinds/mod.ts";
import { TruncatedStreamError } from "../kube/truncated_stream_error.ts";
import type { AnyKind } from "../resource/kind.ts";
import {
  added,
  bookmark,
  deleted,
  list,
  mark,
  modified,
  object,
  refusal,
  start,
  type Stream,
  turns,
  Website,
} from "../../tests/fixtures/scripted_informer.ts";

Deno.test("Informer lists by a stream, and is synced when the mark comes", async () => {
  await using desk = start();
  const [stream] = await desk.opened(1);
  assert.deepEqual(stream.query, {
    allowWatchBookmarks: "true",
    resourceVersionMatch: "NotOlderThan",
    sendInitialEvents: "true",
    timeoutSeconds: "600",
    watch: "true",
  });

  await stream.send(added("a", 1), added("b", 2));
  assert.equal(desk.informer.isSynced, false);
  await stream.send(mark(5), modified("a", 6));

  assert.equal(desk.informer.isSynced, true);
  await desk.informer.synced;
  assert.deepEqual(desk.told, ["+a@1 at first", "+b@2 at first", "a@1->6"]);
});

Deno.test("Informer goes on where it was when the server ends a watch", async () => {
  await using desk = start();
  const [first] = await desk.opened(1);
  await first.send(mark(5), added("a", 7), bookmark(9));
  desk.clock.step(desk.clock.now() + 60_000);
  await first.end();

  const [, second] = await desk.opened(2);
  assert.equal(second.query.resourceVersion, "9");
  assert.equal(second.query.sendInitialEvents, undefined);
  assert.equal(desk.isWaiting(), false, "it does not wait");
  await second.send(deleted("a", 10));
  assert.deepEqual(desk.told, ["+a@7", "-a@7"]);
});

for (const status of [400, 422]) {
  Deno.test(`Informer lists page by page where a streaming list is refused with ${status}`, async () => {
    await using desk = start({}, ({ query }) => {
      if (query.sendInitialEvents) return refusal(status);
      if (query.watch) return undefined;
      return query.continue === undefined ? list(5, [object("a", 1)], "more") : list(5, [object("b", 2)]);
    });
    const [watch] = await desk.opened(1);
    assert.deepEqual(desk.asked(), ["stream", "page", "page more", "watch 5"]);
    assert.equal(desk.informer.isSynced, true);
    await watch.send(modified("b", 6));
    assert.deepEqual(desk.told, ["+a@1 at first", "+b@2 at first", "b@2->6"]);
    assert.deepEqual(desk.problems, [], "a refusal is no problem");
  });
}

Deno.test("Informer lists page by page where the server cannot list by a stream just now, and by a stream the next time", async () => {
  let isBehind = true;
  let isExpired = false;
  await using desk = start({}, ({ query }) => {
    if (query.sendInitialEvents) return isBehind ? refusal(504) : undefined;
    if (query.watch) return isExpired ? refusal(410) : undefined;
    return list(5, [object("a", 1)]);
  });
  const [watch] = await desk.opened(1);
  assert.deepEqual(desk.asked(), ["stream", "page", "watch 5"]);
  assert.deepEqual(desk.problems, [], "it is no problem");
  [isBehind, isExpired] = [false, true];
  await watch.send(modified("a", 6));
  desk.clock.step(desk.clock.now() + 2000);
  await watch.end();
  await desk.opened(2);
  assert.deepEqual(desk.asked().slice(3), ["watch 6", "stream"]);
});

for (const how of ["event", "status"] as const) {
  Deno.test(`Informer lists anew when its version is too old (410 as ${how}), and loses nothing meanwhile`, async () => {
    let isExpired = false;
    await using desk = start({}, ({ query }) => isExpired && query.resourceVersion ? refusal(410) : undefined);
    const [first] = await desk.opened(1);
    await first.send(added("same", 1), added("changed", 2), added("gone", 3), mark(5));
    desk.told.length = 0;

    isExpired = true;
    if (how === "event") await first.send({ type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } });
    else {
      desk.clock.step(desk.clock.now() + 60_000);
      await first.end();
    }
    const [, second] = await desk.opened(2);
    assert.equal(second.query.sendInitialEvents, "true");
    assert.equal(desk.isWaiting(), false, "it does not wait");
    await second.send(added("same", 1), added("changed", 20));
    assert.deepEqual([...desk.informer.store.values()].map(({ metadata }) => metadata.name), [
      "same",
      "changed",
      "gone",
    ]);
    await second.send(mark(25));
    assert.deepEqual(desk.told, ["changed@2->20", "-gone@3"]);
    assert.equal(desk.informer.isSynced, true);
  });
}

Deno.test("Informer waits longer with each failure, and starts from the shortest wait after a success", async () => {
  let isUp = false;
  await using desk = start({}, () => isUp ? undefined : refusal(500));
  const waits: number[] = [];
  await turns();
  for (let i = 0; i < 9; i++) waits.push(await desk.passNext());
  assert.deepEqual(waits, [200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000]);

  isUp = true;
  await desk.passNext();
  const [stream] = await desk.opened(1);
  await stream.send(mark(5));
  isUp = false;
  await stream.fail();
  assert.equal(await desk.passNext(), 200);
});

Deno.test("Informer spreads its waits", async () => {
  await using desk = start({ random: () => 0 }, () => refusal(500));
  await turns();
  assert.equal(await desk.passNext(), 150);
});

Deno.test("Informer tells a problem once, and tells when it is over", async () => {
  let isUp = false;
  await using desk = start({}, () => isUp ? undefined : refusal(500));
  await turns();
  for (let i = 0; i < 3; i++) await desk.passNext();
  assert.deepEqual(desk.problems, ["Cannot watch Website: the apiserver answered 500: refused"]);
  assert.equal(desk.informer.problem?.message, desk.problems[0]);

  isUp = true;
  await desk.passNext();
  const [stream] = await desk.opened(1);
  await stream.send(mark(5));
  assert.deepEqual(desk.problems.slice(1), [undefined]);
  assert.equal(desk.informer.problem, undefined);
});

Deno.test("Informer tells that a kind is served again when it was not for a while, as soon as a watch of it opens, and of no other problem", async () => {
  let refused: number | undefined = 404;
  await using desk = start({}, () => refused === undefined ? undefined : refusal(refused));
  let again = 0;
  desk.informer.onServedAgain(() => again++);
  await turns();
  refused = undefined;
  await desk.passNext();
  const [first] = await desk.opened(1);
  await first.send(mark(5));
  assert.deepEqual(
    [again, desk.informer.problem],
    [0, undefined],
    "nobody did without it before it was there at first",
  );

  refused = 500;
  await first.end();
  await desk.passNext();
  assert.match(String(desk.informer.problem), /answered 500/);
  refused = undefined;
  await desk.passNext();
  const [, second] = await desk.opened(2);
  await second.send(mark(6));
  assert.deepEqual([again, desk.informer.problem], [0, undefined]);

  refused = 404;
  await second.end();
  await desk.passNext();
  assert.match(String(desk.informer.problem), /the API server does not serve "websites"/);
  refused = undefined;
  await desk.passNext();
  await desk.opened(3);
  assert.deepEqual([again, desk.informer.problem], [1, undefined], "nothing may come of it for minutes");
});

Deno.test("Informer survives a line of garbage and asks again from where it was", async (t) => {
  const garbage = [
    "<html>",
    "null",
    '{"type":"ADDED"}',
    '{"type":"ADDED","object":{}}',
    '{"type":"ERROR"}',
    '{"type":"ADDED","object":{"metadata":{"name":"b","resourceVersion":"8"}}}',
    '{"type":"ADDED","object":{"metadata":{"name":"b","uid":"b"}}}',
    '{"type":"MODIFIED","object":{"metadata":{"name":"","uid":"b","resourceVersion":"8"}}}',
    '{"type":"BOOKMARK","object":{"metadata":{}}}',
    '{"type":"DELETED","object":[]}',
  ];
  for (const line of garbage) {
    await t.step(line, async () => {
      await using desk = start();
      const [first] = await desk.opened(1);
      await first.send(mark(5), added("a", 7));
      await first.raw(`${line}\n`);
      assert.equal(desk.problems.length, 1);
      await desk.passNext();
      const [, second] = await desk.opened(2);
      assert.equal(second.query.resourceVersion, "7");
      await second.send(modified("a", 8));
      assert.deepEqual(desk.told, ["+a@7", "a@7->8"]);
      assert.deepEqual(desk.problems.slice(1), [undefined]);
    });
  }
});

Deno.test("Informer tells nothing of lines that it had before, and goes on from the newest", async () => {
  await using desk = start();
  const [first] = await desk.opened(1);
  await first.send(added("a", 3), added("gone", 4), mark(5), modified("a", 6), deleted("gone", 7), modified("a", 8));
  desk.told.length = 0;
  await first.send(added("gone", 4), added("a", 3), modified("a", 6), deleted("a", 3), bookmark(5), modified("a", 8));
  assert.deepEqual(desk.told, []);
  await first.end();
  const [, second] = await desk.opened(2);
  assert.equal(second.query.resourceVersion, "8");
});

Deno.test("Informer reports a TruncatedStreamError when a stream ends before the initial list is complete", async () => {
  await using desk = start();
  const [stream] = await desk.opened(1);
  await stream.send(added("a", 1));
  await stream.end();
  await turns();
  assert(desk.informer.problem instanceof TruncatedStreamError);
  assert.equal(desk.informer.isSynced, false);
});

const STORMS: readonly { name: string; stream: (stream: Stream) => Promise<void> }[] = [
  { name: "ends every stream without a word", stream: (stream) => stream.end() },
  {
    name: "ends every first listing before it is complete",
    stream: async (stream) => {
      await stream.send(added("a", 1));
      await stream.end();
    },
  },
  {
    name: "calls every first listing too old",
    stream: (stream) => stream.send(added("a", 1), { type: "ERROR", object: { kind: "Status", code: 410 } }),
  },
];

for (const { name, stream } of STORMS) {
  Deno.test(`Informer asks with growing pauses when the server ${name}`, async () => {
    await using desk = start();
    const waits: number[] = [];
    // The first 410 is usual, so the second request may follow at once.
    for (let count = 1; waits.length < 3 && count < 10; count++) {
      await stream((await desk.opened(count))[count - 1]!);
      if (desk.isWaiting()) waits.push(await desk.passNext());
    }
    assert.equal(waits.length, 3, "it waits");
    assert(waits[0]! >= 200 && waits[0]! < waits[1]! && waits[1]! < waits[2]!, String(waits));
  });
}

const EXPLAINED: readonly { name: string; kind: AnyKind; status: number; message: RegExp }[] = [
  {
    name: "a kind of ours whose definition is missing",
    kind: Website,
    status: 404,
    message:
      /^Cannot watch Website: the API server does not serve "websites" of demo\.example\.com\/v1\. Install its CustomResourceDefinition "websites\.demo\.example\.com": run "op deploy", or apply the output of the operator's command "crds"\.$/,
  },
  {
    name: "a built-in kind that is not served",
    kind: ConfigMap,
    status: 404,
    message: /^Cannot watch ConfigMap: .*\. Check that the cluster's version of Kubernetes has v1\.$/,
  },
  {
    name: "an external kind that is not served",
    kind: { ...Website, external: true },
    status: 404,
    message:
      /Install the project that its CustomResourceDefinition "websites\.demo\.example\.com" belongs to; the watch starts/,
  },
  {
    name: "an expired token",
    kind: ConfigMap,
    status: 401,
    message: /answered 401.*: the token is expired or not of this cluster: log in again, or renew the kubeconfig$/,
  },
  {
    name: "a missing right",
    kind: ConfigMap,
    status: 403,
    message: /answered 403.*: give this user the verbs list and watch on "configmaps"$/,
  },
];

for (const { name, kind, status, message } of EXPLAINED) {
  Deno.test(`Informer says the way out of ${name}, and asks again`, async () => {
    await using desk = start({ kind }, () => refusal(status));
    await turns();
    assert.match(desk.problems[0]!, message);
    await desk.passNext();
    assert.equal(desk.requests.length, 2);
  });
}

Deno.test("Informer looks only where it is told to", async () => {
  await using desk = start({ namespace: "team", labelSelector: "app=web", fieldSelector: "metadata.name=a" });
  const [stream] = await desk.opened(1);
  assert.equal(stream.path, "/apis/demo.example.com/v1/namespaces/team/websites");
  assert.deepEqual([stream.query.labelSelector, stream.query.fieldSelector], ["app=web", "metadata.name=a"]);
});

Deno.test("Informer keeps only our entries of managedFields, of events and of answers", async () => {
  await using desk = start({ keepsFieldsOf: ({ manager }) => manager === "me" });
  const [stream] = await desk.opened(1);
  const managedFields = [{ manager: "me", operation: "Apply" }, { manager: "kubectl" }, {}];
  const others = [{ manager: "kubectl" }];
  await stream.send(added("a", 1, { managedFields }), added("b", 2, { managedFields: others }), mark(5));
  await desk.informer.write("c", { part: "us", key: "c" }, () => Promise.resolve(object("c", 6, { managedFields })));
  const held = [...desk.informer.store.values()].map(({ metadata }) => metadata.managedFields);
  assert.deepEqual(held, [managedFields.slice(0, 1), undefined, managedFields.slice(0, 1)]);
  assert.equal(Object.hasOwn(desk.informer.store.get("b")!.metadata, "managedFields"), false);
});

Deno.test("Informer stops when its signal is aborted, while it watches and while it waits", async (t) => {
  for (const [name, answer] of [["watches", undefined], ["waits", () => refusal(500)]] as const) {
    await t.step(name, async () => {
      const desk = start({}, answer);
      await turns();
      await desk[Symbol.asyncDispose]();
      assert.equal(desk.isWaiting(), false);
      assert.equal(desk.requests.length, 1);
      assert.deepEqual(desk.problems.slice(1), []);
    });
  }
});

Deno.test("Informer opens a stream anew on which nothing comes, though it stands: after the first bookmarks within 75 s", async () => {
  await using desk = start();
  const [first] = await desk.opened(1);
  await first.send(mark(5));
  await desk.pass(121_000);
  await first.send(bookmark(6));
  await desk.pass(60_000);
  await first.send(bookmark(7));
  assert.equal(desk.informer.staleness, 0);

  await desk.pass(74_000);
  await desk.opened(1);
  assert.equal(desk.informer.staleness, 74_000);
  await desk.pass(2000);

  const [, second] = await desk.opened(2);
  assert.equal(second.query.resourceVersion, "7");
  assert.deepEqual(desk.problems, ["Cannot watch Website: nothing came for 75 s"]);
  await second.send(added("a", 8));
  assert.deepEqual(desk.told, ["+a@8"]);
  assert.equal(desk.informer.restarts, 1);
});

Deno.test("Informer gives a stream 135 s for its first bookmark: a server needs two minutes for it", async () => {
  await using desk = start();
  const [first] = await desk.opened(1);
  await first.send(mark(5));
  await desk.pass(134_000);
  await desk.opened(1);
  await desk.pass(2000);
  await desk.opened(2);
});

Deno.test("Informer looks by a second watch whether a silent stream brings all there is, until bookmarks tell", async () => {
  await using desk = start();
  const [first] = await desk.opened(1);
  await first.send(mark(5));
  await desk.pass(60_000);
  assert.deepEqual(desk.asked(), ["stream", "glance 5", "glance 5"]);
  await desk.opened(1);
  await first.send(added("a", 6), bookmark(7));
  await first.send(bookmark(8));
  await desk.pass(74_000);
  assert.deepEqual(desk.asked().slice(3), [], "bookmarks tell from here on");
});

Deno.test("Informer opens a stream anew that stands still: within 35 s of what another watch brings", async () => {
  await using desk = start();
  const [first] = await desk.opened(1);
  await first.send(mark(5));
  desk.glanced.push(added("a", 6));
  await desk.pass(33_000);
  const [, second] = await desk.opened(2);
  assert.equal(second.query.resourceVersion, "5");
  assert.deepEqual(desk.problems, [
    "Cannot watch Website: the stream stands still: another one brings what it does not",
  ]);
  await second.send(added("a", 6));
  assert.deepEqual(desk.told, ["+a@6"]);
});

Deno.test("Informer leaves a stream alone that is a little later than the second watch", async () => {
  await using desk = start();
  const [first] = await desk.opened(1);
  await first.send(mark(5));
  desk.glanced.push(added("a", 6));
  await desk.pass(30_500);
  await first.send(added("a", 6));
  await desk.pass(10_000);
  await desk.opened(1);
  assert.deepEqual(desk.problems, []);
});

Deno.test("Informer ends with an internal error when a listener fails: the same change would fail again for ever", async () => {
  const desk = start();
  desk.informer.listen(() => {
    throw new TypeError("A mistake of ours");
  });
  const [stream] = await desk.opened(1);
  await stream.send(added("a", 1));
  await assert.rejects(desk[Symbol.asyncDispose](), {
    name: "InternalError",
    message: "Cannot watch Website: a change could not be taken in",
  });
  assert.equal(desk.requests.length, 1, "it asks no more");
});
