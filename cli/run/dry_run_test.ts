import assert from "node:assert/strict";
import type { Passing } from "../proxy/proxy.ts";
import { DryRun } from "./dry_run.ts";

function passing(method: string, path: string, body?: unknown): Passing {
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
    const response = await dry.forward(passing("GET", WATCH));
    assert.equal(dry.beginning, 1);
    const reader = response.body!.getReader();
    await reader.read();
    await reader.read();
    assert.equal(dry.beginning, 0, `cut at ${cut}`);
    await reader.cancel();
  }
});

Deno.test("DryRun is busy with a request that it sees for the first time, and not with the same one again", async () => {
  const path = "/apis/demo.example.com/v1/namespaces/a/notes";
  const busy: number[] = [];
  const dry: DryRun = new DryRun(() => {
    busy.push(dry.running);
    return Promise.resolve(Response.json({ kind: "Note" }));
  });
  await dry.forward(passing("POST", path, { kind: "Note", data: 1 }));
  const { last } = dry;
  await dry.forward(passing("POST", path, { kind: "Note", data: 2 }));
  assert.deepEqual(busy, [1, 0]);
  assert.equal(dry.last, last);
  assert.equal(dry.writes.length, 2);
});

Deno.test("DryRun remembers why a watch is forbidden until it is allowed", async () => {
  const responses = [
    Response.json({ kind: "Status", message: "configmaps is forbidden" }, { status: 403 }),
    new Response(ReadableStream.from([])),
  ];
  const dry = new DryRun(() => Promise.resolve(responses.shift()!));
  const refused = await dry.forward(passing("GET", WATCH));
  assert.equal(refused.status, 403);
  assert.deepEqual((await refused.json()).message, "configmaps is forbidden");
  assert.deepEqual([...dry.forbidden.values()], ["configmaps is forbidden"]);
  await (await dry.forward(passing("GET", WATCH))).body?.cancel();
  assert.equal(dry.forbidden.size, 0);
});
