/**
 * Serves the webhooks of an operator under `op dev`. The API server calls this machine, which uses
 * a temporary certificate.
 */
import { localCertificate } from "@op/sdk/testing";
import type { Cluster } from "../cluster.ts";
import { UsageError } from "../exit_code.ts";
import type { OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { devLeaseName } from "./dev_lease.ts";
import type { OperatorProcess } from "./operator_process.ts";
import { freePorts, WebhookFront } from "./webhook_front.ts";
import {
  blockingConfigurations,
  hasWebhooks,
  reachError,
  register,
  unregister,
  type WebhookAddress,
} from "./webhook_registration.ts";

/** Options for {@linkcode DevWebhooks}. */
export interface DevWebhookOptions {
  /**
   * The URL at which the API server reaches this machine.
   * @default {the local address of a connection to the API server}
   */
  readonly webhookUrl?: string | undefined;
  /** The port on this machine. @default {a free port} */
  readonly webhookPort?: string | undefined;
  readonly skipWebhookServer?: boolean | undefined;
}

// An operator's webhook server uses three additional ports, for replaced certificates.
const PORTS = 4;

/** Serves and registers the webhooks under `op dev`. */
export class DevWebhooks implements AsyncDisposable {
  readonly #options: DevWebhookOptions;
  readonly #cluster: Cluster;
  readonly #folder: string;
  readonly #io: Io;
  #facts: OperatorFacts | undefined;
  #registered = "";
  #served: { readonly front: WebhookFront; readonly address: WebhookAddress; readonly args: string[] } | undefined;
  /** Whether the API server reaches this machine; `undefined` before the first attempt. */
  #isReached: boolean | undefined;

  /**
   * @param options The address of this machine.
   * @param folder A folder for the certificate.
   */
  constructor(options: DevWebhookOptions, folder: string, cluster: Cluster, io: Io) {
    this.#options = options;
    this.#folder = folder;
    this.#cluster = cluster;
    this.#io = io;
  }

  /** Removes registrations of an `op dev` that was killed, which would block requests. */
  async clear(facts: OperatorFacts): Promise<void> {
    for (const one of await unregister(this.#cluster, facts)) {
      this.#io.out(`removed ${one} of an earlier "op dev"\n`);
    }
  }

  /**
   * Prepares the start of an operator. From now on, webhook calls wait.
   *
   * @param facts The operator's declarations.
   * @returns Arguments for the operator.
   */
  async prepare(facts: OperatorFacts): Promise<readonly string[]> {
    this.#facts = facts;
    if (this.#options.skipWebhookServer === true || !hasWebhooks(facts) && this.#served === undefined) return [];
    this.#served ??= await this.#serve();
    this.hold();
    return this.#served.args;
  }

  /** Makes webhook calls wait. Call it before the operator is stopped for a restart. */
  hold(): void {
    this.#served?.front.hold();
  }

  /**
   * Waits until a started operator serves its webhooks, then registers them.
   *
   * @param process The operator.
   * @param stop Ends the wait.
   */
  async follow(process: OperatorProcess, stop: AbortSignal): Promise<void> {
    const [facts, served] = [this.#facts, this.#served];
    if (facts === undefined || served === undefined || !await served.front.follow(process, stop)) return;
    const { front, address } = served;
    if (this.#isReached === undefined) {
      const problem = await reachError(this.#cluster, facts, address, () => front.reached > 0);
      this.#isReached = problem === undefined;
      if (problem !== undefined) {
        await unregister(this.#cluster, facts);
        this.#io.err(
          `Webhooks are not called: the API server does not reach ${address.url} (${problem}). ` +
            `Use --webhook-url with the URL at which it reaches port ${front.port} of this machine, or --skip-webhook-server.\n`,
        );
      }
    }
    const text = JSON.stringify([facts.manifests.webhook, facts.manifests.crd]);
    if (!this.#isReached || text === this.#registered) return;
    for (const one of await register(this.#cluster, facts, address)) this.#io.out(`registered ${one}\n`);
    if (this.#registered === "") {
      this.#io.out(`Webhooks are called at ${address.url}\n`);
      await this.#warnAboutBlocking(facts);
    }
    this.#registered = text;
  }

  /**
   * Warns if webhooks of the deployed operator, which the API server also calls, block requests.
   */
  async #warnAboutBlocking(facts: OperatorFacts): Promise<void> {
    for (const configuration of await blockingConfigurations(this.#cluster, facts)) {
      this.#io.err(
        `Warning: ${configuration} of the deployed operator blocks requests, because its Service has no ready pods. ` +
          `Delete it with "kubectl delete ${configuration.toLowerCase()}"; the next op deploy creates it again.\n`,
      );
    }
  }

  async #serve() {
    const { webhookUrl, webhookPort } = this.#options;
    const hostname = webhookUrl === undefined ? await ownAddress(this.#cluster.url) : hostOf(webhookUrl);
    const certificate = await localCertificate([...new Set([hostname, "127.0.0.1"])]);
    const [certificateFile, keyFile] = [`${this.#folder}/webhook.crt`, `${this.#folder}/webhook.key`];
    await Deno.writeTextFile(certificateFile, certificate.certificate);
    await Deno.writeTextFile(keyFile, certificate.key, { mode: 0o600 });
    const operatorPort = freePorts(PORTS);
    const front = new WebhookFront({
      hostname: webhookUrl === undefined && isLoopback(hostname) ? hostname : "0.0.0.0",
      port: Number(webhookPort ?? 0),
      certificate,
      operatorPort,
    });
    const urlHost = hostname.includes(":") ? `[${hostname}]` : hostname;
    return {
      front,
      address: {
        url: webhookUrl ?? `https://${urlHost}:${front.port}`,
        caCert: certificate.caCert,
        ...(this.#facts === undefined ? {} : { lease: devLeaseName(this.#facts) }),
      },
      args: [
        "--webhook-hostname=127.0.0.1",
        `--webhook-port=${operatorPort}`,
        `--webhook-certificate=${certificateFile}`,
        `--webhook-key=${keyFile}`,
      ],
    };
  }

  /** Removes the registrations, while the operator still responds to calls. */
  async end(): Promise<void> {
    if (this.#facts === undefined || this.#served === undefined) return;
    await unregister(this.#cluster, this.#facts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#served?.front[Symbol.asyncDispose]();
  }
}

/**
 * Checks the options before any request is sent.
 *
 * @param options The address of this machine.
 * @throws {UsageError} If the API server would reject it.
 */
export function checkWebhookOptions({ webhookUrl, webhookPort }: DevWebhookOptions): void {
  if (webhookPort !== undefined && !(/^\d+$/.test(webhookPort) && Number(webhookPort) < 65_536)) {
    throw new UsageError(`Cannot use --webhook-port "${webhookPort}": it must be a number from 0 to 65535.`);
  }
  if (webhookUrl === undefined) return;
  // The same checks as in the API server (k8s.io/apiserver/pkg/util/webhook, ValidateWebhookURL).
  const url = URL.canParse(webhookUrl) ? new URL(webhookUrl) : undefined;
  if (url?.protocol === "https:" && url.username === "" && url.search === "" && url.hash === "") return;
  throw new UsageError(
    `Cannot use --webhook-url "${webhookUrl}": it must be an https URL without user, query and fragment, such as https://machine.example.com:9443.`,
  );
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, "");
}

function isLoopback(hostname: string): boolean {
  return hostname.startsWith("127.") || hostname === "::1";
}

/** Returns the local address of a connection to the API server. */
async function ownAddress(server: string): Promise<string> {
  const { port, protocol } = new URL(server);
  using connection = await Deno.connect({
    hostname: hostOf(server),
    port: Number(port || (protocol === "https:" ? 443 : 80)),
  });
  return connection.localAddr.hostname;
}
