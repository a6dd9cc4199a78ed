import assert from "node:assert/strict";
import { ConfigMap } from "../kinds/mod.ts";
import { TruncatedStreamError } from "../kube/connection_error.ts";
import type { AnyKind } from "../resource/kind.ts";
import {
  added,
  bookmark,
  deleted,
  initialEventsEnd,
  list,
  modified,
  object,
  rejection,
  startInformer,
  type Stream,
  turns,
  Website,
} from "../../tests/fixtures/scripted_informer.ts";

Deno.test("Informer requests a streaming list, and is synced at the initial-events-end bookmark", async () => {
  await using scenario = startInformer();
  const [stream] = await scenario.openStreams(1);
  assert.deepEqual(stream.query, {
    allowWatchBookmarks: "true",
    resourceVersionMatch: "NotOlderThan",
    sendInitialEvents: "true",
    timeoutSeconds: "600",
    watch: "true",
  });

  await stream.send(added("a", 1), added("b", 2));
  assert.equal(scenario.informer.isSynced, false);
  await stream.send(initialEventsEnd(5), modified("a", 6));

  assert.equal(scenario.informer.isSynced, true);
  await scenario.informer.synced;
  assert.deepEqual(scenario.changes, ["+a@1 (initial)", "+b@2 (initial)", "a@1->6"]);
});

Deno.test("Informer resumes from its last version when the server ends a watch", async () => {
  await using scenario = startInformer();
  const [first] = await scenario.openStreams(1);
  await first.send(initialEventsEnd(5), added("a", 7), bookmark(9));
  scenario.clock.step(scenario.clock.now() + 60_000);
  await first.end();

  const [, second] = await scenario.openStreams(2);
  assert.equal(second.query.resourceVersion, "9");
  assert.equal(second.query.sendInitialEvents, undefined);
  assert.equal(scenario.isWaiting(), false, "the informer delays the next request");
  await second.send(deleted("a", 10));
  assert.deepEqual(scenario.changes, ["+a@7", "-a@7"]);
});

for (const status of [400, 422]) {
  Deno.test(`Informer requests pages if a streaming list is rejected with ${status}`, async () => {
    await using scenario = startInformer({}, ({ query }) => {
      if (query.sendInitialEvents) return rejection(status);
      if (query.watch) return undefined;
      return query.continue === undefined ? list(5, [object("a", 1)], "more") : list(5, [object("b", 2)]);
    });
    const [watch] = await scenario.openStreams(1);
    assert.deepEqual(scenario.describeRequests(), ["stream", "page", "page more", "watch 5"]);
    assert.equal(scenario.informer.isSynced, true);
    await watch.send(modified("b", 6));
    assert.deepEqual(scenario.changes, ["+a@1 (initial)", "+b@2 (initial)", "b@2->6"]);
    assert.deepEqual(scenario.problems, [], "a rejected streaming list was reported");
  });
}

Deno.test("Informer requests pages after a 504 for a streaming list, and a streaming list the next time", async () => {
  let isBehind = true;
  let isExpired = false;
  await using scenario = startInformer({}, ({ query }) => {
    if (query.sendInitialEvents) return isBehind ? rejection(504) : undefined;
    if (query.watch) return isExpired ? rejection(410) : undefined;
    return list(5, [object("a", 1)]);
  });
  const [watch] = await scenario.openStreams(1);
  assert.deepEqual(scenario.describeRequests(), ["stream", "page", "watch 5"]);
  assert.deepEqual(scenario.problems, [], "the 504 was reported");
  [isBehind, isExpired] = [false, true];
  await watch.send(modified("a", 6));
  scenario.clock.step(scenario.clock.now() + 2000);
  await watch.end();
  await scenario.openStreams(2);
  assert.deepEqual(scenario.describeRequests().slice(3), ["watch 6", "stream"]);
});

for (const how of ["event", "status"] as const) {
  Deno.test(`Informer lists again after a 410 (as ${how}), and keeps its objects until the new list ends`, async () => {
    let isExpired = false;
    await using scenario = startInformer(
      {},
      ({ query }) => isExpired && query.resourceVersion ? rejection(410) : undefined,
    );
    const [first] = await scenario.openStreams(1);
    await first.send(added("same", 1), added("changed", 2), added("removed", 3), initialEventsEnd(5));
    scenario.changes.length = 0;

    isExpired = true;
    if (how === "event") await first.send({ type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } });
    else {
      scenario.clock.step(scenario.clock.now() + 60_000);
      await first.end();
    }
    const [, second] = await scenario.openStreams(2);
    assert.equal(second.query.sendInitialEvents, "true");
    assert.equal(scenario.isWaiting(), false, "the informer delays the next request");
    await second.send(added("same", 1), added("changed", 20));
    assert.deepEqual([...scenario.informer.store.values()].map(({ metadata }) => metadata.name), [
      "same",
      "changed",
      "removed",
    ]);
    await second.send(initialEventsEnd(25));
    assert.deepEqual(scenario.changes, ["changed@2->20", "-removed@3"]);
    assert.equal(scenario.informer.isSynced, true);
  });
}

Deno.test("Informer doubles its delay with each failure, and starts from the shortest after a success", async () => {
  let isUp = false;
  await using scenario = startInformer({}, () => isUp ? undefined : rejection(500));
  const delays: number[] = [];
  await turns();
  for (let i = 0; i < 9; i++) delays.push(await scenario.advanceToNextTimer());
  assert.deepEqual(delays, [200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000]);

  isUp = true;
  await scenario.advanceToNextTimer();
  const [stream] = await scenario.openStreams(1);
  await stream.send(initialEventsEnd(5));
  isUp = false;
  await stream.fail();
  assert.equal(await scenario.advanceToNextTimer(), 200);
});

Deno.test("Informer spreads its delays", async () => {
  await using scenario = startInformer({ random: () => 0 }, () => rejection(500));
  await turns();
  assert.equal(await scenario.advanceToNextTimer(), 150);
});

Deno.test("Informer reports an error once, and reports the recovery", async () => {
  let isUp = false;
  await using scenario = startInformer({}, () => isUp ? undefined : rejection(500));
  await turns();
  for (let i = 0; i < 3; i++) await scenario.advanceToNextTimer();
  assert.deepEqual(scenario.problems, ["Cannot watch Website: the apiserver answered 500: rejected"]);
  assert.equal(scenario.informer.problem?.message, scenario.problems[0]);

  isUp = true;
  await scenario.advanceToNextTimer();
  const [stream] = await scenario.openStreams(1);
  await stream.send(initialEventsEnd(5));
  assert.deepEqual(scenario.problems.slice(1), [undefined]);
  assert.equal(scenario.informer.problem, undefined);
});

Deno.test("Informer calls onServedAgain when a watch succeeds after a 404, but not after other errors", async () => {
  let status: number | undefined = 404;
  await using scenario = startInformer({}, () => status === undefined ? undefined : rejection(status));
  let servedAgain = 0;
  scenario.informer.onServedAgain(() => servedAgain++);
  await turns();
  status = undefined;
  await scenario.advanceToNextTimer();
  const [first] = await scenario.openStreams(1);
  await first.send(initialEventsEnd(5));
  assert.deepEqual(
    [servedAgain, scenario.informer.problem],
    [0, undefined],
    "called before the first list",
  );

  status = 500;
  await first.end();
  await scenario.advanceToNextTimer();
  assert.match(String(scenario.informer.problem), /answered 500/);
  status = undefined;
  await scenario.advanceToNextTimer();
  const [, second] = await scenario.openStreams(2);
  await second.send(initialEventsEnd(6));
  assert.deepEqual([servedAgain, scenario.informer.problem], [0, undefined]);

  status = 404;
  await second.end();
  await scenario.advanceToNextTimer();
  assert.match(String(scenario.informer.problem), /the API server does not serve "websites"/);
  status = undefined;
  await scenario.advanceToNextTimer();
  await scenario.openStreams(3);
  assert.deepEqual(
    [servedAgain, scenario.informer.problem],
    [1, undefined],
    "it was not called when the watch was accepted",
  );
});

Deno.test("Informer resumes from its last version after an invalid line", async (t) => {
  const lines = [
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
  for (const line of lines) {
    await t.step(line, async () => {
      await using scenario = startInformer();
      const [first] = await scenario.openStreams(1);
      await first.send(initialEventsEnd(5), added("a", 7));
      await first.raw(`${line}\n`);
      assert.equal(scenario.problems.length, 1);
      await scenario.advanceToNextTimer();
      const [, second] = await scenario.openStreams(2);
      assert.equal(second.query.resourceVersion, "7");
      await second.send(modified("a", 8));
      assert.deepEqual(scenario.changes, ["+a@7", "a@7->8"]);
      assert.deepEqual(scenario.problems.slice(1), [undefined]);
    });
  }
});

Deno.test("Informer ignores old events, and resumes from the newest version", async () => {
  await using scenario = startInformer();
  const [first] = await scenario.openStreams(1);
  await first.send(
    added("a", 3),
    added("removed", 4),
    initialEventsEnd(5),
    modified("a", 6),
    deleted("removed", 7),
    modified("a", 8),
  );
  scenario.changes.length = 0;
  await first.send(
    added("removed", 4),
    added("a", 3),
    modified("a", 6),
    deleted("a", 3),
    bookmark(5),
    modified("a", 8),
  );
  assert.deepEqual(scenario.changes, []);
  await first.end();
  const [, second] = await scenario.openStreams(2);
  assert.equal(second.query.resourceVersion, "8");
});

Deno.test("Informer reports a TruncatedStreamError when a stream ends before the initial list is complete", async () => {
  await using scenario = startInformer();
  const [stream] = await scenario.openStreams(1);
  await stream.send(added("a", 1));
  await stream.end();
  await turns();
  assert(scenario.informer.problem instanceof TruncatedStreamError);
  assert.equal(scenario.informer.isSynced, false);
});

const FAILING_STREAMS: readonly { name: string; stream: (stream: Stream) => Promise<void> }[] = [
  { name: "ends every stream without an event", stream: (stream) => stream.end() },
  {
    name: "ends every initial list before it is complete",
    stream: async (stream) => {
      await stream.send(added("a", 1));
      await stream.end();
    },
  },
  {
    name: "responds to every initial list with 410",
    stream: (stream) => stream.send(added("a", 1), { type: "ERROR", object: { kind: "Status", code: 410 } }),
  },
];

for (const { name, stream } of FAILING_STREAMS) {
  Deno.test(`Informer retries with growing delays when the server ${name}`, async () => {
    await using scenario = startInformer();
    const delays: number[] = [];
    // The first 410 is normal, so the second request may follow without a delay.
    for (let count = 1; delays.length < 3 && count < 10; count++) {
      await stream((await scenario.openStreams(count))[count - 1]!);
      if (scenario.isWaiting()) delays.push(await scenario.advanceToNextTimer());
    }
    assert.equal(delays.length, 3, "too few delays");
    assert(delays[0]! >= 200 && delays[0]! < delays[1]! && delays[1]! < delays[2]!, String(delays));
  });
}

const ADVICE: readonly { name: string; kind: AnyKind; status: number; message: RegExp }[] = [
  {
    name: "a kind of the operator whose definition is missing",
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
    message:
      /answered 401.*\. The token has expired or is for another cluster\. Log in again, or renew the kubeconfig$/,
  },
  {
    name: "a missing RBAC permission",
    kind: ConfigMap,
    status: 403,
    message: /answered 403.*\. Grant this user the verbs list and watch on "configmaps"$/,
  },
];

for (const { name, kind, status, message } of ADVICE) {
  Deno.test(`Informer gives advice about ${name}, and retries`, async () => {
    await using scenario = startInformer({ kind }, () => rejection(status));
    await turns();
    assert.match(scenario.problems[0]!, message);
    await scenario.advanceToNextTimer();
    assert.equal(scenario.requests.length, 2);
  });
}

Deno.test("Informer sends its namespace and selectors", async () => {
  await using scenario = startInformer({
    namespace: "team",
    labelSelector: "app=web",
    fieldSelector: "metadata.name=a",
  });
  const [stream] = await scenario.openStreams(1);
  assert.equal(stream.path, "/apis/demo.example.com/v1/namespaces/team/websites");
  assert.deepEqual([stream.query.labelSelector, stream.query.fieldSelector], ["app=web", "metadata.name=a"]);
});

Deno.test("Informer stores only selected entries of managedFields, from events and from responses", async () => {
  await using scenario = startInformer({ keepsFieldsOf: ({ manager }) => manager === "me" });
  const [stream] = await scenario.openStreams(1);
  const managedFields = [{ manager: "me", operation: "Apply" }, { manager: "kubectl" }, {}];
  const others = [{ manager: "kubectl" }];
  await stream.send(added("a", 1, { managedFields }), added("b", 2, { managedFields: others }), initialEventsEnd(5));
  await scenario.informer.write(
    "c",
    { part: "us", key: "c" },
    () => Promise.resolve(object("c", 6, { managedFields })),
  );
  const stored = [...scenario.informer.store.values()].map(({ metadata }) => metadata.managedFields);
  assert.deepEqual(stored, [managedFields.slice(0, 1), undefined, managedFields.slice(0, 1)]);
  assert.equal(Object.hasOwn(scenario.informer.store.get("b")!.metadata, "managedFields"), false);
});

Deno.test("Informer stops when its signal is aborted, during a watch and during a delay", async (t) => {
  for (const [name, respond] of [["during a watch", undefined], ["during a delay", () => rejection(500)]] as const) {
    await t.step(name, async () => {
      const scenario = startInformer({}, respond);
      await turns();
      await scenario[Symbol.asyncDispose]();
      assert.equal(scenario.isWaiting(), false);
      assert.equal(scenario.requests.length, 1);
      assert.deepEqual(scenario.problems.slice(1), []);
    });
  }
});

Deno.test("Informer reopens a stream that is silent for 75 s after its second bookmark", async () => {
  await using scenario = startInformer();
  const [first] = await scenario.openStreams(1);
  await first.send(initialEventsEnd(5));
  await scenario.advance(121_000);
  await first.send(bookmark(6));
  await scenario.advance(60_000);
  await first.send(bookmark(7));
  assert.equal(scenario.informer.staleness, 0);

  await scenario.advance(74_000);
  await scenario.openStreams(1);
  assert.equal(scenario.informer.staleness, 74_000);
  await scenario.advance(2000);

  const [, second] = await scenario.openStreams(2);
  assert.equal(second.query.resourceVersion, "7");
  assert.deepEqual(scenario.problems, ["Cannot watch Website: no event for 75 s"]);
  await second.send(added("a", 8));
  assert.deepEqual(scenario.changes, ["+a@8"]);
  assert.equal(scenario.informer.restarts, 1);
});

Deno.test("Informer reopens a stream that receives no bookmark for 135 s", async () => {
  await using scenario = startInformer();
  const [first] = await scenario.openStreams(1);
  await first.send(initialEventsEnd(5));
  await scenario.advance(134_000);
  await scenario.openStreams(1);
  await scenario.advance(2000);
  await scenario.openStreams(2);
});

Deno.test("Informer probes a silent stream with a second watch until its second bookmark", async () => {
  await using scenario = startInformer();
  const [first] = await scenario.openStreams(1);
  await first.send(initialEventsEnd(5));
  await scenario.advance(60_000);
  assert.deepEqual(scenario.describeRequests(), ["stream", "probe 5", "probe 5"]);
  await scenario.openStreams(1);
  await first.send(added("a", 6), bookmark(7));
  await first.send(bookmark(8));
  await scenario.advance(74_000);
  assert.deepEqual(scenario.describeRequests().slice(3), [], "the stream was probed after its second bookmark");
});

Deno.test("Informer reopens a stalled stream within 35 s of an event that only a probe receives", async () => {
  await using scenario = startInformer();
  const [first] = await scenario.openStreams(1);
  await first.send(initialEventsEnd(5));
  scenario.probeEvents.push(added("a", 6));
  await scenario.advance(33_000);
  const [, second] = await scenario.openStreams(2);
  assert.equal(second.query.resourceVersion, "5");
  assert.deepEqual(scenario.problems, [
    "Cannot watch Website: the stream has stalled: another watch received newer events",
  ]);
  await second.send(added("a", 6));
  assert.deepEqual(scenario.changes, ["+a@6"]);
});

Deno.test("Informer does not reopen a stream that receives an event shortly after the probe does", async () => {
  await using scenario = startInformer();
  const [first] = await scenario.openStreams(1);
  await first.send(initialEventsEnd(5));
  scenario.probeEvents.push(added("a", 6));
  await scenario.advance(30_500);
  await first.send(added("a", 6));
  await scenario.advance(10_000);
  await scenario.openStreams(1);
  assert.deepEqual(scenario.problems, []);
});

Deno.test("Informer ends with an InternalError when a listener throws, because a retry would fail in the same way", async () => {
  const scenario = startInformer();
  scenario.informer.listen(() => {
    throw new TypeError("a bug");
  });
  const [stream] = await scenario.openStreams(1);
  await stream.send(added("a", 1));
  await assert.rejects(scenario[Symbol.asyncDispose](), {
    name: "InternalError",
    message: "Cannot watch Website: a listener failed",
  });
  assert.equal(scenario.requests.length, 1, "the informer retried");
});
