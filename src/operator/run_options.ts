/** How an operator is run. */
import type { Clock } from "../base/clock.ts";
import type { Connection } from "../kube/connection.ts";
import type { Metrics } from "../runtime/metrics.ts";
import type { CodeObserver } from "../runtime/code_failure.ts";
import type { LogLine } from "./heard_log.ts";
import type { CertificateTimes } from "../runtime/webhooks/authority.ts";
import type { ReviewThreads } from "../runtime/webhooks/review_threads.ts";

/** Options of running an operator. */
export interface RunOptions {
  /** The way to the API server. */
  readonly connection: Connection;
  /** Stops it: nothing more is begun, what goes on may end within the operator's `gracefulShutdownTimeout`. @default {none: it runs for as long as the process does} */
  readonly signal?: AbortSignal;
  /** Whose time it is. @default {the machine's clock} */
  readonly clock?: Clock;
  /** From 0 to 1, for waiting times. @default {Math.random} */
  readonly random?: () => number;
  /** The only namespaces to look at. @default {all} */
  readonly namespaces?: readonly string[];
  /** Labels that objects of the controllers' own kinds must have, as the API has it: `app=web`. @default {any} */
  readonly selector?: string;
  /**
   * Client-side limit on requests to the API server: `qps` a second in the long run, and `burst` at once after a pause, by default twice `qps`. Requests for
   * Leases and access reviews are never delayed. @default {no limit}
   */
  readonly rateLimit?: { readonly qps: number; readonly burst?: number };
  /** Whether to work only while it leads. @default {what the operator says; where that leaves it open: no} */
  readonly leaderElection?: boolean;
  /** Who this process is in the Lease and in events, beside what tells it from others of that name. @default {the operator's name} */
  readonly host?: string;
  /** Whether to ask the API server at start what the operator may do, so that what is missing is named. @default {true} */
  readonly checkAccess?: boolean;
  /** Whether to serve the webhooks over TLS, with a certificate that is kept up. @default {as a program: yes; by `run`: yes; in a memory cluster they are called as they are} */
  readonly serveWebhooks?: boolean;
  /** Whether to leave the controllers to other processes. @default {false} */
  readonly skipControllers?: boolean;
  /** Whether to leave the webhooks to other processes. @default {false} */
  readonly skipWebhooks?: boolean;
  /** How long certificates of webhooks are good, for tests. @default {two years, and 90 days} */
  readonly certificateTimes?: CertificateTimes;
  /** Who this process is, among all that ever ran. @default {`host`, and what is random} */
  readonly instance?: string | undefined;
  /** Where all is counted. @default {metrics of its own} */
  readonly metrics?: Metrics | undefined;
  /** Told of each line of its log, beside LogTape. @default {nobody} */
  readonly onLog?: ((line: LogLine) => void) | undefined;
  /** Observes failures of user code, for tests. @default {none} */
  readonly observe?: CodeObserver | undefined;
  /** Threads of the program that run the webhooks' functions. @default {none} */
  readonly reviewThreads?: ReviewThreads | undefined;
  /** Memory limit of the container, in bytes: what reviews may take is a share of it. @default {256 MiB} */
  readonly memoryLimit?: number | undefined;
  /** Services in place of those that the operator makes, for tests. They are not closed. @default {those that the operator makes} */
  readonly services?: unknown;
}
