/** What `resource()` makes is what a real API server takes, and holds. */
import assert from "node:assert/strict";
import { type AnyKind, resource, s } from "@op/sdk";
import { Website } from "../../examples/01_website/website.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient } from "../_watched.ts";

const Everything = resource({
  group: "schemas.example.com",
  version: "v1alpha1",
  kind: "Policy",
  shortNames: ["pol"],
  categories: ["all"],
  scope: "Cluster",
  description: "Has a bit of everything",
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
    surge: s.optional(s.intOrString()),
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

Deno.test("what resource() makes is accepted by a real API server with strict field validation, and comes back equal", async (t) => {
  await using cluster = await realCluster();
  for (const kind of [Website, Everything, Bare] as readonly AnyKind[]) {
    await t.step(kind.kind, async () => {
      const response = await cluster.fetch(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?fieldValidation=Strict",
        {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(kind.crd),
        },
      );
      const made = await response.json();
      assert.equal(response.status, 201, JSON.stringify(made));
      assert.equal(response.headers.get("warning"), null);
      const { conversion, ...spec } = made.spec;
      assert.deepEqual(conversion, { strategy: "None" });
      assert.deepEqual(spec, JSON.parse(JSON.stringify(kind.crd!.spec)));
    });
  }
  await t.step("and fills in what the schema says", async () => {
    const client = adminClient(cluster);
    const made = await untilServed(() => client.create(Everything, { metadata: { name: "a" }, spec: {} }));
    assert.deepEqual(made.spec, {
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

/** A definition is served a moment after it was made; one that never is fails the test. */
async function untilServed<T>(create: () => Promise<T>): Promise<T> {
  for (const late = AbortSignal.timeout(30_000);; late.throwIfAborted()) {
    try {
      return await create();
    } catch (error) {
      if (!(error instanceof Error && "status" in error && error.status === 404)) throw error;
    }
  }
}
