/** Conversions of a kind with three versions: between the first and the last through the second. */
import assert from "node:assert/strict";
import { conversion, resource, s } from "@op/sdk";
import { memoryCluster, roundTrips } from "@op/sdk/testing";

const names = { group: "demo.example.com", kind: "Span" } as const;
const SpanV1 = resource({ ...names, version: "v1", spec: s.object({ text: s.string({ pattern: "^[0-9]-[0-9]$" }) }) });
const ends = { from: s.integer({ minimum: 0, maximum: 9 }), to: s.integer({ minimum: 0, maximum: 9 }) };
const SpanV2 = resource({ ...names, version: "v2", spec: s.object(ends) });
const pair = s.array(ends.from, { minItems: 2, maxItems: 2 });
const Span = resource({
  ...names,
  version: "v3",
  spec: s.object({ ends: pair }),
  versions: [SpanV1, SpanV2],
});

const spanV1 = conversion(SpanV1, SpanV2, {
  up({ spec }) {
    const [from = 0, to = 0] = spec.text.split("-").map(Number);
    return { spec: { from, to } };
  },
  down: ({ spec: { from, to } }) => ({ spec: { text: `${from}-${to}` } }),
});
const spanV2 = conversion(SpanV2, Span, {
  up: ({ spec: { from, to } }) => ({ spec: { ends: [from, to] } }),
  down: ({ spec: { ends: [from = 0, to = 0] } }) => ({ spec: { from, to } }),
});

Deno.test("an object of the first version is converted to the last through the second, and back", async () => {
  await using cluster = await memoryCluster({ parts: { spanV1, spanV2 } });
  await cluster.create(SpanV1, "a", { spec: { text: "2-7" } });
  await cluster.create(Span, "b", { spec: { ends: [1, 3] } });

  assert.deepEqual((await cluster.get(Span, "a")).spec, { ends: [2, 7] });
  assert.deepEqual((await cluster.get(SpanV2, "a")).spec, { from: 2, to: 7 });
  assert.deepEqual((await cluster.get(SpanV1, "b")).spec, { text: "1-3" });
  await cluster.patch(SpanV1, "b", { spec: { text: "1-4" } });
  assert.deepEqual((await cluster.get(Span, "b")).spec, { ends: [1, 4] });
});

Deno.test("roundTrips treats empty annotations as missing, as API servers do", async () => {
  const emptying = conversion(SpanV2, Span, {
    up: ({ metadata, spec: { from, to } }) => ({
      metadata: { ...metadata, annotations: { ...metadata.annotations } },
      spec: { ends: [from, to] },
    }),
    down: ({ metadata, spec: { ends: [from = 0, to = 0] } }) => ({
      metadata: { ...metadata, labels: {} },
      spec: { from, to },
    }),
  });
  await roundTrips(emptying, { seed: 1 });
  const marking = conversion(SpanV2, Span, {
    up: ({ metadata, spec: { from, to } }) => ({
      metadata: { ...metadata, annotations: { was: "v2" } },
      spec: { ends: [from, to] },
    }),
    down: ({ spec: { ends: [from = 0, to = 0] } }) => ({ spec: { from, to } }),
  });
  await assert.rejects(roundTrips(marking, { seed: 1 }), /was changed/);
});

Deno.test("roundTrips passes for a conversion that returns the status", async () => {
  const status = s.object({ seen: s.integer() });
  const LampV1 = resource({ group: "demo.example.com", version: "v1", kind: "Lamp", spec: s.object({}), status });
  const Lamp = resource({
    group: "demo.example.com",
    version: "v2",
    kind: "Lamp",
    spec: s.object({ isOn: s.boolean({ default: false }) }),
    status,
    versions: [LampV1],
  });
  const lampV1 = conversion(LampV1, Lamp, {
    up: ({ status }) => ({ spec: { isOn: false }, status }),
    down: ({ status }) => ({ spec: {}, status }),
  });
  await roundTrips(lampV1, { from: "first", seed: 1 });
});

Deno.test("roundTrips passes if up and down are inverse, and reports an object for which they are not", async () => {
  await roundTrips(spanV1, { seed: 1 });
  await roundTrips(spanV2, { seed: 1 });
  const forgets = conversion(SpanV2, Span, {
    up: ({ spec: { from } }) => ({ spec: { ends: [from, from] } }),
    down: ({ spec: { ends: [from = 0, to = 0] } }) => ({ spec: { from, to } }),
  });
  await assert.rejects(roundTrips(forgets, { seed: 1 }), /was changed/);
  const wrong = conversion(SpanV2, Span, {
    up: ({ spec: { from } }) => ({ spec: { ends: [from] } }),
    down: ({ spec: { ends: [from = 0] } }) => ({ spec: { from, to: from } }),
  });
  await assert.rejects(
    roundTrips(wrong, { seed: 1 }),
    /was converted to demo\.example\.com\/v3 as .*, which is invalid/,
  );
});

Deno.test("a conversion can store a value for which a version has no field in an annotation, also across two conversions", async () => {
  const annotation = "demo.example.com/note";
  const noted = { from: ends.from, to: ends.to, note: s.optional(s.string()) };
  const first = resource({ ...names, kind: "Route", version: "v1", spec: s.object(noted) });
  const middle = resource({ ...names, kind: "Route", version: "v2", spec: s.object(ends), versions: [first] });
  const last = resource({ ...names, kind: "Route", version: "v3", spec: s.object({ ends: pair }), versions: [middle] });
  const parts = {
    first: conversion(first, middle, {
      up: ({ metadata: { annotations }, spec: { note, ...spec } }) => ({
        spec,
        ...(note === undefined ? {} : { metadata: { annotations: { ...annotations, [annotation]: note } } }),
      }),
      down({ metadata: { annotations: { [annotation]: note, ...annotations } = {} }, spec }) {
        return { spec: { ...spec, ...(note === undefined ? {} : { note }) }, metadata: { annotations } };
      },
    }),
    // Returns no metadata, so labels and annotations stay.
    middle: conversion(middle, last, {
      up: ({ spec: { from, to } }) => ({ spec: { ends: [from, to] } }),
      down: ({ spec: { ends: [from = 0, to = 0] } }) => ({ spec: { from, to } }),
    }),
  };
  await using cluster = await memoryCluster({ parts });
  await cluster.create(first, "a", { metadata: { annotations: { own: "yes" } }, spec: { from: 1, to: 2, note: "hi" } });
  assert.deepEqual((await cluster.get(last, "a")).metadata.annotations, { own: "yes", [annotation]: "hi" });
  const { metadata, spec } = await cluster.get(first, "a");
  assert.deepEqual([metadata.annotations, spec], [{ own: "yes" }, { from: 1, to: 2, note: "hi" }]);
});
