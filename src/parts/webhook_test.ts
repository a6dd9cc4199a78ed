import assert from "node:assert/strict";
import { access, operator, resource, s, webhook } from "../../mod.ts";
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

Deno.test("webhook rejects unknown fields and undeclared kinds and verbs at compile time", () => {
  webhook(Note, {
    field: ".spec.text",
    validate({ spec, metadata }, { old, get }) {
      spec.text satisfies string;
      metadata.resourceVersion satisfies string | undefined;
      old?.metadata.resourceVersion satisfies string | undefined;
      // @ts-expect-error ConfigMap is not in "reads" or "uses"
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
      // @ts-expect-error ConfigMap is declared with the verb get only
      await list(ConfigMap);
    },
  });
  // @ts-expect-error there is no such field
  webhook(Note, { field: ".spec.other", validate });
  webhook(Note, { subresource: "scale", validate: ({ spec }) => void (spec?.replicas satisfies number | undefined) });
});

Deno.test("webhookEntries uses failurePolicy Fail for own kinds and Ignore for other kinds, and excludes the system namespaces", () => {
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
  const noSystemNamespaces = {
    key: "kubernetes.io/metadata.name",
    operator: "NotIn",
    values: ["kube-system", "notes-system"],
  };
  assert.deepEqual(entries.map(({ fields }) => fields.namespaceSelector?.matchExpressions), [
    [noSystemNamespaces],
    [noSystemNamespaces],
    undefined,
    [noSystemNamespaces],
  ]);
});

Deno.test("webhookEntries contains all filters and call options of the webhook", () => {
  const noteRules = webhook(Note, {
    operations: ["CREATE", "DELETE"],
    scope: "Namespaced",
    field: ".spec.text",
    objectSelector: { matchLabels: { guarded: "yes" } },
    namespaceSelector: { matchExpressions: [{ key: "team", operator: "Exists" }] },
    matchConditions: { mine: 'request.userInfo.username != "root"' },
    matchPolicy: "Exact",
    failurePolicy: "Ignore",
    reinvocationPolicy: "IfNeeded",
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
  // A mutating webhook is not called for deletions.
  assert.deepEqual(mutating?.rules[0]?.operations, ["CREATE"]);
  assert.equal(mutating?.reinvocationPolicy, "IfNeeded");
});

Deno.test("webhookEntries excludes requests of the operator itself if ignoreOwnRequests is set", () => {
  const conditions = { field: "true", others: "true" };
  const parts = {
    locks: webhook(Note, { validate, ignoreOwnRequests: true }),
    rules: webhook(Note, { validate, matchConditions: conditions }),
  };
  const matchExpressionsFor = (user?: string) =>
    webhookEntries("notes", parts, "notes-system", user).map(({ fields }) =>
      fields.matchConditions?.map(({ expression }) => expression)
    );
  const others = (user: string) => [`request.userInfo.username != "${user}"`];
  assert.deepEqual(matchExpressionsFor(), [others("system:serviceaccount:notes-system:notes"), ["true", "true"]]);
  assert.deepEqual(matchExpressionsFor("robot"), [others("robot"), ["true", "true"]]);
  const place = { url: "https://127.0.0.1:1" };
  assert.throws(() => webhookConfigurations("notes", parts, { place }), {
    name: "TypeError",
    message:
      'Webhook configurations of "notes": webhook "locks" has "ignoreOwnRequests", so the operator\'s user must be known. Set "namespace" to the namespace that the operator runs in.',
  });
  assert.equal(webhookConfigurations("notes", { rules: parts.rules }, { place }).length, 1);
});

Deno.test("operator rejects two webhooks with the same path", () => {
  const one = webhook(Note, { validate });
  const other = webhook(Note, { validate });
  assert.throws(() => operator({ name: "notes", parts: { noteRules: one, "note-rules": other } }), {
    message: /webhooks "noteRules" and "note-rules" would both be served at "\/validate\/note-rules"\. Rename one\.$/,
  });
});
