/** A server's decision on an object in a comparable form. */
import { withoutSyntaxWording } from "../contract/syntax_wording.ts";
import type { ServerResponse } from "./_servers.ts";

/** A decision and its reasons. */
export interface Verdict {
  readonly code: number;
  /** The errors, one line each, sorted because the real server's order is random. */
  readonly causes?: readonly string[];
  /**
   * The message if there is at most one error. With several, their order in the message is random.
   */
  readonly message?: string;
  /** The returned object without its metadata. */
  readonly object?: unknown;
  readonly warnings?: readonly string[];
}

interface Cause {
  readonly reason?: string;
  readonly field?: string;
  readonly message?: string;
}

/** Returns the decision in a response. */
export function verdictOf({ code, body, warnings }: ServerResponse): Verdict {
  if (code < 300) {
    const { metadata: _, ...object } = body;
    return { code, object, ...(warnings.length > 0 && { warnings: [...warnings].sort() }) };
  }
  const causes = (body.details?.causes ?? []).map(causeText).sort();
  return { code, causes, ...(causes.length < 2 && { message: withoutSyntaxWording(body.message) }) };
}

/** Formats an error in one line. */
export function causeText({ reason, field, message = "" }: Cause): string {
  return `${reason} ${field}: ${withoutSyntaxWording(message)}`;
}
