/** The way to the API server from inside a pod. */
import type { Clock } from "../base/clock.ts";
import { API_HOST, SERVICE_ACCOUNT } from "../base/pod.ts";
import type { Connection } from "./connection.ts";
import { refuseNoPem, tlsTransport, withToken } from "./http.ts";
import { http2Transport } from "./http2_transport.ts";
import type { Machine } from "./machine.ts";
import { tokenFile } from "./token_file.ts";

const AUTHORITIES = `${SERVICE_ACCOUNT}/ca.crt`;

/**
 * Connects as the pod's service account.
 *
 * @param machine Reads the environment and the service account's files.
 * @param clock Says when the token is to be read again.
 * @returns The connection, or nothing outside a pod.
 * @throws {Error} If this is a pod whose service account is not mounted.
 */
export async function inCluster(machine: Machine, clock: Clock): Promise<Connection | undefined> {
  const port = machine.env("KUBERNETES_SERVICE_PORT_HTTPS") ?? machine.env("KUBERNETES_SERVICE_PORT");
  if (port === undefined) return undefined;
  refuseOtherPort(port);
  let ca: string;
  try {
    ca = await machine.readText(AUTHORITIES);
  } catch (cause) {
    throw new Error(
      `Cannot connect from inside the pod: "${AUTHORITIES}" cannot be read: set automountServiceAccountToken to true`,
      { cause },
    );
  }
  refuseNoPem(ca);
  // Deno's fetch sends the trace along, for an API server that makes spans of its own.
  const { close, reset, ...transport } = machine.isTraced?.()
    ? tlsTransport({ ca })
    : http2Transport({ ca: () => machine.readText(AUTHORITIES).catch(() => ca), clock });
  const namespace = await machine.readText(`${SERVICE_ACCOUNT}/namespace`).then((text) => text.trim(), () => "default");
  return {
    url: `https://${API_HOST}:${port}`,
    ...withToken(transport, tokenFile(`${SERVICE_ACCOUNT}/token`, machine, clock)),
    namespace,
    isInPod: true,
    reset,
    close,
  };
}

/** The port is in the permissions that an executable was compiled with. */
function refuseOtherPort(port: string): void {
  const host = `${API_HOST}:${port}`;
  if (!Deno.build.standalone || Deno.permissions.querySync({ name: "net", host }).state === "granted") return;
  throw new Error(
    `Cannot connect from inside the pod: the executable may not reach "${host}". Set "apiserver_port = ${port}" in [build] of operator.toml, and build again`,
  );
}
