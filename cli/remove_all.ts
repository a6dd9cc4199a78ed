/** Removes a folder that other processes may still write into. */

/** Processes that were interrupted together with this one exit within a few attempts. */
const ATTEMPTS = 100;
/** The pause between two attempts, in milliseconds. */
const PAUSE = 10;

/**
 * Removes a file or a folder with its content. If another process still writes into it, this waits
 * for up to a second. It is synchronous, so that it can be the last thing that a process does.
 *
 * @param path A file or a folder, which need not exist.
 * @throws {Error} If it cannot be removed.
 */
export function removeAll(path: string): void {
  for (let attempt = 1;; attempt++) {
    try {
      return Deno.removeSync(path, { recursive: true });
    } catch (error) {
      if (!exists(path)) return;
      if (attempt === ATTEMPTS) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE);
    }
  }
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
