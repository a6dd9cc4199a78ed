import assert from "node:assert/strict";
import { DEFINITIONS, websiteDefinition, Wire } from "../_wire.ts";

const PATH = `${DEFINITIONS}/websites.demo.example.com`;

// deno-lint-ignore no-explicit-any -- JSON
type Json = any;

/** Returns a version with the given fields in its spec. */
function version(name: string, fields: Record<string, unknown>, rest: Record<string, unknown> = {}): Json {
  const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties: fields } } };
  return { name, served: true, storage: false, schema: { openAPIV3Schema }, ...rest };
}

function collection(name: string): string {
  return `/apis/demo.example.com/${name}/namespaces/default/websites`;
}

function website(name: string, apiVersion: string, spec: unknown): unknown {
  return { apiVersion: `demo.example.com/${apiVersion}`, kind: "Website", metadata: { name }, spec };
}

const TEXT = { type: "string" };

async function serverWith(...versions: Json[]): Promise<Wire> {
  const wire = new Wire();
  const { status, body } = await wire.post(DEFINITIONS, websiteDefinition({ versions }));
  assert.equal(status, 201, JSON.stringify(body));
  await wire.settle();
  return wire;
}

Deno.test("an object is stored in the storage version, without the fields that this version does not have", async () => {
  await using wire = await serverWith(
    version("v1", { host: TEXT, old: { type: "string", default: "o" } }, { storage: true }),
    version("v2", { host: TEXT, old: TEXT, fresh: { type: "string", default: "f" } }),
  );

  const created = await wire.post(collection("v2"), website("a", "v2", { host: "h", fresh: "x" }));
  const dry = await wire.post(`${collection("v2")}?dryRun=All`, website("b", "v2", { host: "h", fresh: "x" }));

  assert.deepEqual(created.body.spec, { host: "h", old: "o" });
  assert.deepEqual(dry.body.spec, { host: "h", old: "o" });
  assert.deepEqual((await wire.get(`${collection("v1")}/a`)).body.spec, { host: "h", old: "o" });
  assert.equal((await wire.get(`${collection("v2")}/a`)).body.apiVersion, "demo.example.com/v2");
});

Deno.test("a write stores an object in a new storage version, even if nothing else changes", async () => {
  const [v1, v2] = [version("v1", { host: TEXT }, { storage: true }), version("v2", { host: TEXT })];
  await using wire = await serverWith(v1, v2);
  await wire.post(collection("v1"), website("a", "v1", { host: "h" }));
  await wire.merge(PATH, { spec: { versions: [{ ...v1, storage: false }, { ...v2, storage: true }] } });
  await wire.settle();
  const { body: before } = await wire.get(`${collection("v1")}/a`);

  const { body: first } = await wire.put(`${collection("v1")}/a`, before);
  const { body: second } = await wire.put(`${collection("v1")}/a`, first);

  assert.notEqual(first.metadata.resourceVersion, before.metadata.resourceVersion);
  assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
  assert.deepEqual((await wire.get(PATH)).body.status.storedVersions, ["v1", "v2"]);
});

Deno.test("a deprecated version has a warning in its responses, and an unserved version is not found", async () => {
  await using wire = await serverWith(
    version("v1", {}, { storage: true, served: false }),
    version("v1beta1", {}, { deprecated: true }),
    version("v2", {}),
  );

  const old = await wire.get(collection("v1beta1"));

  assert.equal(
    old.headers.get("warning"),
    '299 - "demo.example.com/v1beta1 Website is deprecated; use demo.example.com/v2 Website"',
  );
  assert.equal((await wire.get(collection("v2"))).headers.get("warning"), null);
  assert.equal((await wire.get(collection("v1"))).status, 404);
});

Deno.test("reading an object fails if its conversion webhook does not exist", async () => {
  await using wire = new Wire();
  const versions = [version("v1", { host: TEXT }, { storage: true }), version("v2", { name: TEXT })];
  const service = { namespace: "shop", name: "missing" };
  const webhook = { clientConfig: { service }, conversionReviewVersions: ["v1"] };
  await wire.post(DEFINITIONS, websiteDefinition({ versions, conversion: { strategy: "Webhook", webhook } }));
  await wire.settle();

  assert.equal((await wire.post(collection("v1"), website("a", "v1", { host: "h" }))).status, 201);
  const { status, body } = await wire.get(`${collection("v2")}/a`);

  assert.equal(status, 500);
  assert.match(body.message, /^conversion webhook for .* Kind=Website failed: Post .* service "missing" not found$/);
});

Deno.test("field selectors accept the selectable fields of a version, and no others", async () => {
  await using wire = await serverWith(
    version("v1", { host: TEXT, size: { type: "integer" } }, {
      storage: true,
      selectableFields: [{ jsonPath: ".spec.host" }, { jsonPath: ".spec.size" }],
    }),
  );
  await wire.post(collection("v1"), website("a", "v1", { host: "h", size: 1 }));
  await wire.post(collection("v1"), website("b", "v1", { host: "i" }));

  const names = async (selector: string) =>
    (await wire.get(`${collection("v1")}?fieldSelector=${encodeURIComponent(selector)}`)).body.items
      .map((item: Json) => item.metadata.name);

  assert.deepEqual(await names("spec.host=h"), ["a"]);
  assert.deepEqual(await names("spec.size=1,spec.host!=i"), ["a"]);
  assert.deepEqual(await names("spec.size="), ["b"]);
  const { status, body } = await wire.get(`${collection("v1")}?fieldSelector=spec.name%3Da`);
  assert.deepEqual([status, body.message], [400, "field label not supported: spec.name"]);
});

Deno.test("the scale of a custom kind reads and writes the replicas at the declared path", async () => {
  await using wire = await serverWith(
    version("v1", { want: { type: "object", properties: { count: { type: "integer", maximum: 5 } } } }, {
      storage: true,
      subresources: { scale: { specReplicasPath: ".spec.want.count", statusReplicasPath: ".status.have" } },
    }),
  );
  await wire.post(collection("v1"), website("a", "v1", { want: { count: 2 } }));
  await wire.post(collection("v1"), website("b", "v1", {}));
  const scale = `${collection("v1")}/a/scale`;

  assert.deepEqual((await wire.get(scale)).body.spec, { replicas: 2 });
  assert.deepEqual((await wire.merge(scale, { spec: { replicas: 4 } })).body.spec, { replicas: 4 });
  assert.deepEqual((await wire.get(`${collection("v1")}/a`)).body.spec, { want: { count: 4 } });
  assert.match((await wire.merge(scale, { spec: { replicas: 6 } })).body.message, /should be less than or equal to 5/);
  assert.match((await wire.merge(scale, { spec: { replicas: -1 } })).body.message, /should be a non-negative integer/);
  assert.match((await wire.get(`${collection("v1")}/b/scale`)).body.message, /".spec.want.count" does not exist/);
});
