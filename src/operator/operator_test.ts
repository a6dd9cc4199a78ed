import assert from "node:assert/strict";
import { definitionOf } from "./operator_definition.ts";
import type { Duration } from "../base/duration.ts";
import { ConfigMap, Namespace } from "../kinds/mod.ts";
import { controller } from "../parts/controller.ts";
import { conversion } from "../parts/conversion.ts";
import { resource } from "../resource/resource.ts";
import { s } from "../schema/mod.ts";
import { webhook } from "../parts/webhook.ts";
import { operator, type OperatorOptions } from "./operator.ts";

const configs = controller(ConfigMap, { reconcile() {} });
const cleaning = () => controller(ConfigMap, { reconcile() {}, cleanup() {} });
const named = (finalizer: string) => controller(ConfigMap, { finalizer, reconcile() {}, cleanup() {} });

// Two keys whose finalizers are truncated to the same hash, found by brute force.
const LONG = "k".repeat(61);
const [ONE, OTHER] = [`${LONG}1aed`, `${LONG}5e1d8`];
// The same for field managers, which are truncated at 128 characters.
const LONGER = "k".repeat(126);
const [FIRST, SECOND] = [`${LONGER}9e12`, `${LONGER}24c20`];

const INVALID: readonly { name: string; given: Partial<OperatorOptions>; message: RegExp }[] = [
  { name: "an empty name", given: { name: "" }, message: /^Operator "": the name is not a DNS label/ },
  { name: "a name in upper case", given: { name: "Op" }, message: /the name is not a DNS label/ },
  { name: "a name that begins with a digit", given: { name: "1op" }, message: /the name is not a DNS label/ },
  { name: "a name that ends with a dash", given: { name: "op-" }, message: /the name is not a DNS label/ },
  { name: "a name that is too long", given: { name: "o".repeat(64) }, message: /the name is not a DNS label/ },
  {
    name: "a missing name",
    given: { name: undefined as unknown as string },
    message: /^operator\(\): "name" is required and must be a string, got undefined\. Write operator\(\{ name: "shop"/,
  },
  {
    name: "parts that are a list",
    given: { parts: [configs] as unknown as OperatorOptions["parts"] },
    message: /^Operator "o": "parts" is required and must be an object with a key for each part, got a list\. Write/,
  },
  {
    name: "an object that is not a part",
    given: { parts: { a: {} as typeof configs } },
    message: /^Operator "o": part "a" must be the result of controller\(\), .*, got an object\.$/,
  },
  {
    name: "a part of an unknown type",
    given: { parts: { a: { ...configs, part: "daemon" } as unknown as typeof configs } },
    message: /^Operator "o": part "a" must be the result of controller\(\)/,
  },
  { name: "an empty key", given: { parts: { "": configs } }, message: /the key "" of a part is invalid/ },
  {
    name: "a key with a slash",
    given: { parts: { "a/b": configs } },
    message: /the key "a\/b" of a part is invalid/,
  },
  {
    name: "a key that ends with a dot",
    given: { parts: { "a.": configs } },
    message: /the key "a\." of a part is invalid/,
  },
  {
    name: "one part under two keys",
    given: { parts: { a: configs, b: configs } },
    message: /^Operator "o": one part has the keys "a" and "b"\. Remove one, or create a second part\.$/,
  },
  {
    name: "finalizers that are equal after truncation",
    given: { name: "op", parts: { [ONE]: cleaning(), [OTHER]: cleaning() } },
    message: /would both add the finalizer "op\.op\/op\.k+-\w{8}" to ConfigMap\. Rename one, or set its option/,
  },
  {
    name: "two controllers with the same finalizer",
    given: { parts: { a: named("x.y/z"), b: named("x.y/z") } },
    message: /^Operator "o": parts "a" and "b" would both add the finalizer "x\.y\/z" to ConfigMap/,
  },
  {
    name: "field managers that are equal after truncation",
    given: { name: "op", parts: { [FIRST]: configs, [SECOND]: controller(ConfigMap, { reconcile() {} }) } },
    message: /would both have the field manager "op\.k+-\w{8}"\. Rename one\.$/,
  },
  {
    name: "a graceful shutdown timeout that is not a duration",
    given: { gracefulShutdownTimeout: "soon" as Duration },
    message: /^Invalid duration "soon"/,
  },
];

for (const { name, given, message } of INVALID) {
  Deno.test(`operator rejects ${name}`, () => {
    assert.throws(() => operator({ name: "o", parts: {}, ...given }), { name: /TypeError|SyntaxError/, message });
  });
}

const NOTE = { group: "demo.example.com", kind: "Note", spec: s.object({}), status: s.object({}) } as const;
const NoteV1 = resource({ ...NOTE, version: "v1" });
const NoteV2 = resource({ ...NOTE, version: "v2", versions: [NoteV1] });
const NoteV3 = resource({ ...NOTE, version: "v3", versions: [NoteV1, NoteV2] });
const NoteV4 = resource({ ...NOTE, version: "v4", versions: [NoteV1, NoteV2, NoteV3] });
const same = { up: () => ({ spec: {} }), down: () => ({ spec: {} }) };
const [oneTwo, twoThree, threeFour] = [
  conversion(NoteV1, NoteV2, same),
  conversion(NoteV2, NoteV3, same),
  conversion(NoteV3, NoteV4, same),
];

Deno.test("operator rejects a kind with conversions that do not lead to each of its versions", () => {
  const notes = controller(NoteV4, { reconcile() {} });
  assert.throws(() => operator({ name: "notes", parts: { notes, oneTwo, twoThree } }), {
    name: "TypeError",
    message: 'operator(): no conversion connects version "v4" of Note (notes.demo.example.com) to "v1", "v2", "v3". ' +
      'Add a conversion between them, or remove the version from "versions".',
  });
  // Two groups of versions without a conversion between them.
  assert.throws(
    () => operator({ name: "notes", parts: { notes, oneTwo, threeFour } }),
    /"v4", "v3" of Note .* to "v1", "v2"/,
  );
  operator({ name: "notes", parts: { notes, threeFour, oneTwo, twoThree } });
  // Without any conversion, the API server only changes the `apiVersion`.
  operator({ name: "notes", parts: { notes } });
});

Deno.test("operator accepts parts whose stored names differ", () => {
  const Spaces = controller(Namespace, { finalizer: "x.y/z", reconcile() {}, cleanup() {} });
  operator({ name: "o".repeat(63), parts: { a: cleaning(), "b.c_D-1": cleaning(), c: named("x.y/z"), d: Spaces } });
  operator({ name: "op", parts: { [ONE]: configs, [OTHER]: cleaning() } });
});

Deno.test("operator applies the defaults of health and gracefulShutdownTimeout", () => {
  const { health, gracefulShutdownTimeout, version } = definitionOf(operator({ name: "o", parts: {} }));
  assert.deepEqual({ health, gracefulShutdownTimeout, version }, {
    health: { port: 8081, hostname: "0.0.0.0" },
    gracefulShutdownTimeout: 25_000,
    version: "0.0.0",
  });
  assert.deepEqual(definitionOf(operator({ name: "o", parts: {}, health: { port: 1 } })).health, {
    port: 1,
    hostname: "0.0.0.0",
  });
  assert.equal(definitionOf(operator({ name: "o", parts: {}, health: false })).health, undefined);
});

Deno.test("operator needs the sandbox permission to serve health only if health is served", () => {
  const netTargets = (health: OperatorOptions["health"]) =>
    operator({ name: "o", parts: {}, ...(health === undefined ? {} : { health }) }).sandbox()
      .filter(({ permission }) => permission === "net").map(({ target }) => target);
  assert.deepEqual(netTargets({ port: 9000, hostname: "127.0.0.1" }), ["kubernetes.default.svc:443", "127.0.0.1:9000"]);
  assert.deepEqual(netTargets(false), ["kubernetes.default.svc:443"]);
});

Deno.test("operator needs the variables of webhooks only if it has webhooks", () => {
  const webhookVariables = (parts: OperatorOptions["parts"]) =>
    operator({ name: "o", parts }).sandbox()
      .filter(({ permission, target }) => permission === "env" && /^OP_(WEBHOOKS|SKIP)_/.test(target)).length;
  assert.equal(webhookVariables({ configs }), 0);
  assert.equal(webhookVariables({ rules: webhook(Namespace, { validate() {} }) }), 8);
});
