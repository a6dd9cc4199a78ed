/**
 * Logs in with an exec plugin or OIDC. Kubernetes' own JavaScript client implements both. It is
 * loaded only if a kubeconfig needs it.
 */
import { ClusterConfigError } from "./cluster_config_error.ts";
import { CredentialError, type TokenSource } from "./http.ts";
import type { Machine } from "./machine.ts";

/**
 * Returns a source whose tokens come from a login.
 *
 * @param paths Paths of the kubeconfig files.
 * @param machine Reads the files.
 * @param context Name of the context.
 * @returns The source. It throws a {@linkcode CredentialError} if the login returns no token.
 * @throws {ClusterConfigError} If Kubernetes' client is missing, as in an executable.
 */
export async function loginToken(paths: readonly string[], machine: Machine, context: string): Promise<TokenSource> {
  const { KubeConfig } = await loadLoginClient(context);
  const config = new KubeConfig();
  for (const path of [...paths].reverse()) {
    const file = new KubeConfig();
    file.loadFromString(await machine.readText(path));
    config.mergeConfig(file);
  }
  config.setCurrentContext(context);
  return async () => {
    const login: { headers?: Record<string, string> } = { headers: {} };
    await config.applyToHTTPSOptions(login as Parameters<typeof config.applyToHTTPSOptions>[0]);
    const header = new Headers(login.headers).get("authorization");
    if (!header?.startsWith("Bearer ")) {
      throw new CredentialError(`Cannot log in with context "${context}": the login returned no bearer token`);
    }
    return header.slice("Bearer ".length);
  };
}

async function loadLoginClient(context: string): Promise<typeof import("@kubernetes/client-node")> {
  try {
    return await import("@kubernetes/client-node");
  } catch (cause) {
    throw new ClusterConfigError(
      "InvalidKubeconfig",
      `Cannot log in with context "${context}": an executable does not support logins by exec plugin or OIDC. ` +
        "Run the operator from source, or use a context with a token or a certificate",
      { cause },
    );
  }
}
