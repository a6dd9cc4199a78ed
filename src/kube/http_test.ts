import assert from "node:assert/strict";
import { eventually } from "../../tests/eventually.ts";
import { VirtualClock } from "../base/virtual_clock.ts";
import { Namespace } from "../kinds/mod.ts";
import type { WireBody, WireResponse } from "./response.ts";
import { Client } from "./client.ts";
import type { Connection, WireRequest } from "./connection.ts";
import { FetchTransport, type TokenSource, withToken } from "./http.ts";
import { ConnectionProbe } from "./connection_probe.ts";

Deno.test("withToken adds the token to a request and changes nothing else", async () => {
  const { sent, send } = server(() => 200);
  const { fetch } = withToken({ fetch: send }, () => Promise.resolve("one"));
  const headers = { "content-type": "application/json" };
  await fetch(new Request("http://cluster/x?y=1", { method: "POST", body: "{}", headers }));
  assert.deepEqual(sent, [{
    method: "POST",
    url: "http://cluster/x?y=1",
    type: "application/json",
    authorization: "Bearer one",
    body: "{}",
  }]);
});

Deno.test("a client repeats a request after a 401, with the new token", async () => {
  const { sent, send } = server((authorization) => authorization === "Bearer two" ? 201 : 401);
  const client = clientWith(send, rotating());
  await client.create(Namespace, { metadata: { name: "a" } });
  assert.deepEqual(sent.map(({ authorization }) => authorization), ["Bearer one", "Bearer two"]);
  assert.equal(sent[0]?.body, sent[1]?.body);
  assert.equal(JSON.parse(sent[1]?.body ?? "").metadata.name, "a");
});

Deno.test("a client throws the 401 if the token is unchanged, or rejected again", async (t) => {
  for (const [name, fresh, requests] of [["unchanged", "one", 1], ["rejected again", "two", 2]] as const) {
    await t.step(name, async () => {
      const { sent, send } = server(() => 401);
      const client = clientWith(send, (again) => Promise.resolve(again ? fresh : "one"));
      await assert.rejects(client.get(Namespace, "a"), { status: 401 });
      assert.equal(sent.length, requests);
    });
  }
});

Deno.test("a client repeats both of two concurrent requests after a 401", async () => {
  const { sent, send } = server((authorization) => authorization === "Bearer two" ? 200 : 401);
  const client = clientWith(send, rotating());
  await Promise.all([client.get(Namespace, "a"), client.get(Namespace, "b")]);
  assert.deepEqual(sent.map(({ authorization }) => authorization).sort(), [
    "Bearer one",
    "Bearer one",
    "Bearer two",
    "Bearer two",
  ]);
});

const PLAIN = { method: "GET", body: null, signal: null } as const;

Deno.test("FetchTransport closes the connections of pending requests when it is reset", async (t) => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n";
  for (
    const { name, reply, read } of [
      { name: "without a response", reply: undefined },
      { name: "without a body", reply: head, read: (response: WireResponse) => response.json() },
      { name: "with half of a body", reply: `${head}{"a":`, read: (response: WireResponse) => response.text() },
      {
        name: "with half of a stream",
        reply: `${head}{"a":`,
        read: (response: WireResponse) => readToEnd(response.body!),
      },
      { name: "with a body that is not read", reply: `${head}{"a":` },
    ]
  ) {
    await t.step(name, async () => {
      await using server = silentServer(reply);
      const transport = new FetchTransport({});
      let outcome: string | undefined;
      transport.send(server.url, { ...PLAIN, headers: {} }).then((response) => read?.(response)).then(
        () => outcome = "read",
        (error) => outcome = error.code,
      );
      await eventually(() => assert.equal(server.requests, 1));
      const isUnread = reply !== undefined && read === undefined;
      if (isUnread) await eventually(() => assert.equal(outcome, "read"));
      transport.reset();
      await eventually(() => assert.equal(outcome, isUnread ? "read" : "ConnectionClosed"));
      await eventually(() => assert.equal(server.open, 0));
      transport.close();
    });
  }
});

Deno.test("FetchTransport.fetch fails when the transport is closed before the response was read", async (t) => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n";
  for (
    const { name, reply } of [
      { name: "without a response", reply: undefined },
      { name: "with half of a body", reply: `${head}{"a":` },
    ]
  ) {
    await t.step(name, async () => {
      await using server = silentServer(reply);
      const transport = new FetchTransport({});
      let code: string | undefined;
      transport.fetch(new Request(server.url)).then((response) => response.text()).then(
        () => code = "read",
        (error) => code = error.code,
      );
      await eventually(() => assert.equal(server.requests, 1));
      transport.close();
      await eventually(() => assert.equal(code, "ConnectionClosed"));
      await eventually(() => assert.equal(server.open, 0));
    });
  }
});

Deno.test("FetchTransport can be reset when no request has used one of several connections", async () => {
  await using server = silentServer("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
  const transport = new FetchTransport({});
  const response = await transport.send(server.url, { ...PLAIN, headers: {}, connectionIndex: 2 });
  await response.json();
  transport.reset();
  await eventually(() => assert.equal(server.open, 0));
  transport.close();
});

Deno.test("FetchTransport leaves no listeners on the signal of a request whose response was read", async () => {
  await using server = silentServer("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
  const transport = new FetchTransport({});
  const { signal } = new AbortController();
  let listeners = 0;
  for (const [method, change] of [["addEventListener", 1], ["removeEventListener", -1]] as const) {
    const original = signal[method].bind(signal);
    signal[method] = (type: string, listener: EventListenerOrEventListenerObject) => {
      listeners += change;
      original(type, listener);
    };
  }
  for (let i = 0; i < 3; i++) {
    const response = await transport.send(server.url, { ...PLAIN, headers: {}, signal });
    assert.deepEqual(await response.json(), {});
  }
  const unread = await transport.send(server.url, { ...PLAIN, headers: {}, signal });
  await unread.body?.cancel();
  assert.equal(listeners, 0);
  transport.close();
});

Deno.test("connections do not accumulate while a server accepts connections but sends no bytes", async () => {
  await using server = silentServer(undefined);
  const transport = new FetchTransport({});
  const connection: Connection = {
    url: server.url,
    fetch: (request) => transport.fetch(request),
    send: (url, request) => transport.send(url, request),
    reset: () => transport.reset(),
    close: () => transport.close(),
  };
  const clock = new VirtualClock();
  const probe = new ConnectionProbe({ connection, clock, userAgent: "me" });
  const client = new Client(connection, { clock, probe });
  const stop = new AbortController();
  const ended = probe.run(stop.signal);
  for (let count = 1; count <= 5; count++) {
    const read = client.get(Namespace, "a").then(() => undefined, ({ code }) => code);
    const before = server.requests;
    await eventually(() => assert(server.requests > before));
    await eventually(() => {
      clock.step(clock.now() + 10_000);
      assert.equal(probe.deadConnections, count);
    });
    assert.equal(await read, "ConnectionLost");
  }
  await eventually(() => assert.equal(server.open, 0));
  stop.abort();
  await ended;
  connection.close();
});

/** Returns a client whose connection adds tokens, with both `fetch` and `send`. */
function clientWith(send: Connection["fetch"], token: TokenSource): Client {
  const plain = (url: string, request: WireRequest): Promise<Response> => send(new Request(url, request));
  return new Client({ url: "http://cluster", ...withToken({ fetch: send, send: plain }, token), close() {} });
}

/** Returns a source of the token "one". After it is read again, the token is "two". */
function rotating(): TokenSource {
  let token = "one";
  return (again) => {
    if (again) token = "two";
    return Promise.resolve(token);
  };
}

interface Sent {
  method: string;
  url: string;
  type: string | null;
  authorization: string | null;
  body: string;
}

/**
 * Returns a `fetch` that records requests and responds with the status that `statusFor` returns.
 */
function server(statusFor: (authorization: string | null) => number) {
  const sent: Sent[] = [];
  const send = async (request: Request): Promise<Response> => {
    const authorization = request.headers.get("authorization");
    const type = request.headers.get("content-type");
    sent.push({ method: request.method, url: request.url, type, authorization, body: await request.text() });
    return new Response("{}", { status: statusFor(authorization) });
  };
  return { sent, send };
}

/**
 * Starts a server that replies to each request with the same bytes, and never closes a connection.
 *
 * @param reply The bytes. @default {none}
 */
function silentServer(reply: string | undefined) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  let requests = 0;
  const serve = async (connection: Deno.Conn): Promise<void> => {
    open.add(connection);
    const buffer = new Uint8Array(4096);
    try {
      // Each read returns one complete request.
      while (await connection.read(buffer) !== null) {
        requests++;
        if (reply !== undefined) await connection.write(new TextEncoder().encode(reply));
      }
    } catch {
      // The client reset the connection.
    }
    if (open.delete(connection)) connection.close();
  };
  const accepting = (async () => {
    for await (const connection of listener) serve(connection);
  })();
  return {
    url: `http://127.0.0.1:${listener.addr.port}`,
    get open(): number {
      return open.size;
    },
    get requests(): number {
      return requests;
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      await accepting;
      for (const connection of open) connection.close();
      open.clear();
    },
  };
}

async function readToEnd(body: WireBody): Promise<void> {
  const reader = body.getReader();
  while (!(await reader.read()).done);
}
