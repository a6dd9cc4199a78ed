/** The handler of an API server's calls, without a server. */
import { systemClock } from "../../src/base/clock.ts";
import { Client } from "../../src/kube/client.ts";
import { operatorLog } from "../../src/operator/log.ts";
import type { Parts } from "../../src/parts/part_list.ts";
import { Metrics } from "../../src/runtime/metrics.ts";
import { WebhookHandler, type WebhookHandlerOptions } from "../../src/runtime/webhooks/handler.ts";

/**
 * Creates the handler.
 *
 * @param parts The webhooks and conversions.
 * @param options Overrides of the defaults: the machine's clock, no server, no services.
 */
export function handlerOf(parts: Parts, options: Partial<WebhookHandlerOptions> = {}): WebhookHandler {
  const connection = { url: "http://nowhere", fetch: () => Promise.reject(new Error("no server")), close() {} };
  return new WebhookHandler({
    parts,
    client: new Client(connection),
    clock: systemClock,
    log: operatorLog("reviews"),
    metrics: new Metrics(),
    services: () => undefined,
    signal: new AbortController().signal,
    ...options,
  });
}
