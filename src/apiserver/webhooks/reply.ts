/**
 * Reads the replies of webhooks as client-go does, before they are decoded as reviews
 * (`k8s.io/client-go/rest`, Result).
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { notAnObjectError, typeError } from "../wire/body.ts";
import { jsonTextError } from "../wire/json_error.ts";

/** A failed call of a webhook. The message follows `failed to call webhook: `. */
export class CallError extends Error {
  override name = "CallError";
}

/**
 * Returns the object in a reply.
 *
 * @param response The response.
 * @param text Its body.
 * @throws {CallError} If the body is not an object.
 */
export function readReply(response: Response, text: string): Readonly<Record<string, unknown>> {
  if (!response.ok) throw new CallError(messageIn(text) ?? describeStatus(response, text));
  if (text === "") {
    const type = response.headers.get("content-type") ?? "application/json";
    throw new CallError(`0-length response with status code: ${response.status} and content type: ${type}`);
  }
  const parseError = (detail: string) => new CallError(`couldn't get version/kind; json parse error: ${detail}`);
  const error = jsonTextError(text);
  // Only a body with the JSON content type is decoded as JSON. Others are decoded as YAML, in which
  // nearly any text is a string.
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? true;
  if (error !== undefined) throw parseError(isJson ? error : notAnObjectError(text));
  const value: unknown = JSON.parse(text) ?? {};
  if (!isObject(value)) throw parseError(notAnObjectError(value));
  const wrongTypeError = typeError(value);
  if (wrongTypeError !== undefined) throw parseError(wrongTypeError);
  return value;
}

/**
 * Returns an error message for a review of the wrong type. A review without a type has the expected
 * one.
 *
 * @param reply The reply.
 * @param version The expected version.
 */
export function reviewTypeError(
  reply: Readonly<Record<string, unknown>>,
  version: "v1" | "v1beta1",
): string | undefined {
  const kind = own(reply, "kind") || "AdmissionReview";
  const apiVersion = own(reply, "apiVersion") || `${GROUP}/${version}`;
  const [, other = ""] = new RegExp(`^${GROUP}/(v1|v1beta1)$`).exec(String(apiVersion)) ?? [];
  if (other === version && kind === "AdmissionReview") return undefined;
  const isStatus = apiVersion === "v1" && kind === "Status";
  if (isStatus || (other !== "" && kind === "AdmissionReview")) {
    return `converting (${isStatus ? "v1" : other}.${kind}) to (${version}.AdmissionReview): unknown conversion`;
  }
  return `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`;
}

const GROUP = "admission.k8s.io";

/** Returns the message of a `Status` with a failure. */
function messageIn(text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || own(value, "kind") !== "Status" || own(value, "status") !== "Failure") return undefined;
  return String(own(value, "message") ?? "");
}

/**
 * Returns client-go's message for a reply that is not a review
 * (`k8s.io/apimachinery/pkg/api/errors`, NewGenericServerResponse).
 */
function describeStatus({ status, headers }: Response, body: string): string {
  const type = headers.get("content-type") ?? "text/plain";
  const message = !type.startsWith("text/") || body.trim() === "" ? "unknown" : body.trim();
  switch (status) {
    case 403:
    case 415:
      return message;
    case 406:
      return message === "unknown"
        ? "the server was unable to respond with a content type that the client supports"
        : message;
  }
  const known = STATUS_TEXTS[status];
  if (known !== undefined) return known;
  return status >= 500
    ? `an error on the server (${JSON.stringify(message)}) has prevented the request from succeeding`
    : `the server responded with the status code ${status} but did not return more information`;
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: "the server rejected our request for an unknown reason",
  401: "the server has asked for the client to provide credentials",
  404: "the server could not find the requested resource",
  405: "the server does not allow this method on the requested resource",
  409: "the server reported a conflict",
  422: "the server rejected our request due to an error in our request",
  429: "the server has received too many requests and has asked us to try again later",
  503: "the server is currently unable to handle the request",
  504: "the server was unable to return a response in the time allotted, but may still be processing the request",
};
