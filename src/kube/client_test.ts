import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { VirtualClock } from "../base/virtual_clock.ts";
import { ConfigMap, Deployment, Namespace } from "../kinds/mod.ts";
import { MAX_RETRY_AFTER, ResponseTooLargeError, type WireResponse } from "./response.ts";
import type { ApiError } from "./api_error.ts";
import { Client } from "./client.ts";
import { FencedError, type WireRequest } from "./connection.ts";

const CALLS: readonly {
  name: string;
  call: (client: Client) => Promise<unknown>;
  method: string;
  path: string;
  type?: string;
  body?: unknown;
}[] = [
  {
    name: "get",
    call: (client) => client.get(ConfigMap, "web", { namespace: "shop" }),
    method: "GET",
    path: "/api/v1/namespaces/shop/configmaps/web",
  },
  {
    name: "create, in the namespace of the object, with apiVersion and kind",
    call: (client) => client.create(ConfigMap, { metadata: { name: "web", namespace: "shop" } }, { manager: "me" }),
    method: "POST",
    path: "/api/v1/namespaces/shop/configmaps?fieldManager=me",
    type: "application/json",
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web", namespace: "shop" } },
  },
  {
    name: "patch as a merge patch",
    call: (client) => client.patch(ConfigMap, "web", { data: { a: null } }, { namespace: "shop" }),
    method: "PATCH",
    path: "/api/v1/namespaces/shop/configmaps/web",
    type: "application/merge-patch+json",
    body: { data: { a: null } },
  },
  {
    name: "patch of a subresource, with a type and as a dry run",
    call: (client) =>
      client.patch(Namespace, "shop", [], { subresource: "status", type: "json", dryRun: true, namespace: "ignored" }),
    method: "PATCH",
    path: "/api/v1/namespaces/shop/status?dryRun=All",
    type: "application/json-patch+json",
    body: [],
  },
  {
    name: "apply with force",
    call: (client) =>
      client.apply(ConfigMap, { metadata: { name: "web", namespace: "shop" } }, { manager: "a b", force: true }),
    method: "PATCH",
    path: "/api/v1/namespaces/shop/configmaps/web?force=true&fieldManager=a%20b",
    type: "application/apply-patch+yaml",
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web", namespace: "shop" } },
  },
  {
    name: "apply without force",
    call: (client) =>
      client.apply(ConfigMap, { metadata: { name: "web", namespace: "shop" } }, { manager: "me", force: false }),
    method: "PATCH",
    path: "/api/v1/namespaces/shop/configmaps/web?fieldManager=me",
    type: "application/apply-patch+yaml",
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web", namespace: "shop" } },
  },
  {
    name: "delete with a uid, in the background",
    call: (client) => client.delete(Deployment, "web", { namespace: "shop", preconditions: { uid: "u1" } }),
    method: "DELETE",
    path: "/apis/apps/v1/namespaces/shop/deployments/web",
    type: "application/json",
    body: {
      apiVersion: "v1",
      kind: "DeleteOptions",
      propagationPolicy: "Background",
      preconditions: { uid: "u1" },
    },
  },
];

for (const { name, call, method, path, type, body } of CALLS) {
  Deno.test(`Client sends ${name}`, async () => {
    const { client, sent } = scriptedServer(() => Response.json({}));
    await call(client);
    assert.deepEqual(sent, [{ method, path, type: type ?? null, userAgent: "test/1", body }]);
  });
}

const REJECTED: readonly { name: string; call: (client: Client) => Promise<unknown>; message: RegExp }[] = [
  {
    name: "create without a namespace",
    call: (client) => client.create(ConfigMap, { metadata: { name: "web" } }),
    message: /^Cannot create ConfigMap "web": the kind is namespaced/,
  },
  {
    name: "apply without a name",
    call: (client) => client.apply(ConfigMap, { metadata: { namespace: "shop" } }, { manager: "me" }),
    message: /^Invalid name of ConfigMap: it is empty$/,
  },
  {
    name: "get without a namespace",
    call: (client) => client.get(ConfigMap, "web"),
    message: /^Missing namespace of ConfigMap "web": the kind is namespaced/,
  },
];

for (const { name, call, message } of REJECTED) {
  Deno.test(`Client rejects ${name} before it sends a request`, async () => {
    const { client, sent } = scriptedServer(() => Response.json({}));
    await assert.rejects(call(client), { name: "TypeError", message });
    assert.equal(sent.length, 0);
  });
}

Deno.test("Client lists page by page with the same selector, and sets apiVersion and kind of each item", async () => {
  const { client, sent } = scriptedServer(({ path }) =>
    path.includes("continue=two%2Fb")
      ? list([{ metadata: { name: "c" } }], "")
      : list([{ metadata: { name: "a" } }, { metadata: { name: "b" } }], "two/b")
  );
  const items = await client.list(ConfigMap, { namespace: "shop", labelSelector: "app=web,tier!=cache" });
  assert.deepEqual(
    items.map(({ apiVersion, kind, metadata }) => [apiVersion, kind, metadata.name]),
    ["a", "b", "c"].map((name) => ["v1", "ConfigMap", name]),
  );
  const query = "labelSelector=app%3Dweb%2Ctier%21%3Dcache&limit=500";
  assert.deepEqual(sent.map(({ path }) => path), [
    `/api/v1/namespaces/shop/configmaps?${query}`,
    `/api/v1/namespaces/shop/configmaps?${query}&continue=two%2Fb`,
  ]);
});

Deno.test("Client returns an empty list if the items of the response are null", async () => {
  const { client } = scriptedServer(() => Response.json({ metadata: { resourceVersion: "7" }, items: null }));
  assert.deepEqual(await client.page(ConfigMap, undefined), { items: [], resourceVersion: "7", continue: undefined });
});

Deno.test("Client watches with bookmarks, and with the initial list on request", async () => {
  const lines = '{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n{"type":"BOOKMARK","object":{"metadata":{}}}\n';
  const { client, sent } = scriptedServer(() => new Response(lines));
  const events: string[][] = [];
  for await (const batch of client.watch(ConfigMap, { sendInitialEvents: true })) {
    events.push(batch.map(({ type }) => type));
  }
  for await (
    const _ of client.watch(ConfigMap, { resourceVersion: "7", timeoutSeconds: 300 })
  ) { /* only the request counts */ }
  assert.deepEqual(events, [["ADDED", "BOOKMARK"]]);
  assert.deepEqual(sent.map(({ path }) => [...new URL(path, "http://cluster").searchParams].sort()), [
    [
      ["allowWatchBookmarks", "true"],
      ["resourceVersionMatch", "NotOlderThan"],
      ["sendInitialEvents", "true"],
      ["watch", "true"],
    ],
    [["allowWatchBookmarks", "true"], ["resourceVersion", "7"], ["timeoutSeconds", "300"], ["watch", "true"]],
  ]);
});

Deno.test("Client disables compression for watches, but not for other requests", async () => {
  const { client, accepted } = scriptedServer(() => Response.json({ metadata: {}, items: [] }));
  await client.list(ConfigMap);
  for await (const _ of client.watch(ConfigMap)) { /* only the request counts */ }
  assert.deepEqual(accepted, [null, "identity"]);
});

Deno.test("Client.watch throws a TruncatedStreamError if the stream ends in the middle of an event", async () => {
  const { client } = scriptedServer(() =>
    new Response('{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n{"type":"ADD')
  );
  const types: string[] = [];
  const watching = async (): Promise<void> => {
    for await (const batch of client.watch(ConfigMap)) types.push(...batch.map(({ type }) => type));
  };
  await assert.rejects(watching(), { name: "TruncatedStreamError", code: "TruncatedStream" });
  assert.deepEqual(types, ["ADDED"]);
});

Deno.test("Client sends the same request again after Retry-After", async () => {
  const { client, clock, sent } = scriptedServer((_, count) =>
    count < 3 ? new Response("", { status: 429, headers: { "retry-after": "2" } }) : Response.json({ ok: true })
  );
  const patched = client.patch(ConfigMap, "web", { data: { a: "1" } }, { namespace: "shop" });
  await settle();
  assert.equal(client.waiting, 1);
  clock.step(clock.now() + 1999);
  await settle();
  assert.equal(sent.length, 1);

  await advanceAll(clock);
  assert.deepEqual(await patched, { ok: true });
  assert.equal(clock.now() - START, 4000);
  assert.equal(client.waiting, 0);
  assert.equal(sent.length, 3);
  assert.deepEqual(sent[2], sent[0]);
});

Deno.test("Client throws after ten responses with Retry-After", async () => {
  const { client, clock, sent } = scriptedServer(() =>
    new Response("", { status: 429, headers: { "retry-after": "1" } })
  );
  const failed = assert.rejects(client.get(Namespace, "shop"), { name: "ApiError", status: 429, retryAfter: 1000 });
  await advanceAll(clock);
  await failed;
  assert.equal(sent.length, 10);
});

const RETRIED: readonly { name: string; status: number; header: string | undefined; isRetried: boolean }[] = [
  { name: "429 with seconds", status: 429, header: "1", isRetried: true },
  { name: "503 with seconds", status: 503, header: "0", isRetried: true },
  { name: "429 without Retry-After", status: 429, header: undefined, isRetried: false },
  { name: "429 with an empty Retry-After", status: 429, header: "", isRetried: false },
  { name: "429 with a negative Retry-After", status: 429, header: "-1", isRetried: false },
  { name: "500 without Retry-After", status: 500, header: undefined, isRetried: false },
  { name: "409 with Retry-After", status: 409, header: "1", isRetried: false },
];

for (const { name, status, header, isRetried } of RETRIED) {
  Deno.test(`Client ${isRetried ? "retries" : "throws"} ${name}`, async () => {
    const headers: HeadersInit = header === undefined ? {} : { "retry-after": header };
    const { client, clock, sent } = scriptedServer((_, count) =>
      count === 1 ? new Response("", { status, headers }) : Response.json({})
    );
    const outcome = client.get(Namespace, "shop").then(() => "responded", (error) => (error as ApiError).status);
    await advanceAll(clock);
    assert.equal(await outcome, isRetried ? "responded" : status);
    assert.equal(sent.length, isRetried ? 2 : 1);
  });
}

for (const header of ["86400", "9".repeat(30)]) {
  Deno.test(`Client waits at most two minutes for Retry-After: ${header}`, async () => {
    const { client, clock, sent } = scriptedServer((_, count) =>
      count === 1 ? new Response("", { status: 503, headers: { "retry-after": header } }) : Response.json({})
    );
    const response = client.get(Namespace, "shop");
    await settle();
    clock.step(clock.now() + MAX_RETRY_AFTER - 1);
    await settle();
    assert.equal(sent.length, 1);
    clock.step(clock.now() + 1);
    await response;
    assert.equal(sent.length, 2);
  });
}

Deno.test("Client stops waiting when its caller's signal is aborted", async () => {
  const { client, clock, sent } = scriptedServer(() =>
    new Response("", { status: 429, headers: { "retry-after": "60" } })
  );
  const abort = new AbortController();
  const failed = assert.rejects(client.get(Namespace, "shop", { signal: abort.signal }), { message: "enough" });
  await settle();
  abort.abort(new Error("enough"));
  await failed;
  assert.equal(client.waiting, 0);
  assert.equal(clock.nextDue, undefined);
  assert.equal(sent.length, 1);
});

Deno.test("Client throws the signal's reason when a pending request is aborted", async () => {
  const abort = new AbortController();
  const { client } = scriptedServer(() => {
    abort.abort(new Error("enough"));
    throw new DOMException("aborted", "AbortError");
  });
  await assert.rejects(client.get(Namespace, "shop", { signal: abort.signal }), { message: "enough" });
});

Deno.test("the error of a request without a response names the object and has the cause", async () => {
  const cause = new TypeError("the cable was cut");
  const { client } = scriptedServer(() => {
    throw cause;
  });
  await assert.rejects(client.delete(ConfigMap, "web", { namespace: "shop" }), {
    name: "ConnectionError",
    code: "ConnectionLost",
    message: 'Cannot delete ConfigMap "shop/web": no response from "http://cluster": the cable was cut',
    cause,
  });
});

Deno.test("the error of a response that is too large names the object", async () => {
  const send = () => Promise.reject(new ResponseTooLargeError(10));
  const client = new Client({ url: "http://cluster", fetch: () => Promise.reject(), send, close() {} });
  await assert.rejects(client.get(ConfigMap, "web", { namespace: "shop" }), {
    code: "ResponseTooLarge",
    message: 'Cannot get ConfigMap "shop/web": the response is larger than 10 bytes. Request fewer objects',
  });
});

Deno.test("Client throws the error of its fence, and does not call the fence for reads", async () => {
  const responses: unknown[] = [];
  const send = (_url: string, { method, fence }: WireRequest): Promise<WireResponse> => {
    try {
      fence?.();
      return Promise.resolve(Response.json({ method }));
    } catch (error) {
      return Promise.reject(new FencedError(error));
    }
  };
  let fenceCalls = 0;
  const fence = () => {
    if (++fenceCalls > 1) throw new RangeError("another replica leads");
  };
  const onResponse = (...response: unknown[]) => responses.push(response);
  const client = new Client({ url: "http://cluster", fetch: () => Promise.reject(), send, close() {} }, {
    fence,
    onResponse,
  });
  await client.get(ConfigMap, "web", { namespace: "shop" });
  assert.equal(fenceCalls, 0);
  await assert.rejects(client.delete(ConfigMap, "web", { namespace: "shop" }), /^RangeError: another replica leads$/);
  assert.deepEqual(responses, [["GET", "200"]]);
});

Deno.test("the error of a response that is not JSON names the object", async () => {
  const { client } = scriptedServer(() => new Response("<html>Log in here</html>"));
  await assert.rejects(client.get(ConfigMap, "web", { namespace: "shop" }), {
    code: "InvalidResponse",
    message: /^Cannot get ConfigMap "shop\/web": /,
  });
});

interface Sent {
  method: string;
  path: string;
  type: string | null;
  userAgent: string | null;
  body: unknown;
}

const START = Date.UTC(2030, 0, 1);

/**
 * Returns a client of a scripted server.
 *
 * @param respond Returns the response to a request. It receives the number of requests so far.
 */
function scriptedServer(respond: (request: Sent, count: number) => Response) {
  const clock = new VirtualClock(START);
  const sent: Sent[] = [];
  /** The `accept-encoding` of each request. */
  const accepted: (string | null)[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const text = await request.text();
    const record: Sent = {
      method: request.method,
      path: pathname + search,
      type: request.headers.get("content-type"),
      userAgent: request.headers.get("user-agent"),
      body: text === "" ? undefined : JSON.parse(text),
    };
    sent.push(record);
    accepted.push(request.headers.get("accept-encoding"));
    return respond(record, sent.length);
  };
  const client = new Client({ url: "http://cluster", fetch, close() {} }, { clock, userAgent: "test/1" });
  return { client, clock, sent, accepted };
}

function list(items: unknown[], next: string): Response {
  return Response.json({ metadata: { resourceVersion: "1", continue: next }, items });
}

/** Lets pending promises settle. A request takes several turns of the event loop. */
async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Advances the clock until no timer is left. */
async function advanceAll(clock: VirtualClock): Promise<void> {
  await settle();
  while (clock.nextDue !== undefined) {
    clock.step(clock.nextDue);
    await settle();
  }
}
