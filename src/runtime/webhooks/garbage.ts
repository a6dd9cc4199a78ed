/** Makes V8 collect garbage. */

// Size of the buffer, in bytes. V8 15 collects garbage for a buffer of 256 MiB or more, V8 13 for
// 128 MiB or more. For larger buffers, they collect more thoroughly.
const BUFFER_SIZE = 2 ** 30;

/**
 * Makes V8 collect garbage. A program without V8 flags can only do this indirectly: it allocates a
 * buffer so large that V8 makes room for it. Its pages are never touched, so they take no memory,
 * and the buffer is freed at once.
 *
 * Without this, V8 lets the old generation grow by hundreds of MiB before the first collection,
 * regardless of the container's memory limit.
 */
export function collectGarbage(): void {
  try {
    new ArrayBuffer(BUFFER_SIZE).transfer(0);
  } catch {
    // The allocation failed, because the machine does not overcommit memory. V8 then collects
    // garbage when it needs memory.
  }
}
