/**
 * All metrics of an operator. The operator's registry, dashboard and alert rules
 * (`manifests/dashboard.ts`, `alerts.ts`) and the page of the guide are derived from this list.
 *
 * Names and labels are those of controller-runtime and client-go where these have the metric
 * (`pkg/internal/controller/metrics`, `pkg/metrics/workqueue.go`), so that existing dashboards
 * work. Our own metrics start with `op_`. No label contains an object's name, because there would
 * be a series for each object.
 */

/** A metric. */
export interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[];
}

// The buckets of controller-runtime, in seconds.
const RECONCILE_SECONDS = [
  ...[
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.15,
    0.2,
    0.25,
    0.3,
    0.35,
    0.4,
    0.45,
    0.5,
    0.6,
    0.7,
    0.8,
    0.9,
    1,
    1.25,
    1.5,
    1.75,
  ],
  ...[2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60],
];
// controller-runtime's buckets are from 10 ns to 1000 s; our timers have a resolution of a
// microsecond.
const QUEUE_SECONDS = [0.000001, 0.00001, 0.0001, 0.001, 0.01, 0.1, 1, 10, 100, 1000];

const CONTROLLER = ["controller"];
const QUEUE = ["name", "controller"];
const WEBHOOK = ["webhook"];
// The default buckets of Prometheus, which controller-runtime uses, too.
const WEBHOOK_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const WATCH = ["group", "version", "kind", "namespace"];

/** The metrics by their names in the code. */
export const METRICS = {
  reconciles: counter("controller_runtime_reconcile_total", "Number of reconciles, by result", [
    "controller",
    "result",
  ]),
  errors: counter("controller_runtime_reconcile_errors_total", "Number of reconciles that failed", CONTROLLER),
  terminalErrors: counter(
    "controller_runtime_terminal_reconcile_errors_total",
    "Number of reconciles that failed with a PermanentError",
    CONTROLLER,
  ),
  panics: counter(
    "controller_runtime_reconcile_panics_total",
    "Number of reconciles that failed with a programming error (TypeError and the like)",
    CONTROLLER,
  ),
  timeouts: counter(
    "controller_runtime_reconcile_timeouts_total",
    "Number of reconciles that exceeded their timeout",
    CONTROLLER,
  ),
  runSeconds: histogram(
    "controller_runtime_reconcile_time_seconds",
    "Duration of reconciles",
    CONTROLLER,
    RECONCILE_SECONDS,
  ),
  concurrency: gauge(
    "controller_runtime_max_concurrent_reconciles",
    "Maximum number of concurrent reconciles",
    CONTROLLER,
  ),
  active: gauge("controller_runtime_active_workers", "Number of running reconciles", CONTROLLER),
  depth: gauge("workqueue_depth", "Number of objects that are due for a reconcile", [...QUEUE, "priority"]),
  adds: counter("workqueue_adds_total", "Number of times that an object became due", QUEUE),
  retries: counter("workqueue_retries_total", "Number of retries", QUEUE),
  queueSeconds: histogram(
    "workqueue_queue_duration_seconds",
    "Time between becoming due and the start of the reconcile",
    QUEUE,
    QUEUE_SECONDS,
  ),
  workSeconds: histogram("workqueue_work_duration_seconds", "Duration of reconciles", QUEUE, QUEUE_SECONDS),
  unfinished: gauge("workqueue_unfinished_work_seconds", "Total duration of the running reconciles so far", QUEUE),
  longest: gauge(
    "workqueue_longest_running_processor_seconds",
    "Duration of the longest running reconcile so far",
    QUEUE,
  ),
  requests: counter("rest_client_requests_total", "Number of requests to the API server, by status", [
    "code",
    "method",
    "host",
  ]),
  leading: gauge("leader_election_master_status", "1 while this process leads, 0 while it stands by", ["name"]),
  slowPaths: counter("leader_election_slowpath_total", "Number of Lease renewals that had to read the Lease first", [
    "name",
  ]),
  staleness: gauge("op_watch_staleness_seconds", "Time since the last event or bookmark of a watch", WATCH),
  restarts: counter("op_watch_restarts_total", "Number of times that a watch was interrupted", WATCH),
  objects: gauge("op_cache_objects", "Number of objects in a cache", WATCH),
  bytes: gauge("op_cache_bytes", "Size of the objects in a cache as JSON, estimated from a sample", WATCH),
  skippedWrites: counter(
    "op_skipped_writes_total",
    "Number of writes that were not sent because they would have changed nothing",
    CONTROLLER,
  ),
  ownEvents: counter(
    "op_own_events_total",
    "Number of events about a controller's own writes, which do not trigger it",
    CONTROLLER,
  ),
  hotLoops: gauge("op_hot_loops", "Number of objects that are reconciled in a hot loop, by the field that causes it", [
    "controller",
    "kind",
    "field",
    "manager",
    "other_manager",
  ]),
  delayedReconciles: counter(
    "op_delayed_reconciles_total",
    "Number of reconciles that were delayed because their object was reconciled over and over",
    CONTROLLER,
  ),
  missingRbac: gauge("op_controller_missing_rbac", "1 while a controller waits for an RBAC permission", CONTROLLER),
  operatorPaused: gauge("op_paused", "1 while the operator is paused, by its Lease or the setting paused", []),
  paused: gauge("op_paused_objects", "Number of objects that are paused by an annotation", CONTROLLER),
  events: counter("op_events_total", "Number of Kubernetes Events, by result", ["result"]),
  webhookRequests: counter("controller_runtime_webhook_requests_total", "Number of webhook calls, by status", [
    "webhook",
    "code",
  ]),
  webhookSeconds: histogram(
    "controller_runtime_webhook_latency_seconds",
    "Duration of webhook calls",
    WEBHOOK,
    WEBHOOK_SECONDS,
  ),
  webhooksInFlight: gauge("controller_runtime_webhook_requests_in_flight", "Number of running webhook calls", WEBHOOK),
  webhookPanics: counter(
    "controller_runtime_webhook_panics_total",
    "Number of webhook calls whose function failed",
    WEBHOOK,
  ),
  conversionPanics: counter(
    "controller_runtime_conversion_webhook_panics_total",
    "Number of conversions whose function failed or that have no function",
    [],
  ),
  certificateReads: counter(
    "certwatcher_read_certificate_total",
    "Number of reads of a webhook certificate from files",
    [],
  ),
  certificateReadErrors: counter(
    "certwatcher_read_certificate_errors_total",
    "Number of reads of a webhook certificate from files that failed",
    [],
  ),
  certificateExpiry: gauge("op_certificate_expiry_seconds", "Time until a webhook certificate expires", [
    "certificate",
  ]),
  certificateRotations: counter("op_certificate_rotations_total", "Number of webhook certificate rotations", []),
  strayErrors: counter("op_stray_errors_total", "Number of unhandled rejections and uncaught errors in user code", []),
  loopLag: gauge("op_event_loop_lag_seconds", "Delay of the event loop", []),
  cpu: counter("process_cpu_seconds_total", "User and system CPU time", []),
  memory: gauge("process_resident_memory_bytes", "Resident memory", []),
  started: gauge("process_start_time_seconds", "When the process started, in seconds since the epoch", []),
  heap: gauge("op_heap_used_bytes", "JavaScript heap in use", []),
} as const satisfies { readonly [name: string]: Metric };

function counter(name: string, help: string, labels: readonly string[]): Metric {
  return { name, type: "counter", help, labels };
}

function gauge(name: string, help: string, labels: readonly string[]): Metric {
  return { name, type: "gauge", help, labels };
}

function histogram(name: string, help: string, labels: readonly string[], buckets: readonly number[]): Metric {
  return { name, type: "histogram", help, labels, buckets };
}
