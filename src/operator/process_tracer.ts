/** Whose spans are made: of the OpenTelemetry that the process has, if any. */
import type { Tracer } from "../runtime/tracing.ts";

// Where `@opentelemetry/api` 1.x keeps what is registered in a process, whichever copy of it registers; Deno puts its own there when OTEL_DENO is on.
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

/**
 * The tracer for an operator, of what is registered in the process: Deno's own OpenTelemetry, or one that a program which embeds the operator brought.
 *
 * @param operator Whose spans they are.
 * @returns Nothing where there is none, so that nothing is done for traces that nobody takes.
 */
export function processTracer({ version }: { readonly version: string }): Tracer | undefined {
  return registered()?.getTracer("@op/sdk", version);
}

/** Whether there are traces in the process. */
export function isTraced(): boolean {
  return registered() !== undefined;
}

function registered(): TracerProvider | undefined {
  return (globalThis as { [REGISTERED]?: { trace?: TracerProvider } })[REGISTERED]?.trace;
}

interface TracerProvider {
  getTracer(name: string, version: string): Tracer;
}
