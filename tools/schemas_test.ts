import assert from "node:assert/strict";
import { collectKinds, type Discovery, type OpenApiDocument, type OpenApiSchema } from "./kinds/model.ts";
import { renderDescribed, renderSchemas } from "./schemas/render.ts";
import { type Definition, structuralDefinitions } from "./schemas/structural.ts";

const CORE = "io.k8s.api.core.v1";
const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const ref = (id: string) => ({ $ref: `#/components/schemas/${id}` });
const struct = (id: string) => ({ default: {}, allOf: [ref(id)] });
const list = (items: OpenApiSchema, type: "atomic" | "set" | "map", ...keys: string[]): OpenApiSchema => ({
  type: "array",
  items,
  "x-kubernetes-list-type": type,
  ...(keys.length > 0 && { "x-kubernetes-list-map-keys": keys }),
});

const DISCOVERY: Discovery = {
  items: [{
    metadata: {},
    versions: [{
      version: "v1",
      resources: [{
        resource: "pods",
        singularResource: "pod",
        responseKind: { kind: "Pod" },
        scope: "Namespaced",
        verbs: ["get"],
      }],
    }],
  }],
};

function documentOf(more: { readonly [id: string]: OpenApiSchema } = {}): OpenApiDocument {
  return {
    components: {
      schemas: {
        [`${CORE}.Pod`]: {
          description: "A Pod runs. It is small.",
          properties: {
            apiVersion: { type: "string" },
            kind: { type: "string" },
            metadata: struct(`${META}.ObjectMeta`),
            spec: struct(`${CORE}.PodSpec`),
            status: struct(`${CORE}.PodSpec`),
          },
          "x-kubernetes-group-version-kind": [{ group: "", version: "v1", kind: "Pod" }],
        },
        [`${CORE}.PodSpec`]: {
          required: ["ports"],
          properties: {
            ports: list(struct(`${CORE}.Port`), "map", "number", "protocol"),
            references: list(struct(`${CORE}.Reference`), "map", "name"),
            names: list({ type: "string", default: "" }, "set"),
            limits: { type: "object", additionalProperties: ref("io.k8s.apimachinery.pkg.api.resource.Quantity") },
            started: ref(`${META}.Time`),
            data: ref("io.k8s.apimachinery.pkg.runtime.RawExtension"),
            port: { description: "Its port. Or none.", ...struct(`${CORE}.Port`) },
          },
        },
        [`${CORE}.Port`]: {
          description: "A port. It is open.",
          required: ["number"],
          properties: {
            number: { type: "integer", format: "int32", default: 0, description: "What number. From 1." },
            protocol: { type: "string", default: "TCP", enum: ["TCP", "UDP"] },
            target: ref("io.k8s.apimachinery.pkg.util.intstr.IntOrString"),
          },
        },
        [`${CORE}.Reference`]: { properties: { name: { type: "string" } }, "x-kubernetes-map-type": "atomic" },
        [`${META}.ObjectMeta`]: {
          properties: { name: { type: "string" }, uid: { type: "string" }, labels: { type: "object" } },
        },
        [`${META}.Time`]: { type: "string", format: "date-time" },
        "io.k8s.apimachinery.pkg.runtime.RawExtension": { type: "object" },
        "io.k8s.apimachinery.pkg.api.resource.Quantity": { oneOf: [{ type: "string" }, { type: "number" }] },
        "io.k8s.apimachinery.pkg.util.intstr.IntOrString": { oneOf: [{ type: "integer" }, { type: "string" }] },
        ...more,
      },
    },
  };
}

function definitions(more?: { readonly [id: string]: OpenApiSchema }): Map<string, Definition> {
  const all = structuralDefinitions(collectKinds([DISCOVERY], [documentOf(more)]));
  return new Map(all.map((definition) => [definition.id.replace(/^.*\./, ""), definition]));
}

Deno.test("structuralDefinitions returns each definition after those that it refers to", () => {
  assert.deepEqual([...definitions().keys()], ["ObjectMeta", "Port", "Reference", "PodSpec", "Pod"]);
});

Deno.test("structuralDefinitions converts OpenAPI types to valid structural schemas", () => {
  assert.deepEqual(definitions().get("PodSpec")!.node, {
    type: "object",
    properties: {
      ports: {
        type: "array",
        items: { $ref: `${CORE}.Port` },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["number", "protocol"],
      },
      references: { type: "array", items: { $ref: `${CORE}.Reference` }, "x-kubernetes-list-type": "atomic" },
      names: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
      limits: { type: "object", additionalProperties: { $ref: "io.k8s.apimachinery.pkg.api.resource.Quantity" } },
      started: { type: "string", format: "date-time" },
      data: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      port: { $ref: `${CORE}.Port` },
    },
    required: ["ports", "port"],
  });
  assert.deepEqual(definitions().get("Port")!.node.properties, {
    number: { type: "integer", format: "int32" },
    protocol: { type: "string", enum: ["TCP", "UDP"], default: "TCP" },
    target: { $ref: "io.k8s.apimachinery.pkg.util.intstr.IntOrString" },
  });
  assert.equal(definitions().get("Reference")!.node["x-kubernetes-map-type"], "atomic");
  assert.deepEqual(Object.keys(definitions().get("ObjectMeta")!.node.properties!), ["name", "labels"]);
});

Deno.test("structuralDefinitions returns objects without a status and with fixed apiVersion and kind", () => {
  assert.deepEqual(definitions().get("Pod")!.node, {
    type: "object",
    properties: {
      apiVersion: { type: "string", enum: ["v1"] },
      kind: { type: "string", enum: ["Pod"] },
      metadata: { $ref: `${META}.ObjectMeta` },
      spec: { $ref: `${CORE}.PodSpec` },
    },
    required: ["spec"],
  });
});

Deno.test("structuralDefinitions rejects a definition that contains itself", () => {
  const loop = { [`${CORE}.Reference`]: { properties: { again: list(struct(`${CORE}.Reference`), "atomic") } } };
  assert.throws(() => definitions(loop), {
    message: `Cannot write "${CORE}.Reference" as a structural schema: it contains itself`,
  });
});

function rendered(): { plain: Map<string, string>; short: Map<string, string>; full: Map<string, string> } {
  const model = collectKinds([DISCOVERY], [documentOf()]);
  const all = structuralDefinitions(model);
  return {
    plain: renderSchemas(model, all),
    short: renderDescribed(all, "short"),
    full: renderDescribed(all, "full"),
  };
}

Deno.test("renderSchemas writes a schema and its type under one name", () => {
  const text = rendered().plain.get("core_v1.gen.ts")!;
  assert.equal(
    text.slice(0, text.indexOf("export const Reference")),
    `// Generated by tools/schemas.ts from the OpenAPI documents of a kube-apiserver. Do not edit.
import type { Embedded } from "../embedded.ts";
import type * as types from "../core_v1.gen.ts";
import type { Schema } from "../../schema/schema.ts";
import { builtin } from "./_builtin.ts";
import * as meta_v1 from "./meta_v1.gen.ts";
import { IntOrString, Quantity } from "./scalars.ts";

/** A port. */
export const Port: Schema<types.PortInput, types.PortInput, "required"> = /* @__PURE__ */ builtin('{"type":"object","properties":{` +
      `"number":{"type":"integer","format":"int32"},"protocol":{"type":"string","enum":["TCP","UDP"],"default":"TCP"},` +
      `"target":{"$ref":0}},"required":["number"]}', [IntOrString]);
export type Port = types.PortInput;

`,
  );
  assert.equal(
    rendered().plain.get("latest.gen.ts")!.split("\n").slice(1).join("\n"),
    'export { Pod, PodSpec, Port, Reference } from "./core_v1.gen.ts";\nexport { ObjectMeta } from "./meta_v1.gen.ts";\n',
  );
});

Deno.test("renderDescribed writes the descriptions of a schema and its properties, in full or their first sentence", () => {
  const { short, full } = rendered();
  const port = /export const Port:[^]*?;\n/;
  assert.equal(
    port.exec(short.get("core_v1.gen.ts")!)![0],
    `export const Port: typeof plain.Port = /* @__PURE__ */ described(plain.Port, '{"":"A port.","number":"What number."}');\n`,
  );
  assert.match(
    full.get("core_v1.gen.ts")!,
    /described\(plain\.Port, '\{"":"A port\. It is open\.","number":"What number\. From 1\."\}'\)/,
  );
  assert.match(
    short.get("core_v1.gen.ts")!,
    /'\{"port":"Its port\."\}', \{ ports: Port, references: Reference, port: Port \}/,
  );
});
