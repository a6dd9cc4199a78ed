/** What no API server sends: whatever comes, the answer is well formed or the connection is closed, and nothing is allowed by accident. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { systemClock } from "../../src/base/clock.ts";
import { Client } from "../../src/kube/client.ts";
import { operatorLog } from "../../src/operator/log.ts";
import { conversion, operator, resource, s } from "../../mod.ts";
import { Metrics } from "../../src/runtime/metrics.ts";
import { WebhookHandler } from "../../src/runtime/webhooks/handler.ts";
import { TlsServer } from "../../src/runtime/webhooks/tls_server.ts";
import { localCertificate } from "../../src/testing/local_certificate.ts";
import { Note, noteRules, PATH, review } from "./_reviews.ts";

const RUNS = 10_000;

const NoteV2 = resource({
  group: Note.group,
  version: "v2",
  kind: "Note",
  spec: s.object({ lines: s.array(s.string()) }),
  versions: [Note],
});
const notes = conversion(Note, NoteV2, {
  up: ({ spec }) => ({ spec: { lines: spec.text.split("\n") } }),
  down: ({ spec }) => ({ spec: { text: spec.lines.join("\n") } }),
});
const op = operator({ name: "notes", parts: { noteRules, notes }, health: false });

function handler(limits = {}, metrics = new Metrics()): WebhookHandler {
  const connection = { url: "http://nowhere", fetch: () => Promise.reject(new Error("no server")), close() {} };
  return new WebhookHandler({
    parts: op.parts,
    client: new Client(connection),
    clock: systemClock,
    log: operatorLog("hostile"),
    metrics,
    services: () => undefined,
    signal: new AbortController().signal,
    limits,
  });
}

Deno.test("a conversion whose function fails is answered as failed, and counted", async () => {
  const metrics = new Metrics();
  const { fetch } = handler({}, metrics);
  const broken = conversionReview("x", "uid-1");
  (broken.request.objects[0]!.spec as Record<string, unknown>).text = 1;
  const { response } = await (await fetch(post("/convert", JSON.stringify(broken)))).json();
  assert.equal(response.result.status, "Failure");
  await fetch(post("/convert", JSON.stringify(conversionReview("a", "uid-2"))));
  assert.match(await metrics.text(), /^controller_runtime_conversion_webhook_panics_total 1$/m);
});

function conversionReview(text: string, uid: string) {
  const object = { apiVersion: Note.apiVersion, kind: "Note", metadata: { name: "a" }, spec: { text } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    request: { uid, desiredAPIVersion: NoteV2.apiVersion, objects: [object] },
  };
}

function post(path: string, body: BodyInit, headers: Record<string, string> = {}): Request {
  return new Request(`https://notes${path}?timeout=1s`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
}

/** What is put in the place of a part. */
const HOSTILE = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1e308,
    "",
    "v1",
    "admission.k8s.io/v1beta1",
    [],
    {},
    [[]],
    "\ud800",
  ),
  fc.constant("x".repeat(100_000)),
  fc.jsonValue({ maxDepth: 3 }),
  fc.constant(JSON.parse('{"__proto__":{"allowed":true},"constructor":{"prototype":{"allowed":true}}}')),
  fc.constant(deep(2000)),
);

type Json = Record<string, unknown>;

/** A review of which one part is missing, or another thing. */
function mutated(make: () => Json): fc.Arbitrary<{ readonly body: string; readonly isAdmission: boolean }> {
  const paths = pathsOf(make());
  const isAdmission = make().kind === "AdmissionReview";
  return fc.tuple(fc.constantFrom(...paths), fc.option(HOSTILE, { nil: undefined }), fc.nat(40)).map(
    ([path, value, cut]) => {
      const body = make();
      const holder = path.slice(0, -1).reduce<Json>((at, key) => at[key] as Json, body);
      if (value === undefined) delete holder[path.at(-1)!];
      else holder[path.at(-1)!] = value;
      const text = JSON.stringify(body);
      // One in twenty is cut off as well.
      return { body: cut < 2 ? text.slice(0, -5 - cut * 40) : text, isAdmission };
    },
  );
}

Deno.test(`${RUNS} reviews that are wrong somewhere, with valid ones among them: none is allowed by accident, and the valid ones all are`, async () => {
  const { fetch } = handler();
  let valid = 0;
  let answered = 0;
  let before = 0;
  const arbitrary = fc.oneof(
    mutated(() => review("forbidden", "uid-1") as unknown as Json),
    mutated(() => conversionReview("a", "uid-1") as unknown as Json),
  );
  await fc.assert(
    fc.asyncProperty(arbitrary, async ({ body, isAdmission }) => {
      const response = await fetch(post(isAdmission ? PATH : "/convert", body));
      await wellFormed(response, body, isAdmission);
      // What half of them left behind, all of them may not double: memory is bounded.
      if (answered === Math.floor(RUNS / 2)) before = Deno.memoryUsage().rss;
      if (++answered % 10 === 0) {
        const good = await (await fetch(post(PATH, JSON.stringify(review("hello", `good-${answered}`))))).json();
        assert.deepEqual(good.response, { uid: `good-${answered}`, allowed: true });
        const text = JSON.stringify(conversionReview("a\nb", `good-${answered}`));
        const { response } = await (await fetch(post("/convert", text))).json();
        assert.deepEqual(response.convertedObjects[0].spec, { lines: ["a", "b"] });
        valid += 2;
      }
    }),
    { numRuns: RUNS },
  );
  const grown = (Deno.memoryUsage().rss - before) / 2 ** 20;
  assert(grown < 200, `${grown} MiB more memory in the second half`);
  assert(valid >= RUNS / 10);
});

/** The forbidden note is never allowed: whatever was changed in the review, unless it is the note's own text, or which webhook would be asked. */
async function wellFormed(response: Response, body: string, isAdmission: boolean): Promise<void> {
  const text = await response.text();
  if (response.status !== 200) {
    assert(response.status >= 400 && response.status < 600, String(response.status));
    assert(text.length > 0 && text.length < 1000, text);
    return;
  }
  const asked = JSON.parse(body);
  const { response: answer, kind, apiVersion } = JSON.parse(text);
  assert.equal(kind, isAdmission ? "AdmissionReview" : "ConversionReview");
  assert.equal(apiVersion, asked.apiVersion);
  assert.equal(answer.uid, asked.request.uid);
  if (!isAdmission) return;
  if (answer.allowed) assert.notEqual(asked.request.object.spec?.text, "forbidden");
  else assert.equal(answer.status.code, 422);
}

Deno.test("requests that are none are refused with a status of their own", async () => {
  const { fetch } = handler({ review: 10_000 });
  const status = async (request: Request) => (await fetch(request)).status;
  assert.equal(await status(new Request(`https://notes${PATH}`)), 405);
  assert.equal(await status(post("/elsewhere", "{}")), 404);
  assert.equal(await status(post(PATH, "{}", { "content-type": "text/plain" })), 415);
  assert.equal(await status(post(PATH, "not json")), 400);
  assert.equal(await status(post(PATH, JSON.stringify(review("x".repeat(20_000))))), 413);
  assert.equal(await status(post(PATH, `${"[".repeat(100_000)}${"]".repeat(100_000)}`)), 413);
});

Deno.test("a body without an end is given up when it is too long, or late", async () => {
  const { fetch } = handler({ review: 100_000 });
  const endless = new ReadableStream<Uint8Array>({ pull: (to) => to.enqueue(new Uint8Array(10_000)) });
  assert.equal((await fetch(post(PATH, endless))).status, 413);
  const silent = new ReadableStream<Uint8Array>({});
  const request = new Request(`https://notes${PATH}?timeout=1s`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: silent,
  });
  assert.equal((await fetch(request)).status, 504);
});

Deno.test("what comes beyond the limit is told to come again", async () => {
  const hung = handler({ inFlight: 2 });
  const silent = () => post(PATH, new ReadableStream<Uint8Array>({}));
  const waiting = [hung.fetch(silent()), hung.fetch(silent())];
  const answer = await hung.fetch(post(PATH, JSON.stringify(review())));
  assert.equal(answer.status, 429);
  assert.equal(answer.headers.get("retry-after"), "1");
  assert.equal(hung.inFlight, 2);
  await Promise.all(waiting);
  assert.equal((await hung.fetch(post(PATH, JSON.stringify(review())))).status, 200);
});

Deno.test("slow bodies, half bodies and TLS garbage, a hundred of each: the server answers others all the while", async () => {
  const { certificate, key, caCert } = await localCertificate();
  const { fetch: handle } = handler();
  await using server = new TlsServer({ hostname: "127.0.0.1", port: 0, firstByte: 400, silence: 1500 }, handle);
  server.use({ certificate, key });
  const way = Deno.createHttpClient({ caCerts: [caCert!] });
  const ask = () =>
    fetch(`https://127.0.0.1:${server.port}${PATH}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(review()),
      client: way,
    }).then((response) => response.json());
  const body = JSON.stringify(review());
  const head =
    `POST ${PATH}?timeout=1s HTTP/1.1\r\nhost: notes\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  // A closed connection is an answer, whenever it comes.
  const say = async (connecting: Promise<Deno.Conn>, bytes: Uint8Array): Promise<void> => {
    const connection = await connecting.catch(() => undefined);
    if (connection === undefined) return;
    const buffer = new Uint8Array(4096);
    try {
      await connection.write(bytes);
      while (await connection.read(buffer) !== null);
    } catch { /* it was reset */ }
    connection.close();
  };
  const place = { hostname: "127.0.0.1", port: server.port };
  const tls = (text: string) => say(Deno.connectTls({ ...place, caCerts: [caCert!] }), new TextEncoder().encode(text));
  const garbage = (seed: number) => {
    const bytes = seed % 2 === 0 ? Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, seed]) : Buffer.alloc(300, seed);
    return say(Deno.connect(place), new Uint8Array(bytes));
  };
  const hundred = Array.from({ length: 100 }, (_, i) => i);
  const hostile = Promise.all([
    // A beginning of the body, and then nothing more: given up when the API server would.
    ...hundred.map(() => tls(head + body.slice(0, 50))),
    // The head alone.
    ...hundred.map(() => tls(head)),
    ...hundred.map(garbage),
  ]);
  let isOver = false;
  hostile.finally(() => isOver = true);
  let asked = 0;
  while (!isOver) {
    assert.equal((await ask()).response.allowed, true);
    asked++;
  }
  await hostile;
  way.close();
  assert(asked > 0);
});

function pathsOf(value: unknown, at: readonly string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value).flatMap((key) => [[...at, key], ...pathsOf((value as Json)[key], [...at, key])]);
}

function deep(levels: number): unknown {
  let value: unknown = "end";
  for (let i = 0; i < levels; i++) value = [value];
  return value;
}
