/** An authenticated proxy to an API server, for a program on this machine. */
import { isLocalHost } from "../internal/mod.gen.ts";
import { kubeconfigFor } from "@op/sdk/testing";
import type { Connection } from "@op/sdk/client";

/** A request that the proxy forwards. */
export interface ForwardedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

/** Sends a request to the API server, or responds itself. */
export type Forward = (request: ForwardedRequest) => Promise<Response>;

/** Options for {@linkcode openProxy}. */
export interface ProxyOptions {
  /** Handles the requests; see {@linkcode forwardTo}. */
  readonly forward: Forward;
  /** The namespace of the kubeconfig's context. @default {none} */
  readonly namespace?: string;
}

/** A running proxy. */
export interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** A kubeconfig for the proxy. Its token is valid only for this proxy. */
  readonly kubeconfig: string;
}

/** Headers about the sender or the connection, which the proxy removes. */
const DROPPED_HEADERS = [
  "authorization",
  "host",
  "connection",
  "content-length",
  "accept-encoding",
  "transfer-encoding",
];
/**
 * Headers that {@linkcode forwardTo} forwards. All others are dropped: some name the sender
 * (`Impersonate-User`, `X-Remote-User`), and a gateway in front of the API server may understand
 * further ones.
 */
const FORWARDED_HEADERS = ["accept", "accept-encoding", "content-type", "user-agent", "traceparent", "tracestate"];
/** Headers of responses that the proxy returns to the program. */
const RETURNED_HEADERS = ["content-type", "warning", "retry-after", "audit-id"];

/**
 * Starts a proxy on the loopback interface.
 *
 * @param options The handler, and the namespace of the kubeconfig.
 */
export function openProxy({ forward, namespace }: ProxyOptions): Proxy {
  const token = crypto.randomUUID();
  const closing = new AbortController();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {}, signal: closing.signal },
    async (request) => {
      // Web pages do not know the token either, but a foreign Host header identifies them clearly.
      if (!isLocalHost(request)) return new Response("", { status: 403 });
      if (request.headers.get("authorization") !== `Bearer ${token}`) return new Response("", { status: 401 });
      const headers = new Headers(request.headers);
      for (const name of DROPPED_HEADERS) headers.delete(name);
      const url = new URL(request.url);
      // kube-apiserver 1.37 compresses a watch list as several gzip members, and Deno's fetch
      // decodes only the first one.
      if (url.searchParams.has("watch")) headers.set("accept-encoding", "identity");
      const body = request.body === null ? undefined : await request.text();
      const forwarded = { method: request.method, url, headers, body, signal: closing.signal };
      try {
        return withReturnedHeaders(await forward(forwarded));
      } catch (error) {
        return badGateway(error as Error);
      }
    },
  );
  const url = `http://127.0.0.1:${(server.addr as Deno.NetAddr).port}`;
  const config = JSON.parse(kubeconfigFor(url, { name: "op", token }));
  if (namespace !== undefined) config.contexts[0].context.namespace = namespace;
  return {
    url,
    kubeconfig: `${JSON.stringify(config, null, 2)}\n`,
    async [Symbol.asyncDispose]() {
      closing.abort();
      await server.finished;
    },
  };
}

/**
 * Returns a response with only {@linkcode RETURNED_HEADERS}. Headers about the encoding of the body
 * would be wrong, because fetch has decoded it.
 */
function withReturnedHeaders({ body, status, headers }: Response): Response {
  return new Response(body, { status, headers: pickHeaders(headers, RETURNED_HEADERS) });
}

function pickHeaders(all: Headers, names: readonly string[]): Headers {
  return new Headers(names.flatMap((name) => {
    const value = all.get(name);
    return value === null ? [] : [[name, value] as [string, string]];
  }));
}

function badGateway({ message }: Error): Response {
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason: "BadGateway",
    code: 502,
  };
  return Response.json(status, { status: 502 });
}

/**
 * Sends requests to an API server. Headers that could name another sender, such as `Impersonate-*`,
 * are dropped.
 *
 * @param connection The connection to the API server.
 * @param headers Headers to add to each request, such as `impersonate-user`.
 */
export function forwardTo(connection: Connection, headers: Readonly<Record<string, string>> = {}): Forward {
  return async ({ method, url, headers: own, body, signal }) => {
    // The program must not choose another identity with its own headers, which would bypass its
    // RBAC permissions.
    const all = pickHeaders(own, FORWARDED_HEADERS);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    const send = async (): Promise<{ response: Response; authorization: string | undefined }> => {
      const request = new Request(connection.url + url.pathname + url.search, {
        method,
        headers: all,
        signal,
        ...(body === undefined ? {} : { body }),
      });
      const response = await connection.fetch(request);
      return { response, authorization: request.headers.get("authorization") ?? undefined };
    };
    const { response, authorization } = await send();
    if (response.status !== 401 || !await connection.renew?.(authorization)) return response;
    await response.body?.cancel();
    return (await send()).response;
  };
}
