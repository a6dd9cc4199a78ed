/** The address of the Service `kubernetes`, as a pod reaches it: port 443, which leads to the API server wherever that listens. */

/** An open address. */
export interface ServiceAddress extends AsyncDisposable {
  /** An address of the loopback that nobody else uses. */
  readonly hostname: string;
}

/**
 * Opens an address of the loopback whose port 443 leads to a port of this machine.
 *
 * @param port The port of the API server on 127.0.0.1.
 */
export function serviceAddress(port: number): ServiceAddress {
  const listener = listen();
  const open = new Set<Deno.TcpConn>();
  const piping = new Set<Promise<void>>();
  const pipe = async (outer: Deno.TcpConn): Promise<void> => {
    open.add(outer);
    try {
      const inner = await Deno.connect({ hostname: "127.0.0.1", port });
      open.add(inner);
      await Promise.all([copy(outer, inner), copy(inner, outer)]);
    } catch { /* a server that is down ends the connection */ }
    close(outer);
  };
  const accepting = (async () => {
    for await (const outer of listener) {
      const piped = pipe(outer).finally(() => piping.delete(piped));
      piping.add(piped);
    }
  })().catch(() => {});
  return {
    hostname: listener.addr.hostname,
    async [Symbol.asyncDispose]() {
      listener.close();
      open.forEach(close);
      await Promise.all([accepting, ...piping]);
    },
  };
}

/** One end closes both: the connection is over for either. */
async function copy(from: Deno.TcpConn, to: Deno.TcpConn): Promise<void> {
  try {
    for await (const chunk of from.readable.values({ preventCancel: true })) {
      for (let rest = chunk; rest.length > 0;) rest = rest.subarray(await to.write(rest));
    }
  } catch { /* it broke */ }
  close(from);
  close(to);
}

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch { /* it is closed */ }
}

function listen(): Deno.TcpListener {
  const part = () => 1 + crypto.getRandomValues(new Uint8Array(1))[0]! % 254;
  return Deno.listen({ hostname: `127.${part()}.${part()}.${part()}`, port: 443 });
}
