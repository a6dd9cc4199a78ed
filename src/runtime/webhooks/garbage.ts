/** Makes V8 collect garbage. */

// V8 15 collects for a buffer of 256 MiB or more, V8 13 for 128 MiB or more, and more thoroughly
// for larger ones.
const PRESSURE = 2 ** 30;

/**
 * Makes V8 collect garbage, as far as a program without V8 flags can: it allocates a buffer so
 * large that V8 makes room for it. The pages are never touched, so they take no memory, and the
 * buffer is freed at once.
 *
 * Otherwise V8 lets the old generation grow by hundreds of MiB before the first collection,
 * whatever the container's memory limit is.
 */
export function collectGarbage(): void {
  try {
    new ArrayBuffer(PRESSURE).transfer(0);
  } catch {
    // The machine does not overcommit memory, so V8 collects when it must.
  }
}
