/**
 * What needs a server whose answers and events come in an order that is chosen here; all else of a
 * controller's runs is in `tests/`.
 */
import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { VirtualClock } from "../base/virtual_clock.ts";
import type { Connection } from "../kube/connection.ts";
import { operator } from "../operator/operator.ts";
import { startOperator } from "../operator/running.ts";
import { type Controller, controller } from "../parts/controller.ts";
import type { KubeObject } from "../resource/kind.ts";
import { type Infer, resource } from "../resource/mod.ts";
import { s } from "../schema/mod.ts";

const Website = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Website",
  spec: s.object({ text: s.string() }),
  status: s.object({ text: s.optional(s.string()) }),
});
type Website = Infer<typeof Website>;

const FINALIZER = "demo.example.com/test.websites";

const INSIDE: readonly { name: string; theirs: Website; seen: string[] }[] = [
  { name: "a spec change", theirs: website({ version: 5, generation: 2, text: "new" }), seen: ["old", "new"] },
  {
    name: "a label",
    theirs: website({ version: 5, generation: 1, text: "old", labels: { touched: "yes" } }),
    seen: ["old", "old touched"],
  },
  {
    name: "an annotation",
    theirs: website({ version: 5, generation: 1, text: "old", annotations: { touched: "yes" } }),
    seen: ["old", "old touched"],
  },
];

for (const { name, theirs, seen } of INSIDE) {
  Deno.test(`ControllerLoop reconciles ${name} that arrives in the response of its own status write`, async () => {
    const texts: string[] = [];
    const websites = controller(Website, {
      reconcile({ metadata, spec }, { status }) {
        const isTouched = { ...metadata.labels, ...metadata.annotations }.touched !== undefined;
        texts.push(spec.text + (isTouched ? " touched" : ""));
        status({ text: spec.text });
      },
    });
    // Another wrote version 5 just before our write made version 6 of it; the events come after the
    // answer.
    await using desk = start(websites, (patch, count) => merged(theirs, patch, 5 + count));
    await desk.send(event("ADDED", website({ version: 1, generation: 1, text: "old" })), mark(1));
    assert.deepEqual(texts, seen);

    await desk.send(event("MODIFIED", theirs), event("MODIFIED", merged(theirs, {}, 6)));
    assert.deepEqual(texts, seen, "and once");
  });
}

Deno.test("ControllerLoop cleans up after a deletion that arrives in the response of its own status write", async () => {
  const cleaned: string[] = [];
  const websites = controller(Website, {
    reconcile: ({ spec }, { status }) => status({ text: spec.text }),
    cleanup: ({ metadata }) => void cleaned.push(metadata.name),
  });
  const deletion = { deletionTimestamp: "2030-01-01T00:00:00Z", deletionGracePeriodSeconds: 0 };
  const theirs = website({ version: 5, generation: 1, finalizers: [FINALIZER], ...deletion });
  await using desk = start(websites, (patch, count) => merged(theirs, patch, 5 + count));
  await desk.send(event("ADDED", website({ version: 1, generation: 1, finalizers: [FINALIZER] })), mark(1));
  assert.deepEqual(cleaned, ["a"]);
});

Deno.test("ControllerLoop does not reconcile again for its own write, whether its event comes before or after the response", async (t) => {
  for (const order of ["before", "after"] as const) {
    await t.step(order, async () => {
      let runs = 0;
      const websites = controller(Website, { reconcile: (_, { status }) => status({ text: String(++runs) }) });
      const written = website({ version: 6, generation: 1 });
      await using desk: Desk = start(websites, async (patch): Promise<KubeObject> => {
        const answer = merged(written, patch, 6);
        if (order === "before") await desk.send(event("MODIFIED", answer));
        return answer;
      });
      await desk.send(event("ADDED", website({ version: 1, generation: 1 })), mark(1));
      if (order === "after") await desk.send(event("MODIFIED", merged(written, { status: { text: "1" } }, 6)));
      assert.equal(runs, 1);
      assert.equal(desk.patches.length, 1);
    });
  }
});

Deno.test("ControllerLoop does not reconcile an object that is deleted before it has its finalizer", async () => {
  const websites = controller(Website, {
    reconcile: () => assert.fail("it ran without its finalizer"),
    cleanup() {},
  });
  await using desk = start(websites, () => undefined);
  await desk.send(event("ADDED", website({ version: 1, generation: 1 })), mark(1));
  assert.equal(desk.patches.length, 1);
  assert((desk.clock.nextDue ?? Infinity) - desk.clock.now() > 20_000, "and does not try again");
});

Deno.test("ControllerLoop does not create an object again that was deleted during its status write", async () => {
  let runs = 0;
  const websites = controller(Website, { reconcile: (_, { status }) => status({ text: String(++runs) }) });
  const live = website({ version: 1, generation: 1 });
  await using desk: Desk = start(websites, async (patch): Promise<KubeObject> => {
    const answer = merged(live, patch, 6);
    await desk.send(event("MODIFIED", answer), event("DELETED", website({ version: 7, generation: 1 })));
    return answer;
  });
  await desk.send(event("ADDED", live), mark(1));
  assert.equal(runs, 1);
});

Deno.test("ControllerLoop patches finalizers only at the version that it read", async () => {
  const websites = controller(Website, { reconcile() {}, cleanup() {} });
  const live = website({ version: 1, generation: 1, finalizers: ["other/x"] });
  await using desk = start(websites, (patch, count) => merged(live, patch, 5 + count));
  await desk.send(event("ADDED", live), mark(1));
  assert.deepEqual(desk.patches[0], { metadata: { resourceVersion: "1", finalizers: ["other/x", FINALIZER] } });
});

Deno.test("ControllerLoop patches conditions of other writers only at the version that it read", async () => {
  const websites = controller(Website, { reconcile() {} });
  const probed = {
    type: "Probed",
    status: "True",
    reason: "Seen",
    message: "",
    lastTransitionTime: "2030-01-01T00:00:00Z",
  };
  const live = { ...website({ version: 3, generation: 1 }), status: { conditions: [probed] } };
  await using desk = start(websites, (patch, count) => merged(live, patch, 5 + count));
  await desk.send(event("ADDED", live), mark(3));
  assert.deepEqual(desk.patches[0]?.metadata, { resourceVersion: "3" });
});

Deno.test("ControllerLoop handles a new object of the same name if it missed the deletion of the old one", async () => {
  const runs: string[] = [];
  const gate = Promise.withResolvers<void>();
  const websites = controller(Website, {
    async reconcile({ metadata: { uid } }, { attempt, status }) {
      runs.push(`${uid}, attempt ${attempt}`);
      if (uid === "u" && attempt === 1) throw new Error("boom");
      if (uid === "u") await gate.promise;
      status({ text: uid });
    },
  });
  let live = website({ version: 1, generation: 1 });
  await using desk = start(
    websites,
    (patch, count) => merged(live, patch, Number(live.metadata.resourceVersion) + count),
  );
  await desk.send(event("ADDED", live), mark(1));
  desk.clock.step(desk.clock.now() + 5);
  // As a listing after a time without a watch shows it.
  live = website({ version: 20, generation: 1, uid: "other" });
  await desk.send(event("MODIFIED", live));
  desk.patches.length = 0;
  gate.resolve();
  await desk.send();
  assert.deepEqual(runs, ["u, attempt 1", "u, attempt 2", "other, attempt 1"]);
  assert.deepEqual(desk.patches.map(({ status }) => (status as { text?: string }).text), ["other"]);
});

Deno.test("ControllerLoop counts the attempts of an object, not those of earlier objects of its name", async () => {
  const attempts: string[] = [];
  const websites = controller(Website, {
    reconcile({ metadata: { uid } }, { attempt }) {
      attempts.push(`${uid}, attempt ${attempt}`);
      throw new Error("boom");
    },
  });
  let live = website({ version: 1, generation: 1 });
  await using desk = start(
    websites,
    (patch, count) => merged(live, patch, Number(live.metadata.resourceVersion) + count),
  );
  await desk.send(event("ADDED", live), mark(1));
  live = website({ version: 20, generation: 1, uid: "other" });
  await desk.send(event("MODIFIED", live));
  assert.deepEqual(attempts, ["u, attempt 1", "other, attempt 1"]);
});

Deno.test("ControllerLoop keeps the finalizer of an object that replaced the one it cleaned up", async () => {
  const gate = Promise.withResolvers<void>();
  const websites = controller(Website, { reconcile() {}, cleanup: () => gate.promise });
  const deletion = { deletionTimestamp: "2030-01-01T00:00:00Z", deletionGracePeriodSeconds: 0 };
  const anew = website({ version: 20, generation: 1, uid: "other", finalizers: [FINALIZER] });
  await using desk = start(websites, (patch, count) => merged(anew, patch, 20 + count));
  await desk.send(
    event("ADDED", website({ version: 1, generation: 1, finalizers: [FINALIZER], ...deletion })),
    mark(1),
  );
  await desk.send(event("MODIFIED", anew));
  gate.resolve();
  await desk.send();
  assert.deepEqual(desk.patches.map((patch) => Object.keys(patch)), [["status"]]);
});

type Patch = { readonly metadata?: object; readonly status?: object };
/** Answers a patch, of which this is the `count`th; nothing is 404. */
type Answer = (patch: Patch, count: number) => Promise<KubeObject> | KubeObject | undefined;

interface Desk extends AsyncDisposable {
  readonly clock: VirtualClock;
  /** The patches so far. */
  readonly patches: Patch[];
  /** Sends lines to the open watch and lets all happen that needs no time. */
  send(...lines: object[]): Promise<void>;
}

/** An operator on a server that is a script: one open watch, and patches. */
function start(websites: Controller, answer: Answer): Desk {
  const clock = new VirtualClock();
  const patches: Patch[] = [];
  let stream!: ReadableStreamDefaultController<Uint8Array>;
  const fetch = async (request: Request): Promise<Response> => {
    if (request.method === "GET") return new Response(new ReadableStream({ start: (given) => void (stream = given) }));
    patches.push(await request.json());
    const object = await answer(patches.at(-1)!, patches.length);
    return object === undefined ? new Response("", { status: 404 }) : Response.json(object);
  };
  const connection: Connection = { url: "http://cluster", fetch, close() {} };
  const op = operator({ name: "test", parts: { websites }, health: false });
  const running = startOperator(op, { connection, clock, checkAccess: false, random: () => 1 });
  return {
    clock,
    patches,
    async send(...lines) {
      await turns();
      stream.enqueue(new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join("")));
      await turns();
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

function website(
  { version, generation, text = "text", ...more }:
    & { version: number; generation: number; text?: string }
    & Partial<
      Website["metadata"]
    >,
): Website {
  return {
    apiVersion: "demo.example.com/v1",
    kind: "Website",
    metadata: {
      name: "a",
      namespace: "default",
      uid: "u",
      resourceVersion: String(version),
      creationTimestamp: "2030-01-01T00:00:00Z",
      generation,
      ...more,
    },
    spec: { text },
  };
}

/** What the server makes of an object and a patch of it. */
function merged(object: KubeObject, patch: Patch, version: number): KubeObject {
  const metadata = { ...object.metadata, ...patch.metadata, resourceVersion: String(version) };
  return { ...object, ...patch, metadata };
}

function event(type: string, object: KubeObject): object {
  return { type, object };
}

function mark(version: number): object {
  const metadata = { resourceVersion: String(version), annotations: { "k8s.io/initial-events-end": "true" } };
  return { type: "BOOKMARK", object: { apiVersion: "demo.example.com/v1", kind: "Website", metadata } };
}

async function turns(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
