/**
 * Keeps the certificate of an operator's webhooks: made, published and renewed by the operator itself, with nothing else installed. All replicas look at
 * one Secret and show the certificate that is in it; whoever finds something to do takes a Lease for as long as that takes.
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
import { certificatesIn, readSecret, type SecretPlace, type Stored, writeSecret } from "./certificate_secret.ts";
import { publish, type PublishTargets, type Unpublished, unpublished } from "./publish.ts";

/** Options of {@linkcode CertificateKeeper}. */
export interface CertificateKeeperOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** Where the Secret is. The Lease has its name. */
  readonly secret: SecretPlace;
  /** Names and addresses of the server; the first is its name. */
  readonly names: readonly string[];
  readonly targets: PublishTargets;
  readonly times: CertificateTimes;
  /** Who this process is, among all that ever ran. */
  readonly identity: string;
  /** Takes a certificate, with the facts that are counted. */
  readonly use: (
    certificate: CertificateFiles,
    expiry: { readonly server: number; readonly authority: number },
  ) => void;
}

// As the leader's, for as long as there is something to do.
const LEASE = { leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 2000 } as const;
const RETRY = { first: 500, longest: 30_000 };

/** Keeps the certificate of an operator's webhooks. */
export class CertificateKeeper {
  /** Grows with each look. */
  activity = 0;
  /** Why there is no certificate yet, or it is not kept up. */
  problem: string | undefined;
  readonly #options: CertificateKeeperOptions;
  #used: string | undefined;
  /** The bundle that was found where clients look, and since when. */
  #published: { readonly bundle: string; readonly since: number } | undefined;

  constructor(options: CertificateKeeperOptions) {
    this.#options = options;
  }

  /** Looks, and does what is to be done, until the signal. */
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
        // Another replica was quicker: what it did is seen at once.
        const isRace = isStatus(error, 409);
        if (!isRace && message !== this.problem) log.error("Certificate of webhooks not kept", { error: message });
        if (!isRace) this.problem = message;
        wait = backoff(++failures, { ...RETRY, spread: random() });
      }
      this.activity++;
      await sleep(clock, wait, signal).catch(() => undefined);
    }
  }

  /** One look; answers when to look again at the latest. */
  async #look(signal: AbortSignal): Promise<number> {
    const { client, secret, clock } = this.#options;
    const stored = await readSecret(client, secret, signal);
    // What is there is good for clients that know it, whatever else is to be done.
    if (stored?.held !== undefined) await this.#show(stored.held);
    const missing = await this.#missing(client, stored?.held, signal);
    const { step, at } = await this.#judge(stored);
    if (step === "nothing" && missing.length === 0) return at;
    await this.#act(signal);
    return clock.now();
  }

  /** Does one step under the Lease. */
  async #act(signal: AbortSignal): Promise<void> {
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
    const { step } = await this.#judge(stored);
    if (step !== "nothing") {
      held = await this.#made(step, held);
      await writeSecret(client, secret, held, stored, signal);
      log.info("Certificates of webhooks renewed", { step, authorities: certificatesIn(held.bundle).length });
    }
    if (held === undefined) return;
    await publish(client, step === "nothing" ? missing : await this.#missing(client, held, signal), signal);
    await this.#show(held);
  }

  /** Where the bundle is missing. That it is missing nowhere is remembered with the time. */
  async #missing(client: Client, held: Held | undefined, signal: AbortSignal): Promise<Unpublished[]> {
    if (held === undefined) return [];
    const { targets, clock } = this.#options;
    const missing = await unpublished(client, targets, held.bundle, signal);
    if (missing.length > 0) this.#published = undefined;
    else if (this.#published?.bundle !== held.bundle) this.#published = { bundle: held.bundle, since: clock.now() };
    return missing;
  }

  async #made(step: Exclude<CertificateStep, "nothing">, held: Held | undefined): Promise<Held> {
    const { names, times, clock, secret: { name } } = this.#options;
    const { makeAuthority, makeServerCertificate } = await import("./x509.ts");
    const now = clock.now();
    if (step === "begin" || held === undefined) {
      const authority = await makeAuthority(name, { from: now, until: now + times.authority });
      const server = await makeServerCertificate(authority, names, { from: now, until: now + times.server });
      return { bundle: authority.certificate, authority, server, authoritySince: now, serverSince: now };
    }
    switch (step) {
      case "make an authority": {
        const authority = await makeAuthority(name, { from: now, until: now + times.authority });
        return { ...held, authority, bundle: authority.certificate + held.bundle, authoritySince: now };
      }
      case "make a certificate": {
        const server = await makeServerCertificate(held.authority, names, { from: now, until: now + times.server });
        return { ...held, server, serverSince: now };
      }
      case "drop the authorities before":
        return { ...held, bundle: held.authority.certificate };
    }
  }

  async #judge(stored: Stored | undefined): Promise<ReturnType<typeof nextStep>> {
    const { names, times, log, clock } = this.#options;
    const now = clock.now();
    if (stored === undefined) return nextStep(undefined, now, names, times);
    const facts = await factsOf(stored.held);
    if (facts === undefined && !stored.isEmpty) log.warn("Certificates of webhooks cannot be read and are made anew");
    return nextStep(facts, now, names, times, this.#published?.since);
  }

  async #show(held: Held): Promise<void> {
    const text = held.server.certificate + held.bundle;
    if (text === this.#used) return;
    const facts = await factsOf(held);
    // It is made anew in a moment.
    if (facts?.authorities[0] === undefined) return;
    this.#options.use(held.server, { server: facts.server.until, authority: facts.authorities[0].until });
    this.#used = text;
  }
}

/** A log in which a lease that is held for a moment is no news. */
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

/** What the certificates say; nothing where they cannot be read. */
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
