import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { brotliDecompressSync } from "node:zlib";
import { descriptionsModule, openapiModule } from "./openapi_data.ts";

const discovery = {
  items: [{
    metadata: { name: "apps" },
    versions: [{
      version: "v1",
      resources: [{
        resource: "deployments",
        responseKind: { group: "", version: "", kind: "Deployment" },
        scope: "Namespaced" as const,
        singularResource: "deployment",
        shortNames: ["deploy"],
        verbs: ["get"],
        subresources: [
          {
            subresource: "scale",
            responseKind: { group: "autoscaling", version: "v1", kind: "Scale" },
            verbs: ["get"],
          },
        ],
      }],
    }],
  }],
};
const document = {
  paths: {
    "/apis/apps/v1/namespaces/{namespace}/deployments/{name}": {
      delete: {
        "x-kubernetes-action": "delete",
        responses: {
          200: { content: { "application/json": { schema: { $ref: "#/components/schemas/apps.v1.Deployment" } } } },
        },
      },
    },
  },
  components: {
    schemas: {
      "apps.v1.Deployment": {
        type: "object",
        description: 'It\'s a "text"',
        properties: {
          description: { type: "string", description: "a field of this name stays" },
          spec: { default: {}, allOf: [{ $ref: "#/components/schemas/apps.v1.Spec" }] },
          quote: { type: "string", pattern: "it's \\d" },
        },
        "x-kubernetes-group-version-kind": [{ group: "apps", version: "v1", kind: "Deployment" }],
      },
      "apps.v1.Spec": { type: "object" },
    },
  },
};

const tables = new Map([
  ["apps/deployments", [
    { name: "Name", type: "string", format: "name", description: "its name", priority: 0 },
    { name: "Images", type: "string", format: "", description: "its images", priority: 1 },
  ]],
]);

async function imported(): Promise<typeof import("../src/openapi/kubernetes.gen.ts")> {
  const text = openapiModule("v1.36.3", [discovery], [document], tables);
  return await import(`data:application/typescript,${encodeURIComponent(text)}`);
}

Deno.test("openapiModule contains the definition of each kind and the kind that a subresource returns", async () => {
  const { resources, version } = await imported();

  assert.equal(version, "v1.36.3");
  assert.equal(resources.length, 1);
  assert.equal(resources[0]?.group, "apps");
  assert.equal(resources[0]?.schema, "apps.v1.Deployment");
  assert.deepEqual(resources[0]?.subresources?.[0], {
    name: "scale",
    group: "autoscaling",
    version: "v1",
    kind: "Scale",
    verbs: ["get"],
  });
});

Deno.test("openapiModule marks kinds whose deletion returns the deleted object", async () => {
  const { resources } = await imported();

  assert.equal(resources[0]?.returnsDeleted, true);
});

Deno.test("openapiModule drops descriptions, but no fields of that name, and simplifies references", async () => {
  const { definitions } = await imported();

  assert.deepEqual(JSON.parse(definitions["apps.v1.Deployment"] ?? ""), {
    type: "object",
    properties: {
      description: { type: "string" },
      spec: { default: {}, $ref: "apps.v1.Spec" },
      quote: { type: "string", pattern: "it's \\d" },
    },
  });
});

Deno.test("openapiModule contains the columns of tables, without duplicate descriptions", async () => {
  const { columns, columnTexts } = await imported();

  assert.deepEqual(columns["apps/deployments"], [["Name", "string", "name", 0, 0], ["Images", "string", "", 1, 1]]);
  assert.deepEqual(columnTexts, ["its name", "its images"]);
});

Deno.test("descriptionsModule contains the descriptions and kinds of definitions", async () => {
  const text = descriptionsModule("v1.36.3", [document]);
  const { packedDescriptions } = await import(`data:application/typescript,${encodeURIComponent(text)}`);

  assert.deepEqual(JSON.parse(brotliDecompressSync(Buffer.from(packedDescriptions, "base64")).toString()), {
    "apps.v1.Deployment": {
      kinds: [{ group: "apps", version: "v1", kind: "Deployment" }],
      texts: { "": 'It\'s a "text"', description: "a field of this name stays" },
    },
    "apps.v1.Spec": { texts: {} },
  });
});
