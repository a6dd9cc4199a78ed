import assert from "node:assert/strict";
import { type InferSchema, type InputSchema, type JsonSchema, s } from "../../schema/mod.ts";
import { CONDITIONS } from "../../resource/conditions.ts";
import type { LabelSelector as LabelSelectorOfKinds, PodSpecInput } from "../mod.ts";
import * as full from "./full/mod.ts";
import * as plain from "./mod.ts";
import * as short from "./short/mod.ts";

const { Condition, Container, EnvVar, LabelSelector, ObjectMeta, PodSpec, PodTemplateSpec, ResourceRequirements } =
  plain;

/** Yields every node of a schema, with its path. */
function* nodesOf(schema: JsonSchema, path = ""): Generator<readonly [string, JsonSchema]> {
  yield [path, schema];
  for (const [name, property] of Object.entries(schema.properties ?? {})) yield* nodesOf(property, `${path}.${name}`);
  if (schema.items) yield* nodesOf(schema.items, `${path}[]`);
  if (typeof schema.additionalProperties === "object") yield* nodesOf(schema.additionalProperties, `${path}{}`);
}

Deno.test("a built-in schema is the JSON Schema of Kubernetes' OpenAPI", () => {
  assert.deepEqual(EnvVar.required, ["name"]);
  assert.deepEqual(LabelSelector, {
    type: "object",
    properties: {
      matchExpressions: {
        type: "array",
        items: {
          type: "object",
          required: ["key", "operator"],
          properties: {
            key: { type: "string" },
            operator: { type: "string" },
            values: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "atomic" },
          },
        },
        "x-kubernetes-list-type": "atomic",
      },
      matchLabels: { type: "object", additionalProperties: { type: "string" } },
    },
    "x-kubernetes-map-type": "atomic",
  });
  const { ports } = Container.properties!;
  assert.deepEqual(ports!["x-kubernetes-list-map-keys"], ["containerPort", "protocol"]);
  assert.deepEqual(ports!.items!.properties!.protocol, {
    type: "string",
    enum: ["SCTP", "TCP", "UDP"],
    default: "TCP",
  });
});

Deno.test("built-in schemas have the quantities and int-or-strings of controller-gen", () => {
  assert.deepEqual(plain.Quantity, s.quantity());
  assert.deepEqual(ResourceRequirements.properties!.limits!.additionalProperties, s.quantity());
  assert.deepEqual(plain.HTTPGetAction.properties!.port, s.intOrString());
  assert.deepEqual(plain.IntOrString, s.intOrString());
  assert.deepEqual([plain.Time, plain.MicroTime, plain.Duration], [s.dateTime(), s.dateTime(), s.duration()]);
});

Deno.test("metadata of a template has the properties that controller-gen generates", () => {
  assert.deepEqual(Object.keys(ObjectMeta.properties!).sort(), [
    "annotations",
    "finalizers",
    "labels",
    "name",
    "namespace",
  ]);
  assert.deepEqual(PodTemplateSpec.properties!.metadata, ObjectMeta);
});

Deno.test("an embedded object has no status, and its kind is fixed", () => {
  const { properties } = plain.PersistentVolumeClaim;
  assert.deepEqual(Object.keys(properties!), ["apiVersion", "kind", "metadata", "spec"]);
  assert.deepEqual(properties!.kind, { type: "string", enum: ["PersistentVolumeClaim"] });
});

Deno.test("a struct with required properties is itself required", () => {
  assert.deepEqual(PodTemplateSpec.required, ["spec"]);
  assert.deepEqual(plain.JobTemplateSpec.required, ["spec"]);
});

Deno.test("a list map with an optional key is atomic, because an API server would reject the CustomResourceDefinition otherwise", () => {
  assert.equal(plain.ServiceAccount.properties!.secrets!["x-kubernetes-list-type"], "atomic");
  assert.equal(PodSpec.properties!.imagePullSecrets!["x-kubernetes-list-type"], "map");
  assert.equal(PodSpec.properties!.imagePullSecrets!.items!.properties!.name!.default, "");
});

Deno.test("Condition equals the schema of conditions in each status", () => {
  const sorted = ({ required, ...node }: JsonSchema) => ({ ...node, required: required?.toSorted() });
  assert.deepEqual(sorted(Condition), sorted(CONDITIONS.items!));
});

Deno.test("built-in schemas are deeply frozen", () => {
  for (const [name, schema] of [...Object.entries(plain), ...Object.entries(full)]) {
    for (const [path, node] of nodesOf(schema)) {
      for (const part of [node, ...Object.values(node)]) {
        if (typeof part === "object") assert(Object.isFrozen(part), `${name}${path}`);
      }
    }
  }
});

Deno.test("built-in schemas are structural: each node has a type, without references and defaults of items", () => {
  for (const [name, schema] of Object.entries(plain)) {
    for (const [path, node] of nodesOf(schema)) {
      const isOpen = node["x-kubernetes-int-or-string"] || node["x-kubernetes-preserve-unknown-fields"];
      assert(node.type !== undefined || isOpen, `${name}${path} has no type`);
      assert(!("$ref" in node), `${name}${path} is a reference`);
      assert(!/[\]}]$/.test(path) || node.default === undefined, `${name}${path} has a default`);
      assert(node.description === undefined, `${name}${path} has a description`);
    }
  }
});

function withoutDescriptions(schema: JsonSchema): JsonSchema {
  return JSON.parse(
    JSON.stringify(schema),
    (key, value) => key === "description" && typeof value === "string" ? undefined : value,
  );
}

for (const [length, described] of [["short", short], ["full", full]] as const) {
  Deno.test(`schemas/${length} has the same schemas, with descriptions`, () => {
    assert.deepEqual(Object.keys(described).sort(), Object.keys(plain).sort());
    for (const [name, schema] of Object.entries(described)) {
      assert.deepEqual(withoutDescriptions(schema), plain[name as keyof typeof plain], name);
    }
  });
}

Deno.test("each field has its description, or that of its type, at every depth", () => {
  const container = full.PodSpec.properties!.containers!.items!;
  assert.match(container.description!, /^A single application container that you want to run within a pod/);
  assert.match(
    container.properties!.resources!.description!,
    /^Compute Resources required by this container\..*\n?More info: http/,
  );
  assert.equal(
    short.PodSpec.properties!.containers!.items!.properties!.resources!.description,
    "Compute Resources required by this container.",
  );
  assert.equal(
    full.Container.properties!.ports!.items!.properties!.containerPort!.description,
    "Number of port to expose on the pod's IP address. This must be a valid port number, 0 < x < 65536.",
  );
  const bare = [...nodesOf(short.PodSpec)].filter(([path, { description }]) => !description && /[A-Za-z]$/.test(path));
  assert.deepEqual(bare.map(([path]) => path), []);
});

Deno.test("pick, extend and partial keep descriptions", () => {
  const pod = s.partial(s.extend(s.pick(short.PodSpec, ["containers", "affinity"]), { size: s.string() }));
  assert.equal(pod.properties!.affinity!.description, "If specified, the pod's scheduling constraints");
  assert.deepEqual(pod.properties!.affinity, short.PodSpec.properties!.affinity);
  assert.equal(pod.required, undefined);
});

Deno.test("pick, omit, extend, partial and with accept built-in schemas", () => {
  assert.deepEqual(s.pick(PodSpec, ["containers", "volumes"]).required, ["containers"]);
  assert.equal(s.omit(PodSpec, ["containers"]).required, undefined);
  assert.deepEqual(s.extend(PodSpec, { size: s.string() }).required, ["containers", "size"]);
  assert.equal(s.with(PodSpec, { description: "The pod to run." }).description, "The pod to run.");
  assert.deepEqual(s.object({ pod: PodSpec, resources: s.optional(ResourceRequirements) }).required, ["pod"]);
});

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
function same<A, B>(_: Same<A, B>): void {}

Deno.test("built-in schemas have the input types of the kinds", () => {
  same<InferSchema<typeof PodSpec>, PodSpecInput>(true);
  same<InputSchema<typeof PodSpec>, PodSpecInput>(true);
  same<InferSchema<typeof LabelSelector>, LabelSelectorOfKinds>(true);
  same<plain.PodSpec, PodSpecInput>(true);
  same<plain.Quantity, InferSchema<typeof plain.Quantity>>(true);

  const spec = s.object({
    pod: s.partial(s.omit(PodSpec, ["volumes"])),
    containers: s.array(s.extend(s.pick(Container, ["name", "image"]), { size: s.enum(["small", "large"]) })),
    selector: s.optional(LabelSelector),
  });
  type Spec = InferSchema<typeof spec>;
  same<Spec["containers"][number]["image"], string | undefined>(true);
  same<Spec["containers"][number]["size"], "small" | "large">(true);
  same<Spec["selector"], LabelSelectorOfKinds | undefined>(true);
  same<Spec["pod"]["containers"], PodSpecInput["containers"] | undefined>(true);
  ({
    pod: { terminationGracePeriodSeconds: 5 },
    containers: [{ name: "web", size: "small" }],
  }) satisfies InputSchema<typeof spec>;
});

/** Never called. Each statement must be a compile-time error. */
export function typeErrors(pod: InferSchema<typeof PodSpec>): void {
  // @ts-expect-error the restart policy has no default in a custom resource
  pod.restartPolicy.length;
  // @ts-expect-error a PodSpec has no property container
  s.pick(PodSpec, ["container"]);
  // @ts-expect-error a container requires a name
  ({ containers: [{ image: "nginx" }] }) satisfies InputSchema<typeof PodSpec>;
  // @ts-expect-error a template's metadata has no owner references
  ({ metadata: { ownerReferences: [] }, spec: { containers: [] } }) satisfies InputSchema<typeof PodTemplateSpec>;
}
