import assert from "node:assert/strict";
import { ConfigMap, Deployment } from "../kinds/mod.ts";
import { controller } from "../parts/controller.ts";
import { fieldManager, finalizerName } from "./names.ts";

// Clusters store these names. If they change, an upgraded operator no longer recognizes its own
// fields and finalizers.
Deno.test("fieldManager consists of the operator's and the part's name, at most 128 characters", () => {
  assert.equal(fieldManager("website-operator", "websites"), "website-operator.websites");
  const long = fieldManager("o".repeat(63), "k".repeat(100));
  assert.equal(long.length, 128);
  assert(long.startsWith(`${"o".repeat(63)}.k`));
});

const FINALIZERS: readonly {
  name: string;
  kind: typeof ConfigMap | typeof Deployment;
  key: string;
  finalizer?: string;
  expected: string;
}[] = [
  {
    name: "a domain of the operator for a group of Kubernetes",
    kind: Deployment,
    key: "web",
    expected: "op.op/op.web",
  },
  { name: "a domain of the operator for the core group", kind: ConfigMap, key: "web", expected: "op.op/op.web" },
  { name: "the name that the controller sets", kind: ConfigMap, key: "web", finalizer: "a.b/c", expected: "a.b/c" },
  {
    name: "a name cut to the length that API servers accept",
    kind: Deployment,
    key: "the-controller-of-all-websites-that-has-a-very-long-name-and-more",
    expected: "op.op/op.the-controller-of-all-websites-that-has-a-very-long",
  },
];

for (const { name, kind, key, finalizer, expected } of FINALIZERS) {
  Deno.test(`finalizerName has ${name}`, () => {
    const part = controller(kind, { ...(finalizer === undefined ? {} : { finalizer }), reconcile() {} });
    const actual = finalizerName("op", key, part);
    assert(actual.startsWith(expected), actual);
    assert(actual.slice(actual.indexOf("/") + 1).length <= 63);
    if (key.length < 60) assert.equal(actual, expected);
  });
}
