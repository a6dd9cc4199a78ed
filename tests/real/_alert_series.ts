/**
 * Series that raise each alert, and a healthy operator that raises none. Series are in promtool's
 * notation, one value a minute.
 */

/** Series with their values. */
export type Series = Readonly<Record<string, string>>;

const OF = 'app_kubernetes_io_name="shop"';
const NOTES = `${OF},controller="notes"`;

/** The series of a healthy operator, for an hour. */
export const WELL: Series = {
  [`op_event_loop_lag_seconds{${OF}}`]: "0.001x60",
  [`controller_runtime_reconcile_total{${NOTES},result="success"}`]: "0+60x60",
  [`controller_runtime_reconcile_total{${NOTES},result="error"}`]: "0+1x60",
  [`controller_runtime_reconcile_errors_total{${NOTES}}`]: "0+1x60",
  [`controller_runtime_reconcile_panics_total{${NOTES}}`]: "0x60",
  [`op_hot_loops{${NOTES}}`]: "0x60",
  [`workqueue_longest_running_processor_seconds{${NOTES},name="notes"}`]: "20x60",
  [`workqueue_queue_duration_seconds_bucket{${NOTES},le="1"}`]: "0+60x60",
  [`workqueue_queue_duration_seconds_bucket{${NOTES},le="1000"}`]: "0+60x60",
  [`workqueue_queue_duration_seconds_bucket{${NOTES},le="+Inf"}`]: "0+60x60",
  [`op_controller_missing_rbac{${NOTES}}`]: "0x60",
  [`op_watch_staleness_seconds{${OF},kind="Note"}`]: "60x60",
  [`leader_election_master_status{${OF},pod="a"}`]: "1x60",
  [`leader_election_master_status{${OF},pod="b"}`]: "0x60",
  [`rest_client_requests_total{${OF},code="200"}`]: "0+60x60",
  [`rest_client_requests_total{${OF},code="500"}`]: "0+1x60",
  [`op_stray_errors_total{${OF}}`]: "0x60",
  [`controller_runtime_webhook_requests_total{${OF},webhook="/v",code="200"}`]: "0+60x60",
  [`controller_runtime_webhook_requests_total{${OF},webhook="/v",code="500"}`]: "0+1x60",
  [`controller_runtime_webhook_latency_seconds_bucket{${OF},webhook="/v",le="0.1"}`]: "0+60x60",
  [`controller_runtime_webhook_latency_seconds_bucket{${OF},webhook="/v",le="+Inf"}`]: "0+60x60",
  [`op_certificate_expiry_seconds{${OF},certificate="server"}`]: "2592000-60x60",
};

/** Changes that raise an alert within the hour; a series without values is absent. */
export const ALARMING: Readonly<Record<string, Series>> = {
  OperatorDown: { [`op_event_loop_lag_seconds{${OF}}`]: "" },
  OperatorReconcilesFail: { [`controller_runtime_reconcile_errors_total{${NOTES}}`]: "0+10x60" },
  OperatorReconcilePanics: { [`controller_runtime_reconcile_panics_total{${NOTES}}`]: "0x50 1x10" },
  OperatorHotLoop: {
    [`op_hot_loops{${NOTES},kind="ConfigMap",field=".data.x",manager="shop.notes",other_manager="kubectl-edit"}`]:
      "_x30 1x30",
  },
  OperatorReconcileTakesLong: { [`workqueue_longest_running_processor_seconds{${NOTES},name="notes"}`]: "0+60x60" },
  OperatorObjectsWait: { [`workqueue_queue_duration_seconds_bucket{${NOTES},le="1"}`]: "0+6x60" },
  OperatorLacksRbacPermission: { [`op_controller_missing_rbac{${NOTES}}`]: "1x60" },
  OperatorWatchStale: { [`op_watch_staleness_seconds{${OF},kind="Note"}`]: "0+60x60" },
  OperatorWithoutLeader: { [`leader_election_master_status{${OF},pod="a"}`]: "0x60" },
  OperatorWithTwoLeaders: { [`leader_election_master_status{${OF},pod="b"}`]: "1x60" },
  OperatorApiServerFails: { [`rest_client_requests_total{${OF},code="500"}`]: "0+20x60" },
  OperatorStrayErrors: { [`op_stray_errors_total{${OF}}`]: "0x50 1x10" },
  OperatorEventLoopLate: { [`op_event_loop_lag_seconds{${OF}}`]: "3x60" },
  OperatorWebhookFails: {
    [`controller_runtime_webhook_requests_total{${OF},webhook="/v",code="500"}`]: "0+20x60",
  },
  OperatorWebhookSlow: {
    [`controller_runtime_webhook_latency_seconds_bucket{${OF},webhook="/v",le="0.1"}`]: "0+20x60",
    [`controller_runtime_webhook_latency_seconds_bucket{${OF},webhook="/v",le="10"}`]: "0+60x60",
  },
  OperatorCertificateExpires: { [`op_certificate_expiry_seconds{${OF},certificate="server"}`]: "86400-60x60" },
};
