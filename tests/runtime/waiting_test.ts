/** Reconciles that hang, operators of one namespace, and applies of objects that were read. */
import assert from "node:assert/strict";
import { controller } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { Note } from "../fixtures/notes.ts";

/** Waits until the signal is aborted, and rejects with its reason. */
function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

Deno.test("a reconcile that hangs is ended by its timeout in virtual time, and the cluster can be disposed of", async () => {
  let runs = 0;
  const notes = controller(Note, {
    timeout: "5s",
    reconcile(_note, { signal }) {
      runs++;
      return hang(signal);
    },
  });
  await using cluster = await memoryCluster({ parts: { notes }, failures: "collect" });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("6s");
  const { status } = await cluster.get(Note, "a");
  assert.deepEqual(status?.conditions?.map(({ type, status, reason }) => [type, status, reason]), [
    ["Ready", "False", "Timeout"],
    ["Reconciling", "True", "Timeout"],
  ]);
  assert(runs >= 2, `${runs} reconciles`);
});

Deno.test("settle rejects after its real-time timeout, and names the reconcile that hangs", async () => {
  const notes = controller(Note, { reconcile: (_note, { signal }) => hang(signal) });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await assert.rejects(
    cluster.settle({ externalTimeout: "50ms" }),
    /Cannot settle: the operator is busy: notes "default\/a" is being reconciled/,
  );
});

Deno.test("an operator of one namespace repairs a child in another namespace, which it does not watch", async () => {
  const notes = controller(Note, {
    owns: [ConfigMap],
    async reconcile(note, { apply, get, status }) {
      await apply(ConfigMap, { metadata: { name: "copy", namespace: "other" }, data: { text: note.spec.text } }, {
        owner: false,
      });
      status({ text: (await get(ConfigMap, "copy", { namespace: "other" }))?.data?.text });
    },
  });
  await using cluster = await memoryCluster({
    // An operator of one namespace has permissions there only, so this test grants it more.
    rbac: false,
    parts: { notes },
    visibleNamespaces: ["default"],
    namespaces: ["other"],
  });
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.settle();
  assert.equal((await cluster.get(Note, "a")).status?.text, "one");
  await cluster.delete(ConfigMap, "copy", { namespace: "other" });

  await cluster.patch(Note, "a", { metadata: { labels: { touched: "yes" } } });
  await cluster.settle();

  assert.equal((await cluster.get(ConfigMap, "copy", { namespace: "other" })).data?.text, "one");
  const watched = cluster.requests.filter(({ path }) => path.includes("watch=true")).map(({ path }) =>
    path.split("?")[0]
  );
  assert.deepEqual(watched, [
    "/apis/demo.example.com/v1/namespaces/default/notes",
    "/api/v1/namespaces/default/configmaps",
  ]);
});

Deno.test("apply rejects an object that was read from the API server", async () => {
  const notes = controller(Note, {
    owns: [ConfigMap],
    async reconcile(note, { apply, get }) {
      await apply(ConfigMap, { metadata: { name: "copy" }, data: { text: note.spec.text } });
      const read = await get(ConfigMap, "copy");
      await apply(ConfigMap, read!);
    },
  });
  await using cluster = await memoryCluster({ parts: { notes }, failures: "collect" });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  const ready = (await cluster.get(Note, "a")).status?.conditions?.find(({ type }) => type === "Ready");
  assert.match(
    ready?.message ?? "",
    /^Cannot apply ConfigMap "copy": it has managedFields, so it was read from the API server\. Apply only the desired fields/,
  );
});
