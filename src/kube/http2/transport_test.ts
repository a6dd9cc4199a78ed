import assert from "node:assert/strict";
import { systemClock } from "../../base/clock.ts";
import { VirtualClock } from "../../base/virtual_clock.ts";
import { localAuthority } from "../../testing/local_certificate.ts";
import type { WireRequest } from "../connection.ts";
import { Http2Transport } from "./transport.ts";

Deno.test("Http2Transport sends and receives bodies of any size, many at once, over one connection", async () => {
  const peers = new Set<string>();
  await using server = await serve(async (request, peer) => {
    peers.add(peer);
    const wanted = Number(new URL(request.url).searchParams.get("size"));
    return new Response(`${(await request.text()).length} ${"ä".repeat(wanted)}`);
  });
  const sizes = [0, 1, 100, 16_384, 16_385, 100_000, 3_000_000];
  const all = sizes.flatMap((size) => sizes.map((wanted) => [size, wanted] as const));
  await Promise.all([...all, ...Array.from({ length: 300 }, () => [5, 5] as const)].map(async ([size, wanted]) => {
    const response = await server.send(`?size=${wanted}`, { method: "PATCH", body: "x".repeat(size) });
    assert.equal(await response.text(), `${size} ${"ä".repeat(wanted)}`);
  }));
  assert.equal(peers.size, 1);
});

Deno.test("Http2Transport returns a streamed body while it is received, and the server sees when the reader cancels", async () => {
  const cancelled = Promise.withResolvers<void>();
  let next = (): void => {};
  await using server = await serve(() => {
    const pieces = new ReadableStream<Uint8Array>({
      async pull(controller) {
        controller.enqueue(new TextEncoder().encode("one\n"));
        await new Promise<void>((resolve) => next = resolve);
      },
      cancel: () => cancelled.resolve(),
    });
    return new Response(pieces);
  });
  const response = await server.send("", { streams: true });
  const reader = response.body!.getReader();
  for (let i = 0; i < 3; i++) {
    assert.equal(new TextDecoder().decode((await reader.read()).value), "one\n");
    next();
  }
  await reader.cancel();
  // The server notices with its next write.
  const sending = setInterval(() => next(), 1);
  await cancelled.promise;
  clearInterval(sending);
});

Deno.test("Http2Transport returns status, Retry-After and body", async () => {
  await using server = await serve(() => new Response("later", { status: 429, headers: { "retry-after": "7" } }));
  const response = await server.send("");
  assert.deepEqual([response.ok, response.status, response.headers.get("retry-after")], [false, 429, "7"]);
  assert.equal(await response.text(), "later");
});

Deno.test("Http2Transport fails pending requests on reset, and then opens another connection", async () => {
  const peers = new Set<string>();
  const arrived = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  await using server = await serve(async (request, peer) => {
    peers.add(peer);
    if (!request.url.endsWith("/hang")) return new Response("ok");
    arrived.resolve();
    await release.promise;
    return new Response();
  });
  const hanging = server.send("/hang");
  await arrived.promise;
  server.reset();
  await assert.rejects(hanging, { code: "ConnectionClosed" });
  assert.equal(await (await server.send("")).text(), "ok");
  assert.equal(peers.size, 2);
  release.resolve();
});

Deno.test("Http2Transport rejects with the reason when a server cannot be reached, and connects again for the next request", async () => {
  const { caCert } = await localAuthority();
  await using server = await serve(() => new Response("ok"));
  const other = transportTo(caCert);
  await assert.rejects(other.send(`${server.url}/`, wireRequest({})), /invalid peer certificate/);
  other.close();
  const closed = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `https://127.0.0.1:${(closed.addr as Deno.NetAddr).port}/`;
  closed.close();
  const transport = transportTo(caCert);
  for (let i = 0; i < 2; i++) await assert.rejects(transport.send(url, wireRequest({})), /connection refused/i);
  transport.close();
});

Deno.test("Http2Transport stops waiting for a connection when the signal of the request is aborted", async () => {
  const { caCert } = await localAuthority();
  // It accepts connections and sends nothing.
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const transport = transportTo(caCert);
  const stop = new AbortController();
  const url = `https://127.0.0.1:${(silent.addr as Deno.NetAddr).port}/`;
  const [pending, other] = [
    transport.send(url, wireRequest({ signal: stop.signal })),
    transport.send(url, wireRequest({})),
  ];
  const accepted = await silent.accept();
  stop.abort("enough");
  await assert.rejects(pending, (reason) => reason === "enough");
  accepted.close();
  await assert.rejects(other);
  transport.close();
});

Deno.test("Http2Transport fails after 10 s when a server does not complete the TLS handshake", async () => {
  const { caCert } = await localAuthority();
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const clock = new VirtualClock();
  const transport = new Http2Transport({ ca: () => caCert, clock });
  const pending = transport.send(`https://127.0.0.1:${(silent.addr as Deno.NetAddr).port}/`, wireRequest({}));
  const failed = assert.rejects(pending, /did not complete the TLS handshake within 10 s/);
  using _accepted = await silent.accept();
  while (clock.step(clock.now() + 10_000));
  await failed;
  transport.close();
});

Deno.test("Http2Transport stops opening a connection on reset", async () => {
  const { caCert } = await localAuthority();
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const transport = transportTo(caCert);
  const pending = transport.send(`https://127.0.0.1:${(silent.addr as Deno.NetAddr).port}/`, wireRequest({}));
  const failed = assert.rejects(pending);
  using accepted = await silent.accept();
  // The client has started the handshake.
  await accepted.read(new Uint8Array(1));
  transport.reset();
  await failed;
  transport.close();
});

Deno.test("Http2Transport reads the certificate authorities for each connection", async () => {
  const other = await localAuthority();
  await using server = await serve(() => new Response("ok"));
  let ca = other.caCert;
  const transport = new Http2Transport({ ca: () => Promise.resolve(ca), clock: systemClock });
  await assert.rejects(transport.send(`${server.url}/`, wireRequest({})), /invalid peer certificate/);
  ca = server.caCert;
  assert.equal(await (await transport.send(`${server.url}/`, wireRequest({}))).text(), "ok");
  transport.close();
});

Deno.test("Http2Transport rejects a certificate authority that is not PEM", async () => {
  await assert.rejects(transportTo("none").send("https://127.0.0.1:1/", wireRequest({})), /it is not PEM/);
});

Deno.test("Http2Transport uses fetch for a server without HTTP/2", async () => {
  const authority = await localAuthority();
  const { certificate: cert, key } = await authority.server();
  const listener = Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert, key, alpnProtocols: ["http/1.1"] });
  const served = (async () => {
    for await (const connection of listener) void respondOverHttp1(connection);
  })();
  const transport = transportTo(authority.caCert);
  const url = `https://127.0.0.1:${(listener.addr as Deno.NetAddr).port}/x`;
  const sendAndCheck = async () => assert.equal(await (await transport.send(url, wireRequest({}))).text(), "plain");
  await Promise.all([sendAndCheck(), sendAndCheck()]);
  await sendAndCheck();
  transport.close();
  listener.close();
  await served;
});

/** Reads the headers of a request over HTTP/1.1 and responds. */
async function respondOverHttp1(connection: Deno.TlsConn): Promise<void> {
  try {
    const buffer = new Uint8Array(4096);
    for (let text = ""; !text.endsWith("\r\n\r\n");) {
      const count = await connection.read(buffer);
      if (count === null) return;
      text += new TextDecoder().decode(buffer.subarray(0, count));
    }
    await connection.write(
      new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nplain"),
    );
  } catch {
    // The transport closed the connection after it negotiated the protocol.
  } finally {
    connection.close();
  }
}

function transportTo(ca: string): Http2Transport {
  return new Http2Transport({ ca: () => ca, clock: systemClock });
}

function wireRequest(parts: Partial<WireRequest>): WireRequest {
  return { method: "GET", headers: { accept: "*/*" }, body: null, signal: null, ...parts };
}

/** Starts an HTTP/2 server, and returns a transport to it. */
async function serve(handle: (request: Request, peer: string) => Response | Promise<Response>) {
  const authority = await localAuthority();
  const { certificate: cert, key } = await authority.server();
  const listening = Promise.withResolvers<number>();
  const onListen = ({ port }: Deno.NetAddr): void => listening.resolve(port);
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, cert, key, onListen },
    (request, { remoteAddr }) => handle(request, String((remoteAddr as Deno.NetAddr).port)),
  );
  const url = `https://127.0.0.1:${await listening.promise}`;
  const transport = transportTo(authority.caCert);
  return {
    url,
    caCert: authority.caCert,
    send: (path: string, parts: Partial<WireRequest> = {}) => transport.send(`${url}/${path}`, wireRequest(parts)),
    reset: () => transport.reset(),
    async [Symbol.asyncDispose]() {
      transport.close();
      await server.shutdown();
    },
  };
}
