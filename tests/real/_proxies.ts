/**
 * Proxies in front of a real API server. {@linkcode ConnectionProxy} disturbs whole TCP
 * connections, {@linkcode StreamProxy} single HTTP/2 streams of a connection.
 */
import { FLAG, FRAME, FrameReader, FrameWriter } from "../../src/kube/http2/frames.ts";
import { localCertificate } from "../../src/testing/local_certificate.ts";
import type { RealCluster } from "../../src/testing/real_cluster.ts";

// In bytes. Pings and acknowledgments are shorter, and every write is longer.
const SHORTEST_WRITE = 200;

interface TcpLink {
  readonly ends: readonly Deno.TcpConn[];
  isFrozen: boolean;
  /** Progress of the fault of {@linkcode ConnectionProxy.loseResponses}. */
  loss: "none" | "waits for a request" | "drops the response";
}

/**
 * A TCP proxy on loopback that does not inspect the bytes. It counts connections. It can freeze
 * them (as when a middlebox drops a connection), lose responses, and close connections.
 */
export class ConnectionProxy implements Disposable {
  readonly #target: number;
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #links = new Set<TcpLink>();
  #opened = 0;
  #lost = 0;
  #isCut = false;

  /**
   * Opens a proxy.
   *
   * @param target The port on loopback to forward to.
   */
  constructor(target: number) {
    this.#target = target;
    this.#accept();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  /** Number of connections opened so far. */
  get opened(): number {
    return this.#opened;
  }

  /** Number of open connections. */
  get open(): number {
    return this.#links.size;
  }

  /** Number of connections that lost a response. */
  get lost(): number {
    return this.#lost;
  }

  /** Stops delivery on all open connections without closing them. New connections work. */
  freeze(): void {
    for (const link of this.#links) link.isFrozen = true;
  }

  /** Drops the response to the next request on each open connection, and closes the connection. */
  loseResponses(): void {
    for (const link of this.#links) link.loss = "waits for a request";
  }

  /** Closes all connections, and new ones as soon as they open. */
  cut(): void {
    this.#isCut = true;
    for (const link of [...this.#links]) this.#close(link);
  }

  /** Accepts new connections again. */
  restore(): void {
    this.#isCut = false;
  }

  [Symbol.dispose](): void {
    this.#listener.close();
    for (const link of [...this.#links]) this.#close(link);
  }

  async #accept(): Promise<void> {
    for await (const client of this.#listener) {
      this.#opened++;
      if (this.#isCut) client.close();
      else this.#forward(client).catch(() => undefined);
    }
  }

  async #forward(client: Deno.TcpConn): Promise<void> {
    const server = await Deno.connect({ hostname: "127.0.0.1", port: this.#target });
    const link: TcpLink = { isFrozen: false, loss: "none", ends: [client, server] };
    this.#links.add(link);
    try {
      await Promise.race([this.#forwardRequests(link, client, server), this.#forwardResponses(link, server, client)]);
    } finally {
      // When one side closes, the other side is closed too, unless the connection is frozen.
      if (!link.isFrozen) this.#close(link);
    }
  }

  async #forwardRequests(link: TcpLink, client: Deno.TcpConn, server: Deno.TcpConn): Promise<void> {
    for await (const bytes of chunksOf(client)) {
      if (link.isFrozen) continue;
      if (link.loss === "waits for a request" && bytes.length >= SHORTEST_WRITE) link.loss = "drops the response";
      await writeAll(server, bytes);
    }
  }

  async #forwardResponses(link: TcpLink, server: Deno.TcpConn, client: Deno.TcpConn): Promise<void> {
    for await (const bytes of chunksOf(server)) {
      if (link.isFrozen) continue;
      if (link.loss === "drops the response") return void this.#lost++;
      await writeAll(client, bytes);
    }
  }

  #close(link: TcpLink): void {
    this.#links.delete(link);
    closeAll(link.ends);
  }
}

interface TlsLink {
  readonly ends: readonly Deno.TlsConn[];
  /** Streams with a response in progress. */
  readonly open: Set<number>;
  /** Streams whose responses are no longer delivered. */
  readonly silent: Set<number>;
}

/**
 * A proxy for a real API server that terminates TLS and parses HTTP/2 frames, so that single
 * streams of a connection can fall silent while pings and all other streams are still answered.
 */
export class StreamProxy implements Disposable {
  readonly url: string;
  /** The certificate authority of the proxy's certificate, as PEM. */
  readonly caCert: string;
  readonly #cluster: RealCluster;
  readonly #listener: Deno.TlsListener;
  readonly #links = new Set<TlsLink>();

  private constructor(cluster: RealCluster, listener: Deno.TlsListener, caCert: string) {
    this.#cluster = cluster;
    this.#listener = listener;
    this.url = `https://127.0.0.1:${listener.addr.port}`;
    this.caCert = caCert;
    this.#accept();
  }

  /** Opens a proxy for a cluster. */
  static async open(cluster: RealCluster): Promise<StreamProxy> {
    const { certificate: cert, key, caCert } = await localCertificate();
    const listener = Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert, key, alpnProtocols: ["h2"] });
    return new StreamProxy(cluster, listener, caCert);
  }

  /**
   * Stops delivery of all responses in progress without closing them; later ones work.
   *
   * @returns The number of these responses, which are the watches when there is no other traffic.
   */
  silence(): number {
    let count = 0;
    for (const { open, silent } of this.#links) {
      count += open.size;
      for (const stream of open) silent.add(stream);
    }
    return count;
  }

  [Symbol.dispose](): void {
    this.#listener.close();
    for (const link of [...this.#links]) this.#close(link);
  }

  async #accept(): Promise<void> {
    for await (const client of this.#listener) this.#forward(client).catch(() => undefined);
  }

  async #forward(client: Deno.TlsConn): Promise<void> {
    const { port, caCert } = this.#cluster;
    const server = await Deno.connectTls({
      hostname: "127.0.0.1",
      port,
      caCerts: [caCert],
      alpnProtocols: ["h2"],
    });
    const link: TlsLink = { ends: [client, server], open: new Set(), silent: new Set() };
    this.#links.add(link);
    try {
      await Promise.race([forwardRequests(link, client, server), forwardResponses(link, server, client)]);
    } finally {
      this.#close(link);
    }
  }

  #close(link: TlsLink): void {
    this.#links.delete(link);
    closeAll(link.ends);
  }
}

/** Forwards requests unchanged. Only frames that reset a stream are inspected. */
async function forwardRequests({ open }: TlsLink, client: Deno.TlsConn, server: Deno.TlsConn): Promise<void> {
  const preface = new Uint8Array(24);
  for (let read = 0; read < preface.length;) read += await client.read(preface.subarray(read)) ?? Infinity;
  await writeAll(server, preface);
  await forwardFrames(client, server, ({ type, stream }) => {
    if (type === FRAME.reset) open.delete(stream);
    return true;
  });
}

async function forwardResponses({ open, silent }: TlsLink, server: Deno.TlsConn, client: Deno.TlsConn): Promise<void> {
  await forwardFrames(server, client, ({ type, flags, stream }) => {
    if (stream === 0) return true;
    if (type === FRAME.headers) open.add(stream);
    if (type === FRAME.reset || ((type === FRAME.headers || type === FRAME.data) && flags & FLAG.end)) {
      open.delete(stream);
    }
    return !silent.has(stream);
  });
}

async function forwardFrames(
  from: Deno.TlsConn,
  to: Deno.TlsConn,
  isForwarded: (frame: { readonly type: number; readonly flags: number; readonly stream: number }) => boolean,
): Promise<void> {
  const [reader, writer] = [new FrameReader(), new FrameWriter()];
  for (let count = await from.read(reader.buffer); count !== null; count = await from.read(reader.buffer)) {
    reader.read(count, (frame) => {
      if (isForwarded(frame)) writer.frame(frame.type, frame.flags, frame.stream, frame.payload);
    });
    await writeAll(to, writer.take());
  }
}

async function* chunksOf(from: Deno.Conn): AsyncGenerator<Uint8Array, void> {
  const buffer = new Uint8Array(64 * 1024);
  for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
    yield buffer.subarray(0, count);
  }
}

async function writeAll(to: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await to.write(bytes.subarray(sent));
}

function closeAll(ends: readonly Deno.Conn[]): void {
  for (const end of ends) {
    try {
      end.close();
    } catch { /* it is closed already */ }
  }
}
