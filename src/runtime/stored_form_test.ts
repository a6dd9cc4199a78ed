import assert from "node:assert/strict";
import { brotliDecompressSync } from "node:zlib";
import { packedDescriptions } from "../openapi/descriptions.gen.ts";
import { formInside, isSameValue, stored, storedForm } from "./stored_form.ts";

interface Case {
  readonly name: string;
  readonly wanted: unknown;
  readonly live: unknown;
  /** `apiVersion`, kind and the path of the fields that lead to the values. */
  readonly at: string;
  readonly expected: boolean;
}

const CONTAINER = "apps/v1 Deployment spec template spec containers";
const LIMITS = `${CONTAINER} resources limits`;
const TOLERATIONS = "v1 Pod spec tolerations";
const INGRESS = "networking.k8s.io/v1 NetworkPolicy spec ingress";
const SCHEMA = "apiextensions.k8s.io/v1 CustomResourceDefinition spec versions schema openAPIV3Schema";
const CUSTOM = "demo.example.com/v1 Site spec";

const CASES: readonly Case[] = [
  {
    name: "a field of the first type in the generated data",
    wanted: { expression: "" },
    live: {},
    at: "admissionregistration.k8s.io/v1 MutatingAdmissionPolicy spec mutations applyConfiguration",
    expected: true,
  },
  { name: "a quantity in canonical form", wanted: "1000m", live: "1", at: `${LIMITS} cpu`, expected: true },
  { name: "a quantity that is a number", wanted: 1, live: "1", at: `${LIMITS} cpu`, expected: true },
  { name: "another quantity", wanted: "1001m", live: "1", at: `${LIMITS} cpu`, expected: false },
  { name: "an invalid quantity", wanted: "x", live: "1", at: `${LIMITS} cpu`, expected: false },
  { name: "a whole map of quantities", wanted: { cpu: "500m" }, live: { cpu: "0.5" }, at: LIMITS, expected: true },
  {
    name: "a map of quantities with an additional one",
    wanted: { cpu: "1" },
    live: { cpu: "1", memory: "1" },
    at: LIMITS,
    expected: false,
  },
  {
    name: "the tolerance of an autoscaler",
    wanted: "0.10",
    live: "100m",
    at: "autoscaling/v2 HorizontalPodAutoscaler spec behavior scaleDown tolerance",
    expected: true,
  },
  {
    name: "a string that looks like a quantity",
    wanted: "1000m",
    live: "1",
    at: "v1 ConfigMap data limits",
    expected: false,
  },
  { name: "an environment variable", wanted: "1.10", live: "1.1", at: `${CONTAINER} env value`, expected: false },
  { name: "an empty list that was dropped", wanted: [], live: undefined, at: `${CONTAINER} env`, expected: true },
  { name: "a list that was emptied", wanted: [], live: [1], at: `${CONTAINER} env`, expected: false },
  {
    name: "false that was dropped",
    wanted: false,
    live: undefined,
    at: "apps/v1 Deployment spec paused",
    expected: true,
  },
  {
    name: "0 that was dropped",
    wanted: 0,
    live: undefined,
    at: "apps/v1 Deployment spec minReadySeconds",
    expected: true,
  },
  {
    name: "an empty string that was dropped",
    wanted: "",
    live: undefined,
    at: `${CONTAINER} env value`,
    expected: true,
  },
  { name: "false where it is true", wanted: false, live: true, at: "apps/v1 Deployment spec paused", expected: false },
  {
    name: "an empty string that was dropped from a value that is owned as a whole",
    wanted: [{ key: "mine", operator: "Exists", value: "" }],
    live: [{ key: "mine", operator: "Exists" }],
    at: TOLERATIONS,
    expected: true,
  },
  {
    name: "a new 0 of a pointer in a value that is owned as a whole (it evicts at once)",
    wanted: [{ key: "mine", effect: "NoExecute", tolerationSeconds: 0 }],
    live: [{ key: "mine", effect: "NoExecute" }],
    at: TOLERATIONS,
    expected: false,
  },
  {
    name: "an additional field in a value that is owned as a whole",
    wanted: [{ key: "a" }],
    live: [{ key: "a", operator: "Exists" }],
    at: TOLERATIONS,
    expected: false,
  },
  {
    name: "a new 0 of a pointer in an empty object",
    wanted: { runAsUser: 0 },
    live: {},
    at: "v1 Pod spec securityContext",
    expected: false,
  },
  {
    name: "an empty object whose presence has a meaning",
    wanted: [{ from: [{ podSelector: { matchLabels: { a: "b" } }, namespaceSelector: {} }] }],
    live: [{ from: [{ podSelector: { matchLabels: { a: "b" } } }] }],
    at: INGRESS,
    expected: false,
  },
  {
    name: "an empty list and an empty map in a value that is owned as a whole",
    wanted: [{ from: [{ podSelector: { matchLabels: {} } }], ports: [] }],
    live: [{ from: [{ podSelector: {} }] }],
    at: INGRESS,
    expected: true,
  },
  {
    name: "zeros in the schema of a custom kind",
    wanted: { type: "object", properties: { size: { type: "integer", description: "", nullable: false } } },
    live: { type: "object", properties: { size: { type: "integer" } } },
    at: SCHEMA,
    expected: true,
  },
  { name: "true that was removed", wanted: { nullable: true }, live: {}, at: SCHEMA, expected: false },
  {
    name: "a new zero in raw JSON, such as the default of a schema",
    wanted: { properties: { key: { default: { key: "", limits: { cpu: "1000m" } } } } },
    live: { properties: { key: { default: { limits: { cpu: "1" } } } } },
    at: SCHEMA,
    expected: false,
  },
  {
    name: "a field that a later version of Kubernetes may have",
    wanted: [{ later: "" }],
    live: [{}],
    at: TOLERATIONS,
    expected: false,
  },
  { name: "false for a missing field", wanted: false, live: undefined, at: `${CUSTOM} paused`, expected: false },
  { name: "0 for a missing field", wanted: 0, live: undefined, at: `${CUSTOM} replicas`, expected: false },
  { name: "an empty string for a missing field", wanted: "", live: undefined, at: `${CUSTOM} class`, expected: false },
  {
    name: "false that is new in a list",
    wanted: [{ a: 1, on: false }],
    live: [{ a: 1 }],
    at: `${CUSTOM} parts`,
    expected: false,
  },
  { name: "false in an empty object", wanted: { nullable: false }, live: {}, at: CUSTOM, expected: false },
  {
    name: "a list that is new in a list",
    wanted: [{ a: 1, b: [] }],
    live: [{ a: 1 }],
    at: `${CUSTOM} parts`,
    expected: false,
  },
  {
    name: "a version that looks like a number",
    wanted: "1.10",
    live: "1.1",
    at: `${CUSTOM} limits go`,
    expected: false,
  },
  { name: "a quantity in another form", wanted: "1000m", live: "1", at: `${CUSTOM} limits cpu`, expected: false },
  { name: "an equal value", wanted: [{ on: false }], live: [{ on: false }], at: `${CUSTOM} parts`, expected: true },
];

for (const { name, wanted, live, at, expected } of CASES) {
  Deno.test(`isSameValue returns ${expected} for ${name} at ${at}`, () => {
    const [apiVersion = "", kind = "", ...path] = at.split(" ");
    assert.equal(isSameValue(wanted, live, path.reduce(formInside, storedForm({ apiVersion, kind }))), expected);
  });
}

Deno.test("stringData of a Secret is the only write-only field of built-in kinds", () => {
  const packed = Uint8Array.from(atob(packedDescriptions), (character) => character.charCodeAt(0));
  const described = JSON.parse(brotliDecompressSync(packed).toString()) as Record<string, { texts: object }>;
  const writeOnly = Object.entries(described).flatMap(([name, { texts }]) =>
    Object.entries(texts).flatMap(([field, text]) => /write-only/.test(text) ? [`${name} ${field}`] : [])
  );
  assert.deepEqual(writeOnly, ["io.k8s.api.core.v1.Secret stringData"]);
});

Deno.test("stored writes a Secret's stringData over its data, and does not change other kinds", () => {
  const secret = { apiVersion: "v1", kind: "Secret", data: { a: "eA==", b: "eQ==" }, stringData: { b: "é" } };
  assert.deepEqual(stored(secret as never), { apiVersion: "v1", kind: "Secret", data: { a: "eA==", b: "w6k=" } });
  const other = { apiVersion: "demo.example.com/v1", kind: "Secret", stringData: { b: "x" } };
  assert.equal(stored(other as never), other);
});
