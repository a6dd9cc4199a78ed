/** How an operator's program ends: as it is told to, after its runs and with its lease given back; or by an internal failure, with an exit code of its own. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { ConfigMap, CustomResourceDefinition, Lease } from "@op/sdk/kinds";
import { createApiserver, kubeconfigFor, serveApiserver } from "@op/sdk/testing";
import { Client } from "../../src/kube/client.ts";
import { startOperator } from "../fixtures/operator_process.ts";
import { Note } from "./_notes.ts";

const MAIN = fileURLToPath(new URL("_stopping.ts", import.meta.url));
const IN_DEFAULT = { namespace: "default" };

async function atServer(server: Parameters<typeof kubeconfigFor>[0]) {
  const home = await Deno.makeTempDir();
  await Deno.writeTextFile(`${home}/kubeconfig`, kubeconfigFor(server));
  const operator = await startOperator({ home, main: MAIN, args: ["--kubeconfig", `${home}/kubeconfig`] });
  return {
    operator,
    async [Symbol.asyncDispose]() {
      await operator[Symbol.asyncDispose]();
      await Deno.remove(home, { recursive: true });
    },
  };
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  Deno.test(`${signal} lets the run that goes on end, gives the lease back, and ends the program with 0`, async () => {
    await using apiserver = createApiserver();
    await using served = serveApiserver(apiserver);
    const client = new Client({ url: served.url, fetch: (request) => apiserver.fetch(request), close() {} });
    await client.create(CustomResourceDefinition, Note.crd as never);
    await client.create(Note, { metadata: { name: "a" }, spec: {} }, IN_DEFAULT);
    await using run = await atServer(served);
    await run.operator.logged(({ msg }) => msg === "Run began");
    assert.match((await client.get(Lease, "note-operator", IN_DEFAULT)).spec?.holderIdentity ?? "", /^note-operator_/);
    run.operator.signal(signal);
    await run.operator.logged(({ msg, isClean }) => msg === "Operator stopped" && isClean === true);
    assert.equal(await run.operator.ended, 0);
    assert.equal((await client.get(ConfigMap, "a", IN_DEFAULT)).metadata.name, "a", "the run went to its end");
    assert.equal((await client.get(Lease, "note-operator", IN_DEFAULT)).spec?.holderIdentity, undefined);
  });
}

Deno.test("a watch that cannot go on ends the program with 70, rather than that it looks as if it worked", async () => {
  // A server that says what no API server does: owners that are no list. What takes changes in fails by it, again and again.
  const broken = {
    name: "b",
    namespace: "default",
    uid: "u",
    resourceVersion: "10",
    ownerReferences: { is: "no list" },
  };
  const stream = (...events: unknown[]) =>
    new Response(
      new ReadableStream({
        start: (controller) =>
          controller.enqueue(new TextEncoder().encode(events.map((event) => `${JSON.stringify(event)}\n`).join(""))),
      }),
    );
  const mark = { annotations: { "k8s.io/initial-events-end": "true" }, resourceVersion: "9" };
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (searchParams.get("watch") === "true") {
      const end = { type: "BOOKMARK", object: { metadata: mark } };
      return pathname.endsWith("/configmaps")
        ? stream(end, { type: "ADDED", object: { metadata: broken } })
        : stream(end);
    }
    if (request.method === "GET") return new Response("{}", { status: pathname.includes("leases") ? 404 : 200 });
    const body = await request.json();
    return Response.json({ ...body, status: { allowed: true }, metadata: { ...body.metadata, resourceVersion: "8" } });
  });
  await using run = await atServer(`http://127.0.0.1:${server.addr.port}`);
  const line = await run.operator.logged(({ msg }) => msg === "Operator cannot go on");
  assert.match(String(line.error), /Cannot watch ConfigMap: a listener failed/);
  assert.equal(await run.operator.ended, 70);
});
