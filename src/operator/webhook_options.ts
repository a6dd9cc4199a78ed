/** The option `webhooks` of an operator. */
import type { WebhookLimits } from "../runtime/webhooks/handler.ts";
import type { CertificatePaths } from "../runtime/webhooks/certificate_files.ts";

/** Options of the webhook server. */
export interface WebhookServerOptions {
  /** The port. The next three ports are used on loopback. @default {9443} */
  readonly port?: number;
  /** The address to listen on. @default {"0.0.0.0"} */
  readonly hostname?: string;
  /**
   * The number of threads that run the functions of webhooks, for functions with long computations.
   * Each thread loads the program, has its own services and caches, and needs about 40 MB.
   * Threads are only used if the operator runs as a program. @default {none: the functions run in
   * the main thread}
   */
  readonly workers?: number;
  /** Limits on requests. @default {those of {@linkcode WebhookLimits}} */
  readonly limits?: WebhookLimits;
  /**
   * Files with a certificate and its key, which are read again when they change. @default {a
   * certificate that the operator issues and renews}
   */
  readonly certificate?: CertificatePaths;
  /**
   * DNS names and IP addresses in the certificate in addition to the names of the Service (subject
   * alternative names, kubeadm's `certSANs`). @default {[]}
   */
  readonly certSANs?: readonly string[];
}

/** The options with defaults applied. */
export interface WebhookServing extends WebhookServerOptions {
  /** The port. */
  readonly port: number;
  /** The address to listen on. */
  readonly hostname: string;
  /** Limits on requests. Omitted ones have the defaults of {@linkcode WebhookLimits}. */
  readonly limits: WebhookLimits;
  /** DNS names and IP addresses in the certificate in addition to the names of the Service. */
  readonly certSANs: readonly string[];
}

/**
 * The number of servers behind the public port: one for each certificate that still has
 * connections.
 */
const INNER_PORTS = 3;

/** Applies the defaults. */
export function webhookServing(options: WebhookServerOptions = {}): WebhookServing {
  return { port: 9443, hostname: "0.0.0.0", limits: {}, certSANs: [], ...options };
}

/**
 * Returns the loopback ports of the webhook server: the three after its public port, or any free
 * port if the public port is 0.
 */
export function innerPorts({ port }: { readonly port: number }): readonly number[] {
  return port === 0 ? [0] : Array.from({ length: INNER_PORTS }, (_, i) => port + 1 + i);
}
