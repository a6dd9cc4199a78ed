import assert from "node:assert/strict";
import { resource } from "../resource/mod.ts";
import { s } from "../schema/mod.ts";
import { textFor } from "./_text_for.ts";
import { sampleOf } from "./sample.ts";

const FORMATS = [
  ..."uri email hostname ipv4 ipv6 cidr mac uuid uuid4 isbn isbn10 isbn13 creditcard ssn hexcolor".split(" "),
  ..."rgbcolor byte date duration date-time bsonobjectid".split(" "),
];

Deno.test("sampleOf includes properties that are required or have a default, within their bounds", () => {
  const spec = s.object({
    host: s.string({ format: "hostname" }),
    tier: s.enum(["gold", "silver"]),
    code: s.string({ pattern: "^[A-Z]{3}-[0-9]+$", minLength: 6 }),
    replicas: s.integer({ minimum: 5, exclusiveMinimum: true, multipleOf: 2 }),
    ports: s.array(s.object({ name: s.string(), number: s.integer({ maximum: 0 }) }), {
      minItems: 2,
      maxItems: 4,
    }),
    theme: s.string({ default: "light" }),
    motto: s.optional(s.string({ example: "Onward" })),
    note: s.optional(s.string()),
    labels: s.map(s.string(), { minProperties: 1 }),
  });
  const { manifest, errors } = sampleOf(kindOf(spec));
  assert.deepEqual(errors, []);
  assert.deepEqual(manifest, {
    apiVersion: "demo.example.com/v1",
    kind: "Thing",
    metadata: { name: "thing-sample" },
    spec: {
      host: "host.example.com",
      tier: "gold",
      code: "AAA-00",
      replicas: 6,
      ports: [{ name: "name", number: 0 }, { name: "name1", number: 0 }],
      theme: "light",
      motto: "Onward",
      labels: { key1: "labels" },
    },
  });
});

Deno.test("sampleOf adds an entry to a required list, and values that webhooks accept", () => {
  const container = s.object({
    name: s.string(),
    image: s.optional(s.string()),
    args: s.optional(s.array(s.string())),
  });
  const spec = s.object({
    schedule: s.string({ pattern: "^\\S+( \\S+){4}$" }),
    timeZone: s.string(),
    containers: s.array(container),
    none: s.array(s.string(), { maxItems: 0 }),
    image: s.string({ maxLength: 5 }),
  });
  assert.deepEqual(sampleOf(kindOf(spec)).manifest.spec, {
    schedule: "0 3 * * *",
    timeZone: "Etc/UTC",
    containers: [{ name: "name", image: "registry.k8s.io/pause:3.10" }],
    none: [],
    image: "image",
  });
});

Deno.test("sampleOf leaves a required list empty if its entries would break a rule", () => {
  const rule = { rule: "size(self.hosts) == 0", message: "no hosts yet" };
  const spec = s.object({ hosts: s.array(s.string(), { maxItems: 3 }) }, { validations: [rule] });
  const { manifest, errors } = sampleOf(kindOf(spec));
  assert.deepEqual([manifest.spec, errors], [{ hosts: [] }, []]);
});

for (const format of FORMATS) {
  Deno.test(`sampleOf generates a string of the format ${format}`, () => {
    const text = s.string({ format: format as never });
    const spec = s.object({ value: text, more: s.array(text, { minItems: 2 }) });
    assert.deepEqual(sampleOf(kindOf(spec)).errors, []);
  });
}

Deno.test("sampleOf reports values that it cannot generate, and uses an example", () => {
  const rule = { rule: "self.a == 'open sesame'", message: "say the word" };
  const free = s.object({ a: s.string() }, { validations: [rule] });
  assert.deepEqual(sampleOf(kindOf(free)).errors.map(({ message }) => message), [
    "Invalid value: say the word",
  ]);
  const shown = s.object({ a: s.string({ example: "open sesame" }) }, { validations: [rule] });
  assert.deepEqual(sampleOf(kindOf(shown)).errors, []);
});

Deno.test("sampleOf includes one of two properties that exclude each other", () => {
  const spec = s.exactlyOneOf(s.object({ a: s.optional(s.string()), b: s.optional(s.string()) }), ["a", "b"]);
  const { manifest, errors } = sampleOf(kindOf(spec));
  assert.deepEqual(errors, []);
  assert.deepEqual(manifest.spec, { a: "a" });
});

const PATTERNS: readonly { pattern: string; length?: number; expected: string | undefined }[] = [
  { pattern: "^a|b$", expected: "a" },
  { pattern: "^(?:x|y)z?$", expected: "xz" },
  { pattern: "^\\d{2,4}$", length: 3, expected: "000" },
  { pattern: "^[^a-z]$", expected: "0" },
  { pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", expected: "a" },
  { pattern: "\\.", expected: "." },
  { pattern: "^(?=a)b$", expected: undefined },
  { pattern: "(", expected: undefined },
];

for (const { pattern, length = 0, expected } of PATTERNS) {
  Deno.test(`textFor returns ${expected} for ${pattern} with at least ${length} characters`, () => {
    const text = textFor(pattern, length);
    if (expected === undefined) assert.equal(text, undefined);
    else assert(text !== undefined && new RegExp(pattern, "u").test(text) && text.length >= length, text);
  });
}

// deno-lint-ignore no-explicit-any -- specs of all shapes
function kindOf(spec: any) {
  return resource({ group: "demo.example.com", version: "v1", kind: "Thing", spec });
}
