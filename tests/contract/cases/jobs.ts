import { area } from "../contract.ts";
import type { Recorder } from "../recorder.ts";

const path = ({ namespace }: Recorder, rest = "") => `/apis/batch/v1/namespaces/${namespace}/jobs${rest}`;

const job = (
  name: string,
  { labels, ...spec }: { labels?: object } & Record<string, unknown> = {},
  metadata: object = {},
) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name, ...metadata },
  spec: {
    template: {
      ...labels !== undefined && { metadata: { labels } },
      spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] },
    },
    ...spec,
  },
});

/** Jobs: selectors, labels and mutable fields. */
export const jobs = area("jobs", {
  "labels of a job default to those of its pods": async (api) => {
    await api.post(path(api), job("a", { labels: { app: "a" } }));
    await api.post(path(api), job("b", { labels: { app: "b" } }, { labels: { own: "1" } }));
    await api.post(path(api), job("c"));
    await api.get(path(api, "?labelSelector=app%3Da"));
  },
  "a job with manualSelector": async (api) => {
    const selector = { matchLabels: { app: "a" } };
    await api.post(path(api), job("a", { labels: { app: "a" }, manualSelector: true, selector }));
    await api.post(path(api), job("b", { labels: { app: "b" }, manualSelector: true, selector }));
    await api.post(path(api), job("c", { manualSelector: true }));
    await api.post(path(api), job("d", { labels: { app: "a" }, selector }));
    await api.post(path(api), job("e", { labels: { "job-name": "other" } }));
  },
  "mutable fields of a job": async (api) => {
    await api.post(path(api), job("a", { parallelism: 2, completions: 3 }));
    const change = (spec: object) => api.merge(path(api, "/a"), { spec });
    await change({ parallelism: 4, suspend: true });
    await change({ completions: 5 });
    await change({ selector: { matchLabels: { x: "y" } } });
    await change({ completionMode: "Indexed" });
    await change({ backoffLimit: 1, activeDeadlineSeconds: 10, ttlSecondsAfterFinished: 5 });
    await change({ parallelism: -1 });
  },
  "the template of a job is immutable": async (api) => {
    await api.post(path(api), job("a"));
    await api.merge(path(api, "/a"), { spec: { template: { spec: { restartPolicy: "OnFailure" } } } });
  },
  "node selectors of a suspended job are mutable": async (api) => {
    await api.post(path(api), job("a", { suspend: true }));
    const change = (spec: object) => api.merge(path(api, "/a"), { spec: { template: { spec } } });
    await change({ nodeSelector: { disk: "ssd" } });
    await change({ tolerations: [{ key: "mine", operator: "Exists" }] });
    await api.merge(path(api, "/a"), { spec: { suspend: false } });
  },
  "required fields of a job": async (api) => {
    await api.post(path(api), job("a", { completions: -1, backoffLimit: -1 }));
    await api.post(path(api), { ...job("a"), spec: { template: { spec: { containers: [] } } } });
    await api.post(path(api), job("a", { completionMode: "Indexed" }));
    await api.post(
      path(api),
      job("a", {
        template: { spec: { containers: [{ name: "main", image: "busybox" }] } },
      }),
    );
  },
  "required fields of a cron job": async (api) => {
    const cronJobs = `/apis/batch/v1/namespaces/${api.namespace}/cronjobs`;
    const post = (spec: object, template: object = {}) =>
      api.post(cronJobs, {
        apiVersion: "batch/v1",
        kind: "CronJob",
        metadata: { name: "a" },
        spec: { schedule: "0 * * * *", jobTemplate: { spec: { ...job("a").spec, ...template } }, ...spec },
      });
    await post({ schedule: "" });
    await post({ concurrencyPolicy: "Odd", startingDeadlineSeconds: -1, failedJobsHistoryLimit: -1 });
    await post({}, { template: { spec: { containers: [{ name: "main" }] } } });
    await post({});
  },
  "a finished job": async (api) => {
    await api.post(path(api), job("a"));
    const time = "2026-01-01T00:00:00Z";
    const condition = (type: string) => ({ type, status: "True", lastProbeTime: time, lastTransitionTime: time });
    await api.merge(path(api, "/a/status"), { status: { startTime: time, ready: 0, active: 1 } });
    await api.merge(path(api, "/a/status"), {
      status: {
        active: 0,
        succeeded: 1,
        completionTime: time,
        uncountedTerminatedPods: {},
        conditions: [condition("SuccessCriteriaMet"), condition("Complete")],
      },
    });
    await api.get(path(api, "/a"));
  },
});
