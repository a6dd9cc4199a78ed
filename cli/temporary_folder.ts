/** Temporary folders that are removed even if the command is interrupted. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Io } from "./io.ts";
import { removeAll } from "./remove_all.ts";

/** A temporary folder. Disposing of it removes it with its content. */
export interface TemporaryFolder extends Disposable {
  readonly path: string;
  /**
   * Stops removing the folder on interruptions. The command handles them itself and disposes of the
   * folder.
   */
  ignoreInterrupts(): void;
}

/**
 * Creates a temporary folder, which is removed when it is disposed of or the command is
 * interrupted.
 *
 * @param prefix The beginning of its name.
 * @param io The terminal and the shell.
 */
export function temporaryFolder(prefix: string, io: Io): TemporaryFolder {
  // Registered before it is created, so that an interruption cannot leave it behind.
  const path = join(tmpdir(), `${prefix}${crypto.randomUUID()}`);
  const remove = () => removeAll(path);
  const interrupt = io.onInterrupt?.(remove);
  Deno.mkdirSync(path, { mode: 0o700 });
  return {
    path,
    ignoreInterrupts: () => interrupt?.[Symbol.dispose](),
    [Symbol.dispose]: () => {
      remove();
      interrupt?.[Symbol.dispose]();
    },
  };
}
