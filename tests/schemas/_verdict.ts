/** What a server decides on an object, in a form that can be compared. */
import { withoutSyntaxWording } from "../../src/testing/contract/syntax_wording.ts";
import type { Answer } from "./_servers.ts";

/** A verdict, and why. */
export interface Verdict {
  readonly code: number;
  /** Why it was refused, one line each; sorted, since the real server's order is chance. */
  readonly causes?: readonly string[];
  /** What it says where there is at most one cause: with more, their order in it is chance. */
  readonly message?: string;
  /** What comes back of the object: all but its metadata. */
  readonly object?: unknown;
  readonly warnings?: readonly string[];
}

interface Cause {
  readonly reason?: string;
  readonly field?: string;
  readonly message?: string;
}

/** The verdict in an answer. */
export function verdictOf({ code, body, warnings }: Answer): Verdict {
  if (code < 300) {
    const { metadata: _, ...object } = body;
    return { code, object, ...(warnings.length > 0 && { warnings: [...warnings].sort() }) };
  }
  const causes = (body.details?.causes ?? []).map(causeText).sort();
  return { code, causes, ...(causes.length < 2 && { message: withoutSyntaxWording(body.message) }) };
}

/** A cause in one line. */
export function causeText({ reason, field, message = "" }: Cause): string {
  return `${reason} ${field}: ${withoutSyntaxWording(message)}`;
}
