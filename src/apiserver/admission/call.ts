/** Calls webhooks: by URL, or as a service that whoever made the server answers for (`k8s.io/apiserver/pkg/util/webhook`). */
import type { Clock } from "../../base/clock.ts";
import type { ClientConfig, Webhook } from "./webhook.ts";

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

/** A webhook could not be called: what comes after `failed to call webhook: `. */
export class CallError extends Error {
  override name = "CallError";
}

/**
 * Asks a webhook.
 *
 * @param caller How.
 * @param webhook The webhook.
 * @param review The body.
 * @returns The body of the answer.
 * @throws {CallError} If there is none in time.
 */
export async function callWebhook(caller: Caller, webhook: Webhook, review: unknown): Promise<unknown> {
  const { clientConfig, timeoutSeconds = 10 } = webhook;
  const url = urlOf(clientConfig, timeoutSeconds);
  const stop = new AbortController();
  const late = Promise.withResolvers<never>();
  late.promise.catch(() => {});
  const timer = caller.clock.after(timeoutSeconds * 1000, () => {
    late.reject(new CallError(`Post ${JSON.stringify(url)}: context deadline exceeded`));
    stop.abort();
  });
  const request = new Request(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(review),
    signal: stop.signal,
  });
  try {
    return await Promise.race([ask(caller, clientConfig, request), late.promise]);
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

async function ask(caller: Caller, config: ClientConfig, request: Request): Promise<unknown> {
  let response: Response;
  try {
    response = await send(caller, config, request);
  } catch (error) {
    if (error instanceof CallError) throw error;
    throw new CallError(`Post ${JSON.stringify(request.url)}: ${reasonOf(error, request.url)}`);
  }
  const text = await response.text();
  if (!response.ok) throw new CallError(statusText(response.status, text));
  try {
    return JSON.parse(text);
  } catch {
    throw new CallError(`couldn't get version/kind; json parse error: ${jsonFault(text)}`);
  }
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
    return new Response(await response.text(), response);
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

/** What client-go makes of an answer that is no review. */
function statusText(status: number, body: string): string {
  if (status === 404) return "the server could not find the requested resource";
  if (status >= 500) {
    const told = body.trim() === "" ? "unknown" : body.trim();
    return `an error on the server (${JSON.stringify(told)}) has prevented the request from succeeding`;
  }
  if (status === 401) return "the server has asked for the client to provide credentials";
  return status === 403 ? "unknown" : "the server rejected our request for an unknown reason";
}

function jsonFault(text: string): string {
  if (text.trim() === "") return "unexpected end of JSON input";
  return `json: cannot unmarshal ${typeof text} into Go value of type struct { APIVersion string ` +
    '"json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
}
