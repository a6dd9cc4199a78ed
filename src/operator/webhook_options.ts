/** The option `webhooks` of an operator. */
import type { WebhookLimits } from "../runtime/webhooks/handler.ts";
import type { CertificatePaths } from "../runtime/webhooks/certificate_files.ts";

/** Where and how an operator serves its webhooks. */
export interface WebhookServerOptions {
  /** The port of the webhooks. The three that follow are taken on loopback as well. @default {9443} */
  readonly port?: number;
  /** The address to listen on. @default {"0.0.0.0"} */
  readonly hostname?: string;
  /**
   * How many threads run the functions, for those that compute: each loads the program anew, makes services and live copies of its own, and takes some 40
   * MB. Only where the operator runs as its program. @default {none: they run beside the controllers}
   */
  readonly workers?: number;
  /** How much is taken. @default {those of {@linkcode WebhookLimits}} */
  readonly limits?: WebhookLimits;
  /** Files with a certificate and its key, in place of those that the operator makes itself; they are read again when they change. @default {a certificate that the operator makes and renews} */
  readonly certificate?: CertificatePaths;
  /** Names and addresses by which it is called, besides those of its Service. @default {[]} */
  readonly names?: readonly string[];
}

/** The option with its defaults. */
export interface WebhookServing extends WebhookServerOptions {
  /** The port of the webhooks; 9443 where nothing was said. */
  readonly port: number;
  /** The address to listen on; all of them where nothing was said. */
  readonly hostname: string;
  /** How much is taken; what is not in it has the default of {@linkcode WebhookLimits}. */
  readonly limits: WebhookLimits;
  /** Names and addresses by which it is called, besides those of its Service. */
  readonly names: readonly string[];
}

/** Servers behind the front: one for each certificate that still has connections. */
const INNER_PORTS = 3;

/** Fills the defaults in. */
export function webhookServing(options: WebhookServerOptions = {}): WebhookServing {
  return { port: 9443, hostname: "0.0.0.0", limits: {}, names: [], ...options };
}

/** Ports of the loopback that a server of webhooks takes besides its own: those that follow. With port 0 any. */
export function innerPorts({ port }: { readonly port: number }): readonly number[] {
  return port === 0 ? [0] : Array.from({ length: INNER_PORTS }, (_, i) => port + 1 + i);
}
