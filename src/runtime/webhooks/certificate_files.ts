/** Loads a certificate from files, and loads it again when cert-manager renews it. */
import { isoTime } from "../../base/iso_time.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import type { Logger } from "../logger.ts";
import type { CertificateFiles } from "./certificate.ts";

/** Paths of the PEM files of a certificate. */
export interface CertificatePaths {
  /** Path of the certificate with intermediate certificates, as in `tls.crt` of a Secret. */
  readonly certificate: string;
  /** Path of the private key, as in `tls.key` of a Secret. */
  readonly key: string;
}

/** Options of {@linkcode CertificateFileWatcher}. */
export interface CertificateFileWatcherOptions {
  readonly paths: CertificatePaths;
  readonly readText: (path: string) => Promise<string>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Uses a certificate. @throws {Error} If it is invalid; the previous one stays in use. */
  readonly use: (certificate: CertificateFiles, expiry: { readonly server: number }) => void;
  /** Called after each check with whether the files are valid. */
  readonly onCheck?: (areValid: boolean) => void;
  /**
   * Delay between checks, in milliseconds. The kubelet updates a mounted Secret within about a
   * minute. @default {10_000}
   */
  readonly interval?: number;
}

/** Loads a certificate from files whenever they change. */
export class CertificateFileWatcher {
  /** Number of checks. */
  activity = 0;
  /** Why the last check failed; `undefined` if it succeeded. */
  problem: string | undefined;
  readonly #options: CertificateFileWatcherOptions;
  #used: string | undefined;

  /** @param options The files, and the callback for certificates. */
  constructor(options: CertificateFileWatcherOptions) {
    this.#options = options;
  }

  /**
   * Checks the files until the signal is aborted.
   *
   * @param signal Ends the checks.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, interval = 10_000, log, paths, onCheck } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#check();
        this.problem = undefined;
        onCheck?.(true);
      } catch (error) {
        const { message } = error as Error;
        if (message !== this.problem) log.error("Webhook certificate not loaded", { ...paths, error: message });
        this.problem = message;
        onCheck?.(false);
      }
      this.activity++;
      await sleep(clock, interval, signal).catch(() => undefined);
    }
  }

  async #check(): Promise<void> {
    const { readText, paths, use, log } = this.#options;
    const certificate = await readText(paths.certificate);
    const key = await readText(paths.key);
    // If the certificate changed while the key was read, the key may not match. The next check
    // reads both again.
    if (certificate + key === this.#used || await readText(paths.certificate) !== certificate) return;
    const { readCertificates } = await import("./x509.ts");
    const [server] = readCertificates(certificate);
    if (server === undefined) throw new Error(`Webhook certificate "${paths.certificate}" contains no certificate`);
    use({ certificate, key }, { server: server.until });
    log.info("Webhook certificate loaded", { until: isoTime(server.until) });
    this.#used = certificate + key;
  }
}
