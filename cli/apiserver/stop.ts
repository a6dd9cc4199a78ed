/** Waiting until a command that goes on by itself is stopped. */
import type { Io } from "../io.ts";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Waits until the command is stopped: by the signal of its {@linkcode Io}, or by SIGINT or SIGTERM
 * where that has none.
 *
 * @param io The terminal.
 * @param signals What ends it where `io` has no signal of its own. @default {SIGINT and SIGTERM}
 */
export async function untilStopped(io: Io, signals: readonly Deno.Signal[] = SIGNALS): Promise<void> {
  using stop = stopping(io, signals);
  await stop.stopped;
}

/**
 * Hears from now on that the command is stopped, so that what it does meanwhile is undone all the
 * same.
 *
 * @param io The terminal.
 * @param signals As of {@linkcode untilStopped}.
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
