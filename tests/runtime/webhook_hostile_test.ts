/** What no API server sends: whatever comes, the answer is well formed or the connection is closed, and nothing is allowed by accident. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { fileURLToPath } from "node:url";
import { Metrics } from "../../src/runtime/metrics.ts";
import { TlsServer } from "../../src/runtime/webhooks/tls_server.ts";
import { localCertificate } from "../../src/testing/local_certificate.ts";
import { conversionReview, handler, post } from "./_hostile_reviews.ts";
import { PATH, review } from "./_reviews.ts";

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

Deno.test("10,000 reviews that are wrong somewhere, with valid ones among them: none is allowed by accident, the valid ones all are, and nothing of them is kept", async () => {
  const [main, config] = ["_hostile_reviews.ts", "../../deno.json"].map((path) =>
    fileURLToPath(new URL(path, import.meta.url))
  );
  // In a process of its own, whose memory nobody else uses.
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--no-lock", "--v8-flags=--expose-gc", `--config=${config}`, main!],
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  const { answered, valid, grown } = JSON.parse(new TextDecoder().decode(stdout));
  assert.equal(answered, 10_000);
  assert.equal(valid, 2000);
  assert(grown < 10, `${grown} MiB more are held after the second half`);
});

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
