/** A folder for what is under way, which nothing leaves behind. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Io } from "./io.ts";
import { removeAll } from "./remove_all.ts";

/** The folder. Disposing of it removes it with all that is in it. */
export interface TemporaryFolder extends Disposable {
  readonly path: string;
  /** From now on the command hears interruptions itself, and disposes of the folder when it ends. */
  outlive(): void;
}

/**
 * Makes a folder that goes when the work is done, and when it is interrupted.
 *
 * @param prefix What its name begins with.
 * @param io The terminal and the shell: Ctrl-C removes it, unless the command hears that itself.
 */
export function temporaryFolder(prefix: string, io: Io): TemporaryFolder {
  // Named before it is there, so that no interruption comes between the two.
  const path = join(tmpdir(), `${prefix}${crypto.randomUUID()}`);
  const remove = () => removeAll(path);
  const interrupt = io.onInterrupt?.(remove);
  Deno.mkdirSync(path, { mode: 0o700 });
  return {
    path,
    outlive: () => interrupt?.[Symbol.dispose](),
    [Symbol.dispose]: () => {
      remove();
      interrupt?.[Symbol.dispose]();
    },
  };
}
