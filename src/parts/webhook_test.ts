import assert from "node:assert/strict";
import { access, conversion, operator, resource, s, webhook } from "../../mod.ts";
import { ConfigMap, Namespace, Pod } from "../kinds/mod.ts";
import { webhookConfigurations } from "../manifests/webhooks.ts";
import { webhookEntries } from "./webhook_entries.ts";

const Note = resource({
  group: "webhooks.example.com",
  version: "v1",
  kind: "Note",
  spec: s.object({ text: s.string() }),
});

const validate = () => {};

// deno-lint-ignore no-explicit-any -- what does not compile is refused as well
const refused: readonly { name: string; options: any; message: RegExp }[] = [
  { name: "nothing to ask", options: {}, message: /give it "mutate", "validate" or both/ },
  { name: "no operation", options: { validate, operations: [] }, message: /"operations" is empty/ },
  {
    name: "an operation that is none",
    options: { validate, operations: ["PATCH"] },
    message: /has "PATCH", which is not/,
  },
  { name: "an operation twice", options: { validate, operations: ["CREATE", "CREATE"] }, message: /"CREATE" twice/ },
  {
    name: "a change of what is deleted",
    options: { mutate: validate, operations: ["DELETE"] },
    message: /cannot be changed/,
  },
  { name: "a field that is no path", options: { validate, field: "spec.text" }, message: /write it as "\.spec\.host"/ },
  {
    name: "a selector with a value that is none",
    options: { validate, objectSelector: { matchLabels: { app: "a b" } } },
    message: /"objectSelector" would not be taken: values\[0\]\[app\]: Invalid value: "a b": a valid label must be/,
  },
  {
    name: "a selector with a label that is none",
    options: { validate, objectSelector: { matchExpressions: [{ key: "-a", operator: "Exists" }] } },
    message: /"objectSelector" would not be taken: "-a" is no label: name part must consist of/,
  },
  {
    name: "a selector that is in nothing",
    options: { validate, namespaceSelector: { matchExpressions: [{ key: "a", operator: "In" }] } },
    message: /"namespaceSelector" would not be taken: "In" of "a" needs values/,
  },
  {
    name: "a selector by values of what is only there",
    options: { validate, namespaceSelector: { matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] } },
    message: /"Exists" of "a" takes no values/,
  },
  {
    name: "a selector by a value that is none",
    options: { validate, namespaceSelector: { matchExpressions: [{ key: "a", operator: "NotIn", values: ["-"] }] } },
    message: /"-" of "a" is no value: a valid label must be/,
  },
  {
    name: "a selector by what is no operator",
    options: { validate, namespaceSelector: { matchExpressions: [{ key: "a", operator: "in", values: ["b"] }] } },
    message: /"in" is not one of In, NotIn, Exists, DoesNotExist/,
  },
  { name: "a subresource that is none", options: { validate, subresource: "Status/x" }, message: /is no subresource/ },
  {
    name: "a condition that does not compile",
    options: { validate, matchConditions: { a: "object.spec +" } },
    message: /condition "a": compilation failed: ERROR/,
  },
  {
    name: "a condition that is no yes or no",
    options: { validate, matchConditions: { a: "1 + 1" } },
    message: /must evaluate to bool but got int/,
  },
  {
    name: "a condition without a name",
    options: { validate, matchConditions: { "": "true" } },
    message: /is not a valid name/,
  },
  {
    name: "a condition that is called as that of its field",
    options: { validate, field: ".spec.text", matchConditions: { field: "true" } },
    message: /"matchConditions" has "field", which is the name of the condition that "field" makes: choose another$/,
  },
  {
    name: "a condition that is called as that of what is not its own",
    options: { validate, ignoreOwnRequests: true, matchConditions: { others: "true" } },
    message:
      /"matchConditions" has "others", which is the name of the condition that "ignoreOwnRequests" makes: choose another$/,
  },
  {
    name: "a right to write",
    options: { validate, uses: [access(ConfigMap, "patch")] },
    message: /take "patch" of ConfigMap out of "uses"/,
  },
  { name: "a kind that it reads twice", options: { validate, reads: [Pod, Pod] }, message: /"reads" has "Pod" twice/ },
  { name: "no time", options: { validate, timeout: "0s" }, message: /from 1s to 30s: current value is "0s"/ },
  { name: "half seconds", options: { validate, timeout: "1500ms" }, message: /must be whole seconds/ },
];

for (const { name, options, message } of refused) {
  Deno.test(`webhook refuses ${name}`, () => assert.throws(() => webhook(Note, options), { message }));
}

Deno.test("webhook refuses what does not exist by its types", () => {
  webhook(Note, {
    field: ".spec.text",
    validate({ spec, metadata }, { old, get }) {
      spec.text satisfies string;
      metadata.resourceVersion satisfies string | undefined;
      old?.metadata.resourceVersion satisfies string | undefined;
      // @ts-expect-error it is not in "reads" or "uses"
      get(ConfigMap, "a").catch(() => {});
    },
    mutate(note) {
      note.spec.text = "";
      // @ts-expect-error there is no such field
      note.spec.other = 1;
    },
  });
  webhook(Note, {
    reads: [Pod],
    uses: [access(ConfigMap, "get")],
    async validate(_note, { get, list }) {
      (await get(ConfigMap, "a"))?.data satisfies Readonly<Record<string, string>> | undefined;
      (await list(Pod))[0]?.spec satisfies unknown;
      // @ts-expect-error it may only be got
      await list(ConfigMap);
    },
  });
  // @ts-expect-error there is no such field
  webhook(Note, { field: ".spec.other", validate });
  webhook(Note, { subresource: "scale", validate: ({ spec }) => void (spec?.replicas satisfies number | undefined) });
});

Deno.test("webhookEntries are failsafe for kinds of one's own, and let others be while the operator does not run", () => {
  const parts = {
    noteRules: webhook(Note, { validate, mutate() {} }),
    pods: webhook(Pod, { validate, allNamespaces: true, timeout: "3s" }),
    namespaces: webhook(Namespace, { validate, operations: ["DELETE"] }),
  };
  const entries = webhookEntries("notes", parts, "notes-system");
  assert.deepEqual(entries.map(({ phase, path, fields }) => [phase, path, fields.name, fields.failurePolicy]), [
    ["mutate", "/mutate/note-rules", "note-rules.notes.webhooks.example.com", "Fail"],
    ["validate", "/validate/note-rules", "note-rules.notes.webhooks.example.com", "Fail"],
    ["validate", "/validate/pods", "pods.notes.op", "Ignore"],
    ["validate", "/validate/namespaces", "namespaces.notes.op", "Ignore"],
  ]);
  const without = { key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system", "notes-system"] };
  assert.deepEqual(entries.map(({ fields }) => fields.namespaceSelector?.matchExpressions), [
    [without],
    [without],
    undefined,
    [without],
  ]);
});

Deno.test("webhookEntries tell the server whatever narrows which requests it sends, and how it is to call", () => {
  const noteRules = webhook(Note, {
    operations: ["CREATE", "DELETE"],
    scope: "Namespaced",
    field: ".spec.text",
    objectSelector: { matchLabels: { guarded: "yes" } },
    namespaceSelector: { matchExpressions: [{ key: "team", operator: "Exists" }] },
    matchConditions: { mine: 'request.userInfo.username != "root"' },
    matchPolicy: "Exact",
    failurePolicy: "Ignore",
    reinvocation: "IfNeeded",
    timeout: "3s",
    sideEffects: "NoneOnDryRun",
    mutate() {},
    validate,
  });
  const [mutating, validating] = webhookEntries("notes", { noteRules }, undefined).map(({ fields }) => fields);
  const { matchConditions, rules, ...rest } = validating!;
  assert.deepEqual(matchConditions?.map(({ name }) => name), ["mine", "field"]);
  assert.deepEqual(rules[0]?.operations, ["CREATE", "DELETE"]);
  assert.equal(rules[0]?.scope, "Namespaced");
  assert.deepEqual(rest, {
    name: "note-rules.notes.webhooks.example.com",
    failurePolicy: "Ignore",
    matchPolicy: "Exact",
    namespaceSelector: {
      matchExpressions: [
        { key: "team", operator: "Exists" },
        { key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system"] },
      ],
    },
    objectSelector: { matchLabels: { guarded: "yes" } },
    sideEffects: "NoneOnDryRun",
    timeoutSeconds: 3,
    admissionReviewVersions: ["v1"],
  });
  // What is deleted cannot be changed.
  assert.deepEqual(mutating?.rules[0]?.operations, ["CREATE"]);
  assert.equal(mutating?.reinvocationPolicy, "IfNeeded");
});

Deno.test("webhookEntries leave out what the operator itself writes, where they are told to", () => {
  const conditions = { field: "true", others: "true" };
  const parts = {
    locks: webhook(Note, { validate, ignoreOwnRequests: true }),
    rules: webhook(Note, { validate, matchConditions: conditions }),
  };
  const told = (user?: string) =>
    webhookEntries("notes", parts, "notes-system", user).map(({ fields }) =>
      fields.matchConditions?.map(({ expression }) => expression)
    );
  const others = (user: string) => [`request.userInfo.username != "${user}"`];
  assert.deepEqual(told(), [others("system:serviceaccount:notes-system:notes"), ["true", "true"]]);
  assert.deepEqual(told("robot"), [others("robot"), ["true", "true"]]);
  const place = { url: "https://127.0.0.1:1" };
  assert.throws(() => webhookConfigurations("notes", parts, { place }), {
    name: "TypeError",
    message:
      'Cannot make the configurations of "notes": "locks" leaves out what the operator itself writes: say the "namespace" that it runs in',
  });
  assert.equal(webhookConfigurations("notes", { rules: parts.rules }, { place }).length, 1);
});

Deno.test("operator refuses webhooks that would be served at one place", () => {
  const one = webhook(Note, { validate });
  const other = webhook(Note, { validate });
  assert.throws(() => operator({ name: "notes", parts: { noteRules: one, "note-rules": other } }), {
    message: /webhooks "noteRules" and "note-rules" would both be served at "\/validate\/note-rules": rename one$/,
  });
});

Deno.test("conversion refuses what are not two versions of one kind", () => {
  const way = { up: () => ({}), down: () => ({}) };
  assert.throws(() => conversion(Note, Note, way as never), { message: /must be two versions of one kind/ });
  assert.throws(() => conversion(Pod, ConfigMap, way as never), { message: /must be two versions of one kind/ });
});
