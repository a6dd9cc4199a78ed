/**
 * The handler and the requests of webhook_hostile_test. As a program, it handles 10,000 reviews
 * with one invalid part each, and prints how much memory remains in use. That needs V8's gc().
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { operator } from "../../mod.ts";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { VirtualClock } from "../../src/base/virtual_clock.ts";
import { Metrics } from "../../src/runtime/metrics.ts";
import type { WebhookHandler } from "../../src/runtime/webhooks/handler.ts";
import { webhookHandler } from "./_webhooks.ts";
import { conversionReview, noteRules, notes, PATH, review } from "../fixtures/reviews.ts";

declare const gc: () => void;

const RUNS = 10_000;

const op = operator({ name: "notes", parts: { noteRules, notes }, health: false });

/** Creates the handler of reviews of notes, without a server. */
export function handler(limits = {}, metrics = new Metrics(), clock: Clock = systemClock): WebhookHandler {
  return webhookHandler(op.parts, { limits, metrics, clock });
}

/** Creates a request as an API server sends it. */
export function post(path: string, body: BodyInit, headers: Record<string, string> = {}): Request {
  return new Request(`https://notes${path}?timeout=1s`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
}

/** Values that replace one part of a review. */
const HOSTILE = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1e308,
    "",
    "v1",
    "admission.k8s.io/v1beta1",
    [],
    {},
    [[]],
    "\ud800",
  ),
  fc.constant("x".repeat(100_000)),
  fc.jsonValue({ maxDepth: 3 }),
  fc.constant(JSON.parse('{"__proto__":{"allowed":true},"constructor":{"prototype":{"allowed":true}}}')),
  fc.constant(deep(2000)),
);

type Json = Record<string, unknown>;

/** Generates reviews in which one part is missing or replaced. */
function mutated(make: () => Json): fc.Arbitrary<{ readonly body: string; readonly isAdmission: boolean }> {
  const paths = pathsOf(make());
  const isAdmission = make().kind === "AdmissionReview";
  return fc.tuple(fc.constantFrom(...paths), fc.option(HOSTILE, { nil: undefined }), fc.nat(40)).map(
    ([path, value, cut]) => {
      const body = make();
      const holder = path.slice(0, -1).reduce<Json>((at, key) => at[key] as Json, body);
      if (value === undefined) delete holder[path.at(-1)!];
      else holder[path.at(-1)!] = value;
      const text = JSON.stringify(body);
      // One in twenty is also truncated.
      return { body: cut < 2 ? text.slice(0, -5 - cut * 40) : text, isAdmission };
    },
  );
}

/**
 * Asserts that a response is valid, and that no note with the forbidden text was allowed.
 *
 * @param response The response.
 * @param body The request body.
 * @param isAdmission Whether the body was an AdmissionReview, before one part was replaced.
 */
async function assertValidResponse(response: Response, body: string, isAdmission: boolean): Promise<void> {
  const text = await response.text();
  if (response.status !== 200) {
    assert(response.status >= 400 && response.status < 600, String(response.status));
    assert(text.length > 0 && text.length < 1000, text);
    return;
  }
  const sent = JSON.parse(body);
  const { response: result, kind, apiVersion } = JSON.parse(text);
  assert.equal(kind, isAdmission ? "AdmissionReview" : "ConversionReview");
  assert.equal(apiVersion, sent.apiVersion);
  assert.equal(result.uid, sent.request.uid);
  if (!isAdmission) return;
  if (result.allowed) assert.notEqual(sent.request.object.spec?.text, "forbidden");
  else assert.equal(result.status.code, 422);
}

function pathsOf(value: unknown, at: readonly string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value).flatMap((key) => [[...at, key], ...pathsOf((value as Json)[key], [...at, key])]);
}

function deep(levels: number): unknown {
  let value: unknown = "end";
  for (let i = 0; i < levels; i++) value = [value];
  return value;
}

/** Returns the bytes in use after garbage collection. */
function memoryInUse(): number {
  gc();
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}

if (import.meta.main) {
  // The clock does not move, so no review times out on a busy machine.
  const { fetch } = handler({}, new Metrics(), new VirtualClock());
  let valid = 0;
  let handled = 0;
  let memoryAtHalf = 0;
  const arbitrary = fc.oneof(
    mutated(() => review("forbidden", "uid-1") as unknown as Json),
    mutated(() => conversionReview("a", "uid-1") as unknown as Json),
  );
  // In batches, because fast-check retains its values until a run ends.
  for (const runs of Array.from({ length: 20 }, () => RUNS / 20)) {
    await fc.assert(
      fc.asyncProperty(arbitrary, async ({ body, isAdmission }) => {
        const response = await fetch(post(isAdmission ? PATH : "/convert", body));
        await assertValidResponse(response, body, isAdmission);
        if (++handled % 10 !== 0) return;
        const good = await (await fetch(post(PATH, JSON.stringify(review("hello", `good-${handled}`))))).json();
        assert.deepEqual(good.response, { uid: `good-${handled}`, allowed: true });
        const text = JSON.stringify(conversionReview("a\nb", `good-${handled}`));
        const { response: converted } = await (await fetch(post("/convert", text))).json();
        assert.deepEqual(converted.convertedObjects[0].spec, { lines: ["a", "b"] });
        valid += 2;
      }),
      { numRuns: runs },
    );
    if (handled === RUNS / 2) memoryAtHalf = memoryInUse();
  }
  console.log(JSON.stringify({ handled, valid, grown: (memoryInUse() - memoryAtHalf) / 2 ** 20 }));
}
