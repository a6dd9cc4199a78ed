/** An API server over HTTPS that compresses watch lists as kube-apiserver 1.37 does: one gzip member per flush. */
import { gzipSync } from "node:zlib";
import { type Apiserver, createApiserver, kubeconfigFor, localCertificate } from "@op/sdk/testing";

/** Lines per flush. kube-apiserver flushes whenever no event is waiting. */
const FLUSHED_LINES = 10;

/** A running server. */
export interface CompressingServer extends AsyncDisposable {
  readonly apiserver: Apiserver;
  /** A kubeconfig for it, as JSON. */
  readonly kubeconfig: string;
  readonly url: string;
  /** The authority that signed its certificate, as PEM. */
  readonly caCert: string;
  /** The `accept-encoding` of each request for a watch, in the order in which they arrived. */
  readonly asked: string[];
  /** The number of watches that were answered with gzip. */
  compressed: number;
  /** The number of gzip members that were sent. */
  members: number;
}

/**
 * Serves the in-process API server on loopback.
 *
 * A watch that sends the initial events is compressed if the request accepts gzip
 * (`k8s.io/apiserver` 1.37, `pkg/endpoints/handlers/watch.go`, perFlushGzipWriter).
 */
export async function compressingServer(): Promise<CompressingServer> {
  const { certificate: cert, key, caCert } = await localCertificate();
  const apiserver = createApiserver();
  const open = new AbortController();
  const http = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {}, signal: open.signal, cert, key },
    async (request) => {
      const query = new URL(request.url).searchParams;
      const response = await apiserver.fetch(request);
      if (query.get("watch") !== "true") return response;
      const accepted = request.headers.get("accept-encoding") ?? "";
      server.asked.push(accepted);
      const isCompressed = query.get("sendInitialEvents") === "true" && /\bgzip\b/.test(accepted);
      if (!isCompressed || !response.ok || response.body === null) return response;
      server.compressed++;
      const body = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(gzipMembers(() => server.members++));
      return new Response(body, { headers: { "content-type": "application/json", "content-encoding": "gzip" } });
    },
  );
  const url = `https://127.0.0.1:${http.addr.port}`;
  const server: CompressingServer = {
    apiserver,
    url,
    caCert,
    kubeconfig: kubeconfigFor(url, { caCert }),
    asked: [],
    compressed: 0,
    members: 0,
    async [Symbol.asyncDispose]() {
      open.abort();
      await http.finished;
      await apiserver[Symbol.asyncDispose]();
    },
  };
  return server;
}

function gzipMembers(onMember: () => void): TransformStream<string, Uint8Array> {
  let rest = "";
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop()!;
      while (lines.length > 0) {
        const flushed = lines.splice(0, FLUSHED_LINES).map((line) => `${line}\n`).join("");
        controller.enqueue(new Uint8Array(gzipSync(flushed)));
        onMember();
      }
    },
  });
}
