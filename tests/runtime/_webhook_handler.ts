/** What answers an API server's calls, with nothing around it. */
import { systemClock } from "../../src/base/clock.ts";
import { Client } from "../../src/kube/client.ts";
import { operatorLog } from "../../src/operator/log.ts";
import type { Parts } from "../../src/parts/part_list.ts";
import { Metrics } from "../../src/runtime/metrics.ts";
import { WebhookHandler, type WebhookHandlerOptions } from "../../src/runtime/webhooks/handler.ts";

/**
 * Makes it.
 *
 * @param parts The webhooks and conversions.
 * @param options What differs from the usual: the machine's clock, no server, no services.
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
