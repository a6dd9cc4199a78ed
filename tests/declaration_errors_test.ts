/**
 * The errors of invalid declarations. Their messages are in tests/golden/declaration_errors.txt.
 * `deno test -A tests/declaration_errors_test.ts -- --update` updates the file.
 */
import assert from "node:assert/strict";
import {
  access,
  type AnyKind,
  controller,
  conversion,
  deny,
  type Duration,
  every,
  index,
  resource,
  s,
  watch,
  webhook,
} from "../mod.ts";
import type { ControllerOptions, Verb, WatchOptions } from "../entry_points/controller.ts";
import type { WebhookOptions } from "../entry_points/webhook.ts";
import { ConfigMap, Namespace, Pod, Secret } from "../src/kinds/mod.ts";
import { assertGolden } from "./fixtures/golden.ts";

const Website = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Website",
  spec: s.object({ host: s.string() }),
  status: s.object({ url: s.optional(s.string()) }),
});
const Gateway = resource({
  group: "g.example.com",
  version: "v1",
  kind: "Gateway",
  spec: s.object({}),
  external: true,
});
const GatewayV2 = resource({ group: "g.example.com", version: "v2", kind: "Gateway", spec: s.object({}) });

const validate = () => undefined;
const mutate = () => undefined;
const inverse = { up: () => ({}), down: () => ({}) } as never;

/** Returns a function that declares a controller of Website with options of any type. */
function websites(options: Record<string, unknown>): () => unknown {
  return () => controller(Website as AnyKind, { reconcile() {}, ...options } as ControllerOptions);
}

/** Returns a function that declares a controller that owns ConfigMaps with a watch. */
function watching(options: WatchOptions): () => unknown {
  return websites({ owns: [ConfigMap], watches: [watch(ConfigMap, options)] });
}

/** Returns a function that declares a webhook of Website with options of any type. */
function rules(options: Record<string, unknown>): () => unknown {
  return () => webhook(Website as AnyKind, { validate, ...options } as WebhookOptions);
}

/** The rejected declarations. */
const REJECTED: readonly { readonly name: string; readonly make: () => unknown; readonly error?: string }[] = [
  { name: "a controller that owns its own kind", make: websites({ owns: [Website] }) },
  { name: "a controller that reads its own kind", make: websites({ reads: [Website] }) },
  { name: "a controller that owns a kind twice", make: websites({ owns: [ConfigMap, ConfigMap] }) },
  {
    name: "a controller that owns and reads a kind",
    make: websites({ owns: [ConfigMap], reads: [Secret, ConfigMap] }),
  },
  { name: "a watch whose label selector does not parse", make: watching({ labelSelector: "app===web" }) },
  { name: "a watch with an invalid label value", make: watching({ labelSelector: { app: "web,tier=front" } }) },
  { name: "a watch whose field selector does not parse", make: watching({ fieldSelector: "web" }) },
  { name: "a watch with a pattern of namespaces", make: watching({ namespaces: ["shop", "shop-*"] }) },
  { name: "a namespaced owner of a cluster-scoped kind without map", make: websites({ owns: [ConfigMap, Namespace] }) },
  {
    name: "an owned kind that is watched in other namespaces than its owner",
    make: websites({
      owns: [ConfigMap],
      watches: [watch(Website, { namespaces: ["shop"] }), watch(ConfigMap, { namespaces: ["blog", "news"] })],
    }),
  },
  {
    name: "a controller that caches only the metadata of its own kind",
    make: websites({ watches: [watch(Website, { metadataOnly: true })] }),
  },
  {
    name: "fixed names of a namespaced kind for a cluster-scoped kind",
    make: () => controller(Namespace, { watches: [watch(Secret, { names: ["defaults"] })], reconcile() {} }),
  },
  {
    name: "fixed names that are combined with a label selector",
    make: websites({ watches: [watch(Secret, { names: ["defaults"], labelSelector: "a=b" })] }),
  },
  { name: "an empty list of names", make: websites({ watches: [watch(Secret, { names: [] })] }) },
  { name: "names of the own kind", make: websites({ watches: [watch(Website, { names: ["a"] })] }) },
  {
    name: "names of an owned kind",
    make: websites({ owns: [ConfigMap], watches: [watch(ConfigMap, { names: ["a"] })] }),
  },
  { name: "a watch that does not say which objects to reconcile", make: websites({ watches: [watch(Secret, {})] }) },
  {
    name: "a kind that is watched twice",
    make: websites({ watches: [watch(Secret, { map: () => "a" }), watch(Secret, { map: () => "b" })] }),
  },
  {
    name: "an index of a kind that is not watched",
    make: websites({ indexes: { byName: index(Secret, ({ metadata }) => metadata.name) } }),
  },
  ...[0, -1, 1.5, NaN, Infinity].map((concurrency) => ({
    name: `a concurrency of ${concurrency}`,
    make: websites({ concurrency }),
    error: "RangeError",
  })),
  { name: "a finalizer without a domain", make: websites({ finalizer: "z" }) },
  { name: "a time limit that is not a duration", make: websites({ timeout: "-5s" }), error: "SyntaxError" },
  { name: "access without a verb", make: () => access(Secret) },
  { name: "access with an unknown verb", make: () => access(Secret, "get", "watch" as Verb) },
  { name: "a resync without an interval", make: () => every("0s" as Duration), error: "RangeError" },
  { name: "a webhook without a function", make: rules({ validate: undefined }) },
  { name: "a webhook without an operation", make: rules({ operations: [] }) },
  { name: "an unknown operation", make: rules({ operations: ["PATCH"] }) },
  { name: "an operation that is listed twice", make: rules({ operations: ["CREATE", "CREATE"] }) },
  { name: "a mutation of deleted objects", make: rules({ mutate, operations: ["DELETE"] }) },
  { name: "a field that is not a path", make: rules({ field: "spec.host" }) },
  {
    name: "an object selector with an invalid value",
    make: rules({ objectSelector: { matchLabels: { app: "a b" } } }),
  },
  {
    name: "an object selector with an invalid label",
    make: rules({ objectSelector: { matchExpressions: [{ key: "-a", operator: "Exists" }] } }),
  },
  {
    name: "a namespace selector with In and no values",
    make: rules({ namespaceSelector: { matchExpressions: [{ key: "a", operator: "In" }] } }),
  },
  {
    name: "a namespace selector with Exists and values",
    make: rules({ namespaceSelector: { matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] } }),
  },
  {
    name: "a namespace selector with an invalid value",
    make: rules({ namespaceSelector: { matchExpressions: [{ key: "a", operator: "NotIn", values: ["-"] }] } }),
  },
  {
    name: "a namespace selector with an unknown operator",
    make: rules({ namespaceSelector: { matchExpressions: [{ key: "a", operator: "in", values: ["b"] }] } }),
  },
  { name: "a subresource that is not a path segment", make: rules({ subresource: "Status/x" }) },
  { name: "a match condition that does not compile", make: rules({ matchConditions: { a: "object.spec +" } }) },
  { name: "a match condition that is not a boolean", make: rules({ matchConditions: { a: "1 + 1" } }) },
  { name: "a match condition without a name", make: rules({ matchConditions: { "": "true" } }) },
  {
    name: "a match condition with the name of the condition for field",
    make: rules({ field: ".spec.host", matchConditions: { field: "true" } }),
  },
  {
    name: "a match condition with the name of the condition for ignoreOwnRequests",
    make: rules({ ignoreOwnRequests: true, matchConditions: { others: "true" } }),
  },
  { name: "a webhook that writes", make: rules({ uses: [access(ConfigMap, "patch")] }) },
  { name: "a webhook that reads a kind twice", make: rules({ reads: [Pod, Pod] }) },
  { name: "a review without time", make: rules({ timeout: "0s" }), error: "RangeError" },
  { name: "a review with half seconds", make: rules({ timeout: "1500ms" }), error: "RangeError" },
  { name: "a conversion of a version into itself", make: () => conversion(Website, Website, inverse) },
  { name: "a conversion between two kinds", make: () => conversion(Pod, ConfigMap, inverse) },
  { name: "a conversion of an external kind", make: () => conversion(Gateway, GatewayV2, inverse) },
  { name: "a denial without a message", make: () => deny(" ") },
  {
    name: "a denial with the status of a success",
    make: () => deny("the shop is closed", { status: 200 }),
    error: "RangeError",
  },
];

const messages: string[] = [];

for (const { name, make, error = "TypeError" } of REJECTED) {
  Deno.test(`a declaration with an error is rejected: ${name}`, () => {
    assert.throws(make, (thrown) => {
      assert(thrown instanceof Error && thrown.name === error, `the error is ${thrown}`);
      messages.push(`${name}\n  ${thrown.message.replaceAll("\n", "\n  ")}\n`);
      return true;
    });
  });
}

Deno.test("the messages of rejected declarations are those of tests/golden/declaration_errors.txt", async () => {
  assert.equal(messages.length, REJECTED.length, "run all tests of this file together");
  await assertGolden("declaration_errors.txt", messages.join("\n"));
});
