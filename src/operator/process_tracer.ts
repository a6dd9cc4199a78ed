/** The tracer of the OpenTelemetry implementation that is registered in the process, if any. */
import type { SpanContext, Tracer } from "../runtime/tracing.ts";

// All copies of `@opentelemetry/api` 1.x store the registered implementation under this key; Deno
// stores its own there when OTEL_DENO is set.
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

// The key of the parent span in a context (`trace.setSpan` of the API).
const SPAN = Symbol.for("OpenTelemetry Context Key SPAN");
// `TraceFlags.SAMPLED`.
const SAMPLED = 1;

/**
 * Returns a tracer of the implementation that is registered in the process: Deno's own
 * OpenTelemetry, or that of an embedding program.
 *
 * @param operator The operator that creates the spans.
 * @returns The tracer, or `undefined` without an implementation, so that no spans are created
 *   needlessly.
 */
export function processTracer({ version }: { readonly version: string }): Tracer | undefined {
  return registered()?.getTracer("@op/sdk", version);
}

/** Returns whether an OpenTelemetry implementation is registered in the process. */
export function isTraced(): boolean {
  return registered() !== undefined;
}

/**
 * Calls a function whose spans become children of a span in another thread.
 *
 * @param parent The parent span, or `undefined` for none.
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

/** The context manager of the OpenTelemetry API. */
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
