import assert from "node:assert/strict";
import { conversion, operator, resource, s, webhook } from "../../mod.ts";

const names = { group: "manifests.example.com", kind: "Note" } as const;
const NoteV1 = resource({ ...names, version: "v1", spec: s.object({ text: s.string() }) });
const Note = resource({ ...names, version: "v2", spec: s.object({ text: s.string() }), versions: [NoteV1] });

const op = operator({
  name: "notes",
  parts: {
    noteV1: conversion(NoteV1, Note, { up: ({ spec }) => ({ spec }), down: ({ spec }) => ({ spec }) }),
    noteRules: webhook(Note, { mutate() {}, validate() {}, ignoreOwnRequests: true }),
  },
});

/** Returns the kinds of the manifests, and the client configurations of all webhooks. */
function clientConfigs(options: Parameters<typeof op.manifests>[0]) {
  const { crd, webhook } = op.manifests(options);
  // deno-lint-ignore no-explicit-any -- manifests of all kinds
  const configs = webhook.flatMap((one: any) => one.webhooks ?? []).map(({ clientConfig }: any) => clientConfig);
  // deno-lint-ignore no-explicit-any
  const { clientConfig } = (crd[0] as any).spec.conversion.webhook;
  return { kinds: webhook.map(({ kind }) => kind), configs: [...configs, clientConfig] };
}

/** The kinds of the objects with which an operator issues its certificate itself. */
const OWN_CERTIFICATE = ["Secret", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"];

for (const certificates of ["cert-manager", "files"] as const) {
  Deno.test(`manifests have no Secret and no admission policy if the certificate source is ${certificates}`, () => {
    const { webhook, rbac } = op.manifests({ certificates });
    assert.deepEqual(webhook.filter(({ kind }) => OWN_CERTIFICATE.includes(kind)), []);
    assert(!JSON.stringify(rbac).includes("validatingadmissionpolicies"));
  });
}

Deno.test("manifests have the Secret of the certificate without data, and no role that creates Secrets", () => {
  const { webhook, rbac } = op.manifests();
  const { data, stringData, type, metadata } = webhook.find(({ kind }) => kind === "Secret")!;
  assert.deepEqual([data, stringData, type, metadata.name], [undefined, undefined, "Opaque", "notes-webhook"]);
  const rules = rbac.flatMap(({ rules = [] }) =>
    rules as { resources: string[]; resourceNames?: string[]; verbs: string[] }[]
  );
  assert.deepEqual(rules.filter(({ resources }) => resources.includes("secrets")), [
    { apiGroups: [""], resources: ["secrets"], resourceNames: ["notes-webhook"], verbs: ["get", "patch"] },
  ]);
});

Deno.test("webhook configurations refer to the webhooks' Service", () => {
  const service = { port: 443, namespace: "notes-system", name: "notes-webhook" };
  assert.deepEqual(clientConfigs({}), {
    kinds: [...OWN_CERTIFICATE, "Service", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
    configs: ["/mutate/note-rules", "/validate/note-rules", "/convert"].map((path) => ({
      service: { ...service, path },
    })),
  });
});

for (const webhookUrl of ["https://127.0.0.1:9443", "https://hooks.example.com/notes/"] as const) {
  Deno.test(`webhook configurations refer to ${webhookUrl}, without a Service`, () => {
    const url = webhookUrl.replace(/\/$/, "");
    assert.deepEqual(clientConfigs({ webhookUrl }), {
      kinds: [...OWN_CERTIFICATE, "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
      configs: ["/mutate/note-rules", "/validate/note-rules", "/convert"].map((path) => ({ url: url + path })),
    });
  });
}

for (
  const webhookUrl of ["http://127.0.0.1", "127.0.0.1:9443", "https://me@host", "https://host?a", "https://host#", ""]
) {
  Deno.test(`manifests() rejects the webhook URL "${webhookUrl}", as an API server does`, () => {
    assert.throws(() => op.manifests({ webhookUrl }), {
      name: "TypeError",
      message:
        `Cannot install operator "notes": "webhookUrl" is invalid: "${webhookUrl}". Write it as "https://host:port", without user, query and fragment.`,
    });
  });
}

Deno.test("webhook configurations with ignoreOwnRequests exclude requests of the operator's service account in its namespace", () => {
  const { webhook } = op.manifests({ namespace: "elsewhere" });
  // deno-lint-ignore no-explicit-any -- manifests of all kinds
  const entries = webhook.flatMap((one: any) => one.webhooks ?? []);
  assert.equal(entries.length, 2);
  for (const { matchConditions } of entries) {
    assert.deepEqual(matchConditions, [
      { name: "others", expression: 'request.userInfo.username != "system:serviceaccount:elsewhere:notes"' },
    ]);
  }
});
