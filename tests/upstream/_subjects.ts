/** Two kinds of ours that are imported in addition to those of other projects. */
import { parseAllDocuments } from "yaml";
import { isObject } from "../../src/base/json.ts";
import * as kubernetes from "../../src/kinds/schemas/short/mod.ts";
import type { JsonSchema } from "../../src/schema/mod.ts";
import type { Packed } from "../../tools/upstream/pack.ts";
import type { Json } from "./_mutants.ts";

/** A kind with features that are rare in definitions of other projects. */
export async function garden(): Promise<Packed> {
  const text = await Deno.readTextFile(new URL("own.yaml", import.meta.url));
  const [definition, ...objects] = parseAllDocuments(text).map((document) => document.toJS() as Json);
  return {
    kind: "Garden",
    definition: definition!,
    samples: objects.map((object) => ({ from: "own.yaml", object })),
  };
}

/**
 * A large kind as generators create it from Go types that contain pods. Generators drop enums and
 * most defaults, so half of the types of Kubernetes in it differ from those in Kubernetes and must
 * be imported in full.
 */
export function fleet(): Packed {
  const pod = generated(kubernetes.PodSpec);
  const template = object({ metadata: { type: "object" }, spec: pod }, []);
  const ship = object({
    name: { type: "string", minLength: 1, maxLength: 63, pattern: "^[a-z]([-a-z0-9]*[a-z0-9])?$" },
    template,
    maxWait: { type: "string", ...WAIT },
    selector: generated(kubernetes.LabelSelector),
  }, ["name", "template"]);
  const spec = object({
    ships: {
      type: "array",
      items: ship,
      minItems: 1,
      maxItems: 10,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    },
    onExit: template,
    resources: generated(kubernetes.ResourceRequirements),
    claims: { type: "array", items: generated(kubernetes.PersistentVolumeClaimSpec), maxItems: 5 },
    graceWait: { type: "string", ...WAIT, default: "30s" },
    startWait: { type: "string", ...WAIT },
  }, ["ships"]);
  const root = object({
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object" },
    spec,
    status: object({ ready: { type: "integer", format: "int32" } }, []),
  }, ["spec"]);
  const version = {
    name: "v1",
    storage: true,
    served: true,
    subresources: { status: {} },
    additionalPrinterColumns: [{ name: "Ready", type: "integer", jsonPath: ".status.ready" }],
    schema: { openAPIV3Schema: root },
  };
  return {
    kind: "Fleet",
    definition: {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "fleets.own.example.com" },
      spec: {
        group: "own.example.com",
        names: { kind: "Fleet", plural: "fleets", singular: "fleet", listKind: "FleetList" },
        scope: "Namespaced",
        versions: [version],
      },
    },
    samples: SHIPS.map((ship) => ({
      from: `ship ${ship.name}`,
      object: {
        apiVersion: "own.example.com/v1",
        kind: "Fleet",
        metadata: { name: "fleet" },
        spec: { ships: [ship], graceWait: "1m" },
      },
    })),
  };
}

const WAIT: JsonSchema = { pattern: "^([0-9]+(s|m|h))+$", maxLength: 20 };

function object(properties: { readonly [name: string]: JsonSchema }, required: readonly string[]): JsonSchema {
  return { type: "object", properties, ...(required.length > 0 && { required: [...required] }) };
}

/** Returns a type of Kubernetes as generators of definitions write it. */
function generated(schema: JsonSchema): JsonSchema {
  return withoutKeywords(schema) as JsonSchema;
}

function withoutKeywords(value: unknown, isSchema = true): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutKeywords(item));
  if (!isObject(value)) return value;
  // The keys of `properties` are names, one of which may be "enum".
  const entries = Object.entries(value).filter(([key]) => !isSchema || key !== "enum");
  return Object.fromEntries(
    entries.map(([key, item]) => [key, withoutKeywords(item, !(isSchema && key === "properties"))]),
  );
}

const IMAGE = { name: "main", image: "example.com/ship:1" };
const SHIPS: readonly Json[] = [
  { name: "a", template: { spec: { containers: [IMAGE] } }, maxWait: "10s" },
  {
    name: "b",
    selector: { matchLabels: { app: "b" }, matchExpressions: [{ key: "tier", operator: "In", values: ["x"] }] },
    template: {
      spec: {
        initContainers: [{ ...IMAGE, name: "first", command: ["true"], env: [{ name: "A", value: "b" }] }],
        containers: [{
          ...IMAGE,
          ports: [{ containerPort: 80, name: "http" }],
          resources: { limits: { cpu: 1, memory: "1Gi" }, requests: { cpu: "100m" } },
          livenessProbe: { httpGet: { path: "/", port: "http" }, periodSeconds: 5 },
          volumeMounts: [{ name: "data", mountPath: "/data" }],
          securityContext: { runAsNonRoot: true, capabilities: { drop: ["ALL"] } },
        }],
        volumes: [{ name: "data", emptyDir: { sizeLimit: "1Gi" } }, { name: "c", configMap: { name: "c" } }],
        tolerations: [{ key: "a", operator: "Exists" }],
      },
    },
  },
  {
    name: "c",
    template: {
      spec: {
        containers: [{
          ...IMAGE,
          envFrom: [{ secretRef: { name: "s" } }],
          lifecycle: { preStop: { sleep: { seconds: 1 } } },
        }],
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "Exists" }] }],
            },
          },
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, podAffinityTerm: { topologyKey: "zone", labelSelector: { matchLabels: { a: "b" } } } },
            ],
          },
        },
        topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" }],
      },
    },
  },
];
