/**
 * The webhooks of an operator without a cluster: a handler without a server, an API server in this
 * process with the configuration of the webhooks, and a way to wait for WebCrypto.
 */
import { type Apiserver, createApiserver } from "../../src/apiserver/mod.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { VirtualClock } from "../../src/base/virtual_clock.ts";
import { ValidatingWebhookConfiguration } from "../../src/kinds/mod.ts";
import { Client } from "../../src/kube/client.ts";
import type { Connection } from "../../src/kube/connection.ts";
import { webhookConfigurations } from "../../src/manifests/webhooks.ts";
import { operatorLog } from "../../src/operator/log.ts";
import type { Running } from "../../src/operator/running.ts";
import { compile, type Parts } from "../../src/parts/part_types.ts";
import { Metrics } from "../../src/runtime/metrics.ts";
import { WebhookHandler, type WebhookHandlerOptions } from "../../src/runtime/webhooks/handler.ts";
import { op } from "../fixtures/reviews.ts";

/**
 * Creates the handler of an API server's requests, without a server. Its client cannot connect.
 *
 * @param parts The webhooks and conversions.
 * @param options Overrides of the defaults: the machine's clock, no services.
 */
export function webhookHandler(parts: Parts, options: Partial<WebhookHandlerOptions> = {}): WebhookHandler {
  const connection = { url: "http://nowhere", fetch: () => Promise.reject(new Error("no server")), close() {} };
  return new WebhookHandler({
    units: compile(parts),
    client: new Client(connection),
    clock: systemClock,
    log: operatorLog("reviews"),
    metrics: new Metrics(),
    services: () => undefined,
    signal: new AbortController().signal,
    ...options,
  });
}

/** An API server in this process that has the configuration of the webhooks of {@linkcode op}. */
export async function serverWithWebhooks(): Promise<{ server: Apiserver; connection: Connection; client: Client }> {
  const server = createApiserver();
  const connection: Connection = {
    url: "http://api.server",
    fetch: (request) => server.fetch(request),
    namespace: "default",
    close() {},
  };
  const client = new Client(connection);
  const place = { url: "https://127.0.0.1:1" };
  for (const configuration of webhookConfigurations(op.name, op.parts, { place })) {
    await client.create(ValidatingWebhookConfiguration, configuration as never);
  }
  return { server, connection, client };
}

const CRYPTO_METHODS = ["digest", "exportKey", "generateKey", "importKey", "sign", "verify"] as const;

/** Advances a clock and runs all timers that are due until then. */
export function advance(clock: VirtualClock, milliseconds: number): void {
  const until = clock.now() + milliseconds;
  while (clock.step(until));
}

/** Returns whether a running operator reports its webhooks as served. */
export function servesWebhooks(running: Running): boolean {
  return running.readiness().some(({ name, isReady }) => name === "webhooks" && isReady);
}

/**
 * Counts pending WebCrypto calls until it is disposed of. They run in threads of their own, so
 * turns of the event loop are not enough to wait for them.
 */
export class PendingCrypto implements Disposable {
  #pending = 0;
  readonly #originals = CRYPTO_METHODS.map((name) => [name, crypto.subtle[name]] as const);

  constructor() {
    for (const [name, call] of this.#originals) {
      const counted = (...args: unknown[]): Promise<unknown> => {
        this.#pending++;
        const result = (call as (...args: unknown[]) => Promise<unknown>).apply(crypto.subtle, args);
        return result.finally(() => this.#pending--);
      };
      Object.defineProperty(crypto.subtle, name, { value: counted, configurable: true });
    }
  }

  /** Resolves after a number of turns of the event loop without pending calls. */
  async settle(turns: number): Promise<void> {
    for (let quiet = 0; quiet < turns; quiet = this.#pending === 0 ? quiet + 1 : 0) {
      await new Promise((resolve) => setTimeout(resolve));
    }
  }

  [Symbol.dispose](): void {
    // Without own properties, `crypto.subtle` inherits those of its class again.
    for (const [name] of this.#originals) Reflect.deleteProperty(crypto.subtle, name);
  }
}
