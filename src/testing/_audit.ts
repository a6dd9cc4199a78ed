/** The audit policy and audit log of a real API server. */
import { sleep, systemClock } from "../base/clock.ts";

/** An entry of the audit log (audit.k8s.io/v1 Event at level Metadata). */
export interface AuditEvent {
  /** Id of the request. All events of a request have the same id. */
  readonly auditID: string;
  /** `ResponseComplete`, or `Panic` if the server panicked. */
  readonly stage: string;
  /**
   * RBAC verb, such as `patch`. For a path that is not a resource, the HTTP method in lower case.
   */
  readonly verb: string;
  /** Path and query. */
  readonly requestURI: string;
  /** The user who sent the request. */
  readonly user: { readonly username: string; readonly groups?: readonly string[] };
  /** User agent of the client. */
  readonly userAgent?: string;
  /** The object; `undefined` for paths that are not resources, such as `/version`. */
  readonly objectRef?: {
    readonly resource?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly apiGroup?: string;
    readonly apiVersion?: string;
    readonly subresource?: string;
    readonly resourceVersion?: string;
  };
  /** The response. It has `reason` and `message` if the request was rejected. */
  readonly responseStatus?: { readonly code?: number; readonly reason?: string; readonly message?: string };
  /** When the request arrived, in RFC 3339 with microseconds. */
  readonly requestReceivedTimestamp: string;
  /** When the response was complete, in RFC 3339 with microseconds. */
  readonly stageTimestamp: string;
}

const WRITES = ["create", "update", "patch", "delete", "deletecollection"];

/**
 * Returns an audit policy (audit.k8s.io/v1) as JSON.
 *
 * @param scope `"writes"` records only writes, `"everything"` also reads.
 */
export function auditPolicy(scope: "writes" | "everything"): string {
  return JSON.stringify({
    apiVersion: "audit.k8s.io/v1",
    kind: "Policy",
    omitStages: ["RequestReceived", "ResponseStarted"],
    rules: [{ level: "Metadata", ...(scope === "writes" ? { verbs: WRITES } : {}) }, { level: "None" }],
  });
}

// In milliseconds. The API server writes a line when the handler has returned, so the response may
// arrive first. The limit only guards against hangs.
const MARK_TIMEOUT = 180_000;

/**
 * Reads an audit log up to a marker request, without the entry of that request.
 *
 * @param path The file.
 * @param mark Sends a request that is recorded, with the given string in its URI.
 * @throws {Error} If the entry of the request does not appear within three minutes.
 */
export async function readAuditLog(path: string, mark: (text: string) => Promise<void>): Promise<AuditEvent[]> {
  const text = `mark-${crypto.randomUUID()}`;
  await mark(text);
  const end = systemClock.elapsed() + MARK_TIMEOUT;
  while (systemClock.elapsed() < end) {
    const lines = (await Deno.readTextFile(path)).split("\n");
    // The last line may be incomplete.
    lines.pop();
    if (lines.some((line) => line.includes(text))) {
      return lines.filter((line) => !line.includes("fieldManager=mark-")).map((line) => JSON.parse(line) as AuditEvent);
    }
    await sleep(systemClock, 5);
  }
  throw new Error(`auditLog(): the marker request did not appear in "${path}" within ${MARK_TIMEOUT / 1000} s`);
}
