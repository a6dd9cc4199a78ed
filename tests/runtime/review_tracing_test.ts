/** Traces of reviews: an operator's program sends them by Deno's own OpenTelemetry to a collector, which is this process. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { createApiserver, kubeconfigFor, localCertificate, serveApiserver } from "@op/sdk/testing";
import { startOperator } from "../fixtures/operator_process.ts";
import { type ArrivedSpan, startCollector } from "../fixtures/span_collector.ts";
import { conversionReview, review } from "../fixtures/reviews.ts";

const MAIN = fileURLToPath(new URL("../fixtures/operators/traced_reviews.ts", import.meta.url));
const FAILED = 2;

/** Has an operator answer one review of each sort. What it sent to its collector, and lines of its log. */
async function observed(...flags: string[]) {
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
    const ask = async (path: string, body: unknown) => {
      const headers = { "content-type": "application/json" };
      const url = `https://127.0.0.1:${port}${path}`;
      return await (await fetch(url, { method: "POST", headers, body: JSON.stringify(body), client })).text();
    };
    await ask("/mutate/note-rules", review("fine", "u-mutated"));
    await ask("/validate/note-rules", review("fine", "u-allowed"));
    lines.push(await operator.logged(({ msg, uid }) => msg === "Note looked at" && uid === "u-allowed"));
    await ask("/validate/note-rules", review("forbidden", "u-refused"));
    await ask("/validate/note-rules", review("broken", "u-broken"));
    lines.push(await operator.logged(({ msg }) => msg === "Webhook failed"));
    await ask("/convert", conversionReview("fine"));
    await ask("/convert", conversionReview("broken"));
    lines.push(await operator.logged(({ msg }) => msg === "Conversion failed"));
    for (const line of lines) assert.equal(line.operatorID, operatorID);
    // What is not sent yet is sent.
    assert.equal(await operator.stop(), 0);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
  const { spans } = collector;
  const reviews = spans.filter(({ scope, name }) => scope === "@op/sdk" && name.startsWith("webhook "));
  const of = (uid: string) => reviews.find(({ attributes }) => attributes["op.review.uid"] === uid)!;
  return { spans, reviews, of, lines };
}

const idsOf = ({ traceId, spanId }: ArrivedSpan) => [traceId, spanId];
const idsIn = (line: Record<string, unknown> | undefined) => [line?.trace_id, line?.span_id];

Deno.test("a review is a span: mutating, validating and converting, with what it was about and how it ended", async (t) => {
  const { spans, reviews, of, lines } = await observed();
  await t.step("each is one, named by its path", () => {
    assert.deepEqual(reviews.map(({ name }) => name), [
      "webhook /mutate/note-rules",
      ...Array.from({ length: 3 }, () => "webhook /validate/note-rules"),
      ...Array.from({ length: 2 }, () => "webhook /convert"),
    ]);
  });

  await t.step("it says what it was about, and the verdict", () => {
    assert.deepEqual(of("u-allowed").attributes, {
      "op.webhook": "/validate/note-rules",
      "op.review.uid": "u-allowed",
      "op.review.operation": "CREATE",
      "k8s.object.kind": "Note",
      "k8s.object.name": "a",
      "k8s.namespace.name": "default",
      "op.review.allowed": true,
      "http.response.status_code": 200,
    });
    const verdicts = ["u-mutated", "u-refused", "u-broken"].map((uid) => of(uid).attributes["op.review.allowed"]);
    assert.deepEqual(verdicts, [true, false, undefined]);
  });

  await t.step("what its function asks of the API server is its child", () => {
    const { spanId, traceId } = of("u-allowed");
    const children = spans.filter((span) => span.parentSpanId === spanId && span.traceId === traceId);
    assert(children.some(({ name }) => name === "get ConfigMap"), JSON.stringify(children));
  });

  await t.step("one whose function fails says why, and so does a conversion, whose answer has status 200", () => {
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

  await t.step("lines of its log lead to it", () => {
    const [looked, broken, unconverted] = lines;
    assert.deepEqual(idsIn(looked), idsOf(of("u-allowed")));
    assert.deepEqual(idsIn(broken), idsOf(of("u-broken")));
    assert.deepEqual(idsIn(unconverted), idsOf(reviews.at(-1)!));
  });
});

Deno.test("of a review in a thread, what the thread does is a span below the program's, and its lines lead to it", async (t) => {
  const { spans, reviews, of, lines } = await observed("--webhook-workers=1");
  const [looked, broken, unconverted] = lines;
  const above = (span: ArrivedSpan) =>
    reviews.find(({ spanId, traceId }) => spanId === span.parentSpanId && traceId === span.traceId);

  await t.step("the one below says what it was about, the one above how long all took", () => {
    assert.equal(reviews.length, 12);
    assert.equal(reviews.filter(above).length, 6);
    for (const uid of ["u-mutated", "u-allowed", "u-refused", "u-broken"]) {
      const [below, whole] = [of(uid), above(of(uid))!];
      assert.equal(whole.name, below.name);
      assert.deepEqual(whole.attributes, {
        "op.webhook": below.attributes["op.webhook"],
        "http.response.status_code": below.attributes["http.response.status_code"],
      });
    }
  });

  await t.step("what its function asks of the API server is below it", () => {
    const { spanId, traceId } = of("u-allowed");
    const children = spans.filter((span) => span.parentSpanId === spanId && span.traceId === traceId);
    assert(children.some(({ name }) => name === "get ConfigMap"), JSON.stringify(children));
  });

  await t.step("lines of its log lead to it", () => {
    assert.deepEqual(idsIn(looked), idsOf(of("u-allowed")));
    assert.deepEqual(idsIn(broken), idsOf(of("u-broken")));
    const [trace, span] = idsIn(unconverted);
    const converting = reviews.find(({ traceId, spanId }) => traceId === trace && spanId === span);
    assert.equal(above(converting!)?.name, "webhook /convert");
  });
});
