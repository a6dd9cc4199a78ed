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
  reconciles: counter("controller_runtime_reconcile_total", "Runs of a controller, by how they ended", [
    "controller",
    "result",
  ]),
  errors: counter("controller_runtime_reconcile_errors_total", "Runs that ended with an error", CONTROLLER),
  terminalErrors: counter(
    "controller_runtime_terminal_reconcile_errors_total",
    "Runs that ended with an error that only a change can mend",
    CONTROLLER,
  ),
  panics: counter(
    "controller_runtime_reconcile_panics_total",
    "Runs that ended with an error of the language: a mistake of the code",
    CONTROLLER,
  ),
  timeouts: counter("controller_runtime_reconcile_timeouts_total", "Runs that took longer than they may", CONTROLLER),
  runSeconds: histogram(
    "controller_runtime_reconcile_time_seconds",
    "How long runs took",
    CONTROLLER,
    RECONCILE_SECONDS,
  ),
  concurrency: gauge("controller_runtime_max_concurrent_reconciles", "How many runs may go on at once", CONTROLLER),
  active: gauge("controller_runtime_active_workers", "How many runs go on", CONTROLLER),
  depth: gauge("workqueue_depth", "Objects that are due", [...QUEUE, "priority"]),
  adds: counter("workqueue_adds_total", "How often an object became due", QUEUE),
  retries: counter("workqueue_retries_total", "How often an object was to be tried again", QUEUE),
  queueSeconds: histogram(
    "workqueue_queue_duration_seconds",
    "How long objects were due before a run",
    QUEUE,
    QUEUE_SECONDS,
  ),
  workSeconds: histogram("workqueue_work_duration_seconds", "How long runs took", QUEUE, QUEUE_SECONDS),
  unfinished: gauge("workqueue_unfinished_work_seconds", "The seconds of all runs that go on, together", QUEUE),
  longest: gauge("workqueue_longest_running_processor_seconds", "For how long the longest run goes on", QUEUE),
  requests: counter("rest_client_requests_total", "Requests to the API server, by answer", ["code", "method", "host"]),
  leading: gauge("leader_election_master_status", "1 while this process leads, 0 while it stands by", ["name"]),
  slowPaths: counter("leader_election_slowpath_total", "Renewals of the lease that had to read it first", ["name"]),
  staleness: gauge("op_watch_staleness_seconds", "For how long nothing was heard of a watch", WATCH),
  restarts: counter("op_watch_restarts_total", "How often a watch broke off", WATCH),
  objects: gauge("op_cache_objects", "Objects in a live copy", WATCH),
  bytes: gauge("op_cache_bytes", "What they come to as JSON, reckoned from some of them", WATCH),
  skippedWrites: counter(
    "op_skipped_writes_total",
    "Writes that would have changed nothing and were not sent",
    CONTROLLER,
  ),
  ownEvents: counter("op_own_events_total", "Changes that a controller made itself and was not woken by", CONTROLLER),
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
  paused: gauge("op_paused_objects", "Objects that are not reconciled because they say so", CONTROLLER),
  events: counter("op_events_total", "Kubernetes Events, by what became of them", ["result"]),
  webhookRequests: counter("controller_runtime_webhook_requests_total", "Calls of webhooks, by status", [
    "webhook",
    "code",
  ]),
  webhookSeconds: histogram(
    "controller_runtime_webhook_latency_seconds",
    "How long calls of webhooks took",
    WEBHOOK,
    WEBHOOK_SECONDS,
  ),
  webhooksInFlight: gauge("controller_runtime_webhook_requests_in_flight", "Calls that are being answered", WEBHOOK),
  webhookPanics: counter("controller_runtime_webhook_panics_total", "Calls whose function failed", WEBHOOK),
  conversionPanics: counter(
    "controller_runtime_conversion_webhook_panics_total",
    "Conversions whose function failed, or to which no way leads",
    [],
  ),
  certificateReads: counter("certwatcher_read_certificate_total", "Looks at a certificate of webhooks in files", []),
  certificateReadErrors: counter(
    "certwatcher_read_certificate_errors_total",
    "Looks at a certificate of webhooks in files that found none that is good",
    [],
  ),
  certificateExpiry: gauge("op_certificate_expiry_seconds", "For how long a certificate of webhooks is still good", [
    "certificate",
  ]),
  certificateRotations: counter("op_certificate_rotations_total", "How often another certificate was taken", []),
  strayErrors: counter("op_stray_errors_total", "Rejections nobody awaited and throws nobody caught, in user code", []),
  loopLag: gauge("op_event_loop_lag_seconds", "By how much the event loop was late", []),
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
