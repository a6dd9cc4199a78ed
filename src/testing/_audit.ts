/** The audit log of a real apiserver: its policy and what is read of it. */
import { sleep, systemClock } from "../base/clock.ts";

/** What the audit log says of a request (audit.k8s.io/v1 Event at level Metadata, stage ResponseComplete). */
export interface AuditEvent {
  /** Of the request: the same in all its events. */
  readonly auditID: string;
  /** `ResponseComplete`, or `Panic` where the server fell over it. */
  readonly stage: string;
  /** In RBAC's words: `patch`; of a path that is no resource, the method in lower case. */
  readonly verb: string;
  /** Path and query. */
  readonly requestURI: string;
  /** Who asked. */
  readonly user: { readonly username: string; readonly groups?: readonly string[] };
  /** By what the program called itself. */
  readonly userAgent?: string;
  /** Absent where the request asks for no object, such as `/version`. */
  readonly objectRef?: {
    readonly resource?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly apiGroup?: string;
    readonly apiVersion?: string;
    readonly subresource?: string;
    readonly resourceVersion?: string;
  };
  /** What was answered; `reason` and `message` only where it was refused. */
  readonly responseStatus?: { readonly code?: number; readonly reason?: string; readonly message?: string };
  /** When the request came, RFC 3339 with microseconds. */
  readonly requestReceivedTimestamp: string;
  /** When its answer was complete, RFC 3339 with microseconds. */
  readonly stageTimestamp: string;
}

const WRITES = ["create", "update", "patch", "delete", "deletecollection"];

/**
 * An audit policy (audit.k8s.io/v1), as JSON.
 *
 * @param what `"writes"` records what changes something; `"everything"` records reads too.
 */
export function auditPolicy(what: "writes" | "everything"): string {
  return JSON.stringify({
    apiVersion: "audit.k8s.io/v1",
    kind: "Policy",
    omitStages: ["RequestReceived", "ResponseStarted"],
    rules: [{ level: "Metadata", ...(what === "writes" ? { verbs: WRITES } : {}) }, { level: "None" }],
  });
}

// The API server writes a line when the handler has returned, so the answer may arrive first. The limit guards against
// hangs only.
const LONGEST_WAIT = 180_000;

/**
 * Reads an audit log up to a request made for the purpose, whose line is left out.
 *
 * @param path The file.
 * @param mark Makes a request that is recorded, with the text given in its URI.
 * @throws {Error} If the line of that request does not show up within three minutes.
 */
export async function readAuditLog(path: string, mark: (text: string) => Promise<void>): Promise<AuditEvent[]> {
  const text = `mark-${crypto.randomUUID()}`;
  await mark(text);
  const end = systemClock.elapsed() + LONGEST_WAIT;
  while (systemClock.elapsed() < end) {
    const lines = (await Deno.readTextFile(path)).split("\n");
    // What lies behind the last line feed is being written.
    lines.pop();
    if (lines.some((line) => line.includes(text))) {
      return lines.filter((line) => !line.includes("fieldManager=mark-")).map((line) => JSON.parse(line) as AuditEvent);
    }
    await sleep(systemClock, 5);
  }
  throw new Error(`Cannot read the audit log "${path}": a request made to mark its end is not in it`);
}
