/**
 * Traces: an operator's program sends them through Deno's own OpenTelemetry to a collector in this
 * process.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { ConfigMap, CustomResourceDefinition } from "@op/sdk/kinds";
import { createApiserver, kubeconfigFor, serveApiserver } from "@op/sdk/testing";
import { Client } from "../../src/kube/client.ts";
import { startOperator } from "../fixtures/operator_process.ts";
import { type ReceivedSpan, startCollector } from "../fixtures/span_collector.ts";
import { Note } from "../fixtures/notes.ts";

const MAIN = fileURLToPath(new URL("../fixtures/operators/traced.ts", import.meta.url));

/** OpenTelemetry's span kinds, as encoded in OTLP. */
const KIND = { internal: 1, client: 3, producer: 4, consumer: 5 };

Deno.test("a reconcile is a span that has its calls as children and is linked to its trigger", async (t) => {
  const home = await Deno.makeTempDir();
  await using apiserver = createApiserver();
  await using served = serveApiserver(apiserver);
  await using collector = startCollector();
  const client = new Client({ url: served.url, fetch: (request) => apiserver.fetch(request), close() {} });
  const lines: Record<string, unknown>[] = [];
  try {
    await Deno.writeTextFile(`${home}/kubeconfig`, kubeconfigFor(served));
    await client.create(CustomResourceDefinition, Note.crd as never);
    await using operator = await startOperator({
      home,
      main: MAIN,
      args: ["--kubeconfig", `${home}/kubeconfig`],
      env: collector.env,
    });
    const logged = async (passes: (line: Record<string, unknown>) => boolean) => {
      const line = await operator.logged(passes);
      lines.push(line);
    };
    for (const part of ["writers", "readers"]) {
      await logged(({ msg, controller }) => msg === "Controller started" && controller === part);
    }
    await client.create(Note, { metadata: { name: "plain", namespace: "default" }, spec: {} });
    await logged(({ msg, name }) => msg === "Note written" && name === "plain");
    await client.create(Note, { metadata: { name: "late", namespace: "default" }, spec: { text: "fails once" } });
    await logged(({ msg, name }) => msg === "Note written" && name === "late");
    assert.equal((await client.get(ConfigMap, "late", { namespace: "default" })).data?.text, "fails once");
    // Current reconciles end, and the remaining spans are sent.
    assert.equal(await operator.stop(), 0);
  } finally {
    await Deno.remove(home, { recursive: true });
  }

  const { spans } = collector;
  const ours = spans.filter(({ scope }) => scope === "@op/sdk");
  const reconciles = ours.filter(({ name }) => name.startsWith("reconcile "));
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const childrenOf = ({ spanId, traceId }: ReceivedSpan) =>
    spans.filter((span) => span.parentSpanId === spanId && span.traceId === traceId);
  const reconcilesOf = (part: string, name: string) =>
    reconciles.filter((span) => span.name === `reconcile ${part}` && span.attributes["k8s.object.name"] === name);
  const linked = ({ links }: ReceivedSpan) => links.map(({ spanId }) => byId.get(spanId)!);

  await t.step("spans have few distinct names, and identify the operator", () => {
    assert.deepEqual([...collector.services], ["note-operator"]);
    // Events are sent separately, at their own time.
    assert.deepEqual([...new Set(ours.map(({ name }) => name))].filter((name) => name !== "create Event").sort(), [
      "apply ConfigMap",
      "change ConfigMap",
      "change Note",
      "patch Note/status",
      "reconcile readers",
      "reconcile writers",
    ]);
  });

  await t.step("a reconcile starts a trace, and records its object and result", () => {
    const [reconcile] = reconcilesOf("writers", "plain");
    assert.deepEqual([reconcile?.parentSpanId, reconcile?.kind, reconcile?.status.code], ["", KIND.consumer, 0]);
    const { "k8s.object.uid": uid, "k8s.object.resource_version": version, ...rest } = reconcile?.attributes ?? {};
    assert.match(`${uid} ${version}`, /^[0-9a-f-]{36} [1-9]\d*$/);
    assert.deepEqual(rest, {
      "k8s.object.api_version": "demo.example.com/v1",
      "k8s.object.kind": "Note",
      "k8s.object.name": "plain",
      "k8s.namespace.name": "default",
      "op.controller": "writers",
      "op.reason": "changed",
      "op.attempt": 1,
      "op.result": "success",
    });
  });

  await t.step("the calls of a reconcile are child spans, which contain Deno's own spans of the requests", () => {
    const calls = childrenOf(reconcilesOf("writers", "plain")[0]!).filter(({ kind }) => kind === KIND.internal);
    assert.deepEqual(calls.map(({ name }) => name).sort(), ["apply ConfigMap", "patch Note/status"]);
    for (const call of calls) {
      const [request, ...others] = childrenOf(call);
      assert.deepEqual([request?.name, request?.kind, request?.scope, others], ["PATCH", KIND.client, "deno", []]);
    }
    assert.equal(
      calls.find(({ name }) => name === "apply ConfigMap")?.attributes["op.call"],
      'apply ConfigMap "default/plain"',
    );
  });

  await t.step(
    "a reconcile is linked to the change that triggered it, which has a trace of its own if another client made it",
    () => {
      for (const part of ["writers", "readers"]) {
        const reconcile = reconcilesOf(part, "plain")[0]!;
        const [change] = linked(reconcile);
        assert.deepEqual([change?.name, change?.kind, change?.parentSpanId], ["change Note", KIND.producer, ""]);
        assert.notEqual(change?.traceId, reconcile.traceId);
        assert.deepEqual(reconcile.links[0]?.attributes, { "op.reason": "changed" });
      }
    },
  );

  await t.step(
    "a change made by a reconcile is a child of that reconcile, and the reconcile of another controller links to it",
    () => {
      const writer = reconcilesOf("writers", "plain")[0]!;
      const changes = reconcilesOf("readers", "plain").flatMap(linked).filter(({ name }) =>
        name === "change ConfigMap"
      );
      assert.equal(changes.length, 1);
      assert.deepEqual([changes[0]?.parentSpanId, changes[0]?.traceId], [writer.spanId, writer.traceId]);
    },
  );

  await t.step("a failed reconcile records its error, and the retry is linked to it", () => {
    const [first, second] = reconcilesOf("writers", "late");
    assert.deepEqual(first?.status, { code: 2, message: "not yet" });
    assert.equal(first?.attributes["op.result"], "error");
    assert(childrenOf(first!).some(({ name }) => name === "patch Note/status"), "the failure is written to the status");
    assert.equal(second?.attributes["op.reason"], "retried");
    assert.equal(second?.attributes["op.attempt"], 2);
    assert(
      second?.links.some(({ spanId, attributes }) => spanId === first?.spanId && attributes["op.reason"] === "retried"),
    );
  });

  await t.step("log lines of a reconcile contain its trace", () => {
    const { spanId, traceId } = reconcilesOf("writers", "plain")[0]!;
    const line = lines.find(({ msg, name }) => msg === "Note written" && name === "plain");
    assert.deepEqual([line?.trace_id, line?.span_id], [traceId, spanId]);
  });
});
