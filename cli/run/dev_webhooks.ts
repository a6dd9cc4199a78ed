/** The webhooks of an operator under `op dev`: the API server calls this machine, by a certificate that is made for as long as that goes on. */
import { localCertificate } from "@op/sdk/testing";
import type { Cluster } from "../cluster.ts";
import { UsageError } from "../exit_code.ts";
import type { OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { leasePlace } from "./dev_lease.ts";
import type { OperatorProcess } from "./operator_process.ts";
import { freePorts, WebhookFront } from "./webhook_front.ts";
import { isCalled, register, unreachable, unregister, type WebhookAddress } from "./webhook_registration.ts";

/** Where the API server finds this machine. */
export interface DevWebhookOptions {
  /** By which address the API server reaches this machine. @default {the one from which this machine reaches the API server} */
  readonly webhookUrl?: string | undefined;
  /** Where webhooks are served here. @default {any free port} */
  readonly webhookPort?: string | undefined;
  readonly skipWebhookServer?: boolean | undefined;
}

/** An operator's server takes three more, for the certificates of before. */
const PORTS = 4;

/** The webhooks of an operator that is developed. */
export class DevWebhooks implements AsyncDisposable {
  readonly #options: DevWebhookOptions;
  readonly #cluster: Cluster;
  readonly #folder: string;
  readonly #io: Io;
  #facts: OperatorFacts | undefined;
  #registered = "";
  #served: { readonly front: WebhookFront; readonly address: WebhookAddress; readonly args: string[] } | undefined;
  /** Whether the API server was found to reach it; nothing until that was tried. */
  #isReached: boolean | undefined;

  /**
   * @param options Where the API server finds this machine.
   * @param folder Where the certificate is put.
   */
  constructor(options: DevWebhookOptions, folder: string, cluster: Cluster, io: Io) {
    this.#options = options;
    this.#folder = folder;
    this.#cluster = cluster;
    this.#io = io;
  }

  /** Takes back what one that was killed left: it would hold up what is to be done now. */
  async clear(facts: OperatorFacts): Promise<void> {
    for (const one of await unregister(this.#cluster, facts)) {
      this.#io.out(`took back ${one} from an earlier "op dev"\n`);
    }
  }

  /**
   * Before an operator starts: calls wait from now on.
   *
   * @param facts Its own account.
   * @returns Arguments for it.
   */
  async prepare(facts: OperatorFacts): Promise<readonly string[]> {
    this.#facts = facts;
    if (this.#options.skipWebhookServer === true || !isCalled(facts) && this.#served === undefined) return [];
    this.#served ??= await this.#serve();
    this.hold();
    return this.#served.args;
  }

  /** Before the operator that runs is ended, to be started again. */
  hold(): void {
    this.#served?.front.hold();
  }

  /**
   * Once it was started: when it serves, the API server is told.
   *
   * @param process The operator.
   * @param stop Ends the waiting.
   */
  async follow(process: OperatorProcess, stop: AbortSignal): Promise<void> {
    const [facts, served] = [this.#facts, this.#served];
    if (facts === undefined || served === undefined || !await served.front.follow(process, stop)) return;
    const { front, address } = served;
    if (this.#isReached === undefined) {
      const problem = await unreachable(this.#cluster, facts, address, () => front.reached > 0);
      this.#isReached = problem === undefined;
      if (problem !== undefined) {
        await unregister(this.#cluster, facts);
        this.#io.err(
          `Webhooks are not called: the API server does not reach ${address.url} (${problem}); ` +
            `say --webhook-url, by which it reaches port ${front.port} of this machine, or --skip-webhook-server\n`,
        );
      }
    }
    const text = JSON.stringify([facts.manifests.webhook, facts.manifests.crd]);
    if (!this.#isReached || text === this.#registered) return;
    for (const one of await register(this.#cluster, facts, address)) this.#io.out(`registered ${one}\n`);
    if (this.#registered === "") this.#io.out(`Webhooks are called at ${address.url}\n`);
    this.#registered = text;
  }

  async #serve() {
    const { webhookUrl, webhookPort } = this.#options;
    const hostname = webhookUrl === undefined ? await ownAddress(this.#cluster.url) : hostOf(webhookUrl);
    const certificate = await localCertificate([...new Set([hostname, "127.0.0.1"])]);
    const [shown, key] = [`${this.#folder}/webhook.crt`, `${this.#folder}/webhook.key`];
    await Deno.writeTextFile(shown, certificate.certificate);
    await Deno.writeTextFile(key, certificate.key, { mode: 0o600 });
    const behind = freePorts(PORTS);
    const front = new WebhookFront({
      hostname: webhookUrl === undefined && isLoopback(hostname) ? hostname : "0.0.0.0",
      port: Number(webhookPort ?? 0),
      certificate,
      behind,
    });
    const shownHost = hostname.includes(":") ? `[${hostname}]` : hostname;
    return {
      front,
      address: {
        url: webhookUrl ?? `https://${shownHost}:${front.port}`,
        caCert: certificate.caCert,
        ...(this.#facts === undefined ? {} : { lease: leasePlace(this.#facts) }),
      },
      args: [
        "--webhook-hostname=127.0.0.1",
        `--webhook-port=${behind}`,
        `--webhook-certificate=${shown}`,
        `--webhook-key=${key}`,
      ],
    };
  }

  /** Has the API server call nobody here any longer, while the operator still answers. */
  async end(): Promise<void> {
    if (this.#facts === undefined || this.#served === undefined) return;
    await unregister(this.#cluster, this.#facts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#served?.front[Symbol.asyncDispose]();
  }
}

/**
 * Looks whether the API server could be told of such a place.
 *
 * @param options Where the API server is to find this machine.
 * @throws {UsageError} If that is no place.
 */
export function refuseOptions({ webhookUrl, webhookPort }: DevWebhookOptions): void {
  if (webhookPort !== undefined && !(/^\d+$/.test(webhookPort) && Number(webhookPort) < 65_536)) {
    throw new UsageError(`Cannot take --webhook-port "${webhookPort}": it must be a port`);
  }
  if (webhookUrl === undefined) return;
  // What an API server takes (k8s.io/apiserver/pkg/util/webhook, ValidateWebhookURL).
  const url = URL.canParse(webhookUrl) ? new URL(webhookUrl) : undefined;
  if (url?.protocol === "https:" && url.username === "" && url.search === "" && url.hash === "") return;
  throw new UsageError(
    `Cannot take --webhook-url "${webhookUrl}": it must be such as https://machine.example.com:9443, without user, query and fragment`,
  );
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, "");
}

function isLoopback(hostname: string): boolean {
  return hostname.startsWith("127.") || hostname === "::1";
}

/** By which address this machine is known where the API server is: the one that it sees when it is called. */
async function ownAddress(server: string): Promise<string> {
  const { port, protocol } = new URL(server);
  using connection = await Deno.connect({
    hostname: hostOf(server),
    port: Number(port || (protocol === "https:" ? 443 : 80)),
  });
  return connection.localAddr.hostname;
}
