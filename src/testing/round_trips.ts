/** A property test of conversions that users get for nothing: what goes to another version and back is what it was. */
import assert from "node:assert/strict";
import { isObject } from "../base/json.ts";
import type { Conversion } from "../parts/conversion.ts";
import type { AnyKind, KubeObject } from "../resource/kind.ts";
import { applyDefaults, validate } from "../resource/validation.ts";
import { Conversions } from "../runtime/webhooks/convert.ts";
import { objectsOf } from "./_arbitrary.ts";

// By work, not by time: the same objects are tried on each machine.
const MOST_RUNS = 500;
const MOST_VALUES = 50_000;

/** Options of {@linkcode roundTrips}. */
export interface RoundTripsOptions {
  /**
   * How many objects are tried, each way. The default is bound by work, so that it takes at most a few seconds: fewer objects where they are large, 50,000
   * values in all.
   *
   * @default {500, or fewer where objects are large}
   */
  readonly runs?: number;
  /** Which way is tried: from the first version and back, from the second and back, or both. @default {"both"} */
  readonly from?: "first" | "second" | "both";
  /** Where the objects come from: a run that failed tells its own. @default {another each time} */
  readonly seed?: number;
}

/**
 * Tries a conversion with objects that nobody thought of, made by the schemas of both versions: each is valid where it comes to, and the same when it is back.
 *
 * @param conversion The conversion.
 * @param options How many, and which way.
 * @throws {Error} If one is not: the smallest that was found is in the message.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { conversion, resource, s } from "@op/sdk";
 * import { roundTrips } from "@op/sdk/testing";
 *
 * const names = { group: "demo.example.com", kind: "Note" } as const;
 * const NoteV1 = resource({ ...names, version: "v1", spec: s.object({ text: s.string() }) });
 * const Note = resource({ ...names, version: "v2", spec: s.object({ lines: s.array(s.string()) }), versions: [NoteV1] });
 *
 * const careless = conversion(NoteV1, Note, {
 *   up: ({ spec }) => ({ spec: { lines: spec.text.split("\n") } }),
 *   down: ({ spec }) => ({ spec: { text: spec.lines.join(" ") } }),
 * });
 * await assert.rejects(roundTrips(careless), /is not what it was/);
 * ```
 */
export async function roundTrips(conversion: Conversion, options: RoundTripsOptions = {}): Promise<void> {
  const { from = "both", seed } = options;
  // Brought only when it is used: an operator has no need of it.
  const fc = await import("fast-check");
  const { kind, into } = conversion;
  const ways = [...(from === "second" ? [] : [[kind, into]]), ...(from === "first" ? [] : [[into, kind]])] as const;
  const conversions = new Conversions([conversion]);
  for (const [start, other] of ways) {
    if (start === undefined || other === undefined) continue;
    const { objects, size } = objectsOf(fc, start);
    const { runs = Math.min(MOST_RUNS, Math.ceil(MOST_VALUES / size)) } = options;
    fc.assert(
      fc.property(objects, (object) => tryOne(conversions, object, start, other)),
      // Told whole: what is wrong, beside the smallest object that it is wrong with.
      { numRuns: runs, includeErrorInReport: true, ...(seed === undefined ? {} : { seed }) },
    );
  }
}

function tryOne(conversions: Conversions, object: KubeObject, start: AnyKind, other: AnyKind): void {
  const filled = applyDefaults(start, object as never) as Record<string, unknown>;
  // As it arrives at the API server: as JSON, where a property that is undefined is absent.
  const there = asJson(conversions.convert(structuredClone(filled), other.apiVersion));
  const faults = validate(other, there);
  assert.deepEqual(
    faults,
    [],
    `${JSON.stringify(object)} is not valid as ${other.apiVersion}: ${JSON.stringify(there)}`,
  );
  const back = asJson(conversions.convert(structuredClone(there), start.apiVersion));
  assert.deepEqual(
    asStored(back),
    asStored(filled),
    `${JSON.stringify(filled)} is not what it was: it came back from ${other.apiVersion} as ${JSON.stringify(back)}`,
  );
}

function asJson(object: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(object));
}

/** As a server stores it: labels and annotations that are empty are none. */
function asStored(object: Record<string, unknown>): Record<string, unknown> {
  const stored = asJson(object) as { metadata?: Record<string, unknown> };
  for (const key of ["labels", "annotations"]) {
    const map = stored.metadata?.[key];
    if (isObject(map) && Object.keys(map).length === 0) delete stored.metadata?.[key];
  }
  return stored;
}
