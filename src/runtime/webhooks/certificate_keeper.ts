/**
 * Issues, publishes and renews the certificate of an operator's webhooks, without cert-manager. All
 * replicas serve the certificate in one Secret. A replica that finds a step to do holds a Lease
 * while it does it.
 */
import { backoff } from "../../base/backoff.ts";
import { linked } from "../../base/abort.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { isStatus } from "../../kube/api_error.ts";
import type { Client } from "../../kube/client.ts";
import { Elector } from "../elector.ts";
import type { Logger } from "../logger.ts";
import { type CertificateStep, type CertificateTimes, type Held, type HeldFacts, nextStep } from "./authority.ts";
import type { CertificateFiles } from "./certificate.ts";
import { certificatesIn, readSecret, type SecretName, type Stored, writeSecret } from "./certificate_secret.ts";
import { publish, type PublishTargets, type Unpublished, unpublished } from "./publish.ts";

/** Options of {@linkcode CertificateKeeper}. */
export interface CertificateKeeperOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** Name of the Secret, and of the Lease. */
  readonly secret: SecretName;
  /** Names and addresses of the server; the first is the certificate's common name. */
  readonly names: readonly string[];
  readonly targets: PublishTargets;
  readonly times: CertificateTimes;
  /** Unique identity of this process, as holder of the Lease. */
  readonly identity: string;
  /** Uses a certificate. The expiry times are in milliseconds since the epoch. */
  readonly use: (
    certificate: CertificateFiles,
    expiry: { readonly server: number; readonly authority: number },
  ) => void;
}

// Same as for leader election. The Lease is held only while there is a step to do.
const LEASE = { leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 2000 } as const;
const RETRY = { first: 500, longest: 30_000 };

/** Issues and renews the certificate of an operator's webhooks. */
export class CertificateKeeper {
  /** Number of checks. */
  activity = 0;
  /** Why there is no certificate, or why it is not renewed; `undefined` if all is well. */
  problem: string | undefined;
  readonly #options: CertificateKeeperOptions;
  #used: string | undefined;
  /** The bundle that all webhook configurations have, and since when. */
  #published: { readonly bundle: string; readonly since: number } | undefined;

  /** @param options The Secret, the webhook configurations, and who uses the certificate. */
  constructor(options: CertificateKeeperOptions) {
    this.#options = options;
  }

  /**
   * Checks the certificates and does the steps that are due, until the signal is aborted.
   *
   * @param signal Ends the checks.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, log, times } = this.#options;
    for (let failures = 0; !signal.aborted;) {
      let wait: number;
      try {
        const at = await this.#look(signal);
        failures = 0;
        this.problem = undefined;
        wait = Math.max(0, Math.min(times.look, at - clock.now()));
      } catch (error) {
        if (signal.aborted) return;
        const { message } = error as Error;
        // Another replica was faster. The next check finds its result.
        const isRace = isStatus(error, 409);
        if (!isRace && message !== this.problem) log.error("Webhook certificate renewal failed", { error: message });
        if (!isRace) this.problem = message;
        wait = backoff(++failures, { ...RETRY, spread: random() });
      }
      this.activity++;
      await sleep(clock, wait, signal).catch(() => undefined);
    }
  }

  /** Checks once. Returns when to check again at the latest. */
  async #look(signal: AbortSignal): Promise<number> {
    const { client, secret, clock } = this.#options;
    const stored = await readSecret(client, secret, signal);
    // Clients that trust the stored certificate can use it, whatever step is due.
    if (stored?.held !== undefined) await this.#use(stored.held);
    const missing = await this.#missing(client, stored?.held, signal);
    const { step, at } = await this.#nextStep(stored);
    if (step === "wait" && missing.length === 0) return at;
    await this.#stepUnderLease(signal);
    return clock.now();
  }

  /** Does one step while holding the Lease. */
  async #stepUnderLease(signal: AbortSignal): Promise<void> {
    const { client, clock, random, log, secret, identity } = this.#options;
    const elector = new Elector({ ...LEASE, ...secret, client, clock, random, log: quiet(log), identity });
    const fenced = client.fenced(elector.fence);
    using done = linked([signal]);
    let failure: unknown;
    await elector.run(done.signal, async (term) => {
      try {
        using over = linked([signal, term]);
        await this.#step(fenced, over.signal);
      } catch (error) {
        failure = error;
      }
      done.abort(new DOMException("The step is done", "AbortError"));
    });
    if (failure !== undefined) throw failure;
  }

  async #step(client: Client, signal: AbortSignal): Promise<void> {
    const { secret, log } = this.#options;
    const stored = await readSecret(client, secret, signal);
    let held = stored?.held;
    const missing = await this.#missing(client, held, signal);
    const { step } = await this.#nextStep(stored);
    if (step !== "wait") {
      held = await this.#renewed(step, held);
      await writeSecret(client, secret, held, stored, signal);
      log.info("Webhook certificates renewed", { step, authorities: certificatesIn(held.bundle).length });
    }
    if (held === undefined) return;
    await publish(client, step === "wait" ? missing : await this.#missing(client, held, signal), signal);
    await this.#use(held);
  }

  /** Returns the objects without the bundle. Remembers since when there are none. */
  async #missing(client: Client, held: Held | undefined, signal: AbortSignal): Promise<Unpublished[]> {
    if (held === undefined) return [];
    const { targets, clock } = this.#options;
    const missing = await unpublished(client, targets, held.bundle, signal);
    if (missing.length > 0) this.#published = undefined;
    else if (this.#published?.bundle !== held.bundle) this.#published = { bundle: held.bundle, since: clock.now() };
    return missing;
  }

  async #renewed(step: Exclude<CertificateStep, "wait">, held: Held | undefined): Promise<Held> {
    const { names, times, clock, secret: { name } } = this.#options;
    const { makeAuthority, makeServerCertificate } = await import("./x509.ts");
    const now = clock.now();
    if (step === "create all" || held === undefined) {
      const authority = await makeAuthority(name, { from: now, until: now + times.authority });
      const server = await makeServerCertificate(authority, names, { from: now, until: now + times.server });
      return { bundle: authority.certificate, authority, server, authoritySince: now, serverSince: now };
    }
    switch (step) {
      case "add an authority": {
        const authority = await makeAuthority(name, { from: now, until: now + times.authority });
        return { ...held, authority, bundle: authority.certificate + held.bundle, authoritySince: now };
      }
      case "issue a certificate": {
        const server = await makeServerCertificate(held.authority, names, { from: now, until: now + times.server });
        return { ...held, server, serverSince: now };
      }
      case "drop old authorities":
        return { ...held, bundle: held.authority.certificate };
    }
  }

  async #nextStep(stored: Stored | undefined): Promise<ReturnType<typeof nextStep>> {
    const { names, times, log, clock } = this.#options;
    const now = clock.now();
    if (stored === undefined) return nextStep(undefined, now, names, times);
    const facts = await factsOf(stored.held);
    if (facts === undefined && !stored.isEmpty) log.warn("Webhook certificates unreadable, issuing new ones");
    return nextStep(facts, now, names, times, this.#published?.since);
  }

  async #use(held: Held): Promise<void> {
    const text = held.server.certificate + held.bundle;
    if (text === this.#used) return;
    const facts = await factsOf(held);
    // Unreadable certificates are issued again by the next step.
    if (facts?.authorities[0] === undefined) return;
    this.#options.use(held.server, { server: facts.server.until, authority: facts.authorities[0].until });
    this.#used = text;
  }
}

/** Returns a log that writes everything at debug level: the Lease is only held for a moment. */
function quiet(log: Logger): Logger {
  return {
    debug: (message, fields) => log.debug(message, fields),
    info: (message, fields) => log.debug(message, fields),
    warn: (message, fields) => log.warn(message, fields),
    error: (message, fields) => log.error(message, fields),
    with: (fields) => quiet(log.with(fields)),
    get isDebug() {
      return log.isDebug;
    },
  };
}

/** Returns facts of the certificates, or `undefined` if they cannot be read. */
async function factsOf(held: Held | undefined): Promise<HeldFacts | undefined> {
  if (held === undefined) return undefined;
  const { readCertificates } = await import("./x509.ts");
  try {
    const [server] = readCertificates(held.server.certificate);
    const authorities = readCertificates(held.bundle);
    const { authoritySince, serverSince } = held;
    return server === undefined ? undefined : { server, authorities, authoritySince, serverSince };
  } catch {
    return undefined;
  }
}
