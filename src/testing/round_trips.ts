/**
 * A property test of conversions: an object that is converted to another version and back is
 * unchanged.
 */
import assert from "node:assert/strict";
import { isObject } from "../base/json.ts";
import type { Conversion } from "../parts/conversion.ts";
import type { AnyKind, KubeObject } from "../resource/kind.ts";
import { applyDefaults, validate } from "../resource/validation.ts";
import { Conversions } from "../runtime/webhooks/convert.ts";
import { objectsOf } from "./_arbitrary.ts";

// Limits of work instead of time, so that each machine tests the same objects.
const MAX_RUNS = 500;
const MAX_VALUES = 50_000;

/** Options of {@linkcode roundTrips}. */
export interface RoundTripsOptions {
  /**
   * Number of objects to test in each direction. By default, the objects have at most 50,000 values
   * in total, so that the test takes a few seconds.
   *
   * @default {500, or fewer if objects are large}
   */
  readonly runs?: number;
  /** The version to start from. @default {"both"} */
  readonly from?: "first" | "second" | "both";
  /** Seed of the random objects. The message of a failure has its seed. @default {a random seed} */
  readonly seed?: number;
}

/**
 * Tests a conversion with random objects of both versions: each converted object must be valid, and
 * must be unchanged after it is converted back.
 *
 * @param conversion The conversion.
 * @param options Number of objects, and direction.
 * @throws {Error} If the conversion fails for an object. The message has the smallest such object.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { conversion, resource, s } from "@op/sdk";
 * import { roundTrips } from "@op/sdk/testing";
 *
 * const names = { group: "demo.example.com", kind: "Note" } as const;
 * const NoteV1 = resource({ ...names, version: "v1", spec: s.object({ text: s.string() }) });
 * const Note = resource({
 *   ...names,
 *   version: "v2",
 *   spec: s.object({ lines: s.array(s.string()) }),
 *   versions: [NoteV1],
 * });
 *
 * const lossy = conversion(NoteV1, Note, {
 *   up: ({ spec }) => ({ spec: { lines: spec.text.split("\n") } }),
 *   down: ({ spec }) => ({ spec: { text: spec.lines.join(" ") } }),
 * });
 * await assert.rejects(roundTrips(lossy), /was changed/);
 * ```
 */
export async function roundTrips(conversion: Conversion, options: RoundTripsOptions = {}): Promise<void> {
  const { from = "both", seed } = options;
  // Loaded on use only, because it is large.
  const fc = await import("fast-check");
  const { kind, into } = conversion;
  const directions = [
    ...(from === "second" ? [] : [[kind, into]]),
    ...(from === "first" ? [] : [[into, kind]]),
  ] as const;
  const conversions = new Conversions([conversion]);
  for (const [start, other] of directions) {
    if (start === undefined || other === undefined) continue;
    const { objects, size } = objectsOf(fc, start);
    const { runs = Math.min(MAX_RUNS, Math.ceil(MAX_VALUES / size)) } = options;
    const result = fc.check(
      fc.property(objects, (object) => checkOne(conversions, object, start, other)),
      { numRuns: runs, ...(seed === undefined ? {} : { seed }) },
    );
    if (!result.failed) continue;
    const { errorInstance: cause } = result;
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${message}\nTo repeat this, call roundTrips with { seed: ${result.seed} }.`, { cause });
  }
}

function checkOne(conversions: Conversions, object: KubeObject, start: AnyKind, other: AnyKind): void {
  const original = applyDefaults(start, object as never) as Record<string, unknown>;
  // The API server receives JSON, which has no `undefined`.
  const converted = asJson(conversions.convert(structuredClone(original), other.apiVersion));
  const errors = validate(other, converted);
  assert.deepEqual(
    errors,
    [],
    `${JSON.stringify(object)} was converted to ${other.apiVersion} as ${JSON.stringify(converted)}, which is invalid`,
  );
  const back = asJson(conversions.convert(structuredClone(converted), start.apiVersion));
  assert.deepEqual(
    asStored(back),
    asStored(original),
    `${JSON.stringify(original)} was changed: it came back from ${other.apiVersion} as ${JSON.stringify(back)}`,
  );
}

function asJson(object: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(object));
}

/** Returns an object as an API server stores it: without empty labels and annotations. */
function asStored(object: Record<string, unknown>): Record<string, unknown> {
  const stored = asJson(object) as { metadata?: Record<string, unknown> };
  for (const key of ["labels", "annotations"]) {
    const map = stored.metadata?.[key];
    if (isObject(map) && Object.keys(map).length === 0) delete stored.metadata?.[key];
  }
  return stored;
}
