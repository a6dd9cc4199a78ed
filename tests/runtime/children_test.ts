/** Children as a list, with pruning; pausing; services. */
import assert from "node:assert/strict";
import { controller, operator, resource, s } from "@op/sdk";
import { ConfigMap, Secret } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { Note, writes } from "../fixtures/notes.ts";

const List = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "List",
  spec: s.object({ maps: s.array(s.string()), secret: s.boolean({ default: true }) }),
  status: s.object({ made: s.optional(s.integer()) }),
});

const lists = controller(List, {
  owns: [ConfigMap, Secret],
  prune: true,
  async reconcile({ spec }, { applyAll, status }) {
    const made = await applyAll([
      ...spec.maps.map((name) => [ConfigMap, { metadata: { name }, data: { name } }] as const),
      ...(spec.secret ? [[Secret, { metadata: { name: "secret" } }] as const] : []),
    ]);
    status({ made: made.length });
  },
});

Deno.test("applyAll creates all children, and prunes those that are no longer desired, but no children of other objects", async () => {
  await using cluster = await memoryCluster({ parts: { lists } });
  await cluster.create(List, "one", { spec: { maps: ["a", "b"] } });
  await cluster.create(List, "two", { spec: { maps: ["c"], secret: false } });
  await cluster.create(ConfigMap, "foreign", {});
  await cluster.settle();
  const names = async () => (await cluster.list(ConfigMap)).map(({ metadata }) => metadata.name).sort();
  assert.deepEqual(await names(), ["a", "b", "c", "foreign"]);
  assert.equal((await cluster.get(List, "one")).status?.made, 3);

  await cluster.patch(List, "one", { spec: { maps: ["b"], secret: false } });
  await cluster.settle();
  assert.deepEqual(await names(), ["b", "c", "foreign"]);
  assert.equal(await cluster.exists(Secret, "secret"), false);
  const before = writes(cluster).length;
  await cluster.restart();
  await cluster.settle();
  assert.equal(writes(cluster).length, before, "a restart with all children in their desired state writes no object");
});

Deno.test("applyAll prunes only what its own controller applied, not children from other controllers or from create", async () => {
  const pruning = controller(Note, {
    owns: [ConfigMap],
    prune: true,
    async reconcile({ metadata: { name }, spec: { text } }, { applyAll, create, get }) {
      if (await get(ConfigMap, `${name}-created`) === undefined) {
        await create(ConfigMap, { metadata: { name: `${name}-created` } });
      }
      await applyAll([[ConfigMap, { metadata: { name: `${name}-${text}` } }]]);
    },
  });
  const other = controller(Note, {
    owns: [ConfigMap],
    async reconcile({ metadata: { name } }, { apply }) {
      await apply(ConfigMap, { metadata: { name: `${name}-other` } });
    },
  });
  await using cluster = await memoryCluster({ parts: { pruning, other } });
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.settle();
  await cluster.patch(Note, "a", { spec: { text: "two" } });
  await cluster.settle();
  const names = (await cluster.list(ConfigMap)).map(({ metadata }) => metadata.name).sort();
  assert.deepEqual(names, ["a-created", "a-other", "a-two"]);
});

Deno.test("applyAll accepts the kinds in owns, with their types", () => {
  controller(List, {
    owns: [ConfigMap],
    async reconcile(_list, { applyAll }) {
      const [map] = await applyAll([[ConfigMap, { metadata: { name: "a" } }]]);
      map.data satisfies object | undefined;
      // @ts-expect-error "owns" does not have Secret
      await applyAll([[Secret, { metadata: { name: "a" } }]]);
      // @ts-expect-error the values of a ConfigMap's data are strings
      await applyAll([[ConfigMap, { metadata: { name: "a" }, data: { key: 1 } }]]);
    },
  });
});

Deno.test("a paused object has the condition Paused and is not reconciled or cleaned up until it is unpaused", async () => {
  const cleaned: string[] = [];
  const notes = controller(Note, {
    reconcile: ({ spec }, { status }) => status({ text: spec.text }),
    cleanup: ({ metadata }) => void cleaned.push(metadata.name),
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.settle();
  const paused = "demo.example.com/paused";
  await cluster.patch(Note, "a", { metadata: { annotations: { [paused]: "true" } }, spec: { text: "two" } });
  await cluster.settle();
  const note = await cluster.get(Note, "a");
  assert.deepEqual([note.status?.text, note.status?.observedGeneration], ["one", 1]);
  assert.deepEqual(
    note.status?.conditions?.find(({ type }) => type === "Paused")?.message,
    'The object has the annotation "demo.example.com/paused"',
  );
  const before = writes(cluster).length;
  await cluster.restart();
  await cluster.settle();
  assert.equal(writes(cluster).length, before);

  await cluster.delete(Note, "a");
  await cluster.settle();
  assert.deepEqual(cleaned, [], "the cleanup of a paused object waits too");
  await cluster.patch(Note, "a", { metadata: { annotations: { [paused]: null } } });
  await cluster.settle();
  assert.deepEqual(cleaned, ["a"]);
});

Deno.test("paused: false does not pause, and the condition is removed when the pause ends", async () => {
  const notes = controller(Note, { reconcile: ({ spec }, { status }) => status({ text: spec.text }) });
  await using cluster = await memoryCluster({ parts: { notes } });
  const annotations = { "demo.example.com/paused": "yes" };
  await cluster.create(Note, "a", { metadata: { annotations }, spec: { text: "one" } });
  await cluster.settle();
  assert.equal((await cluster.get(Note, "a")).status?.text, undefined);
  await cluster.patch(Note, "a", { metadata: { annotations: { "demo.example.com/paused": "false" } } });
  await cluster.settle();
  const { status } = await cluster.get(Note, "a");
  assert.deepEqual([status?.text, status?.conditions?.map(({ type }) => type)], ["one", ["Ready"]]);
});

interface Services {
  readonly names: Set<string>;
  readonly connection: AsyncDisposable;
}

const recorded = controller.with<Services>()(Note, {
  reconcile: ({ metadata }, { services }) => void services.names.add(metadata.name),
});

Deno.test("services are created before the first reconcile, closed after the last, and replaceable in tests", async () => {
  const calls: string[] = [];
  const names = new Set<string>();
  const op = operator({
    name: "test",
    parts: { notes: recorded },
    health: false,
    services: () => {
      calls.push("created");
      const connection = {
        [Symbol.asyncDispose]: () => {
          calls.push(`closed after ${[...names]}`);
          return Promise.resolve();
        },
      };
      return { names, connection };
    },
  });
  {
    await using cluster = await memoryCluster({ operator: op });
    await cluster.create(Note, "a", { spec: {} });
    await cluster.settle();
  }
  assert.deepEqual(calls, ["created", "closed after a"]);

  const fake = new Set<string>();
  await using cluster = await memoryCluster({ operator: op, services: { names: fake } });
  await cluster.create(Note, "b", { spec: {} });
  await cluster.settle();
  assert.deepEqual([[...fake], calls.length], [["b"], 2]);
});

Deno.test("an operator whose services differ from those of its controllers does not compile", () => {
  // @ts-expect-error names is a Set of strings
  operator({ name: "test", parts: { notes: recorded }, services: () => ({ names: new Set<number>() }) });
});
