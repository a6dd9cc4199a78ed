/** Options of running an operator. */
import type { Clock } from "../base/clock.ts";
import type { Connection } from "../kube/connection.ts";
import type { Metrics } from "../runtime/metrics.ts";
import type { CodeObserver } from "../runtime/code_failure.ts";
import type { LogLine } from "./log.ts";
import type { CertificateTimes } from "../runtime/webhooks/authority.ts";
import type { ReviewThreads } from "../runtime/webhooks/review_threads.ts";

/** Options of `start` and `run` of an operator. */
export interface RunOptions {
  /**
   * The connection to the API server. It is not closed. @default {the one that `connect` finds:
   * kubeconfig or service account}
   */
  readonly connection?: Connection;
  /**
   * Stops the operator when aborted: no further reconcile starts, and running ones may finish
   * within `gracefulShutdownTimeout`.
   *
   * @default {never aborted}
   */
  readonly signal?: AbortSignal;
  /** The clock. @default {system time} */
  readonly clock?: Clock;
  /** The namespaces to watch. @default {all} */
  readonly namespaces?: readonly string[];
  /**
   * A label selector for objects of the controllers' own kinds, such as `app=web`. @default {all}
   */
  readonly selector?: string;
  /**
   * Client-side limit on requests to the API server: `qps` requests a second in the long run, and
   * `burst` at once after a pause, by default twice `qps`. Requests for Leases and access reviews
   * are never delayed.
   *
   * @default {no limit}
   */
  readonly rateLimit?: { readonly qps: number; readonly burst?: number };
  /**
   * Whether to reconcile only while this process leads. @default {the operator's option, or else
   * `true` in a pod}
   */
  readonly leaderElection?: boolean;
  /**
   * The name of this process in the Lease and in Events. A random suffix is added. @default {the
   * operator's name}
   */
  readonly identity?: string;
  /**
   * Whether to check the RBAC permissions at start, so that missing ones are reported by name.
   * @default {true}
   */
  readonly checkAccess?: boolean;
  /** Whether to serve the webhooks over TLS, with a certificate that is renewed. @default {true} */
  readonly serveWebhooks?: boolean;
  /**
   * Services that replace those that the operator creates. They are not disposed of. @default
   * {those of the operator}
   */
  readonly services?: unknown;
  /** Whether to run without the controllers, which other processes run. @default {false} */
  readonly skipControllers?: boolean;
  /** Whether to run without the webhooks, which other processes serve. @default {false} */
  readonly skipWebhooks?: boolean;
}

/** Options of `startOperator`: additional options for programs and tests. */
export interface StartOptions extends Omit<RunOptions, "connection"> {
  /**
   * The connection to the API server, or a function that opens it. It is then closed at the end.
   */
  readonly connection: Connection | (() => Promise<Connection>);
  /** Returns numbers from 0 to 1, for jitter. @default {Math.random} */
  readonly random?: () => number;
  /**
   * Whether to serve the webhooks over TLS. In a memory cluster they are called directly. @default
   * {false}
   */
  readonly serveWebhooks?: boolean;
  /** How long certificates of webhooks are valid, for tests. @default {two years and 90 days} */
  readonly certificateTimes?: CertificateTimes;
  /** Identifies this process, and is never reused. @default {`host` and a random suffix} */
  readonly instance?: string | undefined;
  /** The metrics of the operator. @default {new metrics} */
  readonly metrics?: Metrics | undefined;
  /** Called with each line of the operator's log, in addition to LogTape. @default {none} */
  readonly onLog?: ((line: LogLine) => void) | undefined;
  /** Observes failures of user code, for tests. @default {none} */
  readonly observe?: CodeObserver | undefined;
  /** Threads of the program that run the functions of webhooks. @default {none} */
  readonly reviewThreads?: ReviewThreads | undefined;
  /**
   * Memory limit of the container, in bytes. Concurrent reviews may use a share of it. @default
   * {256 MiB}
   */
  readonly memoryLimit?: number | undefined;
}
