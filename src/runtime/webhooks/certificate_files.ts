/** A certificate in files, as cert-manager or a person puts them there: read, and read again when they change. */
import { isoTime } from "../../base/iso_time.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import type { Logger } from "../logger.ts";
import type { CertificateFiles } from "./certificate.ts";

/** Where a certificate and its key are: paths of PEM files. */
export interface CertificatePaths {
  /** The certificate, and those that lead to its authority, as `tls.crt` of a Secret. */
  readonly certificate: string;
  /** Its key, as `tls.key` of a Secret. */
  readonly key: string;
}

/** Options of {@linkcode FollowedFiles}. */
export interface FollowedFilesOptions {
  readonly paths: CertificatePaths;
  readonly readText: (path: string) => Promise<string>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Takes a certificate. @throws {Error} If it is none: then the one before stays. */
  readonly use: (certificate: CertificateFiles, expiry: { readonly server: number }) => void;
  /** Told of each look: whether what was found is good. */
  readonly onLook?: (isGood: boolean) => void;
  /** How long it is between two looks, in milliseconds. @default {10_000: a kubelet brings a changed Secret within a minute or so} */
  readonly interval?: number;
}

/** Follows a certificate in files. */
export class FollowedFiles {
  /** Grows with each look. */
  activity = 0;
  /** Why there is no certificate, or the one before is kept. */
  problem: string | undefined;
  readonly #options: FollowedFilesOptions;
  #used: string | undefined;

  constructor(options: FollowedFilesOptions) {
    this.#options = options;
  }

  /** Looks until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, interval = 10_000, log, paths, onLook } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#look();
        this.problem = undefined;
        onLook?.(true);
      } catch (error) {
        const { message } = error as Error;
        if (message !== this.problem) log.error("Certificate of webhooks not read", { ...paths, error: message });
        this.problem = message;
        onLook?.(false);
      }
      this.activity++;
      await sleep(clock, interval, signal).catch(() => undefined);
    }
  }

  async #look(): Promise<void> {
    const { readText, paths, use, log } = this.#options;
    const certificate = await readText(paths.certificate);
    const key = await readText(paths.key);
    // Files that were changed in between are not of one pair: they are read again at the next look.
    if (certificate + key === this.#used || await readText(paths.certificate) !== certificate) return;
    const { readCertificates } = await import("./x509.ts");
    const [server] = readCertificates(certificate);
    if (server === undefined) throw new Error(`Cannot use "${paths.certificate}": there is no certificate in it`);
    use({ certificate, key }, { server: server.until });
    log.info("Certificate of webhooks read", { until: isoTime(server.until) });
    this.#used = certificate + key;
  }
}
