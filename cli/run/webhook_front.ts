/**
 * Takes the API server's calls for an operator that is started again and again: they wait while it starts, and are told at once where none runs. So
 * whoever writes an object while a file is being saved notices nothing.
 */
import type { OperatorProcess } from "./operator_process.ts";

/** Options of {@linkcode WebhookFront}. */
export interface WebhookFrontOptions {
  readonly hostname: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Shown to the API server, and by the operator behind. */
  readonly certificate: { readonly certificate: string; readonly key: string; readonly caCert: string };
  /** Where on the loopback the operator serves its webhooks. */
  readonly behind: number;
}

/** Asked to find out whether the API server reaches this machine. */
export const REACHED_PATH = "/reached";

const LOOPBACK = "127.0.0.1";
const BETWEEN_LOOKS = 25;
const NOBODY = "the operator that is developed does not run: save a file to have it run anew";

/** A port that the API server calls, whatever becomes of the operator behind it. */
export class WebhookFront implements AsyncDisposable {
  /** How often it was asked whether it is reached. */
  reached = 0;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #behind: string;
  readonly #client: Deno.HttpClient;
  /** Whether somebody answers, as soon as that is known. */
  #isServed: Promise<boolean>;
  /** Tells those who wait; nothing when all know. */
  #tell: ((isServed: boolean) => void) | undefined;
  /** How many operators there were. */
  #turn = 0;

  constructor({ hostname, port, certificate: { certificate, key, caCert }, behind }: WebhookFrontOptions) {
    this.#behind = `https://${LOOPBACK}:${behind}`;
    this.#client = Deno.createHttpClient({ caCerts: [caCert] });
    this.#isServed = Promise.resolve(false);
    this.#server = Deno.serve({ hostname, port, cert: certificate, key, onListen() {} }, (request) => {
      const url = new URL(request.url);
      return url.pathname === REACHED_PATH ? this.#wasReached(request) : this.#passOn(request, url);
    });
  }

  /** The port that it listens on. */
  get port(): number {
    return this.#server.addr.port;
  }

  /** From now on calls wait: another operator is about to start. */
  hold(): void {
    this.#turn++;
    if (this.#tell !== undefined) return;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#isServed = promise;
    this.#tell = resolve;
  }

  /**
   * Calls go on as soon as an operator serves; once it has ended they are told that none does.
   *
   * @param process The operator.
   * @param stop Ends the waiting.
   * @returns Whether it serves.
   */
  async follow(process: OperatorProcess, stop: AbortSignal): Promise<boolean> {
    const turn = this.#turn;
    let hasEnded = false;
    process.ended.then(() => {
      hasEnded = true;
      if (turn === this.#turn) this.#settle(false);
    });
    while (!hasEnded && !stop.aborted) {
      if (await this.#isAnswered()) {
        this.#settle(true);
        return true;
      }
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_LOOKS));
    }
    return false;
  }

  #settle(isServed: boolean): void {
    this.#tell?.(isServed);
    this.#tell = undefined;
    this.#isServed = Promise.resolve(isServed);
  }

  async #isAnswered(): Promise<boolean> {
    try {
      const response = await fetch(this.#behind, { client: this.#client });
      await response.body?.cancel();
      return true;
    } catch {
      return false;
    }
  }

  async #passOn(request: Request, { pathname, search }: URL): Promise<Response> {
    const { method, headers, body } = request;
    // As long as the API server waits: that a request's signal is aborted means nothing, it is when all went well too.
    const signal = AbortSignal.timeout(secondsOf(search) * 1000);
    const gone = Promise.withResolvers<false>();
    signal.addEventListener("abort", () => gone.resolve(false), { once: true });
    if (!await Promise.race([this.#isServed, gone.promise])) return unserved();
    try {
      const answer = await fetch(this.#behind + pathname + search, {
        method,
        headers: { "content-type": headers.get("content-type") ?? "" },
        body,
        signal,
        client: this.#client,
      });
      const kept = ["content-type", "retry-after"].flatMap((name) => {
        const value = answer.headers.get(name);
        return value === null ? [] : [[name, value] as [string, string]];
      });
      return new Response(answer.body, { status: answer.status, headers: kept });
    } catch {
      // It ended while it was asked.
      return unserved();
    }
  }

  async #wasReached(request: Request): Promise<Response> {
    this.reached++;
    const { apiVersion, kind, request: { uid } } = await request.json();
    return Response.json({ apiVersion, kind, response: { uid, allowed: true } });
  }

  /** Closes the port. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#settle(false);
    await this.#server.shutdown();
    this.#client.close();
  }
}

/** The API server says how long it waits: 30 s at most, which is what it waits for conversions without saying so. */
function secondsOf(search: string): number {
  return Math.min(30, Number(/\btimeout=(\d+)s\b/.exec(search)?.[1] ?? 30));
}

function unserved(): Response {
  return new Response(NOBODY, { status: 503 });
}

/** A port of the loopback from which on so many are free. */
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
