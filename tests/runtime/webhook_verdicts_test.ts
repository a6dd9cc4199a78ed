/** Return values of webhook functions: none allows a request by mistake, and denials look like the API server's. */
import assert from "node:assert/strict";
import { conversion, deny, resource, s, webhook } from "@op/sdk";
import { Conversions } from "../../src/runtime/webhooks/convert.ts";
import { Note, PATH, review } from "../fixtures/reviews.ts";
import { webhookHandler } from "./_webhooks.ts";

const FAULT = { reason: "FieldValueInvalid", message: "too long", field: "spec.text" };

for (const answer of [false, true, 0, "", null, "no", { allowed: true }, [deny("no"), "no"], ["no"]]) {
  Deno.test(`an invalid return value of validate fails the call: ${Deno.inspect(answer)}`, async () => {
    const noteRules = webhook(Note, { validate: () => answer as never });
    assert.equal((await posted({ noteRules }, review())).status, 500);
  });
}

for (const answer of [false, 0, "", null, "no", [{ spec: { text: "" } }]]) {
  Deno.test(`an invalid return value of mutate fails the call: ${Deno.inspect(answer)}`, async () => {
    const noteRules = webhook(Note, { mutate: () => answer as never });
    assert.equal((await posted({ noteRules }, review(), MUTATE)).status, 500);
  });
}

Deno.test("fields that are removed from a returned draft are removed", async () => {
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
  const asked = { ...rest, request: { ...request, subResource: "scale", object } };
  assert.deepEqual(await patchOf({ noteRules }, asked), [{ op: "remove", path: "/spec/replicas" }]);
});

Deno.test("a patch keeps all Unicode characters", async () => {
  const text = "Grüße, 你好 🦕";
  const noteRules = webhook(Note, { mutate: (note) => void (note.spec.text = text) });
  assert.deepEqual(await patchOf({ noteRules }, review()), [{ op: "replace", path: "/spec/text", value: text }]);
});

const REFUSALS = [
  {
    name: "a field's, with the status of invalid objects where it was said by hand",
    refusals: [deny("too long", { field: "spec.text", status: 403 }), deny("too late", { status: 410 })],
    status: { code: 410, reason: "Gone", message: "too late; spec.text: too long" },
  },
  {
    name: "of which one is of a field and one is not: all of it is told",
    refusals: [deny("not now"), deny("too long", { field: "spec.text" })],
    status: { code: 403, reason: "Forbidden", message: "not now; spec.text: too long" },
  },
  {
    name: "whose status of the first choice is 422 by a field, and another's counts",
    refusals: [deny("too long", { field: "spec.text" }), deny("taken", { field: "spec.text", status: 409 })],
    status: {
      code: 409,
      reason: "Invalid",
      message: 'Note.reviews.example.com "a" is invalid: [spec.text: too long, spec.text: taken]',
    },
  },
  {
    name: "of a schema's fault",
    refusals: [FAULT],
    status: {
      code: 422,
      reason: "Invalid",
      message: 'Note.reviews.example.com "a" is invalid: spec.text: too long',
    },
  },
];

for (const { name, refusals, status } of REFUSALS) {
  Deno.test(`denials: ${name}`, async () => {
    const noteRules = webhook(Note, { validate: () => refusals as never });
    const { code, reason, message } = (await answered({ noteRules }, review())).status;
    assert.deepEqual({ code, reason, message }, status);
  });
}

Deno.test("a denial of a webhook for one field names that field, unless it has a code", async () => {
  const refusedBy = async (denial: unknown) => {
    const noteRules = webhook(Note, { field: ".spec.text", validate: () => denial as never });
    const { code, details } = (await answered({ noteRules }, review())).status;
    return [code, details?.causes[0]?.field];
  };
  assert.deepEqual(await refusedBy(deny("no")), [422, "spec.text"]);
  assert.deepEqual(await refusedBy(deny("no", { status: 409 })), [409, undefined]);
  assert.deepEqual(await refusedBy(deny("no", { field: ".metadata.name" })), [422, "metadata.name"]);
});

/** Kinds of one group with the same version names. */
function versionsOf(kind: string) {
  const names = { group: "ways.example.com", kind };
  return [1, 2, 3, 4, 5].map((i) => resource({ ...names, version: `v${i}`, spec: s.object({}) }));
}

/** A conversion that records its step. */
function step(from: ReturnType<typeof resource>, into: ReturnType<typeof resource>) {
  const notes = (to: { version: string; kind: string }) => (object: unknown) => {
    const { way = [] } = object as { way?: readonly string[] };
    return { way: [...way, `${to.kind} ${to.version}`] };
  };
  return conversion(from as never, into as never, { up: notes(into) as never, down: notes(from) as never });
}

Deno.test("conversions take the shortest path, in any order of declaration", () => {
  const [v1, v2, v3, v4, v5] = versionsOf("Road") as [never, never, never, never, never];
  const steps = [step(v1, v2), step(v2, v5), step(v1, v3), step(v3, v4), step(v4, v5)];
  for (const declared of [steps, steps.toReversed()]) {
    const made = new Conversions(declared).convert(object("Road", "v1"), "ways.example.com/v5");
    assert.deepEqual(made.way, ["Road v2", "Road v5"]);
  }
});

Deno.test("a conversion does not apply to another kind with the same version names", () => {
  const [roads, rails] = [versionsOf("Road"), versionsOf("Rail")] as [never[], never[]];
  const conversions = new Conversions([
    step(roads[0]!, roads[1]!),
    step(rails[0]!, rails[2]!),
    step(rails[2]!, rails[1]!),
  ]);
  const to = "ways.example.com/v2";
  for (let again = 0; again < 2; again++) {
    assert.deepEqual(conversions.convert(object("Road", "v1"), to).way, ["Road v2"]);
    assert.deepEqual(conversions.convert(object("Rail", "v1"), to).way, ["Rail v3", "Rail v2"]);
  }
  assert.throws(
    () => conversions.convert(object("Road", "v1"), "ways.example.com/v3"),
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
  const { result, convertedObjects } = await answered({ notes }, body, "/convert");
  assert.equal(result.status, "Failure");
  assert.match(result.message, /Note "broken" .*it is broken/);
  assert.deepEqual(convertedObjects, []);
});

const MUTATE = PATH.replace("validate", "mutate");

function object(kind: string, version: string) {
  return { apiVersion: `ways.example.com/${version}`, kind, metadata: { name: "a" } };
}

async function posted(parts: Parameters<typeof webhookHandler>[0], body: unknown, path = PATH): Promise<Response> {
  const headers = { "content-type": "application/json" };
  const request = new Request(`https://notes${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return await webhookHandler(parts).fetch(request);
}

// deno-lint-ignore no-explicit-any -- whatever is answered
async function answered(parts: Parameters<typeof webhookHandler>[0], body: unknown, path = PATH): Promise<any> {
  const response = await posted(parts, body, path);
  assert.equal(response.status, 200, await response.clone().text());
  return (await response.json()).response;
}

async function patchOf(parts: Parameters<typeof webhookHandler>[0], body: unknown): Promise<unknown> {
  const { patch } = await answered(parts, body, MUTATE);
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(patch), (letter) => letter.charCodeAt(0))));
}
