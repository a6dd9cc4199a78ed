/**
 * Traces of webhook reviews: an operator's program sends them through Deno's own OpenTelemetry to a
 * collector in this process.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { createApiserver, kubeconfigFor, localCertificate, serveApiserver } from "@op/sdk/testing";
import { startOperator } from "../fixtures/operator_process.ts";
import { type ReceivedSpan, startCollector } from "../fixtures/span_collector.ts";
import { conversionReview, review } from "../fixtures/reviews.ts";

const MAIN = fileURLToPath(new URL("../fixtures/operators/traced_reviews.ts", import.meta.url));
const FAILED = 2;

/**
 * Runs an operator that handles one review of each kind.
 *
 * @param flags Further flags of the program.
 * @returns The spans that it sent, and some of its log lines.
 */
async function traceReviews(...flags: string[]) {
  const home = await Deno.makeTempDir();
  await using apiserver = createApiserver();
  await using served = serveApiserver(apiserver);
  await using collector = startCollector();
  const { certificate, key, caCert } = await localCertificate();
  const lines: Record<string, unknown>[] = [];
  try {
    const files = { kubeconfig: kubeconfigFor(served), "tls.crt": certificate, "tls.key": key };
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${home}/${name}`, text);
    const paths = [`--webhook-certificate=${home}/tls.crt`, `--webhook-key=${home}/tls.key`];
    const args = [`--kubeconfig=${home}/kubeconfig`, ...paths, ...flags];
    await using operator = await startOperator({ home, main: MAIN, args, env: collector.env });
    const { port, operatorID } = await operator.logged(({ msg }) => msg === "Webhooks served");
    using client = Deno.createHttpClient({ caCerts: [caCert] });
    const send = async (path: string, body: unknown) => {
      const headers = { "content-type": "application/json" };
      const url = `https://127.0.0.1:${port}${path}`;
      return await (await fetch(url, { method: "POST", headers, body: JSON.stringify(body), client })).text();
    };
    await send("/mutate/note-rules", review("fine", "u-mutated"));
    await send("/validate/note-rules", review("fine", "u-allowed"));
    lines.push(await operator.logged(({ msg, uid }) => msg === "Note reviewed" && uid === "u-allowed"));
    await send("/validate/note-rules", review("forbidden", "u-denied"));
    await send("/validate/note-rules", review("broken", "u-broken"));
    lines.push(await operator.logged(({ msg }) => msg === "Webhook failed"));
    await send("/convert", conversionReview("fine"));
    await send("/convert", conversionReview("broken"));
    lines.push(await operator.logged(({ msg }) => msg === "Conversion failed"));
    for (const line of lines) assert.equal(line.operatorID, operatorID);
    // Sends the remaining spans.
    assert.equal(await operator.stop(), 0);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
  const { spans } = collector;
  const reviews = spans.filter(({ scope, name }) => scope === "@op/sdk" && name.startsWith("webhook "));
  const spanOf = (uid: string) => reviews.find(({ attributes }) => attributes["op.review.uid"] === uid)!;
  return { spans, reviews, spanOf, lines };
}

const idsOf = ({ traceId, spanId }: ReceivedSpan) => [traceId, spanId];
const idsIn = (line: Record<string, unknown> | undefined) => [line?.trace_id, line?.span_id];

Deno.test("each review is a span with the reviewed object and the result", async (t) => {
  const { spans, reviews, spanOf, lines } = await traceReviews();
  await t.step("a span is named after the path of its webhook", () => {
    assert.deepEqual(reviews.map(({ name }) => name), [
      "webhook /mutate/note-rules",
      ...Array.from({ length: 3 }, () => "webhook /validate/note-rules"),
      ...Array.from({ length: 2 }, () => "webhook /convert"),
    ]);
  });

  await t.step("a span has the reviewed object and the verdict as attributes", () => {
    assert.deepEqual(spanOf("u-allowed").attributes, {
      "op.webhook": "/validate/note-rules",
      "op.review.uid": "u-allowed",
      "op.review.operation": "CREATE",
      "k8s.object.kind": "Note",
      "k8s.object.name": "a",
      "k8s.namespace.name": "default",
      "op.review.allowed": true,
      "http.response.status_code": 200,
    });
    const verdicts = ["u-mutated", "u-denied", "u-broken"].map((uid) => spanOf(uid).attributes["op.review.allowed"]);
    assert.deepEqual(verdicts, [true, false, undefined]);
  });

  await t.step("a request of the webhook function to the API server is a child span", () => {
    const { spanId, traceId } = spanOf("u-allowed");
    const children = spans.filter((span) => span.parentSpanId === spanId && span.traceId === traceId);
    assert(children.some(({ name }) => name === "get ConfigMap"), JSON.stringify(children));
  });

  await t.step("the span of a failed function or conversion has the error", () => {
    const failed = reviews.filter(({ status }) => status.code === FAILED);
    assert.deepEqual(
      failed.map(({ name, status, attributes }) => [
        name,
        status.message,
        attributes["http.response.status_code"],
      ]),
      [
        ["webhook /validate/note-rules", "it is broken", 500],
        [
          "webhook /convert",
          'Cannot convert Note "default/a" of reviews.example.com/v1 to reviews.example.com/v2: it is broken',
          200,
        ],
      ],
    );
  });

  await t.step("log lines of a review have the ids of its span", () => {
    const [reviewed, broken, unconverted] = lines;
    assert.deepEqual(idsIn(reviewed), idsOf(spanOf("u-allowed")));
    assert.deepEqual(idsIn(broken), idsOf(spanOf("u-broken")));
    assert.deepEqual(idsIn(unconverted), idsOf(reviews.at(-1)!));
  });
});

Deno.test("a review in a worker thread is a child span of the span of the main thread", async (t) => {
  const { spans, reviews, spanOf, lines } = await traceReviews("--webhook-workers=1");
  const [reviewed, broken, unconverted] = lines;
  const parentOf = (span: ReceivedSpan) =>
    reviews.find(({ spanId, traceId }) => spanId === span.parentSpanId && traceId === span.traceId);

  await t.step("the child has the reviewed object, and the parent only the webhook and the status", () => {
    assert.equal(reviews.length, 12);
    assert.equal(reviews.filter(parentOf).length, 6);
    for (const uid of ["u-mutated", "u-allowed", "u-denied", "u-broken"]) {
      const [child, parent] = [spanOf(uid), parentOf(spanOf(uid))!];
      assert.equal(parent.name, child.name);
      assert.deepEqual(parent.attributes, {
        "op.webhook": child.attributes["op.webhook"],
        "http.response.status_code": child.attributes["http.response.status_code"],
      });
    }
  });

  await t.step("a request of the webhook function to the API server is a child span of the thread's span", () => {
    const { spanId, traceId } = spanOf("u-allowed");
    const children = spans.filter((span) => span.parentSpanId === spanId && span.traceId === traceId);
    assert(children.some(({ name }) => name === "get ConfigMap"), JSON.stringify(children));
  });

  await t.step("log lines of a review have the ids of its span", () => {
    assert.deepEqual(idsIn(reviewed), idsOf(spanOf("u-allowed")));
    assert.deepEqual(idsIn(broken), idsOf(spanOf("u-broken")));
    const [trace, span] = idsIn(unconverted);
    const converting = reviews.find(({ traceId, spanId }) => traceId === trace && spanId === span);
    assert.equal(parentOf(converting!)?.name, "webhook /convert");
  });
});
