/** The findings of `op doctor`. */
import { ApiError } from "@op/sdk";

/** The result of a check, which is a line of the output. */
export interface Finding {
  /** The name of the check. */
  readonly check: string;
  /** The command fails only if there is an `error`. */
  readonly verdict: "ok" | "warning" | "error" | "unknown";
  /** The result, and what to do about it. */
  readonly message: string;
}

/** Returns functions that create the findings of a check. */
export function findings(check: string): Record<Finding["verdict"], (message: string) => Finding> {
  const create = (verdict: Finding["verdict"]) => (message: string): Finding => ({ check, verdict, message });
  return { ok: create("ok"), warning: create("warning"), error: create("error"), unknown: create("unknown") };
}

/**
 * Runs a check. If the API server rejects one of its requests, the result is a finding about that.
 *
 * @param check The name of the check.
 * @param run Runs the check.
 */
export async function checked(check: string, run: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [findings(check).unknown(error.status === 403 ? `not permitted to check: ${error.message}` : error.message)];
  }
}
