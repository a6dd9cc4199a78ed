import assert from "node:assert/strict";
import { s, type Schema } from "../schema/mod.ts";
import { resource } from "./mod.ts";
import { definitionWarnings } from "./warnings.ts";

const NAMES = { group: "demo.example.com", kind: "Note" } as const;

/** Returns the warnings for a definition of about the given number of bytes. */
function warningsForSize(bytes: number) {
  const spec = s.object({ text: s.string({ description: "x".repeat(bytes) }) });
  return definitionWarnings(resource({ ...NAMES, version: "v1", spec }).crd);
}

Deno.test("definitionWarnings returns no warnings for small definitions without problems", () => {
  const V1 = resource({ ...NAMES, version: "v1", spec: s.object({ text: s.string() }) });
  const Note = resource({
    ...NAMES,
    version: "v2",
    spec: s.object({ text: s.string() }),
    status: s.object({ ready: s.integer() }),
    columns: {
      Text: ".spec.text",
      Ready: '.status.conditions[?(@.type=="Ready")].status',
      Age: ".metadata.creationTimestamp",
    },
  });

  assert.deepEqual(definitionWarnings(V1.crd), []);
  assert.deepEqual(definitionWarnings(Note.crd), []);
  assert.deepEqual(warningsForSize(200_000), []);
});

Deno.test("definitionWarnings reports a definition near or above the limit of kubectl apply", () => {
  const advice = "omit descriptions, or parts of built-in types with s.omit and s.pick";
  assert.deepEqual(warningsForSize(250_000), [
    'notes.demo.example.com: it has 245 KiB, and "kubectl apply" rejects more than 256 KiB: before it grows, apply it with ' +
    `--server-side, or ${advice}`,
  ]);
  assert.deepEqual(warningsForSize(300_000), [
    'notes.demo.example.com: it has 294 KiB, and "kubectl apply" rejects more than 256 KiB: apply it with --server-side, or ' +
    advice,
  ]);
  assert.deepEqual(warningsForSize(1_500_000), [
    `notes.demo.example.com: it has 1466 KiB, and an API server stores at most 1536 KiB: ${advice}`,
  ]);
});

Deno.test("definitionWarnings reports fields that are lost between versions", () => {
  const item = s.object({ a: s.integer() });
  const V1 = resource({
    ...NAMES,
    version: "v1",
    spec: s.object({ text: s.string(), list: s.array(item), old: s.integer() }),
  });
  const Note = resource({
    ...NAMES,
    version: "v2",
    spec: s.object({
      text: s.string(),
      list: s.array(s.object({ a: s.integer(), b: s.integer() })),
      w: s.integer(),
      x: s.integer(),
      y: s.integer(),
    }),
    versions: [V1],
  });

  assert.deepEqual(definitionWarnings(Note.crd), [
    'notes.demo.example.com: fields that are written through "v1" are lost, because the stored version "v2" does not have them: ' +
    '".spec.old". Add a conversion between the versions',
    'notes.demo.example.com: an object that is updated through "v1" loses fields that only the stored version "v2" has: ' +
    '".spec.list[].b", ".spec.w", ".spec.x" and 1 more. Add a conversion between the versions',
  ]);
});

Deno.test("definitionWarnings reports no loss between versions that a webhook converts", () => {
  const V1 = resource({ ...NAMES, version: "v1", spec: s.object({ old: s.integer() }) });
  const { crd } = resource({ ...NAMES, version: "v2", spec: s.object({ text: s.string() }), versions: [V1] });
  const conversion = { strategy: "Webhook", webhook: { clientConfig: {}, conversionReviewVersions: ["v1"] } } as const;
  assert.equal(definitionWarnings(crd).length, 2);
  assert.deepEqual(definitionWarnings({ ...crd, spec: { ...crd.spec, conversion } }), []);
});

Deno.test("definitionWarnings reports that the newest version has no columns although an older one has some", () => {
  const spec = s.object({ text: s.string() });
  const columns = { Text: ".spec.text" } as const;
  const warnings = (versions: Record<string, boolean>) => {
    const [first, ...more] = Object.entries(versions).map(([version, hasColumns]) =>
      resource({ ...NAMES, version, spec, ...(hasColumns ? { columns } : {}) })
    );
    const { crd } = first!;
    return definitionWarnings({
      ...crd,
      spec: { ...crd.spec, versions: [first!, ...more].flatMap((kind) => kind.crd.spec.versions) },
    });
  };
  assert.deepEqual(warnings({ v1: true, v2: false, v3beta1: true }), [
    'notes.demo.example.com: "kubectl get" shows "v2", the newest served version, which has no columns although "v1" has some: ' +
    'add columns to "v2"',
  ]);
  assert.deepEqual(warnings({ v1: true, v2: true }), []);
  assert.deepEqual(warnings({ v1: false, v2: true }), []);
  assert.deepEqual(warnings({ v1: false, v2: false }), []);
  assert.deepEqual(warnings({ v1: true, v2alpha1: false }), []);
});

Deno.test("definitionWarnings reports columns that show an object as JSON", () => {
  const schedule = s.object({ minute: s.string(), hour: s.string() });
  const Note = resource({
    ...NAMES,
    version: "v1",
    spec: s.object({ schedule, names: s.array(s.string()), labels: s.map(s.string()) }),
    columns: {
      Schedule: ".spec.schedule",
      Minute: ".spec.schedule.minute",
      Names: ".spec.names",
      Labels: ".spec.labels",
    },
  });

  assert.deepEqual(definitionWarnings(Note.crd), [
    'notes.demo.example.com: column "Schedule" of "v1" shows JSON: ".spec.schedule" is an object. Name one of its fields',
  ]);
});

Deno.test("definitionWarnings reports columns that are always empty", () => {
  const Note = resource({
    ...NAMES,
    version: "v1",
    spec: s.object({ text: s.string(), list: s.array(s.object({ port: s.integer(), name: s.string() })) }),
    columns: {
      Text: { path: ".spec.text", type: "integer" },
      On: { path: ".spec.text", type: "boolean" },
      Port: '.spec.list[?(@.port=="80")].name',
      Whole: ".spec.list[?(@.port==80.5)].name",
      Fine: ".spec.list[?(@.port==80)].name",
    },
  });

  assert.deepEqual(definitionWarnings(Note.crd), [
    'notes.demo.example.com: column "Text" of "v1" is always empty: its type is integer, but ".spec.text" has another type',
    'notes.demo.example.com: column "On" of "v1" is always empty: its type is boolean, but ".spec.text" has another type',
    'notes.demo.example.com: column "Port" of "v1" is always empty: ".spec.list[?(@.port=="80")].name" compares values of ' +
    "different types",
    'notes.demo.example.com: column "Whole" of "v1" is always empty: ".spec.list[?(@.port==80.5)].name" compares values of ' +
    "different types",
  ]);
});

Deno.test("definitionWarnings reports formats that no server validates", () => {
  const raw = { type: "string", format: "colour" } as unknown as Schema<string, string, "required">;
  const Note = resource({ ...NAMES, version: "v1", spec: s.object({ a: raw, b: raw }) });

  assert.deepEqual(definitionWarnings(Note.crd), [
    'notes.demo.example.com: the format "colour" is not validated: an API server does not know it',
  ]);
});
