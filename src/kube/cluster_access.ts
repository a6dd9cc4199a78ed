/** Access to the API server for other client libraries. */
import type { Connection } from "./connection.ts";

/** The address and the credentials of an API server, for other client libraries. */
export interface ClusterAccess {
  /** URL of the API server without a trailing slash, such as `https://10.0.0.1:6443`. */
  readonly url: string;
  /**
   * Certificate of the authority that signed the server's certificate, as PEM; `undefined` if
   * another source of authorities is used, such as the operating system.
   */
  readonly ca: string | undefined;
  /** The namespace of the credentials; `undefined` if they have none. */
  readonly namespace: string | undefined;
  /**
   * Sends a request with the credentials, like the global `fetch`. After a response with status
   * 401, it reads the credentials again, and sends the request again if they have changed.
   *
   * @param input A path, such as `/api/v1/namespaces`, or a URL of the API server.
   * @param init Method, headers, body and signal.
   * @throws {TypeError} If the URL is not the API server's: the credentials are for it alone.
   */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /**
   * Returns the current bearer token; `undefined` with a client certificate or without
   * credentials. Tokens expire, so call it for each request.
   *
   * @throws {Error} If the token cannot be read.
   */
  token(): Promise<string | undefined>;
}

/**
 * Returns access to the API server of a connection.
 *
 * @param connection The connection. It must stay open.
 */
export function clusterAccess(connection: Connection): ClusterAccess {
  const { url, ca, namespace } = connection;
  const { origin } = new URL(url);
  return {
    url,
    ca,
    namespace,
    fetch: async (input, init) => {
      const request = new Request(typeof input === "string" && input.startsWith("/") ? url + input : input, init);
      if (new URL(request.url).origin !== origin) {
        throw new TypeError(`fetch(): "${request.url}" is not a URL of the API server. Use a path, or a URL of ${url}`);
      }
      return await send(connection, request);
    },
    token: async () => await connection.token?.(),
  };
}

async function send(connection: Connection, request: Request): Promise<Response> {
  const repeated = request.clone();
  const response = await connection.fetch(request);
  const rejected = request.headers.get("authorization") ?? undefined;
  if (response.status !== 401 || !await connection.renew?.(rejected)) return response;
  await response.body?.cancel();
  return await connection.fetch(repeated);
}
