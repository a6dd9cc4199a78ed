/** Values that a server stores in a normalized form, such as quantities, are not written again. */
import assert from "node:assert/strict";
import { controller, type Input } from "@op/sdk";
import { Deployment, Secret } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { applyInOrder, Switch } from "../fixtures/apply_sequences.ts";
import { Note, writes } from "../fixtures/notes.ts";

function deployment(name: string, cpu: string): Input<typeof Deployment> {
  return {
    metadata: { name, labels: {} },
    spec: {
      paused: false,
      minReadySeconds: 0,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          containers: [{
            name: "main",
            image: "main:1",
            args: [],
            env: [{ name: "EMPTY", value: "" }],
            tty: false,
            ports: [{ containerPort: 80, hostPort: 0 }],
            resources: { limits: { cpu, memory: "1024Mi" }, requests: { cpu: "0.5" } },
          }],
          hostNetwork: false,
          tolerations: [{ key: "mine", operator: "Exists", value: "" }],
          volumes: [{ name: "scratch", emptyDir: { sizeLimit: "2048Ki" } }],
        },
      },
    },
  };
}

const notes = controller(Note, {
  owns: [Deployment, Secret],
  async reconcile({ metadata: { name }, spec }, { apply }) {
    await apply(Deployment, deployment(name, spec.text));
    await apply(Secret, { metadata: { name }, stringData: { key: `é ${spec.text}` } });
  },
});

Deno.test("quantities, stringData and empty or zero values are compared in the form that a server stores", async () => {
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: { text: "1000m" } });
  await cluster.settle();
  const { limits } = (await cluster.get(Deployment, "a")).spec!.template.spec!.containers[0]!.resources!;
  assert.deepEqual(limits, { cpu: "1", memory: "1Gi" });
  assert.equal("paused" in (await cluster.get(Deployment, "a")).spec!, false, "the server does not store this false");
  assert.deepEqual((await cluster.get(Secret, "a")).data, { key: "w6kgMTAwMG0=" });
  const before = writes(cluster).length;

  await cluster.patch(Note, "a", { metadata: { labels: { touched: "yes" } } });
  await cluster.settle();
  await cluster.restart();
  await cluster.settle();
  assert.deepEqual(writes(cluster).slice(before), []);

  await cluster.patch(Note, "a", { spec: { text: "1001m" } });
  await cluster.settle();
  const after = (await cluster.get(Deployment, "a")).spec!.template.spec!.containers[0]!.resources!;
  assert.equal(after.limits?.cpu, "1001m", "a changed quantity is written");
});

Deno.test("an apply is skipped if and only if the server would change no field, for custom and built-in kinds", async () => {
  await using cluster = await memoryCluster({ kinds: [Switch] });
  await applyInOrder(cluster.client);
});

Deno.test("a new false in an item of a custom kind's list reaches the server", async () => {
  const Copied = controller(Note, {
    owns: [Switch],
    async reconcile({ metadata: { name }, spec }, { apply }) {
      const on = spec.text === "off" ? { on: false } : {};
      await apply(Switch, { metadata: { name }, spec: { parts: [{ name: "a", ...on }] } });
    },
  });
  await using cluster = await memoryCluster({ parts: { Copied } });
  await cluster.create(Note, "a", { spec: { text: "default" } });
  await cluster.settle();
  await cluster.patch(Note, "a", { spec: { text: "off" } });
  await cluster.settle();
  assert.deepEqual((await cluster.get(Switch, "a")).spec.parts, [{ name: "a", on: false }]);
});
