/** Asks V8 to collect garbage now. */

// V8 15 collects from 256 MiB on and V8 13 from 128 MiB on, each more thoroughly the more it is.
const PRESSURE = 2 ** 30;

/**
 * Asks V8 to collect garbage now, as far as a program without flags can: by a buffer that is so large that V8 makes room for it. Its pages are never touched,
 * so that it takes no memory of the machine, and it is freed at once.
 *
 * Left to itself, V8 lets the old generation grow by hundreds of MiB before it collects for the first time, whatever the limit of the container is.
 */
export function collectGarbage(): void {
  try {
    new ArrayBuffer(PRESSURE).transfer(0);
  } catch {
    // A machine that does not overcommit memory has none to spare: V8 collects when it must.
  }
}
