/** A door to an API server on this machine, for one program: what goes through it may be changed, answered, or told. */
import { isLocalHost } from "../internal/mod.gen.ts";
import { kubeconfigFor } from "@op/sdk/testing";
import type { Connection } from "@op/sdk/client";

/** A request on its way: plain values. */
export interface Passing {
  readonly method: string;
  /** Path and query. */
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

/** Sends a request on and answers the response. */
export type Forward = (passing: Passing) => Promise<Response>;

/** Options for {@linkcode openProxy}. */
export interface ProxyOptions {
  /** Sends what has to be sent: {@linkcode forwardTo} makes one. */
  readonly forward: Forward;
  /** The namespace of the kubeconfig's context. @default {none} */
  readonly namespace?: string;
}

/** An open door. */
export interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** A kubeconfig for it. The token in it is good for this door alone. */
  readonly kubeconfig: string;
}

/** What a request says of its sender and of its way is left behind. */
const DROPPED = ["authorization", "host", "connection", "content-length", "accept-encoding", "transfer-encoding"];
/**
 * Headers of a request that {@linkcode forwardTo} sends on. All others are dropped: some name the sender (`Impersonate-User`, `X-Remote-User`), and a gateway
 * in front of the API server may understand more of them.
 */
const PASSED = ["accept", "accept-encoding", "content-type", "user-agent", "traceparent", "tracestate"];
const ANSWERED = ["content-type", "warning", "retry-after", "audit-id"];

/**
 * Opens a door on the loopback.
 *
 * @param options What goes through it.
 */
export function openProxy({ forward, namespace }: ProxyOptions): Proxy {
  const token = crypto.randomUUID();
  const open = new AbortController();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {}, signal: open.signal },
    async (request) => {
      // The token keeps pages in a browser out as well; a Host of their own is the surest sign of one.
      if (!isLocalHost(request)) return new Response("", { status: 403 });
      if (request.headers.get("authorization") !== `Bearer ${token}`) return new Response("", { status: 401 });
      const headers = new Headers(request.headers);
      for (const name of DROPPED) headers.delete(name);
      const url = new URL(request.url);
      // kube-apiserver 1.37 compresses a watch list as several gzip members, and Deno's fetch decodes only the first one.
      if (url.searchParams.has("watch")) headers.set("accept-encoding", "identity");
      const body = request.body === null ? undefined : await request.text();
      const passing = { method: request.method, url, headers, body, signal: open.signal };
      try {
        return answered(await forward(passing));
      } catch (error) {
        return failed(error as Error);
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
      open.abort();
      await server.finished;
    },
  };
}

/** The body is as it was before it was packed for the way. */
function answered({ body, status, headers }: Response): Response {
  return new Response(body, { status, headers: chosen(headers, ANSWERED) });
}

function chosen(all: Headers, names: readonly string[]): Headers {
  return new Headers(names.flatMap((name) => {
    const value = all.get(name);
    return value === null ? [] : [[name, value] as [string, string]];
  }));
}

function failed({ message }: Error): Response {
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
 * Sends requests to an API server. Headers that could name another sender, such as `Impersonate-*`, are dropped.
 *
 * @param connection The way to it.
 * @param headers Headers that each request gets, such as `impersonate-user`.
 */
export function forwardTo(connection: Connection, headers: Readonly<Record<string, string>> = {}): Forward {
  return async ({ method, url, headers: own, body, signal }) => {
    // Whom the program acts as is decided here: it must not lift its service account's limits with a header of its own.
    const all = chosen(own, PASSED);
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
