/** Calls webhooks: by URL, or as a service that whoever made the server answers for (`k8s.io/apiserver/pkg/util/webhook`). */
import { type Clock, sleep } from "../../base/clock.ts";
import { CallError, readReply } from "./reply.ts";
import type { ClientConfig, Webhook } from "./webhook.ts";

export { CallError };

/** Sends a request to a service of the cluster. */
export type ServiceCaller = (
  service: { readonly namespace: string; readonly name: string; readonly port: number },
  request: Request,
) => Promise<Response | undefined> | Response | undefined;

/** How webhooks are reached. */
export interface Caller {
  readonly clock: Clock;
  /** Who answers for services; undefined for one that nobody does. */
  readonly service: ServiceCaller | undefined;
}

// client-go's.
const MOST_TRIES = 10;

/**
 * Asks a webhook.
 *
 * @param caller How.
 * @param webhook The webhook.
 * @param review The body.
 * @returns The body of the answer.
 * @throws {CallError} If there is none in time.
 */
export async function callWebhook(
  caller: Caller,
  webhook: Webhook,
  review: unknown,
): Promise<Readonly<Record<string, unknown>>> {
  const { clientConfig, timeoutSeconds = 10 } = webhook;
  const url = urlOf(clientConfig, timeoutSeconds);
  const stop = new AbortController();
  const late = Promise.withResolvers<never>();
  late.promise.catch(() => {});
  const timer = caller.clock.after(timeoutSeconds * 1000, () => {
    late.reject(new CallError(`Post ${JSON.stringify(url)}: context deadline exceeded`));
    stop.abort();
  });
  const body = JSON.stringify(review);
  const request = () =>
    new Request(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body,
      signal: stop.signal,
    });
  try {
    return await Promise.race([ask(caller, clientConfig, request, stop.signal), late.promise]);
  } finally {
    timer[Symbol.dispose]();
  }
}

function urlOf({ url, service }: ClientConfig, timeout: number): string {
  if (service === undefined) {
    const parsed = new URL(url ?? "");
    parsed.search = `timeout=${timeout}s`;
    return parsed.href;
  }
  const { namespace, name, path = "", port = 443 } = service;
  return `https://${name}.${namespace}.svc:${port}${path}?timeout=${timeout}s`;
}

async function ask(
  caller: Caller,
  config: ClientConfig,
  request: () => Request,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  let response = await sent(caller, config, request());
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const wait = secondsToWait(response);
    if (wait === undefined) break;
    await response.body?.cancel();
    await sleep(caller.clock, wait * 1000, signal);
    response = await sent(caller, config, request());
  }
  return readReply(response, await response.text());
}

async function sent(caller: Caller, config: ClientConfig, request: Request): Promise<Response> {
  try {
    return await send(caller, config, request);
  } catch (error) {
    if (error instanceof CallError) throw error;
    throw new CallError(`Post ${JSON.stringify(request.url)}: ${reasonOf(error, request.url)}`);
  }
}

/** As client-go: who is told when to come again comes again (`k8s.io/client-go/rest`, checkWait). */
function secondsToWait({ status, headers }: Response): number | undefined {
  const told = headers.get("retry-after") ?? "";
  return (status === 429 || status >= 500) && /^\d{1,4}$/.test(told) ? Number(told) : undefined;
}

async function send({ service }: Caller, config: ClientConfig, request: Request): Promise<Response> {
  if (config.service !== undefined) {
    const { namespace, name, port = 443 } = config.service;
    const answer = await service?.({ namespace, name, port }, request);
    if (answer !== undefined) return answer;
    throw new CallError(`Post ${JSON.stringify(request.url)}: service ${JSON.stringify(name)} not found`);
  }
  if (!config.caBundle) return await fetch(request);
  const client = Deno.createHttpClient({ caCerts: [atob(config.caBundle)] });
  try {
    const response = await fetch(request, { client });
    // The client is closed before the caller could read from it.
    const text = await response.text();
    return new Response(text === "" ? null : text, response);
  } finally {
    client.close();
  }
}

function reasonOf(error: unknown, url: string): string {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  const told = inner instanceof Error ? inner.message : String(inner);
  if (/refused/i.test(told)) return `dial tcp ${new URL(url).host}: connect: connection refused`;
  if (/UnknownIssuer|invalid peer certificate/.test(told)) {
    return "tls: failed to verify certificate: x509: certificate signed by unknown authority";
  }
  return /closed|reset|EOF/i.test(told) ? "EOF" : told;
}
