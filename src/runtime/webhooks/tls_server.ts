/** HTTPS, HTTP/1.1 and HTTP/2, whose certificate can be changed while requests go on: none fails, and none waits. */
import type { Clock } from "../../base/clock.ts";
import { type Caller, LOCAL_CALLER } from "./caller.ts";
import type { CertificateFiles } from "./certificate.ts";
import { type Target, TcpFront, type TcpFrontOptions } from "./tcp_front.ts";

/** Answers a request that came by a connection. It never rejects. */
export type Answering = (request: Request, caller: Caller) => Promise<Response>;

/** Options of {@linkcode TlsServer}. */
export interface TlsServerOptions extends TcpFrontOptions {
  /** Ports of the loopback for the servers behind the front, one for each certificate that is in use. @default {[0]: any} */
  readonly innerPorts?: readonly number[];
}

interface Inner extends Target {
  readonly server: Deno.HttpServer<Deno.NetAddr>;
  readonly certificate: CertificateFiles;
  /** Another certificate has taken its place: its connections may end. */
  isRetired: boolean;
  /** Settles when it has ended. */
  ended: Promise<void> | undefined;
}

const LOOPBACK = "127.0.0.1";
// How long it is until a server that ended is tried again.
const REOPEN = 100;

/** A TLS server whose certificate changes. */
export class TlsServer implements AsyncDisposable {
  readonly #front: TcpFront;
  readonly #handler: Answering;
  readonly #ports: readonly number[];
  readonly #clock: Clock;
  #inners: Inner[] = [];
  #isStopping = false;
  /** The next attempt to serve again. */
  #reopening: Disposable | undefined;

  /**
   * Listens. What comes before there is a certificate is closed.
   *
   * @param options Where.
   * @param handler Answers requests.
   * @throws {Deno.errors.AddrInUse} If the port is taken.
   */
  constructor(options: TlsServerOptions, handler: Answering) {
    this.#handler = handler;
    this.#ports = options.innerPorts ?? [0];
    this.#clock = options.clock;
    this.#front = new TcpFront(options);
  }

  /** The port that it listens on. */
  get port(): number {
    return this.#front.port;
  }

  /** Connections that are open. */
  get connections(): number {
    return this.#front.connections;
  }

  /** Whether it has a certificate. */
  get isServing(): boolean {
    return this.#front.target !== undefined && !this.#isStopping;
  }

  /**
   * Takes a certificate. Connections from now on see it; those that are open go on with the one before and are asked to end after their next answer.
   *
   * @throws {Error} If it is no certificate with its key: then all stays as it was.
   */
  use(certificate: CertificateFiles): void {
    if (this.#isStopping) return;
    const next = this.#open(certificate);
    const before = this.#inners.at(-1);
    this.#inners.push(next);
    this.#front.isReopening = false;
    // From here on the new one takes what comes. The old one still listens, for connections that are being made.
    this.#front.target = next;
    if (before !== undefined) this.#retire(before);
  }

  /** Serves again when a server ends by itself: one that cannot accept, because the process has no descriptors left, does not try again. */
  #watch(inner: Inner): void {
    inner.server.finished.catch(() => {
      this.#inners = this.#inners.filter((other) => other !== inner);
      if (inner.ended !== undefined || this.#isStopping) return;
      this.#front.releaseDescriptors();
      if (this.#front.target !== inner) return;
      this.#front.isReopening = true;
      this.#front.target = undefined;
      this.#reopen(inner.certificate);
    });
  }

  #reopen(certificate: CertificateFiles): void {
    if (this.#isStopping || this.#front.target !== undefined) return;
    try {
      const next = this.#open(certificate);
      this.#inners.push(next);
      this.#front.isReopening = false;
      this.#front.target = next;
    } catch (error) {
      // The port is free when its connections have ended, and descriptors when others were closed.
      // Clients that wait for the port are not to blame in the first case.
      if (!(error instanceof Error && error.cause instanceof Deno.errors.AddrInUse)) {
        this.#front.releaseDescriptors();
      }
      this.#reopening = this.#clock.after(REOPEN, () => this.#reopen(certificate));
    }
  }

  #open(files: CertificateFiles): Inner {
    const { certificate, key } = files;
    const taken: unknown[] = [];
    for (const port of this.#ports) {
      let inner: Inner | undefined;
      try {
        const server = Deno.serve(
          { hostname: LOOPBACK, port, cert: certificate, key, onListen() {}, onError: failed },
          async (request, { remoteAddr }) => {
            const response = await this.#handler(request, inner?.callers.get(remoteAddr.port) ?? LOCAL_CALLER);
            // Over HTTP/2 the server leaves this header out: there a connection ends with its client.
            if (inner?.isRetired) response.headers.set("connection", "close");
            return response;
          },
        );
        inner = {
          server,
          certificate: files,
          callers: new Map(),
          hostname: LOOPBACK,
          port: server.addr.port,
          connections: 0,
          isRetired: false,
          ended: undefined,
        };
        this.#watch(inner);
        return inner;
      } catch (error) {
        if (!(error instanceof Deno.errors.AddrInUse)) throw error;
        taken.push(error);
      }
    }
    // All are in use by certificates of before: the oldest has to go.
    const oldest = this.#inners.find(({ isRetired, ended }) => isRetired && ended === undefined);
    const told = `Cannot serve another certificate: the ports ${this.#ports.join(", ")} of ${LOOPBACK} are taken`;
    if (oldest !== undefined) this.#end(oldest);
    throw new Error(oldest === undefined ? told : `${told} by connections of earlier ones, which are ended now`, {
      cause: taken[0],
    });
  }

  #retire(inner: Inner): void {
    inner.isRetired = true;
    inner.onIdle = () => this.#end(inner);
    if (inner.connections === 0) this.#end(inner);
  }

  #end(inner: Inner): Promise<void> {
    return inner.ended ??= inner.server.shutdown().catch(() => undefined).finally(() => {
      this.#inners = this.#inners.filter((other) => other !== inner);
    });
  }

  /**
   * Takes no more connections in, lets requests that go on end, and closes.
   *
   * @param deadline Closes what still goes on.
   */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#isStopping = true;
    this.#reopening?.[Symbol.dispose]();
    for (const inner of this.#inners) inner.isRetired = true;
    this.#front.stopListening();
    const ended = Promise.all(this.#inners.map((inner) => this.#end(inner)));
    const late = Promise.withResolvers<void>();
    const giveUp = (): void => late.resolve();
    deadline.addEventListener("abort", giveUp, { once: true });
    if (deadline.aborted) giveUp();
    await Promise.race([ended.then(() => this.#front.drained()), late.promise]);
    deadline.removeEventListener("abort", giveUp);
    await this.#front[Symbol.asyncDispose]();
    await ended;
  }

  /** Closes at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(AbortSignal.abort());
  }
}

function failed(): Response {
  return new Response("the webhook failed", { status: 500 });
}
