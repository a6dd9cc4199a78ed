/** Who may speak to a real cluster: tokens for any user, told to the apiserver by its token webhook, and kubeconfig files. */
import { stringify } from "yaml";

/** A way into a cluster, as one user. */
export interface UserAccess {
  /** The user's name as the cluster sees it. */
  readonly user: string;
  /** A kubeconfig file for this user: YAML text, all data inline. */
  readonly kubeconfig: string;
  /** Sends a request as this user. A path is taken as relative to the cluster's URL; of a Request's URL path and query count. */
  fetch(request: Request | string, init?: RequestInit): Promise<Response>;
}

/** A user known by a bearer token. */
export interface TokenAccess extends UserAccess {
  /** The token, for an `authorization: Bearer` of one's own. */
  readonly token: string;
}

/** A user known by a client certificate. */
export interface CertificateAccess extends UserAccess {
  /** PEM. */
  readonly certificate: string;
  /** PEM, PKCS #8. */
  readonly key: string;
}

/** What an apiserver is told of a token's user. */
interface User {
  readonly username: string;
  readonly groups: readonly string[];
}

/** Tokens and whose they are, served to an apiserver as a TokenReview webhook on a loopback port. */
export interface TokenBook extends AsyncDisposable {
  /** Where the apiserver asks. */
  readonly url: string;
  issue(username: string, groups: readonly string[]): string;
  revoke(token: string): void;
}

/** Opens a token book. */
export function openTokenBook(): TokenBook {
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

/** Groups the apiserver gives to a service account's own tokens. */
function serviceAccountGroups(username: string): string[] {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(username) ?? [];
  return namespace === undefined ? [] : ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
}

/**
 * A kubeconfig file with one cluster, one user and one context.
 *
 * @param server URL of the apiserver, and where it serves TLS its authority as PEM.
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
