/** Reads of webhooks: from caches and from the API server, and their RBAC permissions. */
import assert from "node:assert/strict";
import { access, deny, operator, webhook } from "@op/sdk";
import { ConfigMap, Namespace } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import type { Connection } from "../../src/kube/connection.ts";
import { startOperator } from "../../src/operator/running.ts";
import { Note, review } from "../fixtures/reviews.ts";

Deno.test("a webhook reads a kind in reads from the shared cache, without a request", async () => {
  const noteRules = webhook(Note, {
    reads: [ConfigMap],
    async validate({ spec }, { get, list }) {
      const words = await list(ConfigMap, { selector: { words: "yes" } });
      if (words.some(({ data }) => data?.[spec.text] !== undefined)) throw deny("that word is not allowed");
      if ((await get(ConfigMap, "closed")) !== undefined) throw deny("notes are closed");
      const publicWords = await get(ConfigMap, "words", { namespace: "kube-public" });
      if (publicWords?.data?.[spec.text] !== undefined) throw deny("that word is public");
    },
  });
  await using cluster = await memoryCluster({ parts: { noteRules } });
  await cluster.create(Note, "a", { spec: { text: "tea" } });
  await cluster.create(ConfigMap, "words", { metadata: { labels: { words: "yes" } }, data: { tea: "" } });
  await cluster.settle();
  await assert.rejects(cluster.create(Note, "b", { spec: { text: "tea" } }), /that word is not allowed/);
  // Without the label, this ConfigMap is not selected.
  await cluster.create(ConfigMap, "others", { data: { coffee: "" } });
  await cluster.create(ConfigMap, "words", { data: { milk: "" } }, { namespace: "kube-public" });
  await cluster.settle();
  await cluster.create(Note, "c", { spec: { text: "coffee" } });
  await assert.rejects(cluster.create(Note, "m", { spec: { text: "milk" } }), /that word is public/);
  await cluster.create(ConfigMap, "closed", {});
  await cluster.settle();
  await assert.rejects(cluster.create(Note, "d", { spec: { text: "coffee" } }), /notes are closed/);
  const reads = cluster.requests.filter(({ verb, resource }) => resource === "configmaps" && verb !== "create");
  assert.deepEqual(reads.map(({ verb }) => verb), ["watch"]);
});

Deno.test("a webhook reads a kind in uses from the API server: by name or label, in one namespace or all", async () => {
  const seen: unknown[] = [];
  const noteRules = webhook(Note, {
    uses: [access(ConfigMap, "get", "list")],
    async validate(_note, { get, list }) {
      const inPublic = { namespace: "kube-public" } as const;
      const names = async (...options: Parameters<typeof list>[1][]) =>
        (await list(ConfigMap, ...options)).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
      seen.push(
        (await get(ConfigMap, "a"))?.data,
        (await get(ConfigMap, "a", inPublic))?.data,
        await get(ConfigMap, "missing"),
        await names(),
        await names(inPublic),
        await names({ namespace: "*", selector: { words: "yes" } }),
      );
    },
  });
  await using cluster = await memoryCluster({ parts: { noteRules } });
  const labels = { words: "yes" };
  await cluster.create(ConfigMap, "a", { data: { of: "default" } });
  await cluster.create(ConfigMap, "b", { metadata: { labels } });
  await cluster.create(ConfigMap, "a", { metadata: { labels }, data: { of: "kube-public" } }, {
    namespace: "kube-public",
  });
  await cluster.create(Note, "a", { spec: { text: "tea" } });
  assert.deepEqual(seen, [
    { of: "default" },
    { of: "kube-public" },
    undefined,
    ["default/a", "default/b"],
    ["kube-public/a"],
    ["default/b", "kube-public/a"],
  ]);
});

Deno.test("a webhook fails while its cache is not synced, and recovers afterwards", async () => {
  const noteRules = webhook(Note, {
    reads: [Namespace],
    async validate(_note, { get }) {
      if (await get(Namespace, "default") === undefined) throw deny("the namespace does not exist");
    },
  });
  await using run = await startWithWebhook(noteRules, new Set(["list namespaces"]));
  assert.equal((await run.review()).status, 500);
  run.forbidden.clear();
  await run.cluster.advance("1m");
  assert.equal((await (await run.review()).json()).response.allowed, true);
});

Deno.test("a missing RBAC permission of a webhook is logged at start and when it is removed; the webhook still runs", async () => {
  const noteRules = webhook(Note, {
    uses: [access(ConfigMap, "get")],
    async validate(_note, { get }) {
      if (await get(ConfigMap, "limits") !== undefined) throw deny("limits exist");
    },
  });
  await using run = await startWithWebhook(noteRules, new Set(["get configmaps"]));
  assert.deepEqual(run.lines(), ["RBAC permission to get configmaps: missing"]);
  assert.equal((await run.review()).status, 500);
  run.forbidden.clear();
  await run.cluster.advance("1m");
  assert.deepEqual(run.lines(), []);
  assert.equal((await run.review()).status, 200);
  run.forbidden.add("get configmaps");
  assert.equal((await run.review()).status, 500);
  await run.cluster.advance("1s");
  assert.deepEqual(run.lines(), ["RBAC permission to get configmaps: missing"]);
});

/**
 * Starts an operator with a webhook on a cluster that rejects some requests.
 *
 * @param noteRules The webhook.
 * @param forbidden The rejected requests, such as `get configmaps`.
 */
async function startWithWebhook(noteRules: ReturnType<typeof webhook>, forbidden: Set<string>) {
  const stack = new AsyncDisposableStack();
  const cluster = stack.use(await memoryCluster({ kinds: [Note] }));
  const connection: Connection = {
    url: "http://memory.cluster",
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname.endsWith("/selfsubjectaccessreviews")) {
        const body = await request.json();
        const { verb, resource } = body.spec.resourceAttributes;
        const allowed = !forbidden.has(`${verb} ${resource}`);
        return Response.json({ ...body, metadata: {}, status: { allowed } }, { status: 201 });
      }
      const parts = pathname.split("/");
      const isGet = parts.includes("configmaps") && parts.at(-1) !== "configmaps";
      const permission = isGet ? "get configmaps" : `list ${parts.at(-1)}${searchParams.size > 0 ? "" : " whole"}`;
      if (!forbidden.has(permission)) return await cluster.fetch(request);
      const status = { kind: "Status", status: "Failure", reason: "Forbidden", message: "no", code: 403 };
      return Response.json(status, { status: 403 });
    },
    close() {},
  };
  const op = operator({ name: "test", parts: { noteRules }, health: false });
  const running = startOperator(op, { connection, clock: cluster.clock, random: () => 0.5 });
  stack.defer(async () => {
    const ended = running[Symbol.asyncDispose]();
    await cluster.advance("1m");
    await ended;
  });
  await cluster.advance("1s");
  return {
    cluster,
    forbidden,
    lines: () =>
      running.readiness().filter(({ isReady }) => !isReady).map(({ name, message }) => `${name}: ${message}`),
    /** Sends a review, and returns the response. */
    review: () =>
      running.webhooks!.fetch(
        new Request("https://test/validate/note-rules?timeout=10s", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(review()),
        }),
      ),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
