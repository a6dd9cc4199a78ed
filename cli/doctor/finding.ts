/** What a look at an operator in a cluster finds. */
import { ApiError } from "@op/sdk";

/** One line of it. */
export interface Finding {
  /** What was looked at, in a word. */
  readonly check: string;
  /** `wrong` makes the command end with 1; `doubtful` and `unknown` do not. */
  readonly verdict: "good" | "doubtful" | "wrong" | "unknown";
  /** What was found, and what to do about it. */
  readonly told: string;
}

/** Makes findings of one check. */
export function findings(check: string): Record<Finding["verdict"], (told: string) => Finding> {
  const of = (verdict: Finding["verdict"]) => (told: string): Finding => ({ check, verdict, told });
  return { good: of("good"), doubtful: of("doubtful"), wrong: of("wrong"), unknown: of("unknown") };
}

/**
 * What a check found; where whoever asks may not see it, that.
 *
 * @param check What is looked at, in a word.
 * @param look Looks.
 */
export async function looked(check: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [findings(check).unknown(error.status === 403 ? `you may not look: ${error.message}` : error.message)];
  }
}
