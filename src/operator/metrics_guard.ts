/**
 * Who may read metrics, where they are guarded: who shows a token that the API server knows (TokenReview), and may `get` the path `/metrics`
 * (SubjectAccessReview), as `sigs.k8s.io/controller-runtime/pkg/metrics/filters` has it.
 */
import type { Clock } from "../base/clock.ts";
import type { Client } from "../kube/client.ts";
import { TokenReview } from "../kinds/authentication_v1.gen.ts";
import { SubjectAccessReview } from "../kinds/authorization_v1.gen.ts";
import { LogLimit } from "../runtime/log_limit.ts";
import type { Logger } from "../runtime/logger.ts";

/** Answers what a request is refused with; nothing where it may pass. */
export type MetricsGuard = (request: Request) => Promise<Response | undefined>;

/** What a guard needs. */
export interface MetricsGuardOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
}

// A scraper asks a few times a minute: its token is asked for once in that time, and one that was taken back counts no longer than that.
const KEPT_FOR = 60_000;
const MOST_KEPT = 100;

const NOT_ASKED = "Metrics not shown: the API server was not asked who may read them";

/** Long enough for any token there is: what is longer is not sent on. */
const LONGEST_TOKEN = 16_384;

const ANSWERS = { 401: "Unauthorized", 403: "Forbidden", 500: "Not asked: see the operator's log" } as const;

/**
 * Makes a guard.
 *
 * @param options What it needs. The client must not be fenced: standbys have metrics, too.
 */
export function metricsGuard({ client, clock, log }: MetricsGuardOptions): MetricsGuard {
  const known = new Map<string, { readonly status: 200 | 401 | 403; readonly until: number }>();
  const logLimit = new LogLimit({ clock });
  return async (request) => {
    const [, token] = /^Bearer +(\S+) *$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    if (token === undefined || token.length > LONGEST_TOKEN) return refusal(401);
    const found = known.get(token);
    if (found !== undefined && found.until > clock.elapsed()) return refusal(found.status);
    try {
      const status = await verdictOn(client, token, new URL(request.url).pathname);
      if (known.size >= MOST_KEPT) known.clear();
      known.set(token, { status, until: clock.elapsed() + KEPT_FOR });
      return refusal(status);
    } catch (error) {
      // Any caller can cause this line, with any token.
      const limited = logLimit.next("error");
      if (limited !== undefined) {
        log.error(NOT_ASKED, { error: (error as Error).message, ...limited });
      }
      return refusal(500);
    }
  };
}

async function verdictOn(client: Client, token: string, path: string): Promise<200 | 401 | 403> {
  const { status: who } = await client.create(TokenReview, { spec: { token } });
  if (who?.authenticated !== true || who.user === undefined) return 401;
  const { username, uid, groups, extra } = who.user;
  const review = {
    spec: {
      ...(username === undefined ? {} : { user: username }),
      ...(uid === undefined ? {} : { uid }),
      ...(groups === undefined ? {} : { groups: [...groups] }),
      ...(extra === undefined ? {} : { extra }),
      nonResourceAttributes: { path, verb: "get" },
    },
  };
  const { status: may } = await client.create(
    SubjectAccessReview,
    review as Parameters<typeof client.create<typeof SubjectAccessReview>>[1],
  );
  return may?.allowed === true ? 200 : 403;
}

function refusal(status: 200 | keyof typeof ANSWERS): Response | undefined {
  if (status === 200) return undefined;
  const headers = status === 401 ? { "www-authenticate": "Bearer" } : {};
  return new Response(`${ANSWERS[status]}\n`, { status, headers });
}
