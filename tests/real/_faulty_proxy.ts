/** A way to a port of the loopback that can fall silent, as when a machine in between forgets a connection, or be cut. What is in the bytes it does not know. */

/** A faulty proxy. */
export interface FaultyProxy extends Disposable {
  readonly port: number;
  /** The connections that are open bring nothing any more, and nobody is told. New ones are good. */
  freeze(): void;
  /** All connections are closed, and new ones as soon as they come. */
  cut(): void;
  /** New connections are good again. */
  mend(): void;
}

/**
 * Opens it.
 *
 * @param port Where it leads.
 */
export function faultyProxy(port: number): FaultyProxy {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const links = new Set<{ frozen: boolean; ends: Deno.TcpConn[] }>();
  let isCut = false;

  (async () => {
    for await (const near of listener) {
      if (isCut) near.close();
      else pass(near).catch(() => undefined);
    }
  })();

  async function pass(near: Deno.TcpConn): Promise<void> {
    const far = await Deno.connect({ hostname: "127.0.0.1", port });
    const link = { frozen: false, ends: [near, far] };
    links.add(link);
    await Promise.race([pump(link, near, far), pump(link, far, near)]);
    // An end that one side closes is one that the other hears of, unless it is frozen.
    if (!link.frozen) close(link);
  }

  async function pump(link: { frozen: boolean }, from: Deno.TcpConn, to: Deno.TcpConn): Promise<void> {
    const buffer = new Uint8Array(64 * 1024);
    for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
      if (link.frozen) continue;
      for (let sent = 0; sent < count;) sent += await to.write(buffer.subarray(sent, count));
    }
  }

  function close(link: { ends: Deno.TcpConn[] }): void {
    for (const end of link.ends) {
      try {
        end.close();
      } catch { /* it is closed already */ }
    }
    links.delete(link as never);
  }

  return {
    port: listener.addr.port,
    freeze: () => links.forEach((link) => link.frozen = true),
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
