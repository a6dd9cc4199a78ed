import assert from "node:assert/strict";
import { controller, watch, type WatchOptions } from "@op/sdk";
import type { ObjectMetaInput } from "@op/sdk/resource";
import { ConfigMap } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { Note } from "../fixtures/notes.ts";

function notesThat(
  write: "apply" | "create",
  metadata: ObjectMetaInput & { readonly name: string },
  options: WatchOptions<typeof ConfigMap>,
) {
  return controller(Note, {
    owns: [ConfigMap],
    watches: [watch(ConfigMap, options)],
    async reconcile(_note, context) {
      if (write === "apply") await context.apply(ConfigMap, { metadata });
      else if (await context.get(ConfigMap, metadata.name) === undefined) await context.create(ConfigMap, { metadata });
    },
  });
}

interface Case {
  readonly name: string;
  readonly options: WatchOptions<typeof ConfigMap>;
  readonly labels?: Record<string, string>;
  /** The expected error message; absent if the child is written. */
  readonly says?: RegExp;
}

const CASES: readonly Case[] = [
  {
    name: "a missing label",
    options: { labelSelector: "app=x" },
    says: /labelSelector "app=x".*label "app" is missing. Set it to "x"/,
  },
  {
    name: "a label with another value",
    options: { labelSelector: { app: "x" } },
    labels: { app: "y" },
    says: /label "app" is "y"/,
  },
  { name: "the label", options: { labelSelector: { app: "x" } }, labels: { app: "x" } },
  {
    name: "one of several labels",
    options: { labelSelector: "app=x,tier" },
    labels: { app: "x" },
    says: /label "tier" is missing. Add the label/,
  },
  {
    name: "a label that must not be there",
    options: { labelSelector: "!old" },
    labels: { old: "" },
    says: /Remove the label/,
  },
  { name: "a set of values", options: { labelSelector: "app in (x, y)" }, says: /Set it to "x" or "y"/ },
  {
    name: "a value that is excluded",
    options: { labelSelector: "app!=x" },
    labels: { app: "x" },
    says: /another value/,
  },
  { name: "no excluded value", options: { labelSelector: "app!=x" } },
  { name: "another name", options: { fieldSelector: "metadata.name=b" }, says: /metadata\.name is "a"/ },
  { name: "the name", options: { fieldSelector: "metadata.name=a" } },
  {
    name: "another namespace",
    options: { namespaces: ["team"], map: () => undefined },
    says: /the object is in "default"/,
  },
];

for (const { name, options, labels = {}, says } of CASES) {
  for (const write of ["apply", "create"] as const) {
    Deno.test(`${write} of a child with ${name} is ${says ? "rejected before it is sent" : "allowed"}`, async () => {
      const notes = notesThat(write, { name: "a", labels }, options);
      await using cluster = await memoryCluster({
        parts: { notes },
        namespaces: ["team"],
        rbac: false,
        failures: "collect",
      });
      await cluster.create(Note, "a", { spec: {} });
      await cluster.settle();

      assert.equal(cluster.failures.length > 0, says !== undefined);
      if (says !== undefined) assert.match(String(cluster.failures[0]!.error), says);
      assert.equal(await cluster.exists(ConfigMap, "a"), says === undefined);
      assert.equal(
        cluster.sent({ verb: write === "apply" ? "patch" : "create", kind: ConfigMap }).length,
        says ? 0 : 1,
      );
    });
  }
}

Deno.test("a child without an owner may be outside the watch", async () => {
  const notes = controller(Note, {
    owns: [ConfigMap],
    watches: [watch(ConfigMap, { labelSelector: "app=x" })],
    reconcile: async (_note, { apply }) => void await apply(ConfigMap, { metadata: { name: "a" } }, { owner: false }),
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();

  assert(await cluster.exists(ConfigMap, "a"));
});
