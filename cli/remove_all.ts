/** Removing a folder that others may still be writing into. */

// A program that is interrupted with this one is gone within a few of these.
const ATTEMPTS = 100;
const PAUSE = 10;

/**
 * Removes what is there with all that is in it. Where a program that was interrupted at the same time still writes into it, that is waited for: a second at
 * most. Nothing else happens meanwhile, so that it can be the last that is done.
 *
 * @param path A file or a folder; it need not be there.
 * @throws {Error} If it cannot be removed.
 */
export function removeAll(path: string): void {
  for (let attempt = 1;; attempt++) {
    try {
      return Deno.removeSync(path, { recursive: true });
    } catch (error) {
      if (!isThere(path)) return;
      if (attempt === ATTEMPTS) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE);
    }
  }
}

function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
