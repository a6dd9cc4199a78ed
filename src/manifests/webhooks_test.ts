import assert from "node:assert/strict";
import { conversion, operator, resource, s, webhook } from "../../mod.ts";

const names = { group: "manifests.example.com", kind: "Note" } as const;
const NoteV1 = resource({ ...names, version: "v1", spec: s.object({ text: s.string() }) });
const Note = resource({ ...names, version: "v2", spec: s.object({ text: s.string() }), versions: [NoteV1] });

const op = operator({
  name: "notes",
  parts: {
    noteV1: conversion(NoteV1, Note, { up: ({ spec }) => ({ spec }), down: ({ spec }) => ({ spec }) }),
    noteRules: webhook(Note, { mutate() {}, validate() {}, exceptOwn: true }),
  },
});

/** What is called where: the paths of services, or whole addresses. */
function called(options: Parameters<typeof op.manifests>[0]) {
  const { crd, webhook } = op.manifests(options);
  // deno-lint-ignore no-explicit-any -- whatever the manifests have
  const configs = webhook.flatMap((one: any) => one.webhooks ?? []).map(({ clientConfig }: any) => clientConfig);
  // deno-lint-ignore no-explicit-any
  const { clientConfig } = (crd[0] as any).spec.conversion.webhook;
  return { kinds: webhook.map(({ kind }) => kind), configs: [...configs, clientConfig] };
}

Deno.test("manifests have the API server call the webhooks' Service", () => {
  const service = { port: 443, namespace: "notes-system", name: "notes-webhook" };
  assert.deepEqual(called({}), {
    kinds: ["Service", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
    configs: ["/mutate/note-rules", "/validate/note-rules", "/convert"].map((path) => ({
      service: { ...service, path },
    })),
  });
});

for (const webhookUrl of ["https://127.0.0.1:9443", "https://hooks.example.com/notes/"] as const) {
  Deno.test(`manifests have the API server call ${webhookUrl}, and no Service`, () => {
    const url = webhookUrl.replace(/\/$/, "");
    assert.deepEqual(called({ webhookUrl }), {
      kinds: ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
      configs: ["/mutate/note-rules", "/validate/note-rules", "/convert"].map((path) => ({ url: url + path })),
    });
  });
}

for (
  const webhookUrl of ["http://127.0.0.1", "127.0.0.1:9443", "https://me@host", "https://host?a", "https://host#", ""]
) {
  Deno.test(`manifests refuse webhooks at "${webhookUrl}", which an API server would not call`, () => {
    assert.throws(() => op.manifests({ webhookUrl }), {
      name: "TypeError",
      message:
        `Cannot install operator "notes": webhooks cannot be called at "${webhookUrl}": write it as "https://host:port", without user, query and fragment`,
    });
  });
}

Deno.test("manifests leave out what the operator's own service account writes, in the namespace that it is installed in", () => {
  const { webhook } = op.manifests({ namespace: "elsewhere" });
  // deno-lint-ignore no-explicit-any -- whatever the manifests have
  const entries = webhook.flatMap((one: any) => one.webhooks ?? []);
  assert.equal(entries.length, 2);
  for (const { matchConditions } of entries) {
    assert.deepEqual(matchConditions, [
      { name: "others", expression: 'request.userInfo.username != "system:serviceaccount:elsewhere:notes"' },
    ]);
  }
});
