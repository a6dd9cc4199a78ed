import assert from "node:assert/strict";
import { CONFIG_MAPS, configMap, website, WEBSITES, Wire, withWebsites } from "../_wire.ts";

Deno.test("create returns the object with the fields that the server sets", async () => {
  await using wire = new Wire({ uid: () => "00000000-0000-4000-8000-000000000001" });

  const { status, body } = await wire.post(CONFIG_MAPS, configMap("a", { key: "value" }));

  assert.equal(status, 201);
  assert.equal(body.metadata.uid, "00000000-0000-4000-8000-000000000001");
  assert.equal(body.metadata.namespace, "default");
  assert.equal(body.metadata.creationTimestamp, "2030-01-01T00:00:00Z");
  assert.match(body.metadata.resourceVersion, /^\d+$/);
  assert.deepEqual(body.metadata.managedFields, [{
    manager: "tester",
    operation: "Update",
    apiVersion: "v1",
    time: "2030-01-01T00:00:00Z",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": { ".": {}, "f:key": {} } },
  }]);
});

const REJECTED: readonly { name: string; path?: string; body: unknown; status: number; message: string }[] = [
  {
    name: "a name that is taken",
    body: configMap("taken"),
    status: 409,
    message: 'configmaps "taken" already exists',
  },
  {
    name: "an invalid name",
    body: configMap("A"),
    status: 422,
    message:
      `ConfigMap "A" is invalid: metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of ` +
      "lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. " +
      `'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
  },
  {
    name: "no name",
    body: { metadata: {} },
    status: 422,
    message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
  },
  {
    name: "another namespace in the body",
    body: configMap("a", {}, { namespace: "other" }),
    status: 400,
    message: "the namespace of the provided object does not match the namespace sent on the request",
  },
  {
    name: "a namespace that does not exist",
    path: "/api/v1/namespaces/nowhere/configmaps",
    body: configMap("a"),
    status: 404,
    message: 'namespaces "nowhere" not found',
  },
  {
    name: "a wrong type",
    body: { metadata: { name: "a" }, data: { key: 1 } },
    status: 400,
    message:
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct ' +
      "field ConfigMap.data of type string",
  },
];

for (const { name, path = CONFIG_MAPS, body, status, message } of REJECTED) {
  Deno.test(`create rejects ${name}`, async () => {
    await using wire = new Wire();
    await wire.post(CONFIG_MAPS, configMap("taken"));

    const answer = await wire.post(path, body);

    assert.equal(answer.status, status);
    assert.equal(answer.body.message, message);
    assert.equal(answer.body.code, status);
  });
}

Deno.test("generateName generates a unique name", async () => {
  await using wire = new Wire();

  const { body } = await wire.post(CONFIG_MAPS, { metadata: { generateName: "job-" } });

  assert.match(body.metadata.name, /^job-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});

Deno.test("update requires the current resourceVersion, and increments the generation of a custom object", async () => {
  await using wire = await withWebsites();
  const { body: first } = await wire.post(WEBSITES, website("a", { host: "aa" }));

  const without = await wire.put(`${WEBSITES}/a`, website("a", { host: "bb" }));
  const { body: second } = await wire.put(`${WEBSITES}/a`, { ...first, spec: { host: "bb" } });
  const late = await wire.put(`${WEBSITES}/a`, { ...first, spec: { host: "cc" } });

  assert.equal(without.status, 422);
  assert.equal(without.body.details.causes[0].message, "Invalid value: 0: must be specified for an update");
  assert.equal(first.metadata.generation, 1);
  assert.equal(second.metadata.generation, 2);
  assert.equal(late.status, 409);
  assert.equal(
    late.body.message,
    'Operation cannot be fulfilled on websites.demo.example.com "a": the object has been modified; please apply your ' +
      "changes to the latest version and try again",
  );
});

Deno.test("a write without changes keeps the resourceVersion, even after time has passed", async () => {
  await using wire = await withWebsites();
  const { body: first } = await wire.post(WEBSITES, website("a", { host: "aa" }));
  wire.clock.step(wire.clock.now() + 60_000);

  const { body: put } = await wire.put(`${WEBSITES}/a`, first);
  const { body: patched } = await wire.merge(`${WEBSITES}/a`, { spec: { host: "aa" } });

  assert.deepEqual(put, first);
  assert.deepEqual(patched, first);
});

Deno.test("a write to the status subresource changes only the status, and not the generation", async () => {
  await using wire = await withWebsites();
  const { body: created } = await wire.post(WEBSITES, { ...website("a", { host: "aa" }), status: { url: "x" } });

  const { body: status } = await wire.merge(`${WEBSITES}/a/status`, { spec: { host: "no" }, status: { url: "y" } });
  const { body: main } = await wire.merge(`${WEBSITES}/a`, { spec: { host: "bb" }, status: { url: "z" } });

  assert.equal(created.status, undefined);
  assert.deepEqual([status.spec.host, status.status.url, status.metadata.generation], ["aa", "y", 1]);
  assert.deepEqual([main.spec.host, main.status.url, main.metadata.generation], ["bb", "y", 2]);
});

Deno.test("a deleted object remains until its finalizers are removed", async () => {
  await using wire = await withWebsites();
  await wire.post(WEBSITES, website("a", { host: "aa" }, { finalizers: ["demo.example.com/f"] }));

  const { body: marked } = await wire.delete(`${WEBSITES}/a`);
  const added = await wire.merge(`${WEBSITES}/a`, {
    metadata: { finalizers: ["demo.example.com/f", "demo.example.com/g"] },
  });
  const waiting = await wire.get(`${WEBSITES}/a`);
  const last = await wire.merge(`${WEBSITES}/a`, { metadata: { finalizers: null } });
  const deleted = await wire.get(`${WEBSITES}/a`);

  assert.equal(marked.metadata.deletionTimestamp, "2030-01-01T00:00:00Z");
  assert.equal(added.status, 422);
  assert.equal(waiting.status, 200);
  assert.equal(last.status, 200);
  assert.equal(deleted.status, 404);
});

Deno.test("delete checks preconditions and returns the uid of the deleted object", async () => {
  await using wire = new Wire();
  const { body } = await wire.post(CONFIG_MAPS, configMap("a"));

  const wrong = await wire.delete(`${CONFIG_MAPS}/a`, { preconditions: { uid: "other" } });
  const right = await wire.delete(`${CONFIG_MAPS}/a`, { preconditions: { uid: body.metadata.uid } });

  assert.equal(wrong.status, 409);
  assert.deepEqual(right.body.details, { name: "a", kind: "configmaps", uid: body.metadata.uid });
});

Deno.test("a dry run returns the result without storing it", async () => {
  await using wire = new Wire();
  await wire.post(CONFIG_MAPS, configMap("a", { key: "1" }));

  const created = await wire.post(`${CONFIG_MAPS}?dryRun=All`, configMap("b"));
  const patched = await wire.merge(`${CONFIG_MAPS}/a?dryRun=All`, { data: { key: "2" } });
  await wire.delete(`${CONFIG_MAPS}/a?dryRun=All`);
  const { body } = await wire.get(CONFIG_MAPS);

  assert.equal(created.status, 201);
  assert.equal(patched.body.data.key, "2");
  assert.deepEqual(body.items.map((item: { data: unknown }) => item.data), [{ key: "1" }]);
});

Deno.test("fieldValidation rejects, reports or ignores unknown fields", async () => {
  await using wire = await withWebsites();
  const body = website("a", { host: "aa", hots: "bb" });

  const strict = await wire.post(`${WEBSITES}?fieldValidation=Strict`, body);
  const ignored = await wire.post(`${WEBSITES}?fieldValidation=Ignore&dryRun=All`, body);
  const warned = await wire.post(WEBSITES, body);

  assert.equal(strict.status, 400);
  assert.match(strict.body.message, /strict decoding error: unknown field "spec.hots"$/);
  assert.equal(ignored.headers.get("warning"), null);
  assert.equal(warned.headers.get("warning"), '299 - "unknown field \\"spec.hots\\""');
  assert.deepEqual(warned.body.spec, { host: "aa", replicas: 1 });
});

Deno.test("a page continues where the previous one ended, at the revision of the first page", async () => {
  await using wire = new Wire();
  for (const name of ["a", "b", "c", "d"]) await wire.post(CONFIG_MAPS, configMap(name));
  const { body: first } = await wire.get(`${CONFIG_MAPS}?limit=2`);
  await wire.delete(`${CONFIG_MAPS}/c`);
  await wire.post(CONFIG_MAPS, configMap("e"));

  const next = `${CONFIG_MAPS}?limit=5&continue=${encodeURIComponent(first.metadata.continue)}`;
  const { body: second } = await wire.get(next);
  wire.server.compact();
  await wire.post(CONFIG_MAPS, configMap("f"));
  const late = await wire.get(next);

  const names = (list: { items: { metadata: { name: string } }[] }) => list.items.map(({ metadata }) => metadata.name);
  assert.deepEqual([names(first), first.metadata.remainingItemCount], [["a", "b"], 2]);
  assert.deepEqual([names(second), second.metadata.continue], [["c", "d"], undefined]);
  assert.deepEqual([late.status, late.body.reason], [410, "Expired"]);
});

const SELECTORS: readonly { query: string; expected: string[] }[] = [
  { query: "labelSelector=app", expected: ["a", "b"] },
  { query: "labelSelector=!app", expected: ["c"] },
  { query: "labelSelector=app%3Dx", expected: ["a"] },
  { query: "labelSelector=app!%3Dx", expected: ["b", "c"] },
  { query: "labelSelector=app%20in%20(x,z)", expected: ["a"] },
  { query: "labelSelector=app%20notin%20(x)", expected: ["b", "c"] },
  { query: "labelSelector=app,tier%3Dfront", expected: ["b"] },
  { query: "fieldSelector=metadata.name%3Db", expected: ["b"] },
  { query: "fieldSelector=metadata.name!%3Db,metadata.namespace%3Ddefault", expected: ["a", "c"] },
];

for (const { query, expected } of SELECTORS) {
  Deno.test(`list selects by ${decodeURIComponent(query)}`, async () => {
    await using wire = new Wire();
    await wire.post(CONFIG_MAPS, configMap("a", {}, { labels: { app: "x" } }));
    await wire.post(CONFIG_MAPS, configMap("b", {}, { labels: { app: "y", tier: "front" } }));
    await wire.post(CONFIG_MAPS, configMap("c"));

    const { body } = await wire.get(`${CONFIG_MAPS}?${query}`);

    assert.deepEqual(body.items.map((item: { metadata: { name: string } }) => item.metadata.name), expected);
  });
}

Deno.test("scale reads and writes the replicas of a Deployment", async () => {
  await using wire = new Wire();
  const path = "/apis/apps/v1/namespaces/default/deployments";
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "nginx" }] } };
  await wire.post(path, { metadata: { name: "web" }, spec: { selector: { matchLabels: labels }, template } });

  const { body: scale } = await wire.merge(`${path}/web/scale`, { spec: { replicas: 4 } });
  const { body: deployment } = await wire.get(`${path}/web`);

  assert.deepEqual([scale.kind, scale.spec.replicas, scale.status.selector], ["Scale", 4, "app=web"]);
  assert.deepEqual([deployment.spec.replicas, deployment.metadata.generation], [4, 2]);
});
