/**
 * Restricts access to the metrics to callers with a token that the API server accepts (TokenReview)
 * and that may `get` the path `/metrics` (SubjectAccessReview), as
 * `sigs.k8s.io/controller-runtime/pkg/metrics/filters` does.
 */
import type { Clock } from "../base/clock.ts";
import type { Client } from "../kube/client.ts";
import { TokenReview } from "../kinds/authentication_v1.gen.ts";
import { SubjectAccessReview } from "../kinds/authorization_v1.gen.ts";
import { LogLimit } from "../runtime/log_limit.ts";
import type { Logger } from "../runtime/logger.ts";

/** Returns the response that rejects a request, or `undefined` if access is allowed. */
export type MetricsGuard = (request: Request) => Promise<Response | undefined>;

/** Options of {@linkcode metricsGuard}. */
export interface MetricsGuardOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
}

// A scraper sends a few requests a minute, so its token is reviewed at most once in this time. A
// revoked token is accepted for at most this long.
const CACHE_TIME = 60_000;
const MAX_CACHED = 100;

/** The maximum length of a token. Longer ones are rejected without a review. */
const LONGEST_TOKEN = 16_384;

const BODIES = { 401: "Unauthorized", 403: "Forbidden", 500: "Access review failed: see the operator's log" } as const;

/**
 * Creates a guard.
 *
 * @param options The client must not depend on leadership, because standbys have metrics too.
 */
export function metricsGuard({ client, clock, log }: MetricsGuardOptions): MetricsGuard {
  const cache = new Map<string, { readonly status: 200 | 401 | 403; readonly until: number }>();
  const logLimit = new LogLimit({ clock });
  return async (request) => {
    const [, token] = /^Bearer +(\S+) *$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    if (token === undefined || token.length > LONGEST_TOKEN) return responseFor(401);
    const found = cache.get(token);
    if (found !== undefined && found.until > clock.elapsed()) return responseFor(found.status);
    try {
      const status = await review(client, token, new URL(request.url).pathname);
      if (cache.size >= MAX_CACHED) cache.clear();
      cache.set(token, { status, until: clock.elapsed() + CACHE_TIME });
      return responseFor(status);
    } catch (error) {
      // Any caller can trigger this line with an invalid token.
      const limited = logLimit.next("error");
      if (limited !== undefined) {
        log.error("Metrics access review failed", { error: (error as Error).message, ...limited });
      }
      return responseFor(500);
    }
  };
}

async function review(client: Client, token: string, path: string): Promise<200 | 401 | 403> {
  const { status: authentication } = await client.create(TokenReview, { spec: { token } });
  if (authentication?.authenticated !== true || authentication.user === undefined) return 401;
  const { username, uid, groups, extra } = authentication.user;
  const review = {
    spec: {
      ...(username === undefined ? {} : { user: username }),
      ...(uid === undefined ? {} : { uid }),
      ...(groups === undefined ? {} : { groups: [...groups] }),
      ...(extra === undefined ? {} : { extra }),
      nonResourceAttributes: { path, verb: "get" },
    },
  };
  const { status: authorization } = await client.create(
    SubjectAccessReview,
    review as Parameters<typeof client.create<typeof SubjectAccessReview>>[1],
  );
  return authorization?.allowed === true ? 200 : 403;
}

function responseFor(status: 200 | keyof typeof BODIES): Response | undefined {
  if (status === 200) return undefined;
  const headers = status === 401 ? { "www-authenticate": "Bearer" } : {};
  return new Response(`${BODIES[status]}\n`, { status, headers });
}
