/**
 * Requests that no API server sends: they get a valid response or their connection is closed, and
 * none is allowed.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/base/clock.ts";
import { VirtualClock } from "../../src/base/virtual_clock.ts";
import { Metrics } from "../../src/runtime/metrics.ts";
import { TlsServer } from "../../src/runtime/webhooks/tls_server.ts";
import { localCertificate } from "../../src/testing/local_certificate.ts";
import { eventually } from "../eventually.ts";
import { handler, post } from "./_hostile_reviews.ts";
import { advance } from "./_webhooks.ts";
import { conversionReview, PATH, post as postReview, review } from "../fixtures/reviews.ts";

Deno.test("a conversion whose function fails is reported as failed, and counted", async () => {
  const metrics = new Metrics();
  const { fetch } = handler({}, metrics);
  const { response } = await (await fetch(post("/convert", JSON.stringify(conversionReview("broken"))))).json();
  assert.equal(response.result.status, "Failure");
  await fetch(post("/convert", JSON.stringify(conversionReview("a"))));
  assert.match(await metrics.text(), /^controller_runtime_conversion_webhook_panics_total 1$/m);
});

Deno.test("of 10,000 invalid reviews none is allowed, valid ones in between are, and no memory leaks", async () => {
  const [main, config] = ["_hostile_reviews.ts", "../../deno.json"].map((path) =>
    fileURLToPath(new URL(path, import.meta.url))
  );
  // In a separate process, because the test measures its memory.
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--no-lock", "--v8-flags=--expose-gc", `--config=${config}`, main!],
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  const { handled, valid, grown } = JSON.parse(new TextDecoder().decode(stdout));
  assert.equal(handled, 10_000);
  assert.equal(valid, 2000);
  assert(grown < 10, `memory grew by ${grown} MiB in the second half`);
});

Deno.test("invalid HTTP requests are rejected with specific statuses", async () => {
  const { fetch } = handler({ reviewBytes: 10_000 }, new Metrics(), new VirtualClock());
  const status = async (request: Request) => (await fetch(request)).status;
  assert.equal(await status(new Request(`https://notes${PATH}`)), 405);
  assert.equal(await status(post("/elsewhere", "{}")), 404);
  assert.equal(await status(post(PATH, "{}", { "content-type": "text/plain" })), 415);
  assert.equal(await status(post(PATH, "not json")), 400);
  assert.equal(await status(post(PATH, JSON.stringify(review("x".repeat(20_000))))), 413);
  assert.equal(await status(post(PATH, `${"[".repeat(100_000)}${"]".repeat(100_000)}`)), 413);
});

Deno.test("an endless body is rejected when it exceeds the size limit or the timeout", async () => {
  const clock = new VirtualClock();
  const { fetch } = handler({ reviewBytes: 100_000 }, new Metrics(), clock);
  const endless = new ReadableStream<Uint8Array>({ pull: (to) => to.enqueue(new Uint8Array(10_000)) });
  assert.equal((await fetch(post(PATH, endless))).status, 413);
  const silent = new ReadableStream<Uint8Array>({});
  const request = new Request(`https://notes${PATH}?timeout=1s`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: silent,
  });
  const pending = fetch(request);
  advance(clock, 1000);
  assert.equal((await pending).status, 504);
});

Deno.test("the server answers reviews next to 100 missing bodies, 100 partial bodies and 100 invalid handshakes, and closes their connections in time", async () => {
  const { certificate, key, caCert } = await localCertificate();
  // Deadlines of bodies and connections depend on this clock, which only the test advances.
  const clock = new VirtualClock();
  const reviews = handler({}, new Metrics(), clock);
  const options = { hostname: "127.0.0.1", port: 0, clock, firstByte: 10_000, silence: 20_000 };
  await using server = new TlsServer(options, reviews.fetch);
  server.use({ certificate, key });
  const sendReviews = async (times: number): Promise<void> => {
    using client = Deno.createHttpClient({ caCerts: [caCert] });
    for (let i = 0; i < times; i++) {
      const { response } = await (await postReview(server.port, review(), client)).json();
      assert.equal(response.allowed, true);
    }
  };
  const body = JSON.stringify(review());
  const head =
    `POST ${PATH}?timeout=1s HTTP/1.1\r\nhost: notes\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  const address = { hostname: "127.0.0.1", port: server.port };
  const responses: string[] = [];
  const tls = async (text: string): Promise<void> => {
    const connection = await Deno.connectTls({ ...address, caCerts: [caCert] });
    await untilClosed(connection, new TextEncoder().encode(text), (response) => responses.push(response));
  };
  let sentGarbage = 0;
  const garbage = async (seed: number): Promise<void> => {
    const bytes = seed % 2 === 0 ? Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, seed]) : Buffer.alloc(300, seed);
    const connection = await Deno.connect(address);
    sentGarbage++;
    await untilClosed(connection, new Uint8Array(bytes));
  };
  const hundred = Array.from({ length: 100 }, (_, i) => i);
  const slow = Promise.all([
    // With the start of the body.
    ...hundred.map(() => tls(head + body.slice(0, 50))),
    // Without a body.
    ...hundred.map(() => tls(head)),
  ]);
  const garbageEnds = Promise.all(hundred.map(garbage));
  // Connections are accepted in order, so a response means that the earlier ones were accepted.
  while (reviews.inFlight < 200 || sentGarbage < 100) await sendReviews(1);
  await sendReviews(20);
  // The timeout in the URL, at which the API server cancels its request.
  advance(clock, 1000);
  // All responses must arrive before the clock reaches the limit for silent connections.
  while (responses.length < 200) await sendReviews(1);
  for (const response of responses) assert.match(response, /^HTTP\/1\.1 504 /);
  // Connections that sent garbage instead of a handshake are closed, and so are silent ones.
  advance(clock, 2 * options.firstByte);
  await garbageEnds;
  advance(clock, 2 * options.silence);
  await slow;
  await sendReviews(1);
});

Deno.test("when too many HTTP/2 requests wait for their bodies, the connection with the most of them is closed", async () => {
  const { certificate, key, caCert } = await localCertificate();
  const reviews = handler();
  await using server = new TlsServer({ hostname: "127.0.0.1", port: 0, clock: systemClock }, reviews.fetch);
  server.use({ certificate, key });
  using client = Deno.createHttpClient({ caCerts: [caCert] });
  using stack = new DisposableStack();
  const closed: number[] = [];
  // The third connection has the most.
  for (const [index, count] of [190, 190, 199, 190, 190, 190].entries()) {
    const options = { hostname: "127.0.0.1", port: server.port, caCerts: [caCert], alpnProtocols: ["h2"] };
    const connection = stack.use(await Deno.connectTls(options));
    connection.readable.pipeTo(new WritableStream()).catch(() => {}).then(() => closed.push(index));
    const writer = connection.writable.getWriter();
    await writer.write(requestsWithoutBody(count));
    // The next connection follows after the server has counted the requests of this one.
    await eventually(() => assert(reviews.inFlight >= 190 * (index + 1) || closed.length > 0));
  }
  await eventually(() => assert.deepEqual(closed, [2]));
  await eventually(() => assert.equal(server.connections, 5));
  const { response } = await (await postReview(server.port, review(), client)).json();
  assert.equal(response.allowed, true);
});

/** HTTP/2 frames of a client that begins requests and sends no byte of their bodies. */
function requestsWithoutBody(count: number): Uint8Array<ArrayBuffer> {
  const headers = { ":method": "POST", ":scheme": "https", ":authority": "notes", ":path": PATH };
  const all = Object.entries({ ...headers, "content-type": "application/json", "content-length": "100" });
  const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
  // Literals that are not indexed (RFC 7541, 6.2.2).
  const block = Buffer.concat(all.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
  const frame = (type: number, flags: number, stream: number, payload: Uint8Array): Buffer => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length, 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(stream, 5);
    return Buffer.concat([head, payload]);
  };
  const [settings, endHeaders] = [4, 4];
  const requests = Array.from({ length: count }, (_, i) => frame(1, endHeaders, 2 * i + 1, block));
  const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  return new Uint8Array(Buffer.concat([preface, frame(settings, 0, 0, Buffer.alloc(0)), ...requests]));
}

/**
 * Sends bytes, and reads until the server closes the connection. `onResponse` receives the first
 * bytes of the response, or the error.
 */
async function untilClosed(
  connection: Deno.Conn,
  bytes: Uint8Array,
  onResponse: (text: string) => void = () => {},
): Promise<void> {
  const buffer = new Uint8Array(4096);
  let hasResponse = false;
  const report = (text: string): void => {
    if (!hasResponse) onResponse(text);
    hasResponse = true;
  };
  try {
    await connection.write(bytes);
    for (let size = await connection.read(buffer); size !== null; size = await connection.read(buffer)) {
      report(new TextDecoder().decode(buffer.subarray(0, size)));
    }
    report("closed");
  } catch (error) {
    // A reset also closes the connection.
    report(String(error));
  }
  connection.close();
}
