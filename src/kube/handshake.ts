/** The beginning of TLS on a connection, with words for what goes wrong in it: of its own the machine says no more than "unexpected end of file". */

/** Why a connection did not come to be encrypted. */
export class HandshakeError extends Error {
  override name = "HandshakeError";
}

/**
 * Waits for the handshake.
 *
 * @param connection The connection.
 * @param authority Where it leads: `10.0.0.1:6443`.
 * @throws {HandshakeError} If the other end closed it, or does not speak TLS. A certificate that is not trusted fails as it does otherwise.
 */
export async function shakeHands(connection: Deno.TlsConn, authority: string): Promise<Deno.TlsHandshakeInfo> {
  try {
    return await connection.handshake();
  } catch (cause) {
    throw isClosing(cause)
      ? new HandshakeError(
        `the connection was closed during the TLS handshake: look at what listens at "${authority}", at proxies and load balancers before it, and at its log`,
        { cause },
      )
      : /corrupt message/.test((cause as Error).message)
      ? new HandshakeError(`"${authority}" does not speak TLS: is the port right, and is there a proxy before it?`, {
        cause,
      })
      : cause;
  }
}

function isClosing(error: unknown): boolean {
  return [Deno.errors.UnexpectedEof, Deno.errors.ConnectionReset, Deno.errors.BrokenPipe, Deno.errors.ConnectionAborted]
    .some((closing) => error instanceof closing);
}
