import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { VirtualClock } from "../base/virtual_clock.ts";
import { ConfigMap } from "../kinds/mod.ts";
import { Client } from "../kube/client.ts";
import type { AnyKind, KubeObject } from "../resource/kind.ts";
import { resource } from "../resource/mod.ts";
import { s } from "../schema/mod.ts";
import { Informer, type InformerOptions } from "./informer.ts";

/** A real server says 0 of every deleted object that waits for its finalizers. */
const PENDING = {
  deletionTimestamp: "2030-01-01T00:00:00Z",
  deletionGracePeriodSeconds: 0,
  finalizers: ["x/y"],
};

const Website = resource({ group: "demo.example.com", version: "v1", kind: "Website", spec: s.object({}) });

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
  desk.clock.step(desk.clock.now() + 300_000);
  await first.end();

  const [, second] = await desk.opened(2);
  assert.equal(second.query.resourceVersion, "9");
  assert.equal(second.query.sendInitialEvents, undefined);
  assert.equal(desk.clock.nextDue, undefined, "it does not wait");
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
    assert.equal(desk.clock.nextDue, undefined, "it does not wait");
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

Deno.test("Informer survives a line of garbage and asks again from where it was", async (t) => {
  const garbage = ["<html>", "null", '{"type":"ADDED"}', '{"type":"ADDED","object":{}}', '{"type":"ERROR"}'];
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
      if (desk.clock.nextDue !== undefined) waits.push(await desk.passNext());
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
      /^Cannot watch Website: the cluster serves no "websites" of demo\.example\.com\/v1, so its CustomResourceDefinition is missing: apply it: what the operator's command "crds" prints$/,
  },
  { name: "a built-in kind that is not served", kind: ConfigMap, status: 404, message: /is its API group served\?$/ },
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
  await using desk = start({ keepsManager: (manager) => manager === "me" });
  const [stream] = await desk.opened(1);
  const managedFields = [{ manager: "me", operation: "Apply" }, { manager: "kubectl" }, {}];
  const others = [{ manager: "kubectl" }];
  await stream.send(added("a", 1, { managedFields }), added("b", 2, { managedFields: others }), mark(5));
  await desk.informer.write("c", Symbol(), () => Promise.resolve(object("c", 6, { managedFields })));
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
      assert.equal(desk.clock.nextDue, undefined);
      assert.equal(desk.requests.length, 1);
      assert.deepEqual(desk.problems.slice(1), []);
    });
  }
});

// Our own writes: an event may come before the answer to the write, or after it; either way the writer is told once that it was its own.
const WRITES: readonly {
  name: string;
  before?: Line[];
  answer: KubeObject;
  after?: Line[];
  told: string[];
  held?: string;
}[] = [
  { name: "event after the answer", answer: object("a", 6), after: [modified("a", 6)], told: ["a@1->6 by us"] },
  { name: "event before the answer", before: [modified("a", 6)], answer: object("a", 6), told: ["a@1->6 by us"] },
  {
    name: "another's change before ours, all before the answer",
    before: [modified("a", 6), modified("a", 7)],
    answer: object("a", 7),
    told: ["a@6->7 by us", "a@1->6"],
  },
  {
    name: "another's change after ours, all before the answer",
    before: [modified("a", 6), modified("a", 7)],
    answer: object("a", 6),
    told: ["a@1->6 by us", "a@6->7"],
    held: "7",
  },
  {
    name: "another's change after the answer",
    answer: object("a", 6),
    after: [modified("a", 6), modified("a", 7)],
    told: ["a@1->6 by us", "a@6->7"],
    held: "7",
  },
  { name: "a write that changed nothing", answer: object("a", 1), after: [], told: [], held: "1" },
  {
    name: "a deletion before the answer",
    before: [modified("a", 6), deleted("a", 7)],
    answer: object("a", 6),
    told: ["a@1->6 by us", "-a@6"],
    held: "none",
  },
  {
    name: "another object's change meanwhile",
    before: [added("b", 6)],
    answer: object("a", 7),
    told: ["+b@6", "a@1->7 by us"],
    held: "7",
  },
];

for (const { name, before = [], answer, after = [], told, held = answer.metadata.resourceVersion } of WRITES) {
  Deno.test(`Informer.write tells the writer's own change as its own: ${name}`, async () => {
    await using desk = start();
    const [stream] = await desk.opened(1);
    await stream.send(added("a", 1), mark(5));
    desk.told.length = 0;

    const answered = Promise.withResolvers<KubeObject>();
    const written = desk.informer.write("a", desk.us, () => answered.promise);
    await stream.send(...before);
    answered.resolve(answer);
    assert.equal(await written, answer);
    await stream.send(...after);

    assert.deepEqual(desk.told, told);
    assert.equal(desk.informer.store.get("a")?.metadata.resourceVersion ?? "none", held);
  });
}

Deno.test("Informer.write tells what came meanwhile when the write fails", async () => {
  await using desk = start();
  const [stream] = await desk.opened(1);
  await stream.send(added("a", 1), mark(5));
  desk.told.length = 0;
  const answered = Promise.withResolvers<KubeObject>();
  const written = desk.informer.write("a", desk.us, () => answered.promise);
  await stream.send(modified("a", 6));
  answered.reject(new Error("conflict"));
  await assert.rejects(written, { message: "conflict" });
  assert.deepEqual(desk.told, ["a@1->6"]);
});

Deno.test("Informer.write tells two writers of one object each its own change", async () => {
  await using desk = start();
  const [stream] = await desk.opened(1);
  await stream.send(added("a", 1), mark(5));
  desk.told.length = 0;
  const [ours, theirs] = [Promise.withResolvers<KubeObject>(), Promise.withResolvers<KubeObject>()];
  const both = [
    desk.informer.write("a", desk.us, () => ours.promise),
    desk.informer.write("a", desk.them, () => theirs.promise),
  ];
  await stream.send(modified("a", 6), modified("a", 7), modified("a", 8));
  theirs.resolve(object("a", 7));
  await turns();
  ours.resolve(object("a", 6));
  await Promise.all(both);
  assert.deepEqual(desk.told, ["a@6->7 by them", "a@1->6 by us", "a@7->8"]);
});

Deno.test("Informer.write drops an object whose last finalizer it took off, before the event comes", async () => {
  await using desk = start();
  const [stream] = await desk.opened(1);
  // A real server says 0 of every deleted object that waits for its finalizers.
  const deletion = { deletionTimestamp: "2030-01-01T00:00:00Z", deletionGracePeriodSeconds: 0 };
  await stream.send(added("a", 1, { ...deletion, finalizers: ["x/y"] }), mark(5));
  await desk.informer.write("a", desk.us, () => Promise.resolve(object("a", 6, deletion)));
  assert.equal(desk.informer.store.get("a"), undefined);
  await stream.send(modified("a", 6, deletion), deleted("a", 7));
  assert.equal(desk.informer.store.get("a"), undefined);
});

Deno.test("Informer.write keeps an object that still ends gracefully", async () => {
  await using desk = start();
  const [stream] = await desk.opened(1);
  const deletion = { deletionTimestamp: "2030-01-01T00:00:00Z", deletionGracePeriodSeconds: 30 };
  await stream.send(added("a", 1), mark(5));
  await desk.informer.write("a", desk.us, () => Promise.resolve(object("a", 6, deletion)));
  assert.equal(desk.informer.store.get("a")?.metadata.resourceVersion, "6");
});

// A deletion of ours: the server answers with the object where it stays for now, with nothing where it is gone.
const REMOVALS: readonly {
  name: string;
  before?: Line[];
  stays?: KubeObject;
  after?: Line[];
  told: string[];
  held?: string;
}[] = [
  { name: "event after the answer", after: [deleted("a", 6)], told: ["-a@1 by us"] },
  { name: "event before the answer", before: [deleted("a", 6)], told: ["-a@1 by us"] },
  {
    name: "an older event after the answer",
    after: [modified("a", 5), deleted("a", 6)],
    told: ["-a@1 by us"],
  },
  {
    name: "made anew by another before the answer",
    before: [deleted("a", 6), added("a", 7, { uid: "another" })],
    told: ["-a@1 by us", "+a@7"],
    held: "7",
  },
  {
    name: "made anew by another after the answer",
    after: [deleted("a", 6), added("a", 7, { uid: "another" })],
    told: ["-a@1 by us", "+a@7"],
    held: "7",
  },
  {
    name: "it stays for its finalizers, event after the answer",
    stays: object("a", 6, PENDING),
    after: [modified("a", 6, PENDING), deleted("a", 7)],
    told: ["a@1->6 by us", "-a@6"],
  },
  {
    name: "it stays for its finalizers, event before the answer",
    before: [modified("a", 6, PENDING)],
    stays: object("a", 6, PENDING),
    told: ["a@1->6 by us"],
    held: "6",
  },
];

for (const { name, before = [], stays, after = [], told, held = "none" } of REMOVALS) {
  Deno.test(`Informer.remove tells the writer's own deletion as its own: ${name}`, async () => {
    await using desk = start();
    const [stream] = await desk.opened(1);
    await stream.send(added("a", 1), mark(5));
    desk.told.length = 0;

    const answered = Promise.withResolvers<KubeObject | undefined>();
    const removed = desk.informer.remove("a", desk.us, () => answered.promise);
    await stream.send(...before);
    answered.resolve(stays);
    await removed;
    if (stays === undefined && before.length === 0) assert.equal(desk.informer.store.get("a"), undefined);
    await stream.send(...after);

    assert.deepEqual(desk.told, told);
    assert.equal(desk.informer.store.get("a")?.metadata.resourceVersion ?? "none", held);
  });
}

type Line = { readonly type: string; readonly object: unknown };
type Metadata = Partial<KubeObject["metadata"]>;

interface Asked {
  readonly path: string;
  readonly query: Record<string, string | undefined>;
}

/** A watch as the server sees it. */
interface Stream extends Asked {
  send(...lines: Line[]): Promise<void>;
  raw(text: string): Promise<void>;
  end(): Promise<void>;
  fail(): Promise<void>;
}

/** An informer on a server that is a script: what it answers nothing to becomes an open stream. */
function start(
  options: Partial<InformerOptions> & { readonly kind?: AnyKind } = {},
  answer: (asked: Asked) => Response | undefined = () => undefined,
) {
  const clock = new VirtualClock();
  const requests: Asked[] = [];
  const streams: Stream[] = [];
  const fetch = (request: Request): Promise<Response> => {
    const { pathname: path, searchParams } = new URL(request.url);
    const asked: Asked = { path, query: Object.fromEntries(searchParams) };
    requests.push(asked);
    const response = answer(asked);
    if (response !== undefined) return Promise.resolve(response);
    const { stream, body } = open(asked);
    streams.push(stream);
    return Promise.resolve(new Response(body));
  };
  const problems: (string | undefined)[] = [];
  const client = new Client({ url: "http://cluster", fetch, close() {} }, { clock });
  const informer = new Informer(client, options.kind ?? Website, {
    clock,
    random: () => 1,
    keepsManager: () => false,
    onProblem: (problem) => problems.push(problem?.message),
    ...options,
  });
  const [us, them] = [Symbol("us"), Symbol("them")];
  const told: string[] = [];
  informer.listen(({ before, after }, by, initial) => {
    const name = (after ?? before)?.metadata.name;
    const [from, to] = [before?.metadata.resourceVersion, after?.metadata.resourceVersion];
    const what = from === undefined
      ? `+${name}@${to}`
      : to === undefined
      ? `-${name}@${from}`
      : `${name}@${from}->${to}`;
    told.push(what + (by === undefined ? "" : ` by ${by.description}`) + (initial ? " at first" : ""));
  });
  const stop = new AbortController();
  const ended = informer.run(stop.signal);
  return {
    informer,
    clock,
    requests,
    problems,
    told,
    us,
    them,
    /** The streams, when there are so many. */
    async opened(count: number): Promise<[Stream, Stream, ...Stream[]]> {
      await turns();
      assert.equal(streams.length, count);
      return streams as [Stream, Stream, ...Stream[]];
    },
    /** The requests in words. */
    asked: () =>
      requests.map(({ query }) =>
        query.sendInitialEvents
          ? "stream"
          : query.watch
          ? `watch ${query.resourceVersion}`
          : `page ${query.continue ?? ""}`.trim()
      ),
    /** Lets time pass to the next timer; answers how long that was. */
    async passNext(): Promise<number> {
      const from = clock.now();
      assert(clock.nextDue !== undefined, "it waits for nothing");
      clock.step(clock.nextDue);
      await turns();
      return clock.now() - from;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      stop.abort(new Error("the test is over"));
      await ended;
    },
  };
}

function open(asked: Asked): { stream: Stream; body: ReadableStream<Uint8Array> } {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  const raw = (text: string): Promise<void> => {
    controller.enqueue(new TextEncoder().encode(text));
    return turns();
  };
  const stream: Stream = {
    ...asked,
    raw,
    send: (...lines) => raw(lines.map((line) => `${JSON.stringify(line)}\n`).join("")),
    end: () => {
      controller.close();
      return turns();
    },
    fail: () => {
      controller.error(new TypeError("connection reset"));
      return turns();
    },
  };
  return { stream, body };
}

function object(name: string, version: number, more: Metadata = {}): KubeObject {
  const metadata = { name, uid: name, resourceVersion: String(version), creationTimestamp: "2030-01-01T00:00:00Z" };
  return { apiVersion: "demo.example.com/v1", kind: "Website", metadata: { ...metadata, ...more } };
}

function added(name: string, version: number, more?: Metadata): Line {
  return { type: "ADDED", object: object(name, version, more) };
}

function modified(name: string, version: number, more?: Metadata): Line {
  return { type: "MODIFIED", object: object(name, version, more) };
}

function deleted(name: string, version: number): Line {
  return { type: "DELETED", object: object(name, version) };
}

function bookmark(version: number, annotations?: Record<string, string>): Line {
  const metadata = { resourceVersion: String(version), ...(annotations && { annotations }) };
  return { type: "BOOKMARK", object: { apiVersion: "demo.example.com/v1", kind: "Website", metadata } };
}

function mark(version: number): Line {
  return bookmark(version, { "k8s.io/initial-events-end": "true" });
}

function list(version: number, items: KubeObject[], next?: string): Response {
  const metadata = { resourceVersion: String(version), ...(next && { continue: next }) };
  return Response.json({ metadata, items });
}

function refusal(status: number): Response {
  return Response.json({ kind: "Status", message: "refused" }, { status });
}

/** Lets all that needs no time happen: a chunk reaches its reader in some turns of the event loop. */
async function turns(): Promise<void> {
  for (let i = 0; i < 10; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
