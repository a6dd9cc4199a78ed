import assert from "node:assert/strict";
import { type AnyKind, resource, s, type Schema } from "@op/sdk";
import { Deployment } from "../kinds/mod.ts";
import type { KubeObject } from "../resource/kind.ts";
import type { InformerCache } from "../watch/informer_cache.ts";
import { InvalidObjectError, ObjectShape } from "./object_shape.ts";

// deno-lint-ignore no-explicit-any
type AnySchema = Schema<any, any>;

function kindOf(spec: AnySchema, status?: AnySchema): AnyKind {
  return resource({
    group: "demo.example.com",
    version: "v1",
    kind: "Website",
    spec: spec as never,
    ...(status === undefined ? {} : { status: status as never }),
  });
}

/** Creates a cache that only reports deletions, by `forget`. */
function cacheWithDeletions(): InformerCache & { readonly forget: (object: KubeObject) => void } {
  let listener: (change: { before?: KubeObject; after?: KubeObject }) => void = () => {};
  return {
    listen: (given: typeof listener) => listener = given,
    forget: (object: KubeObject) => listener({ before: object }),
  } as never;
}

function website(parts: Record<string, unknown>): KubeObject {
  const metadata = { name: "a", namespace: "default", uid: "1", resourceVersion: "1", creationTimestamp: "" };
  return { apiVersion: "demo.example.com/v1", kind: "Website", metadata, ...parts };
}

function errorOf(kind: AnyKind, object: KubeObject): string | undefined {
  try {
    new ObjectShape(kind, cacheWithDeletions()).checkValid(object);
    return undefined;
  } catch (error) {
    assert(error instanceof InvalidObjectError);
    return /demo\.example\.com\/v1: (.*)\. Correct the object/.exec(error.message)?.[1];
  }
}

const SPEC = s.object({
  host: s.string(),
  size: s.optional(s.quantity()),
  port: s.optional(s.intOrString()),
  replicas: s.integer({ minimum: 3, default: 3 }),
  ratio: s.optional(s.number()),
  isOpen: s.optional(s.boolean()),
  note: s.optional(s.nullable(s.string({ pattern: "^a" }))),
  level: s.optional(s.enum(["low", "high"])),
  labels: s.optional(s.map(s.string())),
  rules: s.optional(s.array(s.object({ path: s.string(), weight: s.optional(s.integer()) }))),
  extra: s.optional(s.anything()),
});

const CASES: readonly { name: string; spec: unknown; expected: string | undefined }[] = [
  {
    name: "a valid object",
    spec: { host: "a", port: "http", labels: { a: "b" }, rules: [{ path: "/" }] },
    expected: undefined,
  },
  { name: "a missing field", spec: { size: "1Gi" }, expected: "spec.host is required and missing" },
  {
    name: "a missing field in a list",
    spec: { host: "a", rules: [{ path: "/" }, {}] },
    expected: "spec.rules[1].path is required and missing",
  },
  {
    name: "a string for an integer",
    spec: { host: "a", replicas: "3" },
    expected: "spec.replicas must be an integer, not a string",
  },
  {
    name: "a fraction for an integer",
    spec: { host: "a", replicas: 1.5 },
    expected: "spec.replicas must be an integer, not a fraction",
  },
  {
    name: "an object for a list",
    spec: { host: "a", rules: {} },
    expected: "spec.rules must be a list, not an object",
  },
  { name: "a list for an object", spec: [], expected: "spec must be an object, not a list" },
  {
    name: "a boolean for a number",
    spec: { host: "a", ratio: true },
    expected: "spec.ratio must be a number, not a boolean",
  },
  { name: "null where it is not allowed", spec: { host: null }, expected: "spec.host must be a string, not null" },
  { name: "null where it is allowed", spec: { host: "a", note: null }, expected: undefined },
  {
    name: "a wrong value of a map",
    spec: { host: "a", labels: { "x.y/z": 1 } },
    expected: 'spec.labels["x.y/z"] must be a string, not a number',
  },
  {
    name: "a boolean for an integer or a string",
    spec: { host: "a", port: true },
    expected: "spec.port must be an integer or a string, not a boolean",
  },
  { name: "any value without a schema", spec: { host: "a", extra: [null, { a: 1 }] }, expected: undefined },
  {
    name: "bounds, patterns and enums, which old values may violate",
    spec: { host: "a", replicas: 1, note: "b", level: "none" },
    expected: undefined,
  },
  { name: "an unknown field", spec: { host: "a", constructor: 1, hots: 2 }, expected: undefined },
  {
    name: "many errors",
    spec: { replicas: "", ratio: "", isOpen: "", labels: "", rules: "", level: 1 },
    expected:
      "spec.host is required and missing, spec.replicas must be an integer, not a string, spec.ratio must be a number, not a string, " +
      "spec.isOpen must be a boolean, not a string, spec.labels must be an object, not a string, and 2 more",
  },
];

for (const { name, spec, expected } of CASES) {
  Deno.test(`ObjectShape checks ${name}`, () => assert.equal(errorOf(kindOf(SPEC), website({ spec })), expected));
}

Deno.test("an object without a spec is invalid", () => {
  assert.equal(errorOf(kindOf(SPEC), website({})), "spec is required and missing");
});

Deno.test("missing required fields are found even if all JavaScript objects have a property of that name", () => {
  const kind = kindOf(s.object({ constructor: s.string(), toString: s.string() } as never));
  assert.equal(
    errorOf(kind, website({ spec: {} })),
    "spec.constructor is required and missing, spec.toString is required and missing",
  );
});

Deno.test("an object whose status does not match its type is valid, because the operator writes the status", () => {
  const kind = kindOf(SPEC, s.object({ url: s.string() }));
  assert.equal(errorOf(kind, website({ spec: { host: "a" }, status: { url: 1 } })), undefined);
});

Deno.test("objects of built-in kinds are always valid", () => {
  assert.equal(errorOf(Deployment, website({ spec: 1 })), undefined);
});

Deno.test("an invalid object is reported again only if it or its errors have changed", () => {
  const cache = cacheWithDeletions();
  const shape = new ObjectShape(kindOf(SPEC), cache);
  const isKnown = (object: KubeObject): boolean | undefined => {
    try {
      shape.checkValid(object);
      return undefined;
    } catch (error) {
      return (error as InvalidObjectError).isKnown;
    }
  };
  const wrong = website({ spec: {} });
  assert.equal(isKnown(wrong), false);
  assert.equal(isKnown({ ...wrong }), true);
  assert.equal(isKnown(website({ spec: { host: 1 } })), false);
  assert.equal(isKnown(website({ spec: { host: "a" } })), undefined);
  assert.equal(isKnown(wrong), false);
  assert.equal(isKnown({ ...wrong, metadata: { ...wrong.metadata, uid: "2" } }), false);
  cache.forget(wrong);
  assert.equal(isKnown(wrong), false);
});
