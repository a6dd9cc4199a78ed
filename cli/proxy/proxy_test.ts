import assert from "node:assert/strict";
import { createApiserver } from "@op/sdk/testing";
import type { Connection } from "@op/sdk/client";
import { type Forward, forwardTo, openProxy } from "./proxy.ts";
import { WatchCache } from "./watch_cache.ts";

const NAMESPACES = "/api/v1/namespaces";
const WATCH =
  `${NAMESPACES}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;

/** Opens a proxy to an API server, and records the requests that reach the server. */
async function openRecordingProxy(wrap: (forward: Forward) => Forward = (forward) => forward) {
  const server = createApiserver();
  const requests: string[] = [];
  const connection: Connection = {
    url: "http://cluster",
    fetch(request) {
      requests.push(`${request.method} ${new URL(request.url).pathname}`);
      return server.fetch(request);
    },
    close() {},
  };
  const proxy = openProxy({ forward: wrap(forwardTo(connection)), namespace: "team" });
  const { users, contexts } = JSON.parse(proxy.kubeconfig);
  const authorization = `Bearer ${users[0].user.token}`;
  const send = (path: string, init: RequestInit = {}) =>
    fetch(proxy.url + path, { ...init, headers: { authorization, ...init.headers } });
  await send("/readyz").then((response) => response.text());
  requests.length = 0;
  return {
    server,
    requests,
    send,
    namespace: contexts[0].context.namespace,
    url: proxy.url,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

interface Line {
  readonly type: string;
  readonly object: {
    readonly metadata: { readonly name?: string; readonly annotations?: Record<string, string> };
    readonly code?: number;
  };
}

/** Yields the lines of a watch. */
async function* lines(response: Response): AsyncGenerator<Line> {
  let rest = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const whole = (rest + chunk).split("\n");
    rest = whole.pop()!;
    for (const line of whole) yield JSON.parse(line);
  }
}

/** Returns the objects of the initial list, such as `ADDED default`. */
async function names(watch: AsyncGenerator<Line>): Promise<string[]> {
  const found: string[] = [];
  for (let next = await watch.next(); !next.done; next = await watch.next()) {
    const { type, object } = next.value;
    if (type === "BOOKMARK") {
      if (object.metadata.annotations?.["k8s.io/initial-events-end"] === "true") break;
      continue;
    }
    found.push(`${type} ${object.metadata.name}`);
  }
  return found.sort();
}

async function create(send: (path: string, init?: RequestInit) => Promise<Response>, name: string): Promise<number> {
  const body = JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const response = await send(NAMESPACES, { method: "POST", body, headers: { "content-type": "application/json" } });
  await response.body?.cancel();
  return response.status;
}

async function nextChange(watch: AsyncGenerator<Line>): Promise<string> {
  for (let next = await watch.next(); !next.done; next = await watch.next()) {
    const { type, object } = next.value;
    if (type !== "BOOKMARK") return `${type} ${object.metadata?.name ?? object.code}`;
  }
  return "end";
}

Deno.test("openProxy forwards only requests with its own token", async () => {
  await using opened = await openRecordingProxy();
  assert.equal(await create(opened.send, "made"), 201);
  const response = await opened.send(`${NAMESPACES}/made`);
  assert.deepEqual([response.status, (await response.json()).metadata.name], [200, "made"]);
  for (const headers of [{}, { authorization: "Bearer other" }] as HeadersInit[]) {
    const rejected = await fetch(`${opened.url}${NAMESPACES}`, { headers });
    assert.deepEqual([rejected.status, await rejected.text()], [401, ""]);
  }
  assert.equal(opened.namespace, "team");
  assert.deepEqual(opened.requests, [`POST ${NAMESPACES}`, `GET ${NAMESPACES}/made`]);
});

Deno.test("openProxy responds with a Status if the API server cannot be reached", async () => {
  await using opened = await openRecordingProxy(() => () => Promise.reject(new Error("no route")));
  const response = await opened.send(NAMESPACES);
  assert.equal(response.status, 502);
  assert.equal((await response.json()).message, "no route");
});

Deno.test("WatchCache sends the objects of the first watch to a second one, and changes to both", async () => {
  let cache!: WatchCache;
  await using opened = await openRecordingProxy((forward) => (cache = new WatchCache(forward)).forward);
  using _cache = cache;
  const first = lines(await opened.send(WATCH));
  const existing = await names(first);
  assert(existing.includes("ADDED default"));
  assert.equal(await create(opened.send, "later"), 201);
  assert.equal(await nextChange(first), "ADDED later");

  const second = lines(await opened.send(WATCH));
  assert.deepEqual(await names(second), [...existing, "ADDED later"].sort());
  assert.equal(await create(opened.send, "last"), 201);
  assert.deepEqual([await nextChange(first), await nextChange(second)], ["ADDED last", "ADDED last"]);
  await first.return(undefined);

  const third = lines(await opened.send(WATCH));
  assert((await names(third)).includes("ADDED last"));
  assert.equal(opened.requests.filter((one) => one === `GET ${NAMESPACES}`).length, 1);
  assert.equal(cache.hits, 2);
  await second.return(undefined);
  await third.return(undefined);
});

Deno.test("WatchCache separates watches with different selectors", async () => {
  let cache!: WatchCache;
  await using opened = await openRecordingProxy((forward) => (cache = new WatchCache(forward)).forward);
  using _cache = cache;
  const all = lines(await opened.send(WATCH));
  await names(all);
  const some = lines(await opened.send(`${WATCH}&fieldSelector=metadata.name=default`));
  assert.deepEqual(await names(some), ["ADDED default"]);
  assert.equal(cache.hits, 0);
  await all.return(undefined);
  await some.return(undefined);
});

Deno.test("WatchCache.clear ends all watches, so that clients start new ones at the API server", async () => {
  let cache!: WatchCache;
  await using opened = await openRecordingProxy((forward) => (cache = new WatchCache(forward)).forward);
  using _cache = cache;
  const watch = lines(await opened.send(WATCH));
  await names(watch);
  cache.clear();
  assert.equal(await nextChange(watch), "ERROR 410");
  assert.equal(await nextChange(watch), "end");
  const again = lines(await opened.send(WATCH));
  assert((await names(again)).length > 0);
  assert.equal(opened.requests.length, 2);
  await again.return(undefined);
});

Deno.test("WatchCache resumes a watch that the server ends, and returns its errors", async () => {
  let cache!: WatchCache;
  await using opened = await openRecordingProxy((forward) => (cache = new WatchCache(forward)).forward);
  using _cache = cache;
  const watch = lines(await opened.send(WATCH));
  await names(watch);
  opened.server.cutWatches();
  assert.equal(await create(opened.send, "later"), 201);
  assert.equal(await nextChange(watch), "ADDED later");
  await watch.return(undefined);
  const rejected = await opened.send("/apis/none/v1/things?watch=true&sendInitialEvents=true");
  assert.equal(rejected.status, 404);
  await rejected.body?.cancel();
});

Deno.test("WatchCache ends a watch with an error when the stream ends before the initial list is complete", async () => {
  const isCut = { value: true };
  let cache!: WatchCache;
  await using opened = await openRecordingProxy((forward) => {
    const cutting: Forward = async (passing) => {
      const response = await forward(passing);
      if (!isCut.value || !passing.url.searchParams.has("watch")) return response;
      await response.body?.cancel();
      return new Response('{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}\n{"type":"ADD');
    };
    cache = new WatchCache(cutting);
    return cache.forward;
  });
  using _cache = cache;

  const watch = lines(await opened.send(WATCH));
  assert.deepEqual([await nextChange(watch), await nextChange(watch)], ["ADDED a", "ERROR 500"]);
  assert.equal(await nextChange(watch), "end");

  isCut.value = false;
  const again = lines(await opened.send(WATCH));
  assert((await names(again)).includes("ADDED default"), "the truncated list is not cached");
  await again.return(undefined);
});

Deno.test("openProxy requests watches without compression, even if the program accepts it", async () => {
  const accepted: (string | null)[] = [];
  const forward: Forward = ({ headers }) => {
    accepted.push(headers.get("accept-encoding"));
    return Promise.resolve(Response.json({}));
  };
  await using opened = await openRecordingProxy(() => forward);
  accepted.length = 0;
  for (const path of [NAMESPACES, WATCH]) {
    const response = await opened.send(path, { headers: { "accept-encoding": "gzip" } });
    await response.body?.cancel();
  }
  assert.deepEqual(accepted, [null, "identity"]);
});

Deno.test("forwardTo drops headers that could name another user", async () => {
  const sent: [string, string][][] = [];
  const connection: Connection = {
    url: "http://cluster",
    fetch({ headers }) {
      sent.push([...headers].filter(([name]) => !["accept", "accept-language"].includes(name)));
      return Promise.resolve(Response.json({}));
    },
    close() {},
  };
  await using proxy = openProxy({ forward: forwardTo(connection, { "impersonate-user": "account" }) });
  const { users } = JSON.parse(proxy.kubeconfig);
  const headers = {
    "Authorization": `Bearer ${users[0].user.token}`,
    "X-Remote-User": "admin",
    "X-Remote-Group": "system:masters",
    "Impersonate-Group": "system:masters",
    "Impersonate_Group": "system:masters",
    "X-HTTP-Method-Override": "DELETE",
    "Cookie": "session=1",
    "Content-Type": "application/json",
    "User-Agent": "notes",
  };
  const response = await fetch(`${proxy.url}${NAMESPACES}`, { method: "POST", body: "{}", headers });
  await response.body?.cancel();
  assert.deepEqual(sent, [[
    ["content-type", "application/json"],
    ["impersonate-user", "account"],
    ["user-agent", "notes"],
  ]]);
});
