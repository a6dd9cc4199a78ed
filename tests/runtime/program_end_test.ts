/**
 * How an operator's program exits: on a signal, after its reconciles have ended and its Lease is
 * released; or after an internal error, with a dedicated exit code.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { ConfigMap, CustomResourceDefinition, Lease } from "@op/sdk/kinds";
import { createApiserver, kubeconfigFor, serveApiserver } from "@op/sdk/testing";
import { Client } from "../../src/kube/client.ts";
import { startOperator } from "../fixtures/operator_process.ts";
import { Note } from "../fixtures/notes.ts";

const MAIN = fileURLToPath(new URL("../fixtures/operators/stopping.ts", import.meta.url));
const DEFAULT_NAMESPACE = { namespace: "default" };

/** Starts the program with a kubeconfig for a server. */
async function startProgram(server: Parameters<typeof kubeconfigFor>[0]) {
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
  Deno.test(`${signal} lets the current reconcile finish, releases the Lease, and exits with 0`, async () => {
    await using apiserver = createApiserver();
    await using served = serveApiserver(apiserver);
    const client = new Client({ url: served.url, fetch: (request) => apiserver.fetch(request), close() {} });
    await client.create(CustomResourceDefinition, Note.crd as never);
    await client.create(Note, { metadata: { name: "a" }, spec: {} }, DEFAULT_NAMESPACE);
    await using run = await startProgram(served);
    await run.operator.logged(({ msg }) => msg === "Reconcile waits for a signal");
    assert.match(
      (await client.get(Lease, "note-operator", DEFAULT_NAMESPACE)).spec?.holderIdentity ?? "",
      /^note-operator_/,
    );
    run.operator.signal(signal);
    await run.operator.logged(({ msg, isClean }) => msg === "Operator stopped" && isClean === true);
    assert.equal(await run.operator.ended, 0);
    assert.equal(
      (await client.get(ConfigMap, "a", DEFAULT_NAMESPACE)).metadata.name,
      "a",
      "the reconcile ran to its end",
    );
    assert.equal((await client.get(Lease, "note-operator", DEFAULT_NAMESPACE)).spec?.holderIdentity, undefined);
  });
}

Deno.test("a program whose watch cannot continue exits with 70 instead of staying idle", async () => {
  // This server sends owner references that are not a list, which no API server does. Processing
  // the change fails each time.
  const broken = {
    name: "b",
    namespace: "default",
    uid: "u",
    resourceVersion: "10",
    ownerReferences: { not: "a list" },
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
  await using run = await startProgram(`http://127.0.0.1:${server.addr.port}`);
  const line = await run.operator.logged(({ error }) => error !== undefined);
  assert.match(String(line.error), /Cannot watch ConfigMap: a listener failed/);
  assert.equal(await run.operator.ended, 70);
});
