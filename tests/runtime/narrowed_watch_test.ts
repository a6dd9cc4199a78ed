/** Children that a narrowed watch of their kind would not see. */
import assert from "node:assert/strict";
import { controller, watch, type WatchOptions } from "@op/sdk";
import type { ObjectMetaInput } from "@op/sdk/resource";
import { ConfigMap } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { Note } from "../fixtures/notes.ts";

/**
 * Creates a controller that writes a child with some metadata, and watches children with options.
 */
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
  /** The expected error message. Omitted if the child is written. */
  readonly error?: RegExp;
}

const CASES: readonly Case[] = [
  {
    name: "a missing label",
    options: { labelSelector: "app=x" },
    error: /labelSelector "app=x".*label "app" is missing. Set it to "x"/,
  },
  {
    name: "a label with another value",
    options: { labelSelector: { app: "x" } },
    labels: { app: "y" },
    error: /label "app" is "y"/,
  },
  { name: "the label that the watch selects", options: { labelSelector: { app: "x" } }, labels: { app: "x" } },
  {
    name: "only one of two labels",
    options: { labelSelector: "app=x,tier" },
    labels: { app: "x" },
    error: /label "tier" is missing. Add the label/,
  },
  {
    name: "a label that the selector excludes",
    options: { labelSelector: "!old" },
    labels: { old: "" },
    error: /Remove the label/,
  },
  {
    name: "a missing label that must have one of two values",
    options: { labelSelector: "app in (x, y)" },
    error: /Set it to "x" or "y"/,
  },
  {
    name: "a value that is excluded",
    options: { labelSelector: "app!=x" },
    labels: { app: "x" },
    error: /another value/,
  },
  { name: "a value that is not excluded", options: { labelSelector: "app!=x" } },
  {
    name: "a name that the watch does not select",
    options: { fieldSelector: "metadata.name=b" },
    error: /metadata\.name is "a"/,
  },
  { name: "the name that the watch selects", options: { fieldSelector: "metadata.name=a" } },
  {
    name: "a namespace that is not watched",
    options: { namespaces: ["team"], map: () => undefined },
    error: /the object is in "default"/,
  },
];

for (const { name, options, labels = {}, error } of CASES) {
  for (const write of ["apply", "create"] as const) {
    Deno.test(`${write} of a child with ${name} is ${error ? "rejected without a request" : "allowed"}`, async () => {
      const notes = notesThat(write, { name: "a", labels }, options);
      await using cluster = await memoryCluster({
        parts: { notes },
        namespaces: ["team"],
        rbac: false,
        failures: "collect",
      });
      await cluster.create(Note, "a", { spec: {} });
      await cluster.settle();

      assert.equal(cluster.failures.length > 0, error !== undefined);
      if (error !== undefined) assert.match(String(cluster.failures[0]!.error), error);
      assert.equal(await cluster.exists(ConfigMap, "a"), error === undefined);
      assert.equal(
        cluster.sent({ verb: write === "apply" ? "patch" : "create", kind: ConfigMap }).length,
        error ? 0 : 1,
      );
    });
  }
}

Deno.test("apply of a child without an owner outside the watch is allowed", async () => {
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
