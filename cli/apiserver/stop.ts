/** Waiting until a command that goes on by itself is stopped. */
import type { Io } from "../io.ts";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Waits until the command is stopped: by the signal of its {@linkcode Io}, or by SIGINT or SIGTERM where that has none.
 *
 * @param io The terminal.
 */
export async function untilStopped(io: Io): Promise<void> {
  const stopped = Promise.withResolvers<void>();
  const stop = () => stopped.resolve();
  if (io.stop !== undefined) {
    if (io.stop.aborted) return;
    io.stop.addEventListener("abort", stop, { once: true });
    return await stopped.promise;
  }
  for (const signal of SIGNALS) Deno.addSignalListener(signal, stop);
  try {
    await stopped.promise;
  } finally {
    for (const signal of SIGNALS) Deno.removeSignalListener(signal, stop);
  }
}
