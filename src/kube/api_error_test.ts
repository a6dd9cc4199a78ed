import assert from "node:assert/strict";
import { ApiError, isStatus } from "./api_error.ts";

const info = { verb: "patch", target: 'Website "shop/web"' };

const MESSAGES: readonly { name: string; status: number; body: string; message: string; reason: string }[] = [
  {
    name: "a Status with reason and message",
    status: 409,
    body: JSON.stringify({ kind: "Status", reason: "Conflict", message: "the object has been modified" }),
    message: 'Cannot patch Website "shop/web": the apiserver answered 409 Conflict: the object has been modified',
    reason: "Conflict",
  },
  {
    name: "a Status without a reason",
    status: 500,
    body: JSON.stringify({ kind: "Status", message: "etcd is unavailable", details: null }),
    message: 'Cannot patch Website "shop/web": the apiserver answered 500: etcd is unavailable',
    reason: "",
  },
  {
    name: "an empty body",
    status: 502,
    body: "",
    message: 'Cannot patch Website "shop/web": the apiserver answered 502',
    reason: "",
  },
  {
    name: "an error page of a proxy, truncated",
    status: 503,
    body: `\n<html>${"x".repeat(1000)}`,
    message: `Cannot patch Website "shop/web": the apiserver answered 503: <html>${"x".repeat(294)}`,
    reason: "",
  },
  {
    name: "JSON that is not a Status",
    status: 400,
    body: '{"error":"nope"}',
    message: 'Cannot patch Website "shop/web": the apiserver answered 400: {"error":"nope"}',
    reason: "",
  },
  {
    name: "null",
    status: 400,
    body: "null",
    message: 'Cannot patch Website "shop/web": the apiserver answered 400: null',
    reason: "",
  },
];

for (const { name, status, body, message, reason } of MESSAGES) {
  Deno.test(`the message of ApiError contains the request and the response: ${name}`, () => {
    const error = new ApiError(info, status, body);
    assert.equal(error.message, message);
    assert.deepEqual([error.name, error.status, error.reason, error.causes], ["ApiError", status, reason, []]);
  });
}

Deno.test("ApiError.causes lists the rejected fields", () => {
  const causes = [{ reason: "FieldValueInvalid", message: "must be at most 20", field: "spec.replicas" }];
  const body = JSON.stringify({ kind: "Status", reason: "Invalid", message: "invalid", details: { causes } });
  assert.deepEqual(new ApiError(info, 422, body).causes, causes);
});

Deno.test("isStatus is true only for an ApiError with the status", () => {
  const error = new ApiError(info, 404, "");
  assert.equal(isStatus(error, 404), true);
  assert.equal(isStatus(error, 409), false);
  assert.equal(isStatus(Object.assign(new Error("another error"), { status: 404 }), 404), false);
});
