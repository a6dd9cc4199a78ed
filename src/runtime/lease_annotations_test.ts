import assert from "node:assert/strict";
import { leaseAnnotations, leaseState, shownPause } from "./lease_annotations.ts";

const UNTIL = Date.UTC(2030, 0, 1, 1);

Deno.test("leaseState returns what leaseAnnotations wrote", () => {
  const takeOver = { by: "laptop_1", priority: 100, renewed: "2030-01-01T00:00:00.000000Z" };
  const state = { priority: 0, takeOver, pause: { by: "jane@laptop", until: UNTIL } };
  const annotations = leaseAnnotations("shop", state) as Record<string, string>;
  assert.deepEqual(leaseState("shop", annotations), state);
  assert.deepEqual(leaseState("blog", annotations), { priority: undefined, takeOver: undefined, pause: undefined });
});

Deno.test("leaseAnnotations removes a pause and a request, and keeps what it does not mention", () => {
  assert.deepEqual(leaseAnnotations("shop", {}), {});
  assert.deepEqual(leaseAnnotations("shop", { pause: null, takeOver: null }), {
    "shop.op/take-over-by": null,
    "shop.op/take-over-priority": null,
    "shop.op/take-over-renewed": null,
    "shop.op/paused-by": null,
    "shop.op/paused-until": null,
  });
});

Deno.test("leaseState accepts annotations that people wrote: a pause without a user, and a time that it cannot parse", () => {
  const pauseOf = (annotations: Record<string, string>) => leaseState("shop", annotations).pause;
  assert.deepEqual(pauseOf({ "shop.op/paused-until": "2030-01-01T01:00:00Z" }), { by: "unknown", until: UNTIL });
  assert.deepEqual(pauseOf({ "shop.op/paused-until": "tomorrow" }), { by: "unknown", until: undefined });
  assert.equal(
    leaseState("shop", { "shop.op/take-over-by": "a", "shop.op/take-over-priority": "high" }).takeOver?.priority,
    0,
  );
});

Deno.test("shownPause returns who paused an operator and until when", () => {
  assert.equal(shownPause({ by: "jane", until: UNTIL }), "paused by jane until 2030-01-01T01:00:00Z");
  assert.equal(shownPause({ by: "jane", until: undefined }), "paused by jane");
});
