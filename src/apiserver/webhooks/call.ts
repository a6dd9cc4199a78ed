/** Calls webhooks by URL, or through the option `service` (`k8s.io/apiserver/pkg/util/webhook`). */
import { type Clock, sleep } from "../../base/clock.ts";
import { connectionFailure, innermostCause } from "../../base/deno_errors.ts";
import { CallError, readReply } from "./reply.ts";
import type { ClientConfig, Webhook } from "./webhook.ts";

export { CallError };

/**
 * Sends a request to a Service of the cluster. Returns `undefined` if the Service does not exist.
 */
export type ServiceCaller = (
  service: { readonly namespace: string; readonly name: string; readonly port: number },
  request: Request,
) => Promise<Response | undefined> | Response | undefined;

/** The parts of the server that {@linkcode callWebhook} uses. */
export interface Caller {
  readonly clock: Clock;
  /** Calls Services; `undefined` if the cluster has none. */
  readonly service: ServiceCaller | undefined;
}

// The limit of client-go.
const MAX_RETRIES = 10;

/**
 * Calls a webhook.
 *
 * @param caller Clock and Services.
 * @param webhook The webhook.
 * @param review The request body.
 * @returns The response body.
 * @throws {CallError} If the call fails or times out.
 */
export async function callWebhook(
  caller: Caller,
  webhook: Webhook,
  review: unknown,
): Promise<Readonly<Record<string, unknown>>> {
  const { clientConfig, timeoutSeconds = 10 } = webhook;
  const url = urlOf(clientConfig, timeoutSeconds);
  const stop = new AbortController();
  const timeout = Promise.withResolvers<never>();
  timeout.promise.catch(() => {});
  const timer = caller.clock.after(timeoutSeconds * 1000, () => {
    timeout.reject(new CallError(`Post ${JSON.stringify(url)}: context deadline exceeded`));
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
    return await Promise.race([sendWithRetries(caller, clientConfig, request, stop.signal), timeout.promise]);
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

async function sendWithRetries(
  caller: Caller,
  config: ClientConfig,
  request: () => Request,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  let response = await trySend(caller, config, request());
  for (let retries = 0; retries < MAX_RETRIES; retries++) {
    const wait = secondsToWait(response);
    if (wait === undefined) break;
    await response.body?.cancel();
    await sleep(caller.clock, wait * 1000, signal);
    response = await trySend(caller, config, request());
  }
  return readReply(response, await response.text());
}

async function trySend(caller: Caller, config: ClientConfig, request: Request): Promise<Response> {
  try {
    return await send(caller, config, request);
  } catch (error) {
    if (error instanceof CallError) throw error;
    throw new CallError(`Post ${JSON.stringify(request.url)}: ${goMessage(error, request.url)}`);
  }
}

/**
 * Returns the seconds of `Retry-After`, which client-go waits before it retries
 * (`k8s.io/client-go/rest`, checkWait).
 */
function secondsToWait({ status, headers }: Response): number | undefined {
  const seconds = headers.get("retry-after") ?? "";
  return (status === 429 || status >= 500) && /^\d{1,4}$/.test(seconds) ? Number(seconds) : undefined;
}

async function send({ service }: Caller, config: ClientConfig, request: Request): Promise<Response> {
  if (config.service !== undefined) {
    const { namespace, name, port = 443 } = config.service;
    const response = await service?.({ namespace, name, port }, request);
    if (response !== undefined) return response;
    throw new CallError(`Post ${JSON.stringify(request.url)}: service ${JSON.stringify(name)} not found`);
  }
  if (!config.caBundle) return await fetch(request);
  const client = Deno.createHttpClient({ caCerts: [atob(config.caBundle)] });
  try {
    const response = await fetch(request, { client });
    // Reads the whole body here, because the HTTP client is closed when this function returns.
    const text = await response.text();
    return new Response(text === "" ? null : text, response);
  } finally {
    client.close();
  }
}

/** Returns Go's error message for a failed connection. */
function goMessage(error: unknown, url: string): string {
  switch (connectionFailure(error)) {
    case "ConnectionRefused":
      return `dial tcp ${new URL(url).host}: connect: connection refused`;
    case "UntrustedCertificate":
    case "InvalidCertificate":
      return "tls: failed to verify certificate: x509: certificate signed by unknown authority";
    case "ConnectionClosed":
      return "EOF";
    default: {
      const cause = innermostCause(error);
      return cause instanceof Error ? cause.message : String(cause);
    }
  }
}
