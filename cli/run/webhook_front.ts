/**
 * Accepts the API server's webhook calls for an operator that `op dev` restarts. Calls wait while
 * the operator starts, and fail immediately if it does not run. Clients that write objects during a
 * restart only notice a delay.
 */
import type { OperatorProcess } from "./operator_process.ts";

/** Options of {@linkcode WebhookFront}. */
export interface WebhookFrontOptions {
  readonly hostname: string;
  /** 0 for a free port. */
  readonly port: number;
  /** The certificate of this server and of the operator behind it. */
  readonly certificate: { readonly certificate: string; readonly key: string; readonly caCert: string };
  /** The loopback port on which the operator serves its webhooks. */
  readonly operatorPort: number;
}

/** Path of the webhook with which `op dev` checks that the API server reaches this machine. */
export const REACHED_PATH = "/reached";

const LOOPBACK = "127.0.0.1";
/** The pause between two attempts, in milliseconds. */
const PAUSE = 25;
const NOT_RUNNING = "op dev: the operator does not run. Save a file to restart it.";

/** A server for webhook calls that keeps running while the operator behind it restarts. */
export class WebhookFront implements AsyncDisposable {
  /** How often {@linkcode REACHED_PATH} was called. */
  reached = 0;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #operatorUrl: string;
  readonly #client: Deno.HttpClient;
  /** Resolves with whether an operator serves the calls. */
  #isServed: Promise<boolean>;
  /** Resolves {@linkcode #isServed} while calls wait, otherwise `undefined`. */
  #resolve: ((isServed: boolean) => void) | undefined;
  /** The number of operators that were started so far. */
  #generation = 0;

  constructor({ hostname, port, certificate: { certificate, key, caCert }, operatorPort }: WebhookFrontOptions) {
    this.#operatorUrl = `https://${LOOPBACK}:${operatorPort}`;
    this.#client = Deno.createHttpClient({ caCerts: [caCert] });
    this.#isServed = Promise.resolve(false);
    // By default, Deno prints errors, such as the one for an invalid Host header.
    const serving = { hostname, port, cert: certificate, key, onListen() {}, onError: rejected };
    this.#server = Deno.serve(serving, (request) => {
      const url = new URL(request.url);
      return url.pathname === REACHED_PATH ? this.#answerReachCheck(request) : this.#forward(request, url);
    });
  }

  /** The port that it listens on. */
  get port(): number {
    return this.#server.addr.port;
  }

  /** Makes calls wait from now on, because another operator process is about to start. */
  hold(): void {
    this.#generation++;
    if (this.#resolve !== undefined) return;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#isServed = promise;
    this.#resolve = resolve;
  }

  /**
   * Waits until an operator serves, then forwards waiting calls to it. When the operator has ended,
   * calls fail.
   *
   * @param process The operator.
   * @param stop Ends the wait.
   * @returns Whether it serves.
   */
  async follow(process: OperatorProcess, stop: AbortSignal): Promise<boolean> {
    const generation = this.#generation;
    let hasEnded = false;
    process.ended.then(() => {
      hasEnded = true;
      if (generation === this.#generation) this.#settle(false);
    });
    while (!hasEnded && !stop.aborted) {
      if (await this.#responds()) {
        this.#settle(true);
        return true;
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
    return false;
  }

  #settle(isServed: boolean): void {
    this.#resolve?.(isServed);
    this.#resolve = undefined;
    this.#isServed = Promise.resolve(isServed);
  }

  async #responds(): Promise<boolean> {
    try {
      const response = await fetch(this.#operatorUrl, { client: this.#client });
      await response.body?.cancel();
      return true;
    } catch {
      return false;
    }
  }

  async #forward(request: Request, { pathname, search }: URL): Promise<Response> {
    const { method, headers, body } = request;
    // The signal of the request cannot be used, because it is also aborted after success.
    const signal = AbortSignal.timeout(secondsOf(search) * 1000);
    const timeout = Promise.withResolvers<false>();
    signal.addEventListener("abort", () => timeout.resolve(false), { once: true });
    if (!await Promise.race([this.#isServed, timeout.promise])) return notRunning();
    try {
      const answer = await fetch(this.#operatorUrl + pathname + search, {
        method,
        headers: { "content-type": headers.get("content-type") ?? "" },
        body,
        signal,
        client: this.#client,
      });
      const answerHeaders = ["content-type", "retry-after"].flatMap((name) => {
        const value = answer.headers.get(name);
        return value === null ? [] : [[name, value] as [string, string]];
      });
      return new Response(answer.body, { status: answer.status, headers: answerHeaders });
    } catch {
      // The operator ended during the call.
      return notRunning();
    }
  }

  async #answerReachCheck(request: Request): Promise<Response> {
    const review = await request.json().catch(() => undefined);
    const uid = review?.request?.uid;
    // Other programs may send requests to this port.
    if (review?.kind !== "AdmissionReview" || typeof uid !== "string") return rejected();
    this.reached++;
    const { apiVersion, kind } = review;
    return Response.json({ apiVersion, kind, response: { uid, allowed: true } });
  }

  /** Closes the port. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#settle(false);
    await this.#server.shutdown();
    this.#client.close();
  }
}

/**
 * Returns the API server's timeout in seconds, which is at most 30. Conversion requests do not
 * contain it, and their timeout is 30 s.
 */
function secondsOf(search: string): number {
  return Math.min(30, Number(/\btimeout=(\d+)s\b/.exec(search)?.[1] ?? 30));
}

function rejected(): Response {
  return new Response("this is not an AdmissionReview", { status: 400 });
}

function notRunning(): Response {
  return new Response(NOT_RUNNING, { status: 503 });
}

/** Finds consecutive free loopback ports, and returns the first one. */
export function freePorts(count: number): number {
  while (true) {
    using stack = new DisposableStack();
    const listen = (port: number): number => {
      const listener = Deno.listen({ hostname: LOOPBACK, port });
      stack.defer(() => listener.close());
      return listener.addr.port;
    };
    const first = listen(0);
    try {
      for (let next = 1; next < count; next++) listen(first + next);
      return first;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse) && !(error instanceof RangeError)) throw error;
    }
  }
}
