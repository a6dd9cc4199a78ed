/**
 * Kubernetes 1.37 compresses watch lists as several gzip members, of which `fetch` decodes only the
 * first. Every client must read the whole list.
 */
import assert from "node:assert/strict";
import { operator } from "@op/sdk";
import type { Connection } from "@op/sdk/client";
import { forwardTo, openProxy } from "../../cli/proxy/proxy.ts";
import { WatchCache } from "../../cli/proxy/watch_cache.ts";
import { DryRun } from "../../cli/run/dry_run.ts";
import { systemClock } from "../../src/base/clock.ts";
import { connect } from "../../src/kube/connect.ts";
import { startOperator } from "../../src/operator/running.ts";
import { type CompressingServer, compressingServer } from "../fixtures/compressing_server.ts";
import { eventually } from "../eventually.ts";
import { podConnection } from "../fixtures/connections.ts";
import { Note, recording } from "../fixtures/notes.ts";

const COUNT = 300;
const NOTES = "/apis/demo.example.com/v1/notes";
const WATCH_LIST = `${NOTES}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan` +
  "&allowWatchBookmarks=true&timeoutSeconds=1";

type Client = AsyncDisposable & { readonly connection: Connection };

/** How a program reaches the server. */
const CLIENTS: readonly { name: string; open(server: CompressingServer): Promise<Client> }[] = [
  { name: "kubeconfig", open: (server) => byKubeconfig(server.kubeconfig) },
  { name: "pod", open: async (server) => disposableClient(await podConnection({ ...server, token: "anything" })) },
  {
    name: "pod with tracing",
    open: async (server) => disposableClient(await podConnection({ ...server, token: "anything" }, { isTraced: true })),
  },
  { name: "op dev", open: (server) => byProxy(server, (forward) => new WatchCache(forward).forward) },
  { name: "op plan", open: (server) => byProxy(server, (forward) => new DryRun(forward).forward) },
];

for (const { name, open } of CLIENTS) {
  Deno.test(`an operator reconciles all ${COUNT} objects of a server that compresses watch lists: ${name}`, async () => {
    await using server = await compressingServer();
    await seed(server);
    await using client = await open(server);
    const reconciled = new Set<string>();
    const { notes } = recording(({ metadata }) => void reconciled.add(metadata.name));
    const op = operator({ name: "test", parts: { notes }, health: false });

    await using _ = startOperator(op, { connection: client.connection, checkAccess: false });
    await eventually(() => assert.equal(reconciled.size, COUNT));

    assert.equal(server.compressed, 0);
    assert.deepEqual([...new Set(server.acceptedEncodings)], ["identity"]);
  });
}

Deno.test("the proxy of op dev reads all of a watch list for a program that accepts gzip", async () => {
  await using server = await compressingServer();
  await seed(server);
  await using client = await byKubeconfig(server.kubeconfig);
  await using proxy = openProxy({ forward: forwardTo(client.connection) });
  const { token } = JSON.parse(proxy.kubeconfig).users[0].user;
  const headers = { authorization: `Bearer ${token}`, "accept-encoding": "gzip" };

  const response = await fetch(proxy.url + WATCH_LIST, { headers });

  assert.equal(lineCount(await response.text()), COUNT + 1);
  assert.deepEqual(server.acceptedEncodings, ["identity"]);
});

Deno.test("a connection reads all of a watch list that is requested without a client", async () => {
  await using server = await compressingServer();
  await seed(server);
  await using client = await byKubeconfig(server.kubeconfig);

  const response = await client.connection.fetch(new Request(server.url + WATCH_LIST));

  assert.equal(lineCount(await response.text()), COUNT + 1);
  assert.deepEqual(server.acceptedEncodings, ["identity"]);
});

Deno.test("the server of these tests answers a fetch that accepts gzip with several gzip members", async () => {
  await using server = await compressingServer();
  await seed(server);
  using client = Deno.createHttpClient({ caCerts: [server.caCert] });

  // How many members fetch decodes depends on Deno's version: 2.4.2 decodes all of them, 2.9.6 only
  // the first.
  const response = await fetch(server.url + WATCH_LIST, { client });
  await response.text();

  assert.equal(server.compressed, 1);
  assert(server.members > 1, `${server.members} members`);
});

async function seed({ apiserver }: CompressingServer): Promise<void> {
  const create = async (path: string, object: unknown): Promise<void> => {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(object) };
    const response = await apiserver.fetch(new Request(`http://cluster${path}`, init));
    assert.equal(response.status, 201, await response.text());
  };
  await create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", Note.crd);
  const { apiVersion, kind } = Note;
  for (let i = 0; i < COUNT; i++) {
    const note = { apiVersion, kind, metadata: { name: `note-${i}` }, spec: { text: "hello" } };
    await create("/apis/demo.example.com/v1/namespaces/default/notes", note);
  }
}

/** Connects as `op start` does. */
async function byKubeconfig(kubeconfig: string): Promise<Client> {
  const machine = { env: () => undefined, readText: () => Promise.resolve(kubeconfig) };
  return disposableClient(await connect(machine, systemClock, { kubeconfig: "kubeconfig" }));
}

/** Connects as a program behind a proxy of the command line does. */
async function byProxy(
  server: CompressingServer,
  wrap: (forward: ReturnType<typeof forwardTo>) => ReturnType<typeof forwardTo>,
): Promise<Client> {
  const direct = await byKubeconfig(server.kubeconfig);
  const proxy = openProxy({ forward: wrap(forwardTo(direct.connection)) });
  const { connection } = await byKubeconfig(proxy.kubeconfig);
  return {
    connection,
    async [Symbol.asyncDispose]() {
      connection.close();
      await proxy[Symbol.asyncDispose]();
      await direct[Symbol.asyncDispose]();
    },
  };
}

function disposableClient(connection: Connection): Client {
  return { connection, [Symbol.asyncDispose]: () => Promise.resolve(connection.close()) };
}

function lineCount(text: string): number {
  return text.split("\n").filter((line) => line !== "").length;
}
