/** An operator whose webhooks are served over TLS, for tests that call it as an API server would. */
import { deny, operator, resource, s, webhook } from "../../mod.ts";
import type { Connection } from "../../src/kube/connection.ts";
import { type Apiserver, createApiserver } from "../../src/apiserver/mod.ts";
import { Client } from "../../src/kube/client.ts";
import { webhookConfigurations } from "../../src/manifests/webhooks.ts";
import { ValidatingWebhookConfiguration } from "../../src/kinds/mod.ts";
import type { CertificateTimes } from "../../src/runtime/webhooks/authority.ts";

export const Note = resource({
  group: "reviews.example.com",
  version: "v1",
  kind: "Note",
  spec: s.object({ text: s.string() }),
});

/** Refuses what is forbidden, fails at what is broken. */
export const noteRules = webhook(Note, {
  validate({ spec }) {
    if (spec.text === "broken") throw new TypeError("it is broken");
    if (spec.text === "forbidden") throw deny("nobody may say that", { field: "spec.text" });
  },
});

export const op = operator({
  name: "notes",
  parts: { noteRules },
  health: false,
  webhooks: { hostname: "127.0.0.1", port: 0, names: ["127.0.0.1"] },
});

/** Steps of a renewal at once, as far as clients allow. */
export const QUICK: CertificateTimes = { authority: 1e10, server: 1e9, publish: 150, drop: 300, look: 50 };

export const PATH = "/validate/note-rules";

/** An API server in this process with the configuration of the webhooks. */
export async function guardedServer(): Promise<{ server: Apiserver; connection: Connection; client: Client }> {
  const server = createApiserver();
  const connection: Connection = {
    url: "http://api.server",
    fetch: (request) => server.fetch(request),
    namespace: "default",
    close() {},
  };
  const client = new Client(connection);
  const place = { url: "https://127.0.0.1:1" };
  for (const configuration of webhookConfigurations(op.name, op.parts, { place })) {
    await client.create(ValidatingWebhookConfiguration, configuration as never);
  }
  return { server, connection, client };
}

let count = 0;

/** A review of a note, as an API server sends it. */
export function review(text = "hello", uid = `uid-${++count}`) {
  const kind = { group: Note.group, version: Note.version, kind: Note.kind };
  const resource = { group: Note.group, version: Note.version, resource: Note.plural };
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid,
      kind,
      resource,
      requestKind: kind,
      requestResource: resource,
      name: "a",
      namespace: "default",
      operation: "CREATE",
      userInfo: { username: "admin", groups: ["system:masters", "system:authenticated"] },
      object: {
        apiVersion: Note.apiVersion,
        kind: Note.kind,
        metadata: { name: "a", namespace: "default", uid: "0", creationTimestamp: "2030-01-01T00:00:00Z" },
        spec: { text },
      },
      oldObject: null,
      dryRun: false,
      options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1" },
    },
  };
}

/** Posts a review. */
export function post(port: number, body: unknown, client?: Deno.HttpClient): Promise<Response> {
  return fetch(`https://127.0.0.1:${port}${PATH}?timeout=10s`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...(client === undefined ? {} : { client }),
  });
}
