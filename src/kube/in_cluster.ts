/** Connects to the API server from inside a pod. */
import type { Clock } from "../base/clock.ts";
import { API_HOST, SERVICE_ACCOUNT } from "../base/pod.ts";
import { ClusterConfigError } from "./cluster_config_error.ts";
import type { Connection, Transport } from "./connection.ts";
import { FetchTransport, rejectInvalidCa, withToken } from "./http.ts";
import { Http2Transport } from "./http2/mod.ts";
import type { Machine } from "./machine.ts";
import { tokenFile } from "./token_file.ts";

const CA_FILE = `${SERVICE_ACCOUNT}/ca.crt`;

/**
 * Connects as the pod's service account.
 *
 * @param machine Reads the environment and the service account's files.
 * @param clock Measures the age of the token, which is read again after a minute.
 * @param httpClient Sends the requests: the client in `http2`, or `fetch`. @default {"http2"}
 * @returns The connection; `undefined` outside a pod.
 * @throws {ClusterConfigError} If the service account is not mounted, or the executable has no
 * sandbox permission for the API server's port.
 */
export async function inCluster(
  machine: Machine,
  clock: Clock,
  httpClient: "http2" | "fetch" = "http2",
): Promise<Connection | undefined> {
  const port = machine.env("KUBERNETES_SERVICE_PORT_HTTPS") ?? machine.env("KUBERNETES_SERVICE_PORT");
  if (port === undefined) return undefined;
  rejectDeniedPort(port);
  let ca: string;
  try {
    ca = await machine.readText(CA_FILE);
  } catch (cause) {
    throw new ClusterConfigError(
      "InvalidServiceAccount",
      `Cannot connect from inside the pod: "${CA_FILE}" cannot be read. Set automountServiceAccountToken to true`,
      { cause },
    );
  }
  rejectInvalidCa(ca);
  // Only Deno's fetch sends the trace context, so that the API server can add its own spans.
  const transport: Transport = httpClient === "fetch" || machine.isTraced?.()
    ? new FetchTransport({ ca })
    : new Http2Transport({ ca: () => machine.readText(CA_FILE).catch(() => ca), clock });
  const namespace = await machine.readText(`${SERVICE_ACCOUNT}/namespace`).then((text) => text.trim(), () => "default");
  return {
    url: `https://${API_HOST}:${port}`,
    ca,
    ...withToken(transport, tokenFile(`${SERVICE_ACCOUNT}/token`, machine, clock)),
    namespace,
    isInPod: true,
    reset: () => transport.reset(),
    close: () => transport.close(),
  };
}

/** Rejects a port for which the executable has no sandbox permission. */
function rejectDeniedPort(port: string): void {
  const host = `${API_HOST}:${port}`;
  if (!Deno.build.standalone || Deno.permissions.querySync({ name: "net", host }).state === "granted") return;
  throw new ClusterConfigError(
    "InvalidServiceAccount",
    `Cannot connect from inside the pod: the executable has no sandbox permission for "${host}". ` +
      `Set "apiserver_port = ${port}" in [build] of operator.toml, and build it again`,
  );
}
