/** What a webhook sent back as client-go reads it, before it is looked at as a review (`k8s.io/client-go/rest`, Result). */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { typeFault, untypedFault } from "../wire/body.ts";
import { jsonTextFault } from "../wire/json_fault.ts";

/** A webhook could not be called: what comes after `failed to call webhook: `. */
export class CallError extends Error {
  override name = "CallError";
}

/**
 * The object in an answer.
 *
 * @param response The answer.
 * @param text Its body.
 * @throws {CallError} If it is none.
 */
export function readReply(response: Response, text: string): Readonly<Record<string, unknown>> {
  if (!response.ok) throw new CallError(toldIn(text) ?? statusText(response, text));
  if (text === "") {
    const type = response.headers.get("content-type") ?? "application/json";
    throw new CallError(`0-length response with status code: ${response.status} and content type: ${type}`);
  }
  const untyped = (why: string) => new CallError(`couldn't get version/kind; json parse error: ${why}`);
  const fault = jsonTextFault(text);
  // What calls itself JSON is read as such, all else as YAML too: then nearly everything is a text.
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? true;
  if (fault !== undefined) throw untyped(isJson ? fault : untypedFault(text));
  const value: unknown = JSON.parse(text) ?? {};
  if (!isObject(value)) throw untyped(untypedFault(value));
  const typed = typeFault(value);
  if (typed !== undefined) throw untyped(typed);
  return value;
}

/**
 * What is wrong with the type of a review; undefined where it is the one that is wanted. What says no type is taken for it.
 *
 * @param reply The answer.
 * @param version The version that is wanted.
 */
export function reviewTypeFault(
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

/** The message of a Status that says that something failed. */
function toldIn(text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || own(value, "kind") !== "Status" || own(value, "status") !== "Failure") return undefined;
  return String(own(value, "message") ?? "");
}

/** What client-go makes of an answer that is no review (`k8s.io/apimachinery/pkg/api/errors`, NewGenericServerResponse). */
function statusText({ status, headers }: Response, body: string): string {
  const type = headers.get("content-type") ?? "text/plain";
  const told = !type.startsWith("text/") || body.trim() === "" ? "unknown" : body.trim();
  switch (status) {
    case 403:
    case 415:
      return told;
    case 406:
      return told === "unknown"
        ? "the server was unable to respond with a content type that the client supports"
        : told;
  }
  const known = STATUS_TEXTS[status];
  if (known !== undefined) return known;
  return status >= 500
    ? `an error on the server (${JSON.stringify(told)}) has prevented the request from succeeding`
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
