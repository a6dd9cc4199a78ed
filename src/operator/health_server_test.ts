import assert from "node:assert/strict";
import { systemClock } from "../base/clock.ts";
import { VirtualClock } from "../base/virtual_clock.ts";
import { HealthServer, type HealthServerOptions } from "./health_server.ts";

/** Starts a server that responds with the received request. */
function serving(options: Partial<HealthServerOptions> = {}): HealthServer {
  return new HealthServer({ hostname: "127.0.0.1", port: 0, clock: systemClock, ...options }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const body = `${request.method.padEnd(4)} ${pathname}${search} ${request.headers.get("authorization") ?? ""}\n`;
    return await Promise.resolve(new Response(body, { status: pathname === "/readyz" ? 503 : 200 }));
  });
}

Deno.test("HealthServer passes on the path, query and headers of requests", async () => {
  await using server = serving();
  const url = `http://127.0.0.1:${server.port}`;
  const headers = { authorization: "Bearer x" };
  const response = await fetch(`${url}/metrics?a=b`, { headers });
  assert.deepEqual([response.status, await response.text()], [200, "GET  /metrics?a=b Bearer x\n"]);
  const other = await fetch(`${url}/readyz`);
  assert.deepEqual([other.status, await other.text()], [503, "GET  /readyz \n"]);
  const head = await fetch(`${url}/livez`, { method: "HEAD" });
  assert.deepEqual([head.status, head.headers.get("content-length"), await head.text()], [200, "13", ""]);
  const posted = await fetch(`${url}/livez`, { method: "POST", body: "x".repeat(50_000) });
  assert.equal(posted.status, 405);
  await posted.text();
});

const MALFORMED: readonly { readonly name: string; readonly text: string; readonly status: number }[] = [
  { name: "text that is not HTTP", text: "hello\r\n\r\n", status: 400 },
  { name: "a request line without a version", text: "GET /livez\r\n\r\n", status: 400 },
  { name: "an absolute URL", text: "GET http://example.com/livez HTTP/1.1\r\n\r\n", status: 400 },
  { name: "a header without a name", text: "GET /livez HTTP/1.1\r\n: x\r\n\r\n", status: 400 },
  { name: "a header with a NUL", text: "GET /livez HTTP/1.1\r\na: \0\r\n\r\n", status: 400 },
  { name: "headers that are too long", text: `GET /livez HTTP/1.1\r\na: ${"x".repeat(40_000)}\r\n\r\n`, status: 431 },
  { name: "a path that is not a valid URL", text: "GET //[ HTTP/1.1\r\n\r\n", status: 200 },
];

for (const { name, text, status } of MALFORMED) {
  Deno.test(`HealthServer responds to ${name} with ${status}`, async () => {
    await using server = serving();
    using connection = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
    await connection.write(new TextEncoder().encode(text));
    assert.match(await new Response(connection.readable).text(), new RegExp(`^HTTP/1\\.1 ${status} `));
  });
}

Deno.test("HealthServer closes connections that send no request in time", async () => {
  const clock = new VirtualClock();
  await using server = serving({ clock });
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  await connection.write(new TextEncoder().encode("GET /livez"));
  while (server.connections === 0) await breath();
  while (clock.step(clock.now() + 10_000));
  assert.equal(await connection.read(new Uint8Array(1)), null);
  assert.equal(server.connections, 0);
});

Deno.test("HealthServer responds while many idle connections are open, and closes the oldest", async () => {
  await using server = serving({ connections: 3 });
  using stack = new DisposableStack();
  const idle = [];
  for (let i = 0; i < 10; i++) idle.push(stack.use(await Deno.connect({ hostname: "127.0.0.1", port: server.port })));
  const response = await fetch(`http://127.0.0.1:${server.port}/livez`);
  assert.equal(response.status, 200);
  await response.text();
  assert(server.connections <= 3);
  assert.equal(await idle[0]!.read(new Uint8Array(1)), null);
});

function breath(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
