import assert from "node:assert/strict";
import { ApiError } from "../kube/api_error.ts";
import { PermanentError, TemporaryError } from "../parts/outcome.ts";
import { type Failure, failureOf } from "./failure.ts";

const BACKOFF = 20; // of the third failure in a row
const asked = { verb: "patch", what: 'Website "shop/web"' };

const FAILURES: readonly { name: string; error: unknown; expected: Partial<Failure> }[] = [
  {
    name: "an unexpected error is tried again with a backoff, and worth a stack trace",
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
    name: "an error of several, without a word of its own, is told by theirs",
    error: new AggregateError([new Error("connect ECONNREFUSED ::1:5432"), new AggregateError([new RangeError()])]),
    expected: { message: "connect ECONNREFUSED ::1:5432; RangeError", isUnexpected: true, after: BACKOFF },
  },
  {
    name: "a TemporaryError is tried again when it says",
    error: new TemporaryError("not yet", { retry: "30s" }),
    expected: { reason: "TemporaryError", message: "not yet", isUnexpected: false, after: 30_000, yields: true },
  },
  {
    name: "a TemporaryError may say at once",
    error: new TemporaryError("not yet", { retry: "0s" }),
    expected: { after: 0 },
  },
  {
    name: "a TemporaryError that does not say when backs off",
    error: new TemporaryError("not yet"),
    expected: { after: BACKOFF },
  },
  {
    name: "a PermanentError is not tried again",
    error: new PermanentError("no such plan"),
    expected: { reason: "PermanentError", message: "no such plan", isUnexpected: false, after: undefined },
  },
  {
    name: "an answer of the apiserver gives its reason",
    error: new ApiError(asked, 422, status("Invalid")),
    expected: { reason: "Invalid", isUnexpected: false, isRace: false, after: BACKOFF },
  },
  {
    name: "Retry-After is obeyed",
    error: new ApiError(asked, 429, status("TooManyRequests"), 7000),
    expected: { reason: "TooManyRequests", after: 7000 },
  },
  { name: "a conflict is a race", error: new ApiError(asked, 409, status("Conflict")), expected: { isRace: true } },
  {
    name: "a field that another manager has is no race",
    error: new ApiError(
      asked,
      409,
      JSON.stringify({ kind: "Status", reason: "Conflict", details: { causes: [{ reason: "FieldManagerConflict" }] } }),
    ),
    expected: { reason: "Conflict", isRace: false },
  },
  {
    name: "that something exists already is no race",
    error: new ApiError(asked, 409, status("AlreadyExists")),
    expected: { reason: "AlreadyExists", isRace: false },
  },
  {
    name: "an answer without a reason still has one word",
    error: new ApiError(asked, 502, ""),
    expected: { reason: "ApiError" },
  },
  {
    name: "a reason that a condition cannot hold is not taken over",
    error: new ApiError(asked, 403, status("denied by policy: no")),
    expected: { reason: "ApiError" },
  },
  {
    name: "a run that took too long",
    error: new DOMException("The run took longer than 5s", "TimeoutError"),
    expected: { reason: "Timeout", message: "The run took longer than 5s", isUnexpected: false, after: BACKOFF },
  },
  {
    name: "a host that the sandbox refused becomes the declaration to add, and is not tried again",
    error: new Deno.errors.NotCapable('Requires net access to "api.example.com:443", run again with --allow-net'),
    expected: {
      reason: "NotDeclared",
      message:
        'Cannot use net "api.example.com": it is not declared: add sandbox: { net: ["api.example.com"] } to controller "websites" and build again',
      isUnexpected: false,
      after: undefined,
    },
  },
  {
    name: "a port that is not the usual one is part of it, also deep in a cause",
    error: new Error("lookup failed", {
      cause: new TypeError("fetch", { cause: new Deno.errors.NotCapable('Requires net access to "db:5432", run') }),
    }),
    expected: { reason: "NotDeclared", message: /sandbox: \{ net: \["db:5432"\] \}/ as unknown as string },
  },
  {
    name: "a variable that the sandbox refused",
    error: new Deno.errors.NotCapable('Requires env access to "TOKEN", run again with the --allow-env flag'),
    expected: { reason: "NotDeclared", message: /sandbox: \{ env: \["TOKEN"\] \}/ as unknown as string },
  },
  {
    name: "a thrown text",
    error: "boom",
    expected: { reason: "ReconcileFailed", message: "boom", isUnexpected: true },
  },
  { name: "a thrown undefined", error: undefined, expected: { reason: "ReconcileFailed", message: "undefined" } },
  {
    name: "a thrown object that has no text",
    error: Object.create(null),
    expected: { reason: "ReconcileFailed", isUnexpected: true, after: BACKOFF },
  },
];

for (const { name, error, expected } of FAILURES) {
  Deno.test(`failureOf: ${name}`, () => {
    const failure = failureOf(error, 3, "websites", 1);
    for (const [key, value] of Object.entries(expected)) {
      const got = failure[key as keyof Failure];
      if (value as unknown instanceof RegExp) assert.match(got as string, value as unknown as RegExp);
      else assert.equal(got, value, key);
    }
    assert.equal(typeof failure.message, "string");
  });
}

function status(reason: string): string {
  return JSON.stringify({ kind: "Status", reason, message: "refused" });
}
