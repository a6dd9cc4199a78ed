/** Whose spans are made: of the OpenTelemetry that the process has, if any. */
import type { SpanContext, Tracer } from "../runtime/tracing.ts";

// Where `@opentelemetry/api` 1.x keeps what is registered in a process, whichever copy of it registers; Deno puts its own there when OTEL_DENO is on.
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

// Where it keeps the span that is the parent of those to come (`trace.setSpan` of the API).
const SPAN = Symbol.for("OpenTelemetry Context Key SPAN");
// `TraceFlags.SAMPLED`.
const SAMPLED = 1;

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

/**
 * Calls a function of which all spans are children of a span of another thread.
 *
 * @param parent That span; nothing where there is none.
 * @param call The function.
 */
export function withinTrace<T>(parent: SpanContext | undefined, call: () => T): T {
  const contexts = registrations()?.context;
  if (parent === undefined || contexts === undefined) return call();
  const span = { spanContext: () => ({ ...parent, traceFlags: SAMPLED, isRemote: true }) };
  return contexts.with(contexts.active().setValue(SPAN, span), call);
}

function registered(): TracerProvider | undefined {
  return registrations()?.trace;
}

function registrations(): Registrations | undefined {
  return (globalThis as { [REGISTERED]?: Registrations })[REGISTERED];
}

interface Registrations {
  readonly trace?: TracerProvider;
  readonly context?: ContextManager;
}

/** As the OpenTelemetry API has it. */
interface ContextManager {
  active(): Context;
  with<T>(context: Context, call: () => T): T;
}

interface Context {
  setValue(key: symbol, value: unknown): Context;
}

interface TracerProvider {
  getTracer(name: string, version: string): Tracer;
}
