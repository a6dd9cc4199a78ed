import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import type { KubeObject } from "../resource/kind.ts";
import { type SpanOptions, type Tracer, Tracing } from "./tracing.ts";

/**
 * Returns a tracing and the list of its ended spans, each as `name < parent @ link ! error`. Parts
 * that a span does not have are omitted.
 */
function recordingTracing() {
  const ended: string[] = [];
  const active = new AsyncLocalStorage<string>();
  const tracer: Tracer = {
    startSpan(name, { root, links = [] }: SpanOptions = {}) {
      const parent = root ? undefined : active.getStore();
      const linked = links.map(({ context }) => ` @ ${context.spanId}`).join("");
      let failure = "";
      return {
        spanContext: () => ({ traceId: "t", spanId: name }),
        setAttribute() {},
        setStatus: ({ message }) => void (failure = ` ! ${message ?? ""}`),
        end: () => void ended.push(`${name}${parent === undefined ? "" : ` < ${parent}`}${linked}${failure}`),
      };
    },
    startActiveSpan(name, options, call) {
      const span = tracer.startSpan(name, options);
      return active.run(name, () => call(span));
    },
  };
  return { tracing: new Tracing(tracer), ended };
}

const OBJECT: KubeObject = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", namespace: "default", uid: "u", resourceVersion: "7" } as KubeObject["metadata"],
};
const KEY = "default/a" as never;
const GET = { verb: "get", target: 'Secret "default/s"' };

Deno.test("API requests have spans during a reconcile, and none outside of it or after its end", async () => {
  const { tracing, ended } = recordingTracing();
  const run = tracing.controller("maps").begin(OBJECT, "changed", 1);
  let later: Promise<unknown> | undefined;
  const gate = Promise.withResolvers<void>();
  await run.within(async () => {
    await tracing.call(GET, () => Promise.resolve());
    later = gate.promise.then(() => tracing.call(GET, () => Promise.resolve()));
  });
  run.end("success", undefined);
  gate.resolve();
  await later;
  await tracing.call(GET, () => Promise.resolve());
  assert.deepEqual(ended, ["get Secret < reconcile maps", "reconcile maps"]);
});

Deno.test("the span of a failed request records the error, which is rethrown", async () => {
  const { tracing, ended } = recordingTracing();
  const run = tracing.controller("maps").begin(OBJECT, "changed", 1);
  const failure = new Error("no");
  await assert.rejects(run.within(() => tracing.call(GET, () => Promise.reject(failure))), failure);
  assert.deepEqual(ended, ["get Secret < reconcile maps ! no"]);
});

Deno.test("a reconcile links to the changes since the previous one and to the reconcile that requeued it", () => {
  const { tracing, ended } = recordingTracing();
  const maps = tracing.controller("maps");
  const change = { object: OBJECT, isOurs: false };
  maps.triggered(KEY, "owned changed", change);
  maps.triggered("default/b" as never, "owned changed", change);
  maps.triggered(KEY, "triggered", undefined);
  maps.begin(OBJECT, "owned changed", 1).end("requeue", "requeued");
  maps.triggered(KEY, "changed", { object: { ...OBJECT, kind: "Secret" }, isOurs: false });
  maps.begin(OBJECT, "requeued", 1).end("success", undefined);
  maps.begin(OBJECT, "changed", 1).end("success", undefined);
  assert.deepEqual(ended, [
    "change ConfigMap",
    "reconcile maps @ change ConfigMap",
    "change Secret",
    "reconcile maps @ reconcile maps @ change Secret",
    "reconcile maps",
  ]);
});

Deno.test("a reconcile links to at most 32 triggers, and to none of a deleted object", () => {
  const { tracing, ended } = recordingTracing();
  const maps = tracing.controller("maps");
  for (let i = 0; i < 100; i++) maps.triggered(KEY, "changed", { object: OBJECT, isOurs: false });
  maps.begin(OBJECT, "changed", 1).end("success", undefined);
  assert.equal(ended.at(-1)?.split(" @ ").length, 33);
  maps.triggered(KEY, "changed", { object: OBJECT, isOurs: false });
  maps.forget(KEY);
  maps.begin(OBJECT, "changed", 1).end("success", undefined);
  assert.equal(ended.at(-1), "reconcile maps");
});

Deno.test("a review has a span, and the requests of its function are its children", async () => {
  const { tracing, ended } = recordingTracing();
  const response = await tracing.review("/validate-shops", async () => {
    await tracing.call(GET, () => Promise.resolve());
    return new Response(null, { status: 500 });
  });
  assert.equal(response.status, 500);
  assert.deepEqual(ended, ["get Secret < webhook /validate-shops", "webhook /validate-shops ! "]);
});
