/** Waits until a long-running command is stopped. */
import type { Io } from "../io.ts";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Waits until the command is stopped, by the signal of its {@linkcode Io} or by a signal of the
 * operating system.
 *
 * @param io The terminal.
 * @param signals Signals that stop it if `io` has no signal of its own. @default {SIGINT and
 *   SIGTERM}
 */
export async function untilStopped(io: Io, signals: readonly Deno.Signal[] = SIGNALS): Promise<void> {
  using stop = stopping(io, signals);
  await stop.stopped;
}

/**
 * Starts listening for signals, so that the caller can clean up however early it is stopped.
 *
 * @param io The terminal.
 * @param signals As in {@linkcode untilStopped}.
 */
export function stopping(
  io: Io,
  signals: readonly Deno.Signal[] = SIGNALS,
): Disposable & { readonly stopped: Promise<void> } {
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  const stop = () => resolve();
  if (io.stop !== undefined) {
    if (io.stop.aborted) stop();
    io.stop.addEventListener("abort", stop, { once: true });
    return { stopped, [Symbol.dispose]: () => io.stop?.removeEventListener("abort", stop) };
  }
  for (const signal of signals) Deno.addSignalListener(signal, stop);
  return {
    stopped,
    [Symbol.dispose]() {
      for (const signal of signals) Deno.removeSignalListener(signal, stop);
    },
  };
}
