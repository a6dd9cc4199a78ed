/**
 * The ways to a real API server: that of a pod, with its service account's files and HTTP/2 of our
 * own, and that of a person, by `fetch`.
 */
import { SERVICE_ACCOUNT } from "../../src/base/pod.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { Connection } from "../../src/kube/connection.ts";
import { FetchTransport, withToken } from "../../src/kube/http.ts";
import { inCluster } from "../../src/kube/in_cluster.ts";

/** Where somebody is, and who it is. */
export interface Place {
  readonly url: string;
  /** The authority that signed the server's certificate, as PEM. */
  readonly caCert: string;
  readonly token: string;
}

/**
 * Connects as a pod does; but for the name of the API server, which only a pod's name server knows.
 *
 * @param place Where it is.
 * @param options `isTraced` takes the path of a pod with tracing, which is `fetch`.
 */
export async function asPod(
  { url, caCert, token }: Place,
  { isTraced = false, httpClient }: { readonly isTraced?: boolean; readonly httpClient?: "http2" | "fetch" } = {},
): Promise<Connection> {
  const files: Readonly<Record<string, string>> = { "ca.crt": caCert, token, namespace: "default" };
  const connection = await inCluster(
    {
      env: (name) => name === "KUBERNETES_SERVICE_PORT" ? new URL(url).port : undefined,
      readText(path) {
        const text = files[path.slice(SERVICE_ACCOUNT.length + 1)];
        return text === undefined ? Promise.reject(new Deno.errors.NotFound(path)) : Promise.resolve(text);
      },
      isTraced: () => isTraced,
    },
    systemClock,
    httpClient,
  );
  return { ...connection!, url };
}

/** Connects as by a kubeconfig: over `fetch`. */
export function asPerson({ url, caCert, token }: Place): Connection {
  const transport = new FetchTransport({ ca: caCert });
  return {
    url,
    ...withToken(transport, () => Promise.resolve(token)),
    reset: () => transport.reset(),
    close: () => transport.close(),
  };
}
