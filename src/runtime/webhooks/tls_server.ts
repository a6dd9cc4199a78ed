/**
 * An HTTPS server (HTTP/1.1 and HTTP/2) whose certificate can be replaced without failing or
 * delaying any request.
 */
import type { Clock } from "../../base/clock.ts";
import { type Caller, LOCAL_CALLER } from "./caller.ts";
import type { CertificateFiles } from "./certificate.ts";
import type { Target } from "./pipe.ts";
import { TcpFront, type TcpFrontOptions } from "./tcp_front.ts";

/** Handles a request. The promise never rejects. */
export type ConnectionHandler = (request: Request, caller: Caller) => Promise<Response>;

/** Options of {@linkcode TlsServer}. */
export interface TlsServerOptions extends TcpFrontOptions {
  /**
   * Loopback ports of the servers behind the TCP port, one for each certificate that is in use. 0
   * selects a free port. @default {[0]}
   */
  readonly innerPorts?: readonly number[];
}

/** A TLS server behind the TCP port. Each has one certificate. */
interface InnerServer extends Target {
  readonly server: Deno.HttpServer<Deno.NetAddr>;
  readonly certificate: CertificateFiles;
  /** Whether another server has replaced it, so that its connections should be closed. */
  isRetired: boolean;
  /** Whether it stopped accepting connections because of an error. */
  hasFailed: boolean;
  /** Resolves when it has shut down; `undefined` until the shutdown begins. */
  ended: Promise<void> | undefined;
}

const LOOPBACK = "127.0.0.1";
// Delay before another attempt to open a server, in milliseconds.
const REOPEN = 100;

/** An HTTPS server whose certificate can be replaced. */
export class TlsServer implements AsyncDisposable {
  readonly #front: TcpFront;
  readonly #handler: ConnectionHandler;
  readonly #ports: readonly number[];
  readonly #clock: Clock;
  #inners: InnerServer[] = [];
  #isStopping = false;
  /** Timer of the next attempt to open a server. */
  #reopening: Disposable | undefined;

  /**
   * Starts listening. Connections are closed until there is a certificate.
   *
   * @param options Where to listen, and limits.
   * @param handler Handles requests.
   * @throws {Deno.errors.AddrInUse} If the port is in use.
   */
  constructor(options: TlsServerOptions, handler: ConnectionHandler) {
    this.#handler = handler;
    this.#ports = options.innerPorts ?? [0];
    this.#clock = options.clock;
    this.#front = new TcpFront(options);
  }

  /** The port on which the server listens. */
  get port(): number {
    return this.#front.port;
  }

  /** Number of open connections. */
  get connections(): number {
    return this.#front.connections;
  }

  /** Whether it accepts connections: it has a certificate and is not stopping. */
  get isServing(): boolean {
    return this.#front.target !== undefined && !this.#isStopping;
  }

  /**
   * Uses a certificate for new connections. Open connections keep the previous one. The next
   * response on each of them asks the client to close it.
   *
   * @param certificate The certificate and its key.
   * @throws {Error} If the certificate is invalid, or all inner ports are in use. Nothing changes
   * then.
   */
  use(certificate: CertificateFiles): void {
    if (this.#isStopping) return;
    const next = this.#open(certificate);
    const previous = this.#inners.at(-1);
    // The previous server still listens, because connections to it may be pending.
    this.#serve(next);
    if (previous !== undefined) this.#retire(previous);
  }

  #serve(inner: InnerServer): void {
    this.#inners.push(inner);
    this.#front.isReopening = false;
    this.#front.target = inner;
  }

  /**
   * Replaces a server that stopped accepting connections, as Deno's server does when the process
   * has no file descriptors left. Connections that it accepted before continue.
   */
  #replace(inner: InnerServer): void {
    inner.hasFailed = true;
    if (inner.isRetired || inner.ended !== undefined || this.#isStopping) return;
    this.#retire(inner);
    this.#front.releaseDescriptors();
    if (this.#front.target !== inner) return;
    this.#front.isReopening = true;
    this.#front.target = undefined;
    this.#reopen(inner.certificate);
  }

  #reopen(certificate: CertificateFiles): void {
    if (this.#isStopping || this.#front.target !== undefined) return;
    try {
      this.#serve(this.#open(certificate));
    } catch (error) {
      // If the port is in use, it becomes free when its connections end. Otherwise the process has
      // no descriptors left, so connections are closed.
      if (!(error instanceof Error && error.cause instanceof Deno.errors.AddrInUse)) {
        this.#front.releaseDescriptors();
      }
      this.#reopening = this.#clock.after(REOPEN, () => this.#reopen(certificate));
    }
  }

  #open(files: CertificateFiles): InnerServer {
    const { certificate, key } = files;
    const failures: unknown[] = [];
    for (const port of this.#ports) {
      let inner: InnerServer | undefined;
      try {
        const server = Deno.serve(
          { hostname: LOOPBACK, port, cert: certificate, key, onListen() {}, onError: serverError },
          async (request, { remoteAddr }) => {
            const response = await this.#handler(request, inner?.callers.get(remoteAddr.port) ?? LOCAL_CALLER);
            // Has no effect on HTTP/2 connections, which stay open until the client closes them.
            if (inner?.isRetired) response.headers.set("connection", "close");
            return response;
          },
        );
        const opened: InnerServer = inner = {
          server,
          certificate: files,
          callers: new Map(),
          hostname: LOOPBACK,
          port: server.addr.port,
          connections: 0,
          isRetired: false,
          hasFailed: false,
          ended: undefined,
          // Deno 2.4 reports the end of a server only after its last connection has ended.
          onRefused: () => this.#replace(opened),
        };
        server.finished.catch(() => {
          this.#inners = this.#inners.filter((other) => other !== opened);
          this.#replace(opened);
        });
        return opened;
      } catch (error) {
        if (!(error instanceof Deno.errors.AddrInUse)) throw error;
        failures.push(error);
      }
    }
    // All ports are in use by earlier certificates, so the oldest server must end.
    const oldest = this.#inners.find(({ isRetired, ended }) => isRetired && ended === undefined);
    if (oldest !== undefined) this.#end(oldest);
    const reason = oldest === undefined
      ? "are in use"
      : "are in use by connections with earlier certificates. The oldest ones are being closed; try again";
    throw new Error(
      `Cannot serve the new webhook certificate: ports ${this.#ports.join(", ")} of ${LOOPBACK} ${reason}`,
      { cause: failures[0] },
    );
  }

  #retire(inner: InnerServer): void {
    inner.isRetired = true;
    inner.onIdle = () => this.#end(inner);
    if (inner.connections === 0) this.#end(inner);
  }

  #end(inner: InnerServer): Promise<void> {
    return inner.ended ??= this.#shutDown(inner).catch(() => undefined).finally(() => {
      this.#inners = this.#inners.filter((other) => other !== inner);
    });
  }

  /**
   * Shuts a server down gracefully. If it has failed and has no connections, its `finished` promise
   * settles soon. A `shutdown` before that makes Deno 2.4 to 2.7 panic (`op_http_wait` finds no
   * join handle), and after that, no asynchronous operation of the process ever completes.
   */
  async #shutDown({ server, hasFailed, connections }: InnerServer): Promise<void> {
    if (hasFailed && connections === 0) await server.finished.catch(() => undefined);
    await server.shutdown();
  }

  /**
   * Accepts no more connections, waits for pending requests, and closes.
   *
   * @param deadline When aborted, closes all connections at once.
   */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#isStopping = true;
    this.#reopening?.[Symbol.dispose]();
    for (const inner of this.#inners) inner.isRetired = true;
    this.#front.stopListening();
    const ended = Promise.all(this.#inners.map((inner) => this.#end(inner)));
    const expired = Promise.withResolvers<void>();
    const onDeadline = (): void => expired.resolve();
    deadline.addEventListener("abort", onDeadline, { once: true });
    if (deadline.aborted) onDeadline();
    await Promise.race([ended.then(() => this.#front.drained()), expired.promise]);
    deadline.removeEventListener("abort", onDeadline);
    await this.#front[Symbol.asyncDispose]();
    await ended;
  }

  /** Closes at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(AbortSignal.abort());
  }
}

function serverError(): Response {
  return new Response("The webhook failed.", { status: 500 });
}
