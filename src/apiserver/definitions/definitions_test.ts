import assert from "node:assert/strict";
import { DEFINITIONS, website, websiteDefinition, WEBSITES, Wire, withWebsites } from "../_wire.ts";

Deno.test("a CustomResourceDefinition is established, and its kind is served", async () => {
  await using wire = await withWebsites();

  const { body } = await wire.get(`${DEFINITIONS}/websites.demo.example.com`);
  const list = await wire.get(WEBSITES);

  const conditions = body.status.conditions.map((each: { type: string; status: string }) =>
    `${each.type}=${each.status}`
  );
  assert.deepEqual(conditions, ["NamesAccepted=True", "Established=True"]);
  assert.deepEqual(body.status.storedVersions, ["v1"]);
  assert.deepEqual(body.spec.names, {
    kind: "Website",
    plural: "websites",
    shortNames: ["ws"],
    singular: "website",
    listKind: "WebsiteList",
  });
  assert.deepEqual([list.status, list.body.kind], [200, "WebsiteList"]);
});

const INVALID: readonly { name: string; spec: object; expected: string[] }[] = [
  {
    name: "types and lengths",
    spec: { host: "a", replicas: "x" },
    expected: [
      'spec.host: Invalid value: "a": spec.host in body should be at least 2 chars long',
      'spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"',
    ],
  },
  { name: "missing fields", spec: {}, expected: ["spec.host: Required value"] },
  {
    name: "bounds",
    spec: { host: "aa", replicas: 21 },
    expected: ["spec.replicas: Invalid value: 21: spec.replicas in body should be less than or equal to 20"],
  },
  {
    name: "duplicates in sets and list maps",
    spec: { host: "aa", tags: ["a", "a"], ports: [{ name: "a" }, { name: "a" }] },
    expected: ['spec.tags[1]: Duplicate value: "a"', 'spec.ports[1]: Duplicate value: {"name":"a"}'],
  },
];

for (const { name, spec, expected } of INVALID) {
  Deno.test(`a custom object is rejected with the errors of the real server: ${name}`, async () => {
    await using wire = await withWebsites();

    const { status, body } = await wire.post(WEBSITES, website("a", spec));

    assert.equal(status, 422);
    const found = body.details.causes.map((cause: { field: string; message: string }) =>
      `${cause.field}: ${cause.message}`
    );
    assert.deepEqual(found, expected);
    assert.equal(body.details.kind, "Website");
  });
}

Deno.test("a custom object is stored with its defaults and without unknown fields", async () => {
  await using wire = await withWebsites();

  const { body } = await wire.post(WEBSITES, website("a", { host: "aa", other: { deep: 1 } }));

  assert.deepEqual(body.spec, { host: "aa", replicas: 1 });
});

Deno.test("a changed CustomResourceDefinition applies to existing objects", async () => {
  await using wire = await withWebsites();
  await wire.post(WEBSITES, website("a", { host: "aa" }));
  const changed = JSON.parse(JSON.stringify(websiteDefinition()));
  changed.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.color = { type: "string", default: "red" };

  await wire.merge(`${DEFINITIONS}/websites.demo.example.com`, { spec: { versions: changed.spec.versions } });
  await wire.settle();

  assert.equal((await wire.get(`${WEBSITES}/a`)).body.spec.color, "red");
});

Deno.test("a write may keep an invalid value that it does not change", async () => {
  await using wire = await withWebsites();
  await wire.post(WEBSITES, website("a", { host: "aa" }));
  const changed = JSON.parse(JSON.stringify(websiteDefinition()));
  changed.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.host.minLength = 5;
  await wire.merge(`${DEFINITIONS}/websites.demo.example.com`, { spec: { versions: changed.spec.versions } });
  await wire.settle();

  const elsewhere = await wire.merge(`${WEBSITES}/a`, { spec: { replicas: 2 } });
  const changedField = await wire.merge(`${WEBSITES}/a`, { spec: { host: "bb" } });

  assert.equal(elsewhere.status, 200);
  assert.equal(changedField.status, 422);
});

Deno.test("two served versions return the same object, each with its own apiVersion", async () => {
  await using wire = new Wire();
  const [v1] = JSON.parse(JSON.stringify(websiteDefinition())).spec.versions;
  const v2 = { ...v1, name: "v2", storage: false };
  await wire.post(DEFINITIONS, websiteDefinition({ versions: [v1, v2] }));
  await wire.settle();
  await wire.post(WEBSITES, website("a", { host: "aa" }));

  const { body } = await wire.get(`${WEBSITES.replace("v1", "v2")}/a`);
  const { body: group } = await wire.get("/apis/demo.example.com");

  assert.equal(body.apiVersion, "demo.example.com/v2");
  assert.equal(body.spec.host, "aa");
  assert.deepEqual(group.versions.map((each: { version: string }) => each.version), ["v2", "v1"]);
});

Deno.test("a deleted CustomResourceDefinition is removed after its objects, including those with finalizers", async () => {
  await using wire = await withWebsites();
  await wire.post(WEBSITES, website("a", { host: "aa" }));
  await wire.post(WEBSITES, website("b", { host: "bb" }, { finalizers: ["demo.example.com/f"] }));

  await wire.delete(`${DEFINITIONS}/websites.demo.example.com`);
  await wire.settle();
  const waiting = await wire.get(`${DEFINITIONS}/websites.demo.example.com`);
  const remaining = await wire.get(WEBSITES);
  await wire.merge(`${WEBSITES}/b`, { metadata: { finalizers: null } });
  await wire.settle();

  assert.deepEqual(waiting.body.metadata.finalizers, ["customresourcecleanup.apiextensions.k8s.io"]);
  assert.deepEqual(remaining.body.items.map((item: { metadata: { name: string } }) => item.metadata.name), ["b"]);
  assert.equal((await wire.get(`${DEFINITIONS}/websites.demo.example.com`)).status, 404);
  assert.equal((await wire.get(WEBSITES)).status, 404);
});

Deno.test("a second CustomResourceDefinition of a kind is not served before the first is deleted", async () => {
  await using wire = await withWebsites();
  const names = { kind: "Website", plural: "sites" };
  await wire.post(DEFINITIONS, { ...websiteDefinition({ names }), metadata: { name: "sites.demo.example.com" } });
  await wire.settle();
  const { body } = await wire.get(`${DEFINITIONS}/sites.demo.example.com`);

  await wire.delete(`${DEFINITIONS}/websites.demo.example.com`);
  await wire.settle();

  assert.equal(body.status.conditions[0].reason, "ListKindConflict");
  assert.equal((await wire.get(WEBSITES.replace("websites", "sites"))).status, 200);
});

const REJECTED: readonly { name: string; change: object; expected: string }[] = [
  {
    name: "a name other than plural and group",
    change: { metadata: { name: "x.demo.example.com" } },
    expected: "metadata.name",
  },
  { name: "no storage version", change: { spec: { versions: [] } }, expected: "spec.versions" },
  { name: "an unknown scope", change: { spec: { scope: "Everywhere" } }, expected: "spec.scope" },
  { name: "a group without a dot", change: { spec: { group: "demo" } }, expected: "spec.group" },
];

for (const { name, change, expected } of REJECTED) {
  Deno.test(`a CustomResourceDefinition is rejected for ${name}`, async () => {
    await using wire = new Wire();
    const definition = JSON.parse(JSON.stringify(websiteDefinition()));
    const { metadata = definition.metadata, spec = {} } = change as { metadata?: object; spec?: object };

    const { status, body } = await wire.post(DEFINITIONS, {
      ...definition,
      metadata,
      spec: { ...definition.spec, ...spec },
    });

    assert.equal(status, 422);
    const fields = body.details.causes.map((cause: { field: string }) => cause.field);
    assert(fields.includes(expected), `${fields}`);
  });
}
