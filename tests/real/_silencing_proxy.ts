/**
 * A proxy for a real API server that terminates TLS and parses HTTP/2 frames, so that single
 * streams of a connection can fall silent: pings and all other streams are still answered.
 */
import { FLAG, FRAME, FrameReader, FrameWriter } from "../../src/kube/http2/frames.ts";
import { localCertificate } from "../../src/testing/local_certificate.ts";
import type { RealCluster } from "../../src/testing/real_cluster.ts";

/** The proxy. */
export interface SilencingProxy extends Disposable {
  readonly url: string;
  /** The certificate authority of its certificate, as PEM. */
  readonly caCert: string;
  /** Number of responses in progress, which are the watches when there is no other traffic. */
  readonly open: number;
  /**
   * Stops delivery of all responses in progress without closing them; later ones work. Returns how
   * many there are.
   */
  silence(): number;
}

/** Opens the proxy. */
export async function silencingProxy({ port, caCert }: RealCluster): Promise<SilencingProxy> {
  const { certificate: cert, key, caCert: own } = await localCertificate();
  const alpnProtocols = ["h2"];
  const listener = Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert, key, alpnProtocols });
  const links = new Set<Link>();

  (async () => {
    for await (const near of listener) pass(near).catch(() => undefined);
  })();

  async function pass(near: Deno.TlsConn): Promise<void> {
    const far = await Deno.connectTls({ hostname: "127.0.0.1", port, caCerts: [caCert], alpnProtocols });
    const link: Link = { ends: [near, far], open: new Set(), silent: new Set() };
    links.add(link);
    await Promise.race([there(link, near, far), back(link, far, near)]).catch(() => undefined);
    close(link);
  }

  function close(link: Link): void {
    links.delete(link);
    for (const end of link.ends) {
      try {
        end.close();
      } catch { /* it is closed already */ }
    }
  }

  return {
    url: `https://127.0.0.1:${listener.addr.port}`,
    caCert: own,
    get open() {
      return [...links].reduce((sum, { open }) => sum + open.size, 0);
    },
    silence() {
      let count = 0;
      for (const { open, silent } of links) {
        count += open.size;
        for (const stream of open) silent.add(stream);
      }
      return count;
    },
    [Symbol.dispose]() {
      listener.close();
      for (const link of [...links]) close(link);
    },
  };
}

interface Link {
  readonly ends: readonly Deno.TlsConn[];
  /** Streams with a response in progress. */
  readonly open: Set<number>;
  readonly silent: Set<number>;
}

/** Requests are forwarded unchanged; only frames that reset a stream are inspected. */
async function there({ open }: Link, near: Deno.TlsConn, far: Deno.TlsConn): Promise<void> {
  const preface = new Uint8Array(24);
  for (let read = 0; read < preface.length;) read += await near.read(preface.subarray(read)) ?? Infinity;
  await all(far, preface);
  await frames(near, far, ({ type, stream }) => {
    if (type === FRAME.reset) open.delete(stream);
    return true;
  });
}

async function back({ open, silent }: Link, far: Deno.TlsConn, near: Deno.TlsConn): Promise<void> {
  await frames(far, near, ({ type, flags, stream }) => {
    if (stream === 0) return true;
    if (type === FRAME.headers) open.add(stream);
    if (type === FRAME.reset || ((type === FRAME.headers || type === FRAME.data) && flags & FLAG.end)) {
      open.delete(stream);
    }
    return !silent.has(stream);
  });
}

async function frames(
  from: Deno.TlsConn,
  to: Deno.TlsConn,
  passes: (frame: { readonly type: number; readonly flags: number; readonly stream: number }) => boolean,
): Promise<void> {
  const [reader, writer] = [new FrameReader(), new FrameWriter()];
  for (let count = await from.read(reader.buffer); count !== null; count = await from.read(reader.buffer)) {
    reader.read(count, (frame) => {
      if (passes(frame)) writer.frame(frame.type, frame.flags, frame.stream, frame.payload);
    });
    await all(to, writer.take());
  }
}

async function all(to: Deno.TlsConn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await to.write(bytes.subarray(sent));
}
