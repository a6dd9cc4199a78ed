/**
 * ControllerLoop on a server that sends responses and events in an order that the test chooses. All
 * other tests of controllers are in `tests/`.
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

const OTHER_CHANGES: readonly { name: string; otherVersion: Website; seen: string[] }[] = [
  { name: "a spec change", otherVersion: website({ version: 5, generation: 2, text: "new" }), seen: ["old", "new"] },
  {
    name: "a label",
    otherVersion: website({ version: 5, generation: 1, text: "old", labels: { touched: "yes" } }),
    seen: ["old", "old touched"],
  },
  {
    name: "an annotation",
    otherVersion: website({ version: 5, generation: 1, text: "old", annotations: { touched: "yes" } }),
    seen: ["old", "old touched"],
  },
];

for (const { name, otherVersion, seen } of OTHER_CHANGES) {
  Deno.test(`ControllerLoop reconciles ${name} that arrives in the response of its own status write`, async () => {
    const texts: string[] = [];
    const websites = controller(Website, {
      reconcile({ metadata, spec }, { status }) {
        const isTouched = { ...metadata.labels, ...metadata.annotations }.touched !== undefined;
        texts.push(spec.text + (isTouched ? " touched" : ""));
        status({ text: spec.text });
      },
    });
    // Another client wrote version 5 just before the controller's status write, whose response is
    // version 6. The events of both arrive after the response.
    await using server = start(websites, (patch, count) => patched(otherVersion, patch, 5 + count));
    await server.send(event("ADDED", website({ version: 1, generation: 1, text: "old" })), initialEventsEnd(1));
    assert.deepEqual(texts, seen);

    await server.send(event("MODIFIED", otherVersion), event("MODIFIED", patched(otherVersion, {}, 6)));
    assert.deepEqual(texts, seen, "the later events trigger no other reconcile");
  });
}

Deno.test("ControllerLoop cleans up after a deletion that arrives in the response of its own status write", async () => {
  const cleaned: string[] = [];
  const websites = controller(Website, {
    reconcile: ({ spec }, { status }) => status({ text: spec.text }),
    cleanup: ({ metadata }) => void cleaned.push(metadata.name),
  });
  const deletion = { deletionTimestamp: "2030-01-01T00:00:00Z", deletionGracePeriodSeconds: 0 };
  const otherVersion = website({ version: 5, generation: 1, finalizers: [FINALIZER], ...deletion });
  await using server = start(websites, (patch, count) => patched(otherVersion, patch, 5 + count));
  await server.send(
    event("ADDED", website({ version: 1, generation: 1, finalizers: [FINALIZER] })),
    initialEventsEnd(1),
  );
  assert.deepEqual(cleaned, ["a"]);
});

Deno.test("ControllerLoop does not reconcile again for its own write, whether its event comes before or after the response", async (t) => {
  for (const order of ["before", "after"] as const) {
    await t.step(order, async () => {
      let runs = 0;
      const websites = controller(Website, { reconcile: (_, { status }) => status({ text: String(++runs) }) });
      const written = website({ version: 6, generation: 1 });
      await using server: ScriptedServer = start(websites, async (patch): Promise<KubeObject> => {
        const response = patched(written, patch, 6);
        if (order === "before") await server.send(event("MODIFIED", response));
        return response;
      });
      await server.send(event("ADDED", website({ version: 1, generation: 1 })), initialEventsEnd(1));
      if (order === "after") await server.send(event("MODIFIED", patched(written, { status: { text: "1" } }, 6)));
      assert.equal(runs, 1);
      assert.equal(server.patches.length, 1);
    });
  }
});

Deno.test("ControllerLoop does not reconcile an object that is deleted before it has its finalizer", async () => {
  const websites = controller(Website, {
    reconcile: () => assert.fail("the object was reconciled without its finalizer"),
    cleanup() {},
  });
  await using server = start(websites, () => undefined);
  await server.send(event("ADDED", website({ version: 1, generation: 1 })), initialEventsEnd(1));
  assert.equal(server.patches.length, 1);
  assert((server.clock.nextDue ?? Infinity) - server.clock.now() > 20_000, "the reconcile is not retried");
});

Deno.test("ControllerLoop does not create an object again that was deleted during its status write", async () => {
  let runs = 0;
  const websites = controller(Website, { reconcile: (_, { status }) => status({ text: String(++runs) }) });
  const live = website({ version: 1, generation: 1 });
  await using server: ScriptedServer = start(websites, async (patch): Promise<KubeObject> => {
    const response = patched(live, patch, 6);
    await server.send(event("MODIFIED", response), event("DELETED", website({ version: 7, generation: 1 })));
    return response;
  });
  await server.send(event("ADDED", live), initialEventsEnd(1));
  assert.equal(runs, 1);
});

Deno.test("ControllerLoop patches finalizers only at the version that it read", async () => {
  const websites = controller(Website, { reconcile() {}, cleanup() {} });
  const live = website({ version: 1, generation: 1, finalizers: ["other/x"] });
  await using server = start(websites, (patch, count) => patched(live, patch, 5 + count));
  await server.send(event("ADDED", live), initialEventsEnd(1));
  assert.deepEqual(server.patches[0], { metadata: { resourceVersion: "1", finalizers: ["other/x", FINALIZER] } });
});

Deno.test("ControllerLoop patches conditions of other writers only at the version that it read", async () => {
  const websites = controller(Website, { reconcile() {} });
  const otherCondition = {
    type: "Probed",
    status: "True",
    reason: "Seen",
    message: "",
    lastTransitionTime: "2030-01-01T00:00:00Z",
  };
  const live = { ...website({ version: 3, generation: 1 }), status: { conditions: [otherCondition] } };
  await using server = start(websites, (patch, count) => patched(live, patch, 5 + count));
  await server.send(event("ADDED", live), initialEventsEnd(3));
  assert.deepEqual(server.patches[0]?.metadata, { resourceVersion: "3" });
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
  await using server = start(
    websites,
    (patch, count) => patched(live, patch, Number(live.metadata.resourceVersion) + count),
  );
  await server.send(event("ADDED", live), initialEventsEnd(1));
  server.clock.step(server.clock.now() + 5);
  // The watch missed the deletion of the old object.
  live = website({ version: 20, generation: 1, uid: "other" });
  await server.send(event("MODIFIED", live));
  server.patches.length = 0;
  gate.resolve();
  await server.send();
  assert.deepEqual(runs, ["u, attempt 1", "u, attempt 2", "other, attempt 1"]);
  assert.deepEqual(server.patches.map(({ status }) => (status as { text?: string }).text), ["other"]);
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
  await using server = start(
    websites,
    (patch, count) => patched(live, patch, Number(live.metadata.resourceVersion) + count),
  );
  await server.send(event("ADDED", live), initialEventsEnd(1));
  live = website({ version: 20, generation: 1, uid: "other" });
  await server.send(event("MODIFIED", live));
  assert.deepEqual(attempts, ["u, attempt 1", "other, attempt 1"]);
});

Deno.test("ControllerLoop keeps the finalizer of an object that replaced the one it cleaned up", async () => {
  const gate = Promise.withResolvers<void>();
  const websites = controller(Website, { reconcile() {}, cleanup: () => gate.promise });
  const deletion = { deletionTimestamp: "2030-01-01T00:00:00Z", deletionGracePeriodSeconds: 0 };
  const replacement = website({ version: 20, generation: 1, uid: "other", finalizers: [FINALIZER] });
  await using server = start(websites, (patch, count) => patched(replacement, patch, 20 + count));
  await server.send(
    event("ADDED", website({ version: 1, generation: 1, finalizers: [FINALIZER], ...deletion })),
    initialEventsEnd(1),
  );
  await server.send(event("MODIFIED", replacement));
  gate.resolve();
  await server.send();
  assert.deepEqual(server.patches.map((patch) => Object.keys(patch)), [["status"]]);
});

type Patch = { readonly metadata?: object; readonly status?: object };
/** Returns the response to the `count`th patch; `undefined` for a 404. */
type AnswerPatch = (patch: Patch, count: number) => Promise<KubeObject> | KubeObject | undefined;

/** A running operator, and the server that the test controls. */
interface ScriptedServer extends AsyncDisposable {
  readonly clock: VirtualClock;
  /** The patches so far. */
  readonly patches: Patch[];
  /** Sends lines to the open watch, and waits until pending work that needs no timer is done. */
  send(...lines: object[]): Promise<void>;
}

/** Starts an operator on a server with one open watch. `response` responds to its patches. */
function start(websites: Controller, response: AnswerPatch): ScriptedServer {
  const clock = new VirtualClock();
  const patches: Patch[] = [];
  let stream!: ReadableStreamDefaultController<Uint8Array>;
  const fetch = async (request: Request): Promise<Response> => {
    if (request.method === "GET") return new Response(new ReadableStream({ start: (given) => void (stream = given) }));
    patches.push(await request.json());
    const object = await response(patches.at(-1)!, patches.length);
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

/** Returns the object as the server stores it after a patch. */
function patched(object: KubeObject, patch: Patch, version: number): KubeObject {
  const metadata = { ...object.metadata, ...patch.metadata, resourceVersion: String(version) };
  return { ...object, ...patch, metadata };
}

function event(type: string, object: KubeObject): object {
  return { type, object };
}

/** Returns the bookmark that ends the initial events of a watch. */
function initialEventsEnd(version: number): object {
  const metadata = { resourceVersion: String(version), annotations: { "k8s.io/initial-events-end": "true" } };
  return { type: "BOOKMARK", object: { apiVersion: "demo.example.com/v1", kind: "Website", metadata } };
}

async function turns(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
