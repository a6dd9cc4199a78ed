import assert from "node:assert/strict";
import type { KubeObject, ManagedFields } from "../resource/kind.ts";
import { differences, lastWriter, ownerOf, patchedFields, printPath } from "./field_path.ts";

const PORTS = 'k:{"containerPort":80,"protocol":"TCP"}';

const CONTAINERS = {
  "f:spec": {
    "f:containers": {
      'k:{"name":"web"}': { ".": {}, "f:image": {}, "f:name": {}, "f:ports": { [PORTS]: { "f:containerPort": {} } } },
    },
  },
};

const CASES: readonly {
  readonly name: string;
  readonly wanted: object;
  readonly live: object;
  readonly fields?: object;
  readonly expected: readonly string[];
}[] = [
  {
    name: "no difference between equal objects",
    wanted: { data: { x: "1" } },
    live: { data: { x: "1" } },
    expected: [],
  },
  {
    name: "a field with another value",
    wanted: { data: { x: "1", y: "1" } },
    live: { data: { x: "2", y: "1" } },
    expected: [".data.x"],
  },
  { name: "a field that was removed", wanted: { data: { x: "1" } }, live: { data: {} }, expected: [".data.x"] },
  { name: "the last field that was removed", wanted: { data: { x: "1" } }, live: {}, expected: [".data.x"] },
  { name: "no field that is not applied", wanted: { data: {} }, live: { data: { x: "2" } }, expected: [] },
  {
    name: "a key with a dot",
    wanted: { metadata: { labels: { "a.b/c": "1" } } },
    live: { metadata: { labels: { "a.b/c": "2" } } },
    expected: ['.metadata.labels["a.b/c"]'],
  },
  {
    name: "a field of an item, by the item's keys",
    wanted: { spec: { containers: [{ name: "sidecar" }, { name: "web", image: "a" }] } },
    live: { spec: { containers: [{ name: "web", image: "b" }, { name: "sidecar" }] } },
    fields: CONTAINERS,
    expected: ['.spec.containers[name="web"].image'],
  },
  {
    name: "an item that was removed",
    wanted: { spec: { containers: [{ name: "web", image: "a" }] } },
    live: { spec: { containers: [] } },
    fields: CONTAINERS,
    expected: ['.spec.containers[name="web"]'],
  },
  {
    name: "a list without keys as a whole",
    wanted: { spec: { args: ["a"] } },
    live: { spec: { args: ["b"] } },
    fields: { "f:spec": { "f:args": {} } },
    expected: [".spec.args"],
  },
];

for (const { name, wanted, live, fields, expected } of CASES) {
  Deno.test(`differences finds ${name}`, () => {
    const stored = object(live, fields === undefined ? [] : [entry("us", fields)]);
    assert.deepEqual(differences(object(wanted), stored).map(({ path }) => printPath(path)), expected);
  });
}

Deno.test("differences ignores a quantity that is stored in another form", () => {
  const quota = (cpu: string): KubeObject => ({ ...object({ spec: { hard: { cpu } } }), kind: "ResourceQuota" });
  assert.deepEqual(differences(quota("1000m"), quota("1")), []);
  assert.deepEqual(differences(quota("1"), quota("2")).map(({ path }) => printPath(path)), [".spec.hard.cpu"]);
});

Deno.test("differences finds the item of a list whose keys were defaulted", () => {
  const wanted = object({ spec: { containers: [{ name: "web", ports: [{ containerPort: 80, name: "http" }] }] } });
  const stored = object(
    { spec: { containers: [{ name: "web", ports: [{ containerPort: 80, protocol: "TCP", name: "other" }] }] } },
    [entry("us", CONTAINERS)],
  );
  const [difference] = differences(wanted, stored);
  assert.equal(
    printPath(difference!.path),
    '.spec.containers[name="web"].ports[containerPort=80,protocol="TCP"].name',
  );
});

Deno.test("differences returns at most 16 fields", () => {
  const data = (value: string) => Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, value]));
  assert.equal(differences(object({ data: data("1") }), object({ data: data("2") })).length, 16);
});

Deno.test("ownerOf returns the other manager that owns a field, also inside of a value that it owns as a whole", () => {
  const stored = object({}, [
    entry("us", { "f:data": { "f:x": {} } }),
    entry("status-writer", { "f:status": {} }),
    entry("them", { "f:data": { "f:x": {}, "f:y": {} }, "f:spec": {} }),
  ]);
  assert.equal(ownerOf(stored, ["f:data", "f:x"], "us"), "them");
  assert.equal(ownerOf(stored, ["f:data", "f:z"], "us"), undefined);
  assert.equal(ownerOf(stored, ["f:spec", "f:containers", "f:image"], "us"), "them");
});

Deno.test("ownerOf finds a list item with its keys in another order", () => {
  const stored = object({}, [entry("them", { "f:ports": { [PORTS]: { "f:name": {} } } })]);
  assert.equal(ownerOf(stored, ["f:ports", 'k:{"protocol":"TCP","containerPort":80}', "f:name"], "us"), "them");
});

Deno.test("lastWriter returns the other manager with the last write", () => {
  const stored = object({}, [
    entry("them", {}, "2030-01-01T00:00:00Z"),
    entry("others", {}, "2030-01-02T00:00:00Z"),
    entry("us", {}, "2030-01-03T00:00:00Z"),
  ]);
  assert.equal(lastWriter(stored, "us"), "others");
  assert.equal(lastWriter(object({}), "us"), undefined);
});

Deno.test("patchedFields returns the fields of a merge patch, including removals", () => {
  const fields = patchedFields({ data: { x: "1", y: null }, metadata: { labels: {} } });
  assert.deepEqual(fields.map(({ path, wanted }) => [printPath(path), wanted]), [
    [".data.x", "1"],
    [".data.y", null],
    [".metadata.labels", {}],
  ]);
});

function object(content: object, managedFields?: readonly ManagedFields[]): KubeObject {
  const { metadata, ...rest } = content as Partial<KubeObject>;
  const fullMetadata = { name: "a", namespace: "default", ...metadata, ...(managedFields && { managedFields }) };
  return { apiVersion: "v1", kind: "Thing", ...rest, metadata: fullMetadata } as unknown as KubeObject;
}

function entry(manager: string, fieldsV1: object, time = "2030-01-01T00:00:00Z"): ManagedFields {
  return { manager, operation: "Apply", apiVersion: "v1", time, fieldsType: "FieldsV1", fieldsV1 };
}
