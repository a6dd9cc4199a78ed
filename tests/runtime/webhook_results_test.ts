/**
 * Return values of webhook functions: an invalid one never allows a request, and denials look like
 * those of the API server. Also the paths of conversions.
 */
import assert from "node:assert/strict";
import { conversion, deny, resource, s, webhook } from "@op/sdk";
import { Conversions } from "../../src/runtime/webhooks/convert.ts";
import { Note, PATH, review } from "../fixtures/reviews.ts";
import { webhookHandler } from "./_webhooks.ts";

const FIELD_ERROR = { reason: "FieldValueInvalid", message: "too long", field: "spec.text" };

for (const result of [false, true, 0, "", null, "no", { allowed: true }, [deny("no"), "no"], ["no"]]) {
  Deno.test(`an invalid return value of validate fails the call: ${Deno.inspect(result)}`, async () => {
    const noteRules = webhook(Note, { validate: () => result as never });
    assert.equal((await post({ noteRules }, review())).status, 500);
  });
}

for (const result of [false, 0, "", null, "no", [{ spec: { text: "" } }]]) {
  Deno.test(`an invalid return value of mutate fails the call: ${Deno.inspect(result)}`, async () => {
    const noteRules = webhook(Note, { mutate: () => result as never });
    assert.equal((await post({ noteRules }, review(), MUTATE)).status, 500);
  });
}

Deno.test("a field that mutate deletes from the object it returns is removed", async () => {
  const noteRules = webhook(Note, {
    mutate(note) {
      const { metadata } = note;
      delete metadata.namespace;
      return note as never;
    },
  });
  assert.deepEqual(await patchOf({ noteRules }, review()), [{ op: "remove", path: "/metadata/namespace" }]);
});

Deno.test("omitted fields of a returned Scale are removed, because the kind's schema does not apply", async () => {
  const noteRules = webhook(Note, { subresource: "scale", mutate: () => ({ spec: {} }) as never });
  const { request, ...rest } = review();
  const object = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "a" }, spec: { replicas: 2 } };
  const scaleReview = { ...rest, request: { ...request, subResource: "scale", object } };
  assert.deepEqual(await patchOf({ noteRules }, scaleReview), [{ op: "remove", path: "/spec/replicas" }]);
});

Deno.test("a patch keeps all Unicode characters", async () => {
  const text = "Grüße, 你好 🦕";
  const noteRules = webhook(Note, { mutate: (note) => void (note.spec.text = text) });
  assert.deepEqual(await patchOf({ noteRules }, review()), [{ op: "replace", path: "/spec/text", value: text }]);
});

const DENIALS = [
  {
    name: "a field with code 403 and another one with code 410 have status 410",
    denials: [deny("too long", { field: "spec.text", status: 403 }), deny("too late", { status: 410 })],
    status: { code: 410, reason: "Gone", message: "too late; spec.text: too long" },
  },
  {
    name: "the object and of a field have status 403 and both messages",
    denials: [deny("not now"), deny("too long", { field: "spec.text" })],
    status: { code: 403, reason: "Forbidden", message: "not now; spec.text: too long" },
  },
  {
    name: "two fields, one of them with code 409, have status 409 and reason Invalid",
    denials: [deny("too long", { field: "spec.text" }), deny("taken", { field: "spec.text", status: 409 })],
    status: {
      code: 409,
      reason: "Invalid",
      message: 'Note.reviews.example.com "a" is invalid: [spec.text: too long, spec.text: taken]',
    },
  },
  {
    name: "a field error of a schema has status 422",
    denials: [FIELD_ERROR],
    status: {
      code: 422,
      reason: "Invalid",
      message: 'Note.reviews.example.com "a" is invalid: spec.text: too long',
    },
  },
];

for (const { name, denials, status } of DENIALS) {
  Deno.test(`denials of ${name}`, async () => {
    const noteRules = webhook(Note, { validate: () => denials as never });
    const { code, reason, message } = (await respond({ noteRules }, review())).status;
    assert.deepEqual({ code, reason, message }, status);
  });
}

Deno.test("a denial by a webhook of one field names that field, unless it has a code", async () => {
  const denialOf = async (denial: unknown) => {
    const noteRules = webhook(Note, { field: ".spec.text", validate: () => denial as never });
    const { code, details } = (await respond({ noteRules }, review())).status;
    return [code, details?.causes[0]?.field];
  };
  assert.deepEqual(await denialOf(deny("no")), [422, "spec.text"]);
  assert.deepEqual(await denialOf(deny("no", { status: 409 })), [409, undefined]);
  assert.deepEqual(await denialOf(deny("no", { field: ".metadata.name" })), [422, "metadata.name"]);
});

/** Returns five versions of a kind. */
function versionsOf(kind: string) {
  const names = { group: "paths.example.com", kind };
  return [1, 2, 3, 4, 5].map((i) => resource({ ...names, version: `v${i}`, spec: s.object({}) }));
}

/** Creates a conversion that records its target in the object. */
function step(from: ReturnType<typeof resource>, into: ReturnType<typeof resource>) {
  const recordStep = (to: { version: string; kind: string }) => (object: unknown) => {
    const { path = [] } = object as { path?: readonly string[] };
    return { path: [...path, `${to.kind} ${to.version}`] };
  };
  return conversion(from as never, into as never, { up: recordStep(into) as never, down: recordStep(from) as never });
}

Deno.test("conversions take the shortest path, in any order of declaration", () => {
  const [v1, v2, v3, v4, v5] = versionsOf("Road") as [never, never, never, never, never];
  const steps = [step(v1, v2), step(v2, v5), step(v1, v3), step(v3, v4), step(v4, v5)];
  for (const declared of [steps, steps.toReversed()]) {
    const converted = new Conversions(declared).convert(object("Road", "v1"), "paths.example.com/v5");
    assert.deepEqual(converted.path, ["Road v2", "Road v5"]);
  }
});

Deno.test("a conversion does not apply to another kind with the same version names", () => {
  const [roads, rails] = [versionsOf("Road"), versionsOf("Rail")] as [never[], never[]];
  const conversions = new Conversions([
    step(roads[0]!, roads[1]!),
    step(rails[0]!, rails[2]!),
    step(rails[2]!, rails[1]!),
  ]);
  const to = "paths.example.com/v2";
  // Twice, because paths are cached.
  for (let i = 0; i < 2; i++) {
    assert.deepEqual(conversions.convert(object("Road", "v1"), to).path, ["Road v2"]);
    assert.deepEqual(conversions.convert(object("Rail", "v1"), to).path, ["Rail v3", "Rail v2"]);
  }
  assert.throws(
    () => conversions.convert(object("Road", "v1"), "paths.example.com/v3"),
    /no conversions lead to that version/,
  );
});

Deno.test("either all objects of a review are converted, or none", async () => {
  const notes = conversion(Note, { ...Note, version: "v2", apiVersion: "reviews.example.com/v2" } as never, {
    up: ({ spec }: { spec: { text: string } }) => {
      if (spec.text === "broken") throw new TypeError("it is broken");
      return { spec };
    },
    down: () => ({ spec: { text: "" } }),
  } as never);
  const objects = ["a", "broken", "b"].map((text) => ({
    apiVersion: Note.apiVersion,
    kind: "Note",
    metadata: { name: text },
    spec: { text },
  }));
  const body = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    request: { uid: "u", desiredAPIVersion: "reviews.example.com/v2", objects },
  };
  const { result, convertedObjects } = await respond({ notes }, body, "/convert");
  assert.equal(result.status, "Failure");
  assert.match(result.message, /Note "broken" .*it is broken/);
  assert.deepEqual(convertedObjects, []);
});

const MUTATE = PATH.replace("validate", "mutate");

function object(kind: string, version: string) {
  return { apiVersion: `paths.example.com/${version}`, kind, metadata: { name: "a" } };
}

async function post(parts: Parameters<typeof webhookHandler>[0], body: unknown, path = PATH): Promise<Response> {
  const headers = { "content-type": "application/json" };
  const request = new Request(`https://notes${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return await webhookHandler(parts).fetch(request);
}

// deno-lint-ignore no-explicit-any -- a review of any shape
async function respond(parts: Parameters<typeof webhookHandler>[0], body: unknown, path = PATH): Promise<any> {
  const response = await post(parts, body, path);
  assert.equal(response.status, 200, await response.clone().text());
  return (await response.json()).response;
}

async function patchOf(parts: Parameters<typeof webhookHandler>[0], body: unknown): Promise<unknown> {
  const { patch } = await respond(parts, body, MUTATE);
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(patch), (letter) => letter.charCodeAt(0))));
}
