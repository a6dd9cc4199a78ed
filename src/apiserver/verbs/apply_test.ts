import assert from "node:assert/strict";
import { CONFIG_MAPS, configMap, website, WEBSITES, Wire, withWebsites } from "../_wire.ts";

const applyPath = (manager: string, more = "") => `${WEBSITES}/a?fieldManager=${manager}${more}`;

Deno.test("apply creates an object, and updates an existing one", async () => {
  await using wire = await withWebsites();

  const created = await wire.apply(applyPath("one"), website("a", { host: "aa", tags: ["x"] }));
  const changed = await wire.apply(applyPath("one"), website("a", { host: "bb" }));

  assert.deepEqual([created.status, changed.status], [201, 200]);
  assert.deepEqual(changed.body.spec, { host: "bb", replicas: 1 });
  assert.deepEqual(changed.body.metadata.managedFields[0].fieldsV1, { "f:spec": { "f:host": {} } });
});

Deno.test("applying the same configuration again changes nothing", async () => {
  await using wire = await withWebsites();
  const created = await wire.apply(applyPath("one"), website("a", { host: "aa" }));
  wire.clock.step(wire.clock.now() + 60_000);

  const again = await wire.apply(applyPath("one"), website("a", { host: "aa" }));

  assert.deepEqual(again.body, created.body);
});

Deno.test("apply reports all conflicts with another manager, and with force becomes the manager of the fields", async () => {
  await using wire = await withWebsites();
  await wire.apply(applyPath("one"), website("a", { host: "aa", replicas: 1 }));
  const wanted = website("a", { host: "bb", replicas: 2 });

  const rejected = await wire.apply(applyPath("two"), wanted);
  const forced = await wire.apply(applyPath("two", "&force=true"), wanted);

  assert.equal(rejected.status, 409);
  assert.equal(
    rejected.body.message,
    'Apply failed with 2 conflicts: conflicts with "one":\n- .spec.host\n- .spec.replicas',
  );
  assert.deepEqual(rejected.body.details.causes[0], {
    reason: "FieldManagerConflict",
    message: 'conflict with "one"',
    field: ".spec.host",
  });
  assert.equal(forced.body.spec.host, "bb");
  assert.deepEqual(forced.body.metadata.managedFields.map((entry: { manager: string }) => entry.manager), ["two"]);
});

Deno.test("a field with two managers is removed when neither applies it any more", async () => {
  await using wire = await withWebsites();
  await wire.apply(applyPath("one"), website("a", { host: "aa", tags: ["x"] }));
  await wire.apply(applyPath("two"), website("a", { tags: ["x", "y"] }));

  const { body: first } = await wire.apply(applyPath("one"), website("a", { host: "aa" }));
  const { body: second } = await wire.apply(applyPath("two"), website("a", {}));

  assert.deepEqual(first.spec.tags, ["x", "y"]);
  assert.equal(second.spec.tags, undefined);
});

Deno.test("items of a list map have separate managers", async () => {
  await using wire = await withWebsites();
  await wire.apply(
    applyPath("one"),
    website("a", { host: "aa", ports: [{ name: "web", port: 80 }, { name: "old", port: 1 }] }),
  );
  await wire.apply(applyPath("two"), website("a", { ports: [{ name: "admin", port: 81 }] }));

  const { body } = await wire.apply(
    applyPath("one"),
    website("a", { host: "aa", ports: [{ name: "web", port: 8080 }] }),
  );

  assert.deepEqual(body.spec.ports, [{ name: "web", port: 8080 }, { name: "admin", port: 81 }]);
});

Deno.test("an update takes over the fields that it changes, and a later apply conflicts with it", async () => {
  await using wire = await withWebsites();
  await wire.apply(applyPath("one"), website("a", { host: "aa" }));
  await wire.merge(`${WEBSITES}/a`, { spec: { host: "bb" } });

  const { body } = await wire.apply(applyPath("one"), website("a", { host: "aa" }));

  assert.equal(
    body.message,
    'Apply failed with 1 conflict: conflict with "tester" using demo.example.com/v1: .spec.host',
  );
});

Deno.test("an apply of the status subresource has its own entry in managedFields", async () => {
  await using wire = await withWebsites();
  await wire.apply(applyPath("one"), website("a", { host: "aa" }));
  const status = { apiVersion: "demo.example.com/v1", kind: "Website", metadata: { name: "a" }, status: { ready: 1 } };

  const { body } = await wire.apply(`${WEBSITES}/a/status?fieldManager=one`, status);

  assert.equal(body.status.ready, 1);
  const entries = body.metadata.managedFields.map((entry: { subresource?: string; fieldsV1: unknown }) => [
    entry.subresource,
    entry.fieldsV1,
  ]);
  assert.deepEqual(entries, [
    [undefined, { "f:spec": { "f:host": {} } }],
    ["status", { "f:status": { "f:ready": {} } }],
  ]);
});

Deno.test("apply accepts YAML", async () => {
  await using wire = new Wire();

  const { body } = await wire.apply(
    `${CONFIG_MAPS}/a?fieldManager=one`,
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  # a comment\n  key: 'on'\n",
  );

  assert.deepEqual(body.data, { key: "on" });
});

const REJECTED: readonly { name: string; query?: string; body: unknown; status: number; message: RegExp }[] = [
  {
    name: "without a field manager",
    query: "",
    body: configMap("a"),
    status: 422,
    message: /fieldManager: Required value: is required for apply patch$/,
  },
  {
    name: "with an unknown field",
    body: { ...configMap("a"), other: 1 },
    status: 500,
    message: /\.other: field not declared in schema$/,
  },
  {
    name: "with another name",
    body: configMap("b"),
    status: 400,
    message: /^the name of the object \(b\) does not match the name on the URL \(a\)$/,
  },
  {
    name: "with another kind",
    body: { ...configMap("a"), kind: "Secret" },
    status: 400,
    message: /^invalid object type: \/v1, Kind=Secret$/,
  },
  {
    name: "with managedFields",
    body: configMap("a", {}, { managedFields: [] }),
    status: 400,
    message: /^metadata.managedFields must be nil$/,
  },
];

for (const { name, query = "?fieldManager=one", body, status, message } of REJECTED) {
  Deno.test(`apply ${name} is rejected`, async () => {
    await using wire = new Wire();

    const answer = await wire.apply(`${CONFIG_MAPS}/a${query}`, body);

    assert.equal(answer.status, status);
    assert.match(answer.body.message, message);
  });
}
