/**
 * Issues, publishes and renews the certificate of an operator's webhooks, without cert-manager. All
 * replicas serve the certificate in one Secret. A replica that finds a renewal step due acquires a
 * Lease before it does the step.
 */
import { backoff } from "../../base/backoff.ts";
import { linked } from "../../base/abort.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { isStatus } from "../../kube/api_error.ts";
import type { Client } from "../../kube/client.ts";
import { Elector } from "../elector.ts";
import type { Logger } from "../logger.ts";
import {
  type CertificateSet,
  type CertificateSetFacts,
  type CertificateStep,
  type CertificateTimes,
  nextStep,
} from "./authority.ts";
import type { CertificateFiles } from "./certificate.ts";
import { certificatesIn, readSecret, type SecretName, type StoredSecret, writeSecret } from "./certificate_secret.ts";
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

// The same durations as for leader election. The Lease is held only during a step.
const LEASE = { leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 2000 } as const;
const RETRY = { first: 500, longest: 30_000 };

/** Issues and renews the certificate of an operator's webhooks. */
export class CertificateKeeper {
  /** Number of checks. */
  activity = 0;
  /** Why the last check failed; `undefined` if it succeeded. */
  problem: string | undefined;
  readonly #options: CertificateKeeperOptions;
  #used: string | undefined;
  /** The bundle that all webhook configurations have, and when this was first seen. */
  #published: { readonly bundle: string; readonly since: number } | undefined;

  /** @param options The Secret, the webhook configurations, and the callback for certificates. */
  constructor(options: CertificateKeeperOptions) {
    this.#options = options;
  }

  /**
   * Checks the certificates and does the renewal steps that are due, until the signal is aborted.
   *
   * @param signal Ends the checks.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, log, times } = this.#options;
    for (let failures = 0; !signal.aborted;) {
      let wait: number;
      try {
        const at = await this.#check(signal);
        failures = 0;
        this.problem = undefined;
        wait = Math.max(0, Math.min(times.checkInterval, at - clock.now()));
      } catch (error) {
        if (signal.aborted) return;
        const { message } = error as Error;
        // Another replica wrote the object first. The next check reads its result.
        const isRace = isStatus(error, 409);
        if (!isRace && message !== this.problem) log.error("Webhook certificate renewal failed", { error: message });
        if (!isRace) this.problem = message;
        wait = backoff(++failures, { ...RETRY, spread: random() });
      }
      this.activity++;
      await sleep(clock, wait, signal).catch(() => undefined);
    }
  }

  /** Checks once. Returns the latest time of the next check. */
  async #check(signal: AbortSignal): Promise<number> {
    const { client, secret, clock } = this.#options;
    const stored = await readSecret(client, secret, signal);
    // The stored certificate is served even if a renewal step is due.
    if (stored?.certificates !== undefined) await this.#use(stored.certificates);
    const missing = await this.#missing(client, stored?.certificates, signal);
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
        using leased = linked([signal, term]);
        await this.#step(fenced, leased.signal);
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
    let certificates = stored?.certificates;
    const missing = await this.#missing(client, certificates, signal);
    const { step } = await this.#nextStep(stored);
    if (step !== "wait") {
      certificates = await this.#renew(step, certificates);
      await writeSecret(client, secret, certificates, stored, signal);
      log.info("Webhook certificates renewed", { step, authorities: certificatesIn(certificates.bundle).length });
    }
    if (certificates === undefined) return;
    await publish(client, step === "wait" ? missing : await this.#missing(client, certificates, signal), signal);
    await this.#use(certificates);
  }

  /**
   * Returns the objects without the bundle. Stores the time when there are none for the first time.
   */
  async #missing(
    client: Client,
    certificates: CertificateSet | undefined,
    signal: AbortSignal,
  ): Promise<Unpublished[]> {
    if (certificates === undefined) return [];
    const { targets, clock } = this.#options;
    const missing = await unpublished(client, targets, certificates.bundle, signal);
    if (missing.length > 0) this.#published = undefined;
    else if (this.#published?.bundle !== certificates.bundle) {
      this.#published = { bundle: certificates.bundle, since: clock.now() };
    }
    return missing;
  }

  async #renew(
    step: Exclude<CertificateStep, "wait">,
    certificates: CertificateSet | undefined,
  ): Promise<CertificateSet> {
    const { names, times, clock, secret: { name } } = this.#options;
    const { makeAuthority, makeServerCertificate } = await import("./x509.ts");
    const now = clock.now();
    if (step === "create all" || certificates === undefined) {
      const authority = await makeAuthority(name, { from: now, until: now + times.authority });
      const server = await makeServerCertificate(authority, names, { from: now, until: now + times.server });
      return { bundle: authority.certificate, authority, server, authoritySince: now, serverSince: now };
    }
    switch (step) {
      case "add an authority": {
        const authority = await makeAuthority(name, { from: now, until: now + times.authority });
        return { ...certificates, authority, bundle: authority.certificate + certificates.bundle, authoritySince: now };
      }
      case "issue a certificate": {
        const server = await makeServerCertificate(certificates.authority, names, {
          from: now,
          until: now + times.server,
        });
        return { ...certificates, server, serverSince: now };
      }
      case "drop old authorities":
        return { ...certificates, bundle: certificates.authority.certificate };
    }
  }

  async #nextStep(stored: StoredSecret | undefined): Promise<ReturnType<typeof nextStep>> {
    const { names, times, log, clock } = this.#options;
    const now = clock.now();
    if (stored === undefined) return nextStep(undefined, now, names, times);
    const facts = await factsOf(stored.certificates);
    if (facts === undefined && !stored.isEmpty) log.warn("Webhook certificates unreadable, issuing new ones");
    return nextStep(facts, now, names, times, this.#published?.since);
  }

  async #use(certificates: CertificateSet): Promise<void> {
    const text = certificates.server.certificate + certificates.bundle;
    if (text === this.#used) return;
    const facts = await factsOf(certificates);
    // Unreadable certificates are issued again by the next step.
    if (facts?.authorities[0] === undefined) return;
    this.#options.use(certificates.server, { server: facts.server.until, authority: facts.authorities[0].until });
    this.#used = text;
  }
}

/** Returns a log that writes info lines at debug level, because the Lease is held only briefly. */
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

/** Returns the properties of the certificates, or `undefined` if they are unreadable. */
async function factsOf(certificates: CertificateSet | undefined): Promise<CertificateSetFacts | undefined> {
  if (certificates === undefined) return undefined;
  const { readCertificates } = await import("./x509.ts");
  try {
    const [server] = readCertificates(certificates.server.certificate);
    const authorities = readCertificates(certificates.bundle);
    const { authoritySince, serverSince } = certificates;
    return server === undefined ? undefined : { server, authorities, authoritySince, serverSince };
  } catch {
    return undefined;
  }
}
