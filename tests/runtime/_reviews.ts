/**
 * An operator whose webhooks are served over TLS, and reviews, for tests that call it as an API
 * server would.
 */
import { conversion, deny, operator, resource, s, webhook } from "../../mod.ts";
import type { CertificateTimes } from "../../src/runtime/webhooks/authority.ts";

export const Note = resource({
  group: "reviews.example.com",
  version: "v1",
  kind: "Note",
  spec: s.object({ text: s.string() }),
});

export const NoteV2 = resource({
  group: Note.group,
  version: "v2",
  kind: "Note",
  spec: s.object({ lines: s.array(s.string()) }),
  versions: [Note],
});

/** Fails for a broken object. */
export const notes = conversion(Note, NoteV2, {
  up({ spec }) {
    if (spec.text === "broken") throw new TypeError("it is broken");
    return { spec: { lines: spec.text.split("\n") } };
  },
  down: ({ spec }) => ({ spec: { text: spec.lines.join("\n") } }),
});

/** Denies a forbidden object, and fails for a broken one. */
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

/** Takes the steps of a renewal at once, as far as clients allow. */
export const QUICK: CertificateTimes = { authority: 1e10, server: 1e9, publish: 150, drop: 300, look: 50 };

export const PATH = "/validate/note-rules";

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

/** A conversion of a note to its second version, as an API server requests it. */
export function conversionReview(text: string, uid = `uid-${++count}`) {
  const metadata = { name: "a", namespace: "default" };
  const object = { apiVersion: Note.apiVersion, kind: Note.kind, metadata, spec: { text } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    request: { uid, desiredAPIVersion: NoteV2.apiVersion, objects: [object] },
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
