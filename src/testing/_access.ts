/**
 * Users of a real cluster: tokens that the API server looks up by a webhook, and kubeconfig files.
 */
import { stringify } from "yaml";

/** Access to a cluster as one user. */
export interface UserAccess {
  /** The user's name. */
  readonly user: string;
  /** A kubeconfig file for this user, as YAML with all data inline. */
  readonly kubeconfig: string;
  /**
   * Sends a request as this user.
   *
   * @param request A path, or a Request. Only the path and query of its URL are used.
   * @param init Method, headers and body.
   */
  fetch(request: Request | string, init?: RequestInit): Promise<Response>;
}

/** Access by a bearer token. */
export interface TokenAccess extends UserAccess {
  /** The token, for the header `Authorization: Bearer TOKEN`. */
  readonly token: string;
}

/** Access by a client certificate. */
export interface CertificateAccess extends UserAccess {
  /** The certificate, as PEM. */
  readonly certificate: string;
  /** The private key, as PEM (PKCS #8). */
  readonly key: string;
}

/** User information of a TokenReview. */
interface User {
  readonly username: string;
  readonly groups: readonly string[];
}

/** Issues tokens, and serves a TokenReview webhook for them on a loopback port. */
export interface TokenIssuer extends AsyncDisposable {
  /** URL of the webhook. */
  readonly url: string;
  /** Returns a new token for a user. */
  issue(username: string, groups: readonly string[]): string;
  /** Makes a token invalid. */
  revoke(token: string): void;
}

/** Creates a token issuer and starts its webhook. */
export function startTokenIssuer(): TokenIssuer {
  const users = new Map<string, User>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const review = await request.json();
    const user = users.get(review.spec.token);
    return Response.json({
      apiVersion: review.apiVersion,
      kind: "TokenReview",
      status: user === undefined
        ? { authenticated: false, error: "token is expired or unknown" }
        : { authenticated: true, user },
    });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    issue(username, groups) {
      const token = crypto.randomUUID();
      users.set(token, { username, groups: [...groups, ...serviceAccountGroups(username)] });
      return token;
    },
    revoke: (token) => void users.delete(token),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Returns the groups that the API server gives to a service account. */
function serviceAccountGroups(username: string): string[] {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(username) ?? [];
  return namespace === undefined ? [] : ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
}

/**
 * Returns a kubeconfig file with one cluster, one user and one context.
 *
 * @param server URL of the API server and, if it serves TLS, the certificate of its authority as
 * PEM.
 * @param user The `user` entry.
 */
export function kubeconfig(server: { url: string; caCert?: string }, user: Record<string, string>): string {
  const cluster = {
    server: server.url,
    ...(server.caCert === undefined ? {} : { "certificate-authority-data": btoa(server.caCert) }),
  };
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster }],
    users: [{ name: "test", user }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test", namespace: "default" } }],
    "current-context": "test",
  });
}
