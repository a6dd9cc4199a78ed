import assert from "node:assert/strict";
import { ApiError } from "../kube/api_error.ts";
import { PermanentError, TemporaryError } from "../parts/outcome.ts";
import { type Failure, failureOf, isProgrammingError } from "./failure.ts";

/** Delay after the third consecutive failure, in milliseconds. */
const BACKOFF = 20;
const REQUEST = { verb: "patch", target: 'Website "shop/web"' };

const FAILURES: readonly { name: string; error: unknown; expected: Partial<Failure> }[] = [
  {
    name: "an unexpected error is retried with a backoff, and has a stack trace",
    error: new TypeError("x is undefined"),
    expected: {
      reason: "ReconcileFailed",
      message: "x is undefined",
      isUnexpected: true,
      isRace: false,
      after: BACKOFF,
    },
  },
  {
    name: "an AggregateError without a message has the messages of its errors",
    error: new AggregateError([new Error("connect ECONNREFUSED ::1:5432"), new AggregateError([new RangeError()])]),
    expected: { message: "connect ECONNREFUSED ::1:5432; RangeError", isUnexpected: true, after: BACKOFF },
  },
  {
    name: "the message of a failed fetch includes its cause",
    error: new TypeError("fetch failed", {
      cause: new Error("error sending request for url (http://u:p@a/): refused"),
    }),
    expected: { message: "fetch failed: error sending request for url (http://***@a/): refused", isUnexpected: true },
  },
  {
    name: "a TemporaryError is retried after its delay",
    error: new TemporaryError("not yet", { retry: "30s" }),
    expected: { reason: "TemporaryError", message: "not yet", isUnexpected: false, after: 30_000, yields: true },
  },
  {
    name: "a TemporaryError may be retried at once",
    error: new TemporaryError("not yet", { retry: "0s" }),
    expected: { after: 0 },
  },
  {
    name: "a TemporaryError without a delay is retried with a backoff",
    error: new TemporaryError("not yet"),
    expected: { after: BACKOFF },
  },
  {
    name: "a PermanentError is not retried",
    error: new PermanentError("no such plan"),
    expected: { reason: "PermanentError", message: "no such plan", isUnexpected: false, after: undefined },
  },
  {
    name: "an ApiError has the reason of the API server",
    error: new ApiError(REQUEST, 422, status("Invalid")),
    expected: { reason: "Invalid", isUnexpected: false, isRace: false, after: BACKOFF },
  },
  {
    name: "Retry-After sets the delay",
    error: new ApiError(REQUEST, 429, status("TooManyRequests"), 7000),
    expected: { reason: "TooManyRequests", after: 7000 },
  },
  {
    name: "a 409 with reason Conflict is a write conflict",
    error: new ApiError(REQUEST, 409, status("Conflict")),
    expected: { isRace: true },
  },
  {
    name: "a conflict with another field manager is not a write conflict",
    error: new ApiError(
      REQUEST,
      409,
      JSON.stringify({ kind: "Status", reason: "Conflict", details: { causes: [{ reason: "FieldManagerConflict" }] } }),
    ),
    expected: { reason: "Conflict", isRace: false },
  },
  {
    name: "AlreadyExists is not a write conflict",
    error: new ApiError(REQUEST, 409, status("AlreadyExists")),
    expected: { reason: "AlreadyExists", isRace: false },
  },
  {
    name: "an ApiError without a reason has a default one",
    error: new ApiError(REQUEST, 502, ""),
    expected: { reason: "ApiError" },
  },
  {
    name: "a reason that is invalid in a condition is replaced",
    error: new ApiError(REQUEST, 403, status("denied by policy: no")),
    expected: { reason: "ApiError" },
  },
  {
    name: "a timeout of the reconcile has the reason Timeout",
    error: new DOMException("The reconcile took longer than 5s", "TimeoutError"),
    expected: { reason: "Timeout", message: "The reconcile took longer than 5s", isUnexpected: false, after: BACKOFF },
  },
  {
    name: "a host that the sandbox denied becomes advice, and is not retried",
    error: new Deno.errors.NotCapable('Requires net access to "api.example.com:443", run again with --allow-net'),
    expected: {
      reason: "NotDeclared",
      message:
        'Cannot use net "api.example.com": it is not declared. Add sandbox: { net: ["api.example.com"] } to controller "websites" and build again',
      isUnexpected: false,
      after: undefined,
    },
  },
  {
    name: "a port other than the default is part of the advice, also in a nested cause",
    error: new Error("lookup failed", {
      cause: new TypeError("fetch", { cause: new Deno.errors.NotCapable('Requires net access to "db:5432", run') }),
    }),
    expected: { reason: "NotDeclared", message: /sandbox: \{ net: \["db:5432"\] \}/ as unknown as string },
  },
  {
    name: "a variable that the sandbox denied becomes advice",
    error: new Deno.errors.NotCapable('Requires env access to "TOKEN", run again with the --allow-env flag'),
    expected: { reason: "NotDeclared", message: /sandbox: \{ env: \["TOKEN"\] \}/ as unknown as string },
  },
  {
    name: "a thrown string is the message",
    error: "boom",
    expected: { reason: "ReconcileFailed", message: "boom", isUnexpected: true },
  },
  {
    name: "a thrown undefined has a message",
    error: undefined,
    expected: { reason: "ReconcileFailed", message: "undefined" },
  },
  {
    name: "a thrown object without a prototype has a message",
    error: Object.create(null),
    expected: { reason: "ReconcileFailed", isUnexpected: true, after: BACKOFF },
  },
];

for (const { name, error, expected } of FAILURES) {
  Deno.test(`failureOf: ${name}`, () => {
    const failure = failureOf(error, 3, "websites", 1);
    for (const [key, value] of Object.entries(expected)) {
      const actual = failure[key as keyof Failure];
      if (value as unknown instanceof RegExp) assert.match(actual as string, value as unknown as RegExp);
      else assert.equal(actual, value, key);
    }
    assert.equal(typeof failure.message, "string");
  });
}

function status(reason: string): string {
  return JSON.stringify({ kind: "Status", reason, message: "refused" });
}

Deno.test("isProgrammingError returns false for requests that failed because of the network", async () => {
  const body = new ReadableStream({ start: (controller) => controller.error(new TypeError(BODY_ENDED)) });
  const error = await new Response(body).text().catch((error) => error);
  assert.equal(isProgrammingError(error), false);
  assert.equal(isProgrammingError(await fetch("http://no-such-host.invalid/").catch((error) => error)), false);
});

/** Deno's message for a connection that ends within a body: see `deno_errors_test.ts`. */
const BODY_ENDED = "error reading a body from connection";

Deno.test("isProgrammingError returns true for a TypeError that only names fetch", () => {
  const client = undefined as unknown as { fetch(): void };
  assert.throws(() => client.fetch(), (error) => isProgrammingError(error));
});
