/**
 * The contract of a Kubernetes API server: cases that speak raw HTTP. A case is run on two servers
 * and what they answered is compared whole, after what no two runs have in common was taken out.
 * The answers of the real server are the truth.
 */
import { Recorder, type Step } from "./recorder.ts";

/** Sends a request to a server as one who may do anything. */
export type Send = (request: Request) => Promise<Response>;

/** One thing a server does, shown by a few requests. */
export interface Case {
  /** Groups the cases in reports. */
  readonly area: string;
  readonly name: string;
  run(api: Recorder): Promise<void>;
}

/** What a server answered in a case. */
export interface Transcript {
  readonly steps: readonly Step[];
  /** Why the case could not be run to its end. */
  readonly failure?: string;
}

/** Names the cases of an area. */
export function area(name: string, runs: Record<string, (api: Recorder) => Promise<void>>): Case[] {
  return Object.entries(runs).map(([title, run]) => ({ area: name, name: title, run }));
}

// Far above what any case takes: a server that never sends an event must not hold up the rest. The
// real controller of namespaces tries again after up to a minute when something it asked failed,
// such as a kind that another case just took away.
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
  stop.addEventListener("abort", () => late.reject(new Error(`it is not done after ${limit / 1000} s`)));
  try {
    await Promise.race([api.createNamespace().then(() => contractCase.run(api)), late.promise]);
    return { steps: api.steps };
  } catch (error) {
    return { steps: api.steps, failure: error instanceof Error ? error.message : String(error) };
  } finally {
    await api.close();
  }
}
