/** Calls webhooks: by URL, or as a service that whoever made the server answers for (`k8s.io/apiserver/pkg/util/webhook`). */
import { type Clock, sleep } from "../../base/clock.ts";
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

// client-go's.
const MOST_TRIES = 10;

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
): Promise<unknown> {
  let response = await sent(caller, config, request());
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const wait = secondsToWait(response);
    if (wait === undefined) break;
    await response.body?.cancel();
    await sleep(caller.clock, wait * 1000, signal);
    response = await sent(caller, config, request());
  }
  const text = await response.text();
  if (!response.ok) throw new CallError(statusText(response, text));
  try {
    return JSON.parse(text);
  } catch {
    throw new CallError(`couldn't get version/kind; json parse error: ${jsonFault(text)}`);
  }
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

/** What client-go makes of an answer that is no review (`k8s.io/apimachinery/pkg/api/errors`, NewGenericServerResponse). */
function statusText({ status, headers }: Response, body: string): string {
  const type = headers.get("content-type") ?? "text/plain";
  const told = !type.startsWith("text/") || body.trim() === "" ? "unknown" : body.trim();
  switch (status) {
    case 403:
    case 415:
      return told;
    case 406:
      return told === "unknown"
        ? "the server was unable to respond with a content type that the client supports"
        : told;
  }
  const known = STATUS_TEXTS[status];
  if (known !== undefined) return known;
  return status >= 500
    ? `an error on the server (${JSON.stringify(told)}) has prevented the request from succeeding`
    : `the server responded with the status code ${status} but did not return more information`;
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: "the server rejected our request for an unknown reason",
  401: "the server has asked for the client to provide credentials",
  404: "the server could not find the requested resource",
  405: "the server does not allow this method on the requested resource",
  409: "the server reported a conflict",
  422: "the server rejected our request due to an error in our request",
  429: "the server has received too many requests and has asked us to try again later",
  503: "the server is currently unable to handle the request",
  504: "the server was unable to return a response in the time allotted, but may still be processing the request",
};

function jsonFault(text: string): string {
  if (text.trim() === "") return "unexpected end of JSON input";
  return `json: cannot unmarshal ${typeof text} into Go value of type struct { APIVersion string ` +
    '"json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
}
