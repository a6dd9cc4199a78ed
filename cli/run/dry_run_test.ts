import assert from "node:assert/strict";
import type { ForwardedRequest } from "../proxy/proxy.ts";
import { DryRun } from "./dry_run.ts";

function requestOf(method: string, path: string, body?: unknown): ForwardedRequest {
  return {
    method,
    url: new URL(path, "http://apiserver"),
    headers: new Headers(),
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: new AbortController().signal,
  };
}

const WATCH = "/api/v1/configmaps?watch=true&sendInitialEvents=true";

Deno.test("DryRun recognizes the end of a watch's initial events when it is split across chunks", async () => {
  const line = '{"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}\n';
  for (const cut of [10, 60, line.indexOf("initial-events") + 4]) {
    const chunks = [line.slice(0, cut), line.slice(cut)].map((text) => new TextEncoder().encode(text));
    const dry = new DryRun(() => Promise.resolve(new Response(ReadableStream.from(chunks))));
    const response = await dry.forward(requestOf("GET", WATCH));
    assert.equal(dry.pendingWatches, 1);
    const reader = response.body!.getReader();
    await reader.read();
    await reader.read();
    assert.equal(dry.pendingWatches, 0, `cut at ${cut}`);
    await reader.cancel();
  }
});

Deno.test("DryRun counts a repeated request neither as running nor as activity", async () => {
  const path = "/apis/demo.example.com/v1/namespaces/a/notes";
  const busy: number[] = [];
  const dry: DryRun = new DryRun(() => {
    busy.push(dry.running);
    return Promise.resolve(Response.json({ kind: "Note" }));
  });
  await dry.forward(requestOf("POST", path, { kind: "Note", data: 1 }));
  const { lastActivity } = dry;
  await dry.forward(requestOf("POST", path, { kind: "Note", data: 2 }));
  assert.deepEqual(busy, [1, 0]);
  assert.equal(dry.lastActivity, lastActivity);
  assert.equal(dry.writes.length, 2);
});

Deno.test("DryRun stores the message of a forbidden watch until the watch is allowed", async () => {
  const responses = [
    Response.json({ kind: "Status", message: "configmaps is forbidden" }, { status: 403 }),
    new Response(ReadableStream.from([])),
  ];
  const dry = new DryRun(() => Promise.resolve(responses.shift()!));
  const rejected = await dry.forward(requestOf("GET", WATCH));
  assert.equal(rejected.status, 403);
  assert.deepEqual((await rejected.json()).message, "configmaps is forbidden");
  assert.deepEqual([...dry.forbidden.values()], ["configmaps is forbidden"]);
  await (await dry.forward(requestOf("GET", WATCH))).body?.cancel();
  assert.equal(dry.forbidden.size, 0);
});

Deno.test("DryRun does not forward writes that the API server would pass to a pod, a Service or a node", async (t) => {
  const paths = [
    "/api/v1/namespaces/a/services/s/proxy/admin/wipe",
    "/api/v1/namespaces/a/services/https:s:443/proxy",
    "/api/v1/namespaces/a/pods/p/%70roxy/wipe",
    "/api/v1/namespaces/a/pods/p/exec?command=sh",
    "/api/v1/nodes/n/proxy/run/a/p/c",
  ];
  for (const path of paths) {
    await t.step(path, async () => {
      const sent: string[] = [];
      const dry = new DryRun(({ method }) => {
        sent.push(method);
        return Promise.resolve(Response.json({ kind: "Status" }));
      });
      const response = await dry.forward(requestOf("POST", path, {}));
      assert.equal(response.status, 405);
      assert.match((await response.json()).message, /it has no dry run$/);
      assert.deepEqual(sent, []);
      assert.match(dry.writes[0]?.rejection ?? "", /"op plan" does not send a POST request to "(proxy|exec)"/);
    });
  }
});

Deno.test("DryRun sends every write as a dry run, even if its path begins like the path of a review", async () => {
  const sent: string[] = [];
  const dry = new DryRun(({ method, url }) => {
    if (method === "POST") sent.push(url.search);
    return Promise.resolve(Response.json({ kind: "Status" }));
  });
  await dry.forward(requestOf("POST", "/apis/authorization.k8s.io/..%2f..%2fapi/v1/namespaces", {}));
  await dry.forward(requestOf("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {}));
  await dry.forward(requestOf("POST", "/apis/authorization.k8s.io/v1/namespaces/a/localsubjectaccessreviews", {}));
  assert.deepEqual(sent, ["?dryRun=All", "", ""]);
});
