/** A real API server accepts and stores the definitions that `resource()` builds. */
import assert from "node:assert/strict";
import { type AnyKind, resource, s } from "@op/sdk";
import { Website } from "../../examples/01_website/website.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient } from "../fixtures/watched.ts";
import { eventually } from "../eventually.ts";

const Everything = resource({
  group: "schemas.example.com",
  version: "v1alpha1",
  kind: "Policy",
  shortNames: ["pol"],
  categories: ["all"],
  scope: "Cluster",
  description: "Uses each schema builder",
  spec: s.object({
    text: s.string({ minLength: 1, maxLength: 20, pattern: "^[a-z]+$", default: "abc" }),
    host: s.optional(s.string({ format: "hostname" })),
    count: s.integer({ format: "int32", minimum: 1, maximum: 9, exclusiveMaximum: true, multipleOf: 2, default: 2 }),
    ratio: s.number({ minimum: 0, default: 0.5 }),
    on: s.boolean({ default: true }),
    size: s.enum(["small", "large"], { default: "small" }),
    only: s.optional(s.literal("this")),
    names: s.array(s.string(), { listType: "set", maxItems: 5, default: [] }),
    ports: s.array(s.object({ port: s.integer(), protocol: s.string({ default: "TCP" }) }), {
      listType: "map",
      listMapKeys: ["port", "protocol"],
      default: [],
    }),
    lines: s.array(s.string(), { listType: "atomic", default: [] }),
    labels: s.map(s.string(), { default: {} }),
    surge: s.optional(s.intOrString({ minimum: 1, maximum: 9, minLength: 2, maxLength: 4 })),
    memory: s.optional(s.quantity({
      maxLength: 20,
      validations: [{ rule: "quantity(string(self)).isGreaterThan(quantity('1Mi'))" }],
    })),
    none: s.optional(s.nullable(s.string())),
    free: s.optional(s.anything()),
  }),
  status: s.object({ seen: s.optional(s.integer()) }),
  columns: {
    Text: ".spec.text",
    Seen: { path: ".status.seen", priority: 1, description: "How often" },
    Ready: '.status.conditions[?(@.type=="Ready")].status',
    Age: ".metadata.creationTimestamp",
  },
});

const Bare = resource({ group: "schemas.example.com", version: "v2", kind: "Bare" });

const Scaled = resource({
  group: "schemas.example.com",
  version: "v1",
  kind: "Fleet",
  labels: { team: "web" },
  annotations: { "schemas.example.com/why": "a test" },
  spec: s.object({
    replicas: s.integer({ minimum: 0, default: 1 }),
    host: s.string({ maxLength: 100 }),
    labels: s.map(s.string(), { maxProperties: 3, default: {} }),
    list: s.array(s.object({ name: s.string(), size: s.integer() }), { default: [] }),
  }),
  status: s.object({ ready: s.integer(), selector: s.string() }),
  scale: { specReplicas: ".spec.replicas", statusReplicas: ".status.ready", labelSelector: ".status.selector" },
  selectableFields: [".spec.host", ".spec.replicas", ".spec.labels.app", ".status.ready"],
  validations: [{
    rule: "self.metadata.name != self.spec.host",
    message: "the name is not the host",
    fieldPath: ".spec.host",
  }],
  columns: {
    Host: { path: ".spec.host", priority: 1, format: "password", description: "Where" },
    Large: ".spec.list[?(@.size>=3)].name",
    Other: '.spec.list[?(@.name!="a")].size',
    First: ".spec.list[0:2].name",
    Ready: '.status.conditions[?(@.type=="Ready")].status',
  },
});

const point = s.object({ x: s.integer(), y: s.integer(), label: s.optional(s.string()) });

const Shapes = resource({
  group: "schemas.example.com",
  version: "v1",
  kind: "Shape",
  spec: s.object({
    memory: s.quantity({ default: "1Gi" }),
    every: s.duration({ default: "5m" }),
    since: s.optional(s.dateTime()),
    data: s.optional(s.bytes()),
    template: s.optional(s.embeddedResource()),
    source: s.optional(
      s.exactlyOneOf(s.object({ url: s.optional(s.string()), path: s.optional(s.string()) }), ["url", "path"]),
    ),
    target: s.optional(
      s.atMostOneOf(s.object({ url: s.optional(s.string()), path: s.optional(s.string()) }), ["url", "path"], {
        as: "schema",
      }),
    ),
    either: s.optional(s.atLeastOneOf(s.object({ a: s.optional(s.string()), b: s.optional(s.string()) }), ["a", "b"])),
    host: s.immutable(s.string({ maxLength: 63 })),
    part: s.optional(s.pick(point, ["x"])),
    rest: s.optional(s.omit(point, ["x"])),
    more: s.optional(s.extend(point, { z: s.integer() })),
    some: s.optional(s.partial(point)),
    note: s.with(s.optional(s.string()), { title: "Note", deprecated: "use label" }),
    raw: s.optional(s.raw<string>({ type: "string", maxLength: 3, description: "", nullable: false })),
    open: s.optional(s.object({ a: s.string() }, { preserveUnknownFields: true })),
    even: s.optional(s.integer({ anyOf: [{ multipleOf: 2 }, { maximum: 1 }], validations: [{ rule: "self != 3" }] })),
  }),
  columns: { Memory: ".spec.memory", Since: ".spec.since", Kind: ".spec.template.kind" },
});

const Quiet = resource({
  group: "schemas.example.com",
  version: "v1",
  kind: "Quiet",
  status: s.object({ phase: s.string() }),
  conditions: false,
  deprecated: "use another",
});

const BOOK = { group: "schemas.example.com", kind: "Book" } as const;
const selectable = { selectableFields: [".spec.title", ".spec.pages"] } as const;
const BookV1Alpha1 = resource({ ...BOOK, version: "v1alpha1", served: false, spec: s.object({ title: s.string() }) });
const BookV1 = resource({
  ...BOOK,
  ...selectable,
  version: "v1",
  deprecated: true,
  spec: s.object({ title: s.string(), pages: s.integer() }),
  columns: { Title: ".spec.title" },
});
const Book = resource({
  ...BOOK,
  ...selectable,
  version: "v2",
  shortNames: ["bk"],
  spec: s.object({ title: s.string(), pages: s.integer(), author: s.optional(s.string()) }),
  versions: [BookV1, BookV1Alpha1],
  storage: "v1",
});

Deno.test("a real API server accepts the definitions of resource() with strict field validation, and returns them unchanged", async (t) => {
  await using cluster = await realCluster();
  for (const kind of [Website, Everything, Bare, Scaled, Shapes, Quiet, Book] as readonly AnyKind[]) {
    await t.step(`the server accepts the definition of ${kind.kind}, and returns it unchanged`, async () => {
      const response = await cluster.fetch(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?fieldValidation=Strict",
        {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(kind.crd),
        },
      );
      const created = await response.json();
      assert.equal(response.status, 201, JSON.stringify(created));
      assert.equal(response.headers.get("warning"), null);
      const { conversion, ...spec } = created.spec;
      assert.deepEqual(conversion, { strategy: "None" });
      const { conversion: _, ...sent } = JSON.parse(JSON.stringify(kind.crd!.spec));
      assert.deepEqual(spec, sent);
      assert.deepEqual([created.metadata.labels, created.metadata.annotations], [
        kind.crd!.metadata.labels,
        kind.crd!.metadata.annotations,
      ]);
    });
  }
  await t.step("the server serves the served versions of a kind, and warns about a deprecated one", async () => {
    const client = adminClient(cluster);
    // A definition is served shortly after its creation.
    await eventually(() =>
      client.create(Book, {
        metadata: { name: "a", namespace: "default" },
        spec: { title: "x", pages: 1, author: "y" },
      })
    );
    const old = await client.get(BookV1, "a", { namespace: "default" });
    assert.deepEqual(old.spec, { title: "x", pages: 1 });
    assert.equal(old.apiVersion, "schemas.example.com/v1");
    const path = "/apis/schemas.example.com/v2/namespaces/default/books";
    const found = await (await cluster.fetch(`${path}?fieldSelector=spec.pages%3D1`)).json();
    assert.equal(found.items.length, 1);
    assert.equal((await cluster.fetch(path.replace("v2", "v1alpha1"))).status, 404);
    const warned = await cluster.fetch(path.replace("v2", "v1"));
    await warned.body?.cancel();
    assert.equal(
      warned.headers.get("warning"),
      '299 - "schemas.example.com/v1 Book is deprecated; use schemas.example.com/v2 Book"',
    );
  });
  await t.step("the scale subresource changes the declared path", async () => {
    const client = adminClient(cluster);
    await eventually(() =>
      client.create(Scaled, { metadata: { name: "a", namespace: "default" }, spec: { host: "h" } })
    );
    const scaled = await cluster.fetch("/apis/schemas.example.com/v1/namespaces/default/fleets/a/scale", {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify({ spec: { replicas: 3 } }),
    });
    assert.deepEqual((await scaled.json()).spec, { replicas: 3 });
    assert.equal((await client.get(Scaled, "a", { namespace: "default" })).spec.replicas, 3);
  });
  await t.step("the server fills in the defaults of the schema", async () => {
    const client = adminClient(cluster);
    const created = await eventually(() => client.create(Everything, { metadata: { name: "a" }, spec: {} }));
    assert.deepEqual(created.spec, {
      text: "abc",
      count: 2,
      ratio: 0.5,
      on: true,
      size: "small",
      names: [],
      ports: [],
      lines: [],
      labels: {},
    });
  });
});
