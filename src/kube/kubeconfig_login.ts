/** Logins by exec plugin and OIDC: Kubernetes' own JavaScript client has them, and is loaded only where a kubeconfig asks for one. */
import { CredentialError, type TokenSource } from "./http.ts";
import type { Machine } from "./machine.ts";

/**
 * Tokens of a login.
 *
 * @param paths The kubeconfig files.
 * @param machine Reads them.
 * @param context The context's name.
 * @throws {Error} If the client is not there, as in an executable, or the login gives no token.
 */
export async function loginToken(paths: readonly string[], machine: Machine, context: string): Promise<TokenSource> {
  const { KubeConfig } = await load(context);
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
      throw new CredentialError(`Cannot log in with context "${context}": its login gave no token`);
    }
    return header.slice("Bearer ".length);
  };
}

async function load(context: string): Promise<typeof import("@kubernetes/client-node")> {
  try {
    return await import("@kubernetes/client-node");
  } catch (cause) {
    throw new Error(
      `Cannot log in with context "${context}": logins by exec plugin or OIDC are not in the executable: run the operator from source, or use a context with a token or a certificate`,
      { cause },
    );
  }
}
