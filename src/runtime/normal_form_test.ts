import assert from "node:assert/strict";
import { memoryCluster } from "@op/sdk/testing";
import { messages } from "../openapi/protobuf.gen.ts";
import { DROPPED_ZEROS, DROPPED_ZEROS_IN, hasNormalForms, isSameValue, stored } from "./normal_form.ts";

interface Case {
  readonly name: string;
  readonly wanted: unknown;
  readonly live: unknown;
  readonly path: readonly string[];
  readonly expected: boolean;
}

/** Of built-in kinds. */
const SAME: readonly Case[] = [
  { name: "a quantity in canonical form", wanted: "1000m", live: "1", path: ["limits", "cpu"], expected: true },
  { name: "a quantity that is a number", wanted: 1, live: "1", path: ["requests", "cpu"], expected: true },
  { name: "another quantity", wanted: "1001m", live: "1", path: ["limits", "cpu"], expected: false },
  {
    name: "a whole map of quantities",
    wanted: { cpu: "500m" },
    live: { cpu: "0.5" },
    path: ["limits"],
    expected: true,
  },
  {
    name: "a map with one more",
    wanted: { cpu: "1" },
    live: { cpu: "1", memory: "1" },
    path: ["limits"],
    expected: false,
  },
  {
    name: "a string that looks like a quantity and is not one",
    wanted: "1000m",
    live: "1",
    path: ["data", "x"],
    expected: false,
  },
  { name: "an invalid quantity", wanted: "x", live: "1", path: ["limits", "cpu"], expected: false },
  { name: "an empty list that was dropped", wanted: [], live: undefined, path: ["env"], expected: true },
  { name: "a list that was emptied", wanted: [], live: [1], path: ["env"], expected: false },
  { name: "false that was dropped", wanted: false, live: undefined, path: ["spec", "paused"], expected: true },
  { name: "0 that was dropped", wanted: 0, live: undefined, path: ["minReadySeconds"], expected: true },
  { name: "an empty string that was dropped", wanted: "", live: undefined, path: ["value"], expected: true },
  { name: "false where it is true", wanted: false, live: true, path: ["spec", "paused"], expected: false },
  {
    name: "an empty string that was dropped from a value that is owned as a whole",
    wanted: [{ key: "mine", operator: "Exists", value: "" }],
    live: [{ key: "mine", operator: "Exists" }],
    path: ["spec", "tolerations"],
    expected: true,
  },
  {
    name: "a new 0 of a pointer in a value that is owned as a whole (it evicts at once)",
    wanted: [{ key: "mine", effect: "NoExecute", tolerationSeconds: 0 }],
    live: [{ key: "mine", effect: "NoExecute" }],
    path: ["spec", "tolerations"],
    expected: false,
  },
  {
    name: "a new 0 of a pointer in an empty object",
    wanted: { runAsUser: 0 },
    live: {},
    path: ["spec", "securityContext"],
    expected: false,
  },
  {
    name: "an empty object whose presence has a meaning",
    wanted: [{ from: [{ podSelector: { matchLabels: { a: "b" } }, namespaceSelector: {} }] }],
    live: [{ from: [{ podSelector: { matchLabels: { a: "b" } } }] }],
    path: ["spec", "ingress"],
    expected: false,
  },
  {
    name: "an empty list in a value that is owned as a whole",
    wanted: [{ from: [{ podSelector: {} }], ports: [] }],
    live: [{ from: [{ podSelector: {} }] }],
    path: ["spec", "ingress"],
    expected: true,
  },
  {
    name: "an additional field in a value that is owned as a whole",
    wanted: [{ key: "a" }],
    live: [{ key: "a", operator: "" }],
    path: [],
    expected: false,
  },
  { name: "true that was removed", wanted: { nullable: true }, live: {}, path: [], expected: false },
];

/** Of custom kinds: the server keeps each value as it was written. */
const KEPT: readonly Case[] = [
  { name: "false for a missing field", wanted: false, live: undefined, path: ["spec", "paused"], expected: false },
  { name: "0 for a missing field", wanted: 0, live: undefined, path: ["spec", "replicas"], expected: false },
  {
    name: "an empty string for a missing field",
    wanted: "",
    live: undefined,
    path: ["spec", "class"],
    expected: false,
  },
  { name: "false that is new in a list", wanted: [{ a: 1, on: false }], live: [{ a: 1 }], path: [], expected: false },
  { name: "false in an empty object", wanted: { nullable: false }, live: {}, path: ["spec"], expected: false },
  { name: "a list that is new in a list", wanted: [{ a: 1, b: [] }], live: [{ a: 1 }], path: [], expected: false },
  { name: "a version that looks like a number", wanted: "1.10", live: "1.1", path: ["max", "go"], expected: false },
  { name: "a quantity in another form", wanted: "1000m", live: "1", path: ["limits", "cpu"], expected: false },
  { name: "an equal value", wanted: [{ on: false }], live: [{ on: false }], path: [], expected: true },
];

for (const [cases, isNormal, whose] of [[SAME, true, "built-in"], [KEPT, false, "custom"]] as const) {
  for (const { name, wanted, live, path, expected } of cases) {
    Deno.test(`isSameValue returns ${expected} for a ${whose} kind: ${name}`, () => {
      assert.equal(isSameValue(wanted, live, { path, isNormal }), expected);
    });
  }
}

Deno.test("fields that are dropped if zero are not pointers in Go types, at their location", () => {
  const [dropped, pointers] = [new Set<string>(), new Set<string>()];
  for (const field of Object.values(messages).flatMap((message) => message.split(";"))) {
    const [, key = "", type = ""] = field.split(" ");
    if (/^[?]?[a-z]$/.test(type)) (type.startsWith("?") ? pointers : dropped).add(key);
  }
  for (const name of DROPPED_ZEROS) assert(dropped.has(name) && !pointers.has(name), name);
  for (const name of [...DROPPED_ZEROS_IN].map((each) => each.split(".")[1]!)) {
    assert(dropped.has(name) && pointers.has(name), name);
  }
});

Deno.test("exactly the built-in groups have normal forms", async () => {
  await using cluster = await memoryCluster();
  const answer = await cluster.fetch(new Request("http://memory.cluster/apis"));
  const { groups } = await answer.json() as { groups: { preferredVersion: { groupVersion: string } }[] };
  for (const { preferredVersion } of groups) assert(hasNormalForms(preferredVersion.groupVersion));
  assert(groups.length > 15);
  assert(hasNormalForms("v1"));
  for (const other of ["demo.example.com/v1", "gateway.networking.k8s.io/v1", "snapshot.storage.k8s.io/v1"]) {
    assert(!hasNormalForms(other), other);
  }
});

Deno.test("stored writes a Secret's stringData over its data, and does not change other kinds", () => {
  const secret = { apiVersion: "v1", kind: "Secret", data: { a: "eA==", b: "eQ==" }, stringData: { b: "é" } };
  assert.deepEqual(stored(secret as never), { apiVersion: "v1", kind: "Secret", data: { a: "eA==", b: "w6k=" } });
  const other = { apiVersion: "demo.example.com/v1", kind: "Secret", stringData: { b: "x" } };
  assert.equal(stored(other as never), other);
});
