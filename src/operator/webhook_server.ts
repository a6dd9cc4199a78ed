/**
 * Serves an operator's webhooks over TLS and maintains their certificate. All replicas serve
 * webhooks, including those that do not lead.
 */
import { isoTime } from "../base/iso_time.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import type { Client } from "../kube/client.ts";
import {
  certificateSecret,
  configurationName,
  convertedDefinitions,
  serviceNames,
  webhookService,
} from "../manifests/webhooks.ts";
import { webhookEntries } from "../parts/webhook_entries.ts";
import type { Logger } from "../runtime/logger.ts";
import type { Metrics } from "../runtime/metrics.ts";
import { type CertificateTimes, DEFAULT_TIMES } from "../runtime/webhooks/authority.ts";
import type { CertificateFiles } from "../runtime/webhooks/certificate.ts";
import { CertificateFileWatcher } from "../runtime/webhooks/certificate_files.ts";
import { CertificateKeeper } from "../runtime/webhooks/certificate_keeper.ts";
import type { WebhookHandler } from "../runtime/webhooks/handler.ts";
import type { PublishTargets } from "../runtime/webhooks/publish.ts";
import { TlsServer } from "../runtime/webhooks/tls_server.ts";
import { denoMachine } from "./machine.ts";
import type { OperatorDefinition } from "./operator_definition.ts";
import type { ReadinessLine } from "./readiness.ts";
import { innerPorts, type WebhookServing } from "./webhook_options.ts";

/** Options of {@linkcode WebhookServer}. */
export interface WebhookServerContext {
  readonly operator: Pick<OperatorDefinition, "name" | "parts">;
  readonly serving: WebhookServing;
  readonly handler: WebhookHandler;
  /** A client that does not depend on leadership: the certificate has a Lease of its own. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly identity: string;
  /** The operator's own namespace. */
  readonly namespace: string;
  /** @default {two years, and 90 days} */
  readonly times?: CertificateTimes | undefined;
}

/** Serves an operator's webhooks. */
export class WebhookServer {
  readonly #context: WebhookServerContext;
  readonly #server: TlsServer;
  readonly #certificates: CertificateKeeper | CertificateFileWatcher;
  #expiry: { readonly server: number; readonly authority?: number } | undefined;
  readonly #served = Promise.withResolvers<void>();
  /** The certificate that the server uses, followed by its key. */
  #current: string | undefined;

  /**
   * @throws {Error} If it cannot listen on its port, because the program must not start without its
   * webhooks.
   */
  constructor(context: WebhookServerContext) {
    this.#context = context;
    const { serving, handler } = context;
    this.#server = listen(serving, handler);
    this.#certificates = this.#certificateSource();
    context.metrics.onRead(() => this.#measure());
  }

  /** The port on which the server listens. */
  get port(): number {
    return this.#server.port;
  }

  /** Resolves when the server has its first certificate, and so answers requests. */
  get served(): Promise<void> {
    return this.#served.promise;
  }

  /** Increases with every event. */
  get activity(): number {
    return this.#certificates.activity;
  }

  /**
   * The readiness of the server. While it is not ready, the Service does not route requests to it.
   */
  get line(): ReadinessLine {
    const { problem } = this.#certificates;
    const isReady = this.#server.isServing;
    const state = isReady ? `served on port ${this.port}` : "waits for the certificate";
    const message = problem === undefined ? state : `${state}: ${problem}`;
    return { name: "webhooks", isReady, message, decides: true };
  }

  /** Maintains the certificate until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#certificates.run(signal);
  }

  /** Stops accepting requests and waits for running ones. */
  async stop(deadline: AbortSignal): Promise<void> {
    await this.#server.stop(deadline);
  }

  #certificateSource(): CertificateKeeper | CertificateFileWatcher {
    const { operator, serving, namespace, clock, log, client, random, identity, times = DEFAULT_TIMES } = this.#context;
    const use = (certificate: CertificateFiles, expiry: { readonly server: number; readonly authority?: number }) =>
      this.#use(certificate, expiry);
    const { certificate: paths } = serving;
    if (paths !== undefined) {
      const onCheck = (areValid: boolean): void => this.#context.metrics.certificateRead(areValid);
      return new CertificateFileWatcher({ paths, readText: denoMachine.readText, clock, log, use, onCheck });
    }
    return new CertificateKeeper({
      client,
      clock,
      random,
      log,
      identity,
      times,
      use,
      secret: { name: certificateSecret(operator.name), namespace },
      names: [...serviceNames(webhookService(operator.name), namespace), ...serving.certSANs],
      targets: publishTargets(operator),
    });
  }

  #use(certificate: CertificateFiles, expiry: { readonly server: number; readonly authority?: number }): void {
    // The certificate stays the same if only the authority changes.
    const text = certificate.certificate + certificate.key;
    if (text !== this.#current) this.#apply(certificate, expiry.server);
    this.#current = text;
    this.#expiry = expiry;
  }

  #apply(certificate: CertificateFiles, until: number): void {
    this.#server.use(certificate);
    this.#served.resolve();
    const { log, metrics } = this.#context;
    if (this.#current === undefined) log.info("Webhooks served", { port: this.port });
    else {
      metrics.rotation();
      log.info("Webhook certificate rotated", { until: isoTime(until) });
    }
  }

  #measure(): void {
    if (this.#expiry === undefined) return;
    const { metrics, clock } = this.#context;
    const seconds = (until: number) => (until - clock.now()) / 1000;
    metrics.certificate("server", seconds(this.#expiry.server));
    if (this.#expiry.authority !== undefined) metrics.certificate("authority", seconds(this.#expiry.authority));
  }
}

/** Returns the objects that need the certificate authority of the webhooks. */
export function publishTargets({ name, parts }: Pick<OperatorDefinition, "name" | "parts">): PublishTargets {
  const phases = new Set(webhookEntries(name, parts, undefined).map(({ phase }) => phase));
  return {
    ...(phases.has("mutate") ? { mutating: configurationName(name) } : {}),
    ...(phases.has("validate") ? { validating: configurationName(name) } : {}),
    definitions: [...convertedDefinitions(parts)],
  };
}

/**
 * Returns the maximum number of connections: twice the number of concurrent reviews. Connections
 * with running reviews are never closed to make room for new ones, so the limit must be higher.
 */
function connectionsFor({ inFlight = 256 }: WebhookServing["limits"]): number {
  return 2 * inFlight;
}

function listen(serving: WebhookServing, handler: WebhookHandler): TlsServer {
  const { hostname, port } = serving;
  try {
    // Timeouts of idle connections always use system time, even if the operator has another clock.
    return new TlsServer({
      hostname,
      port,
      innerPorts: innerPorts(serving),
      clock: systemClock,
      connections: connectionsFor(serving.limits),
    }, handler.fetch);
  } catch (cause) {
    const reason = cause instanceof Deno.errors.AddrInUse
      ? "the port is in use. Set another with webhooks: { port } or --webhook-port."
      : cause instanceof Deno.errors.NotCapable
      ? "the sandbox does not allow it. Set webhooks.hostname and webhooks.port in operator.toml and build again."
      : (cause as Error).message;
    throw new Error(`Cannot serve webhooks at ${hostname}:${port}: ${reason}`, { cause });
  }
}
