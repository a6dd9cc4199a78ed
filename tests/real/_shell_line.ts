/** A line of a guide, as a person types it into a shell: with kubectl as it was built. */
import { dirname } from "node:path";

/** Where a line is typed. */
export interface ShellSurroundings {
  /** The path of kubectl. */
  readonly kubectl: string;
  readonly kubeconfig: string;
  readonly cwd: string;
}

/**
 * Runs a line to its end.
 *
 * @param line The line.
 * @param surroundings Where.
 * @returns The exit code, and what was said of what went wrong.
 */
export async function shellLine(
  line: string,
  { kubectl, kubeconfig, cwd }: ShellSurroundings,
): Promise<{ readonly code: number; readonly stderr: string }> {
  const { code, stderr } = await new Deno.Command("/bin/sh", {
    args: ["-c", line],
    cwd,
    clearEnv: true,
    env: { PATH: `${dirname(kubectl)}:/usr/bin:/bin`, HOME: cwd, KUBECONFIG: kubeconfig },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  return { code, stderr: new TextDecoder().decode(stderr) };
}
