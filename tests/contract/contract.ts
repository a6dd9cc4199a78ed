/**
 * The contract of a Kubernetes API server: cases that send raw HTTP requests. A case is run on two
 * servers and what they answered is compared whole, after what no two runs have in common was taken
 * out. The answers of the real server are the truth.
 */
import { Recorder, type Step } from "./recorder.ts";

/** Sends a request to a server as an administrator. */
export type Send = (request: Request) => Promise<Response>;

/** A behavior of a server, shown by a few requests. */
export interface Case {
  /** Group of the case in reports. */
  readonly area: string;
  readonly name: string;
  run(api: Recorder): Promise<void>;
}

/** What a server answered in a case. */
export interface Transcript {
  readonly steps: readonly Step[];
  /** Why the case did not run to its end. */
  readonly failure?: string;
}

/** Returns the cases of an area, from functions by the name of the case. */
export function area(name: string, runs: Record<string, (api: Recorder) => Promise<void>>): Case[] {
  return Object.entries(runs).map(([title, run]) => ({ area: name, name: title, run }));
}

// In milliseconds, far more than any case takes: a server that never sends an event must not block
// the suite. The real controller of namespaces retries after up to a minute when a request of it
// failed, for example because another case deleted a kind.
const TIME_LIMIT = 300_000;

/**
 * Runs a case on a server.
 *
 * @param contractCase The case.
 * @param namespace A namespace of its own, which is made first.
 * @param send The server.
 * @param limit How long it may take, in milliseconds.
 */
export async function runCase(
  contractCase: Case,
  namespace: string,
  send: Send,
  limit: number = TIME_LIMIT,
): Promise<Transcript> {
  const stop = AbortSignal.timeout(limit);
  const api = new Recorder(send, { namespace, signal: stop });
  const late = Promise.withResolvers<never>();
  late.promise.catch(() => {});
  stop.addEventListener("abort", () => late.reject(new Error(`the case did not end within ${limit / 1000} s`)));
  try {
    await Promise.race([api.createNamespace().then(() => contractCase.run(api)), late.promise]);
    return { steps: api.steps };
  } catch (error) {
    return { steps: api.steps, failure: error instanceof Error ? error.message : String(error) };
  } finally {
    await api.close();
  }
}
