/**
 * A proxy for a loopback port that can fall silent, as when a middlebox drops a connection, or be
 * cut. It does not inspect the bytes.
 */

/** A faulty proxy. */
export interface FaultyProxy extends Disposable {
  readonly port: number;
  /** Stops delivery on all open connections without closing them. New ones work. */
  freeze(): void;
  /** Drops the response to the next request on each open connection, and closes the connection. */
  loseAnswers(): void;
  /** Number of connections that lost a response. */
  readonly lost: number;
  /** Closes all connections, and new ones as soon as they open. */
  cut(): void;
  /** Lets new connections work again. */
  mend(): void;
}

// Pings and acknowledgements are shorter. A write has more bytes.
const SHORTEST_WRITE = 200;

interface Link {
  readonly ends: readonly Deno.TcpConn[];
  isFrozen: boolean;
  /** The pending fault of a connection: it waits for a request, and then for the response. */
  loses: "nothing" | "after the next" | "the next";
}

/**
 * Opens a proxy.
 *
 * @param port The port to forward to.
 */
export function faultyProxy(port: number): FaultyProxy {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const links = new Set<Link>();
  let isCut = false;
  let lost = 0;

  (async () => {
    for await (const near of listener) {
      if (isCut) near.close();
      else pass(near).catch(() => undefined);
    }
  })();

  async function pass(near: Deno.TcpConn): Promise<void> {
    const far = await Deno.connect({ hostname: "127.0.0.1", port });
    const link: Link = { isFrozen: false, loses: "nothing", ends: [near, far] };
    links.add(link);
    await Promise.race([there(link, near, far), back(link, far, near)]);
    // When one side closes, the other side is closed too, unless the connection is frozen.
    if (!link.isFrozen) close(link);
  }

  async function there(link: Link, near: Deno.TcpConn, far: Deno.TcpConn): Promise<void> {
    for await (const bytes of pieces(near)) {
      if (link.isFrozen) continue;
      if (link.loses === "after the next" && bytes.length >= SHORTEST_WRITE) link.loses = "the next";
      await all(far, bytes);
    }
  }

  async function back(link: Link, far: Deno.TcpConn, near: Deno.TcpConn): Promise<void> {
    for await (const bytes of pieces(far)) {
      if (link.isFrozen) continue;
      if (link.loses === "the next") return void lost++;
      await all(near, bytes);
    }
  }

  function close(link: Link): void {
    for (const end of link.ends) {
      try {
        end.close();
      } catch { /* it is closed already */ }
    }
    links.delete(link);
  }

  return {
    port: listener.addr.port,
    get lost() {
      return lost;
    },
    freeze: () => links.forEach((link) => link.isFrozen = true),
    loseAnswers: () => links.forEach((link) => link.loses = "after the next"),
    cut() {
      isCut = true;
      for (const link of [...links]) close(link);
    },
    mend: () => void (isCut = false),
    [Symbol.dispose]() {
      listener.close();
      for (const link of [...links]) close(link);
    },
  };
}

async function* pieces(from: Deno.TcpConn): AsyncGenerator<Uint8Array, void> {
  const buffer = new Uint8Array(64 * 1024);
  for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
    yield buffer.subarray(0, count);
  }
}

async function all(to: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await to.write(bytes.subarray(sent));
}
