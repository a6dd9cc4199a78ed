/** Workloads with statuses in the form in which controllers write them. */

const LONG_AGO = "2020-05-05T05:05:05Z";

/** Objects of a kind. */
export interface ExampleObjects {
  /** Group and version; `v1` for the core group. */
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly isClusterWide?: boolean;
  /** Objects without the fields that all of them have. `status` is written separately. */
  readonly objects: readonly Record<string, unknown>[];
}

const container = { name: "a", image: "x" };
const pod = { spec: { containers: [container, { name: "b", image: "y:1" }] } };
const template = { metadata: { labels: { app: "d" } }, spec: pod.spec };
export const selector = {
  matchLabels: { app: "d" },
};
export const SELECTIVE = {
  matchLabels: { z: "1", app: "d" },
  matchExpressions: [
    { key: "tier", operator: "In", values: ["b", "a"] },
    { key: "old", operator: "DoesNotExist" },
    { key: "env", operator: "NotIn", values: ["x"] },
    { key: "new", operator: "Exists" },
  ],
};
const containerStatus = (name: string, rest: Record<string, unknown>) => ({
  name,
  image: "x",
  imageID: "",
  ready: false,
  restartCount: 0,
  ...rest,
});
const ended = (rest: Record<string, unknown>) => ({ terminated: { exitCode: 0, ...rest } });

/** Objects by their name in reports. */
export const EXAMPLE_WORKLOADS: Readonly<Record<string, ExampleObjects>> = {
  "pods that run, wait and end": {
    version: "v1",
    kind: "Pod",
    plural: "pods",
    objects: [
      pod,
      {
        ...pod,
        status: {
          phase: "Running",
          podIP: "10.1.1.1",
          podIPs: [{ ip: "10.1.1.1" }],
          conditions: [{ type: "Ready", status: "True" }],
          containerStatuses: [
            containerStatus("a", { ready: true, state: { running: { startedAt: LONG_AGO } } }),
            containerStatus("b", { restartCount: 3, state: { waiting: { reason: "CrashLoopBackOff" } } }),
          ],
        },
      },
      { ...pod, status: { phase: "Succeeded" } },
      { ...pod, status: { phase: "Failed", reason: "Evicted" } },
    ],
  },
  "pods whose containers restarted and ended": {
    version: "v1",
    kind: "Pod",
    plural: "pods",
    objects: [
      {
        ...pod,
        status: {
          phase: "Running",
          containerStatuses: [
            containerStatus("a", {
              restartCount: 2,
              state: ended({ exitCode: 3 }),
              lastState: ended({ exitCode: 1, finishedAt: LONG_AGO }),
            }),
            containerStatus("b", { state: ended({ reason: "Completed" }) }),
          ],
        },
      },
      {
        ...pod,
        status: {
          phase: "Running",
          conditions: [{ type: "Ready", status: "True" }],
          containerStatuses: [
            containerStatus("a", { state: ended({ reason: "Completed" }) }),
            containerStatus("b", { ready: true, state: { running: {} } }),
          ],
        },
      },
      {
        ...pod,
        status: {
          phase: "Running",
          containerStatuses: [
            containerStatus("a", { state: ended({ reason: "Completed" }) }),
            containerStatus("b", { ready: true, state: { running: {} } }),
          ],
        },
      },
      {
        ...pod,
        status: { phase: "Running", containerStatuses: [containerStatus("a", { state: ended({ signal: 9 }) })] },
      },
    ],
  },
  "pods that are initializing": {
    version: "v1",
    kind: "Pod",
    plural: "pods",
    objects: [
      { state: { running: {} } },
      { state: { waiting: { reason: "PodInitializing" } } },
      { state: { waiting: { reason: "ImagePullBackOff" } } },
      { state: ended({ exitCode: 2 }) },
      { state: ended({ exitCode: 2, signal: 11 }) },
      { state: ended({ exitCode: 1, reason: "Error" }), restartCount: 4 },
      { state: ended({}) },
    ].map((status) => ({
      spec: { ...pod.spec, initContainers: [{ name: "i", image: "x" }, { name: "j", image: "y" }] },
      status: { phase: "Pending", initContainerStatuses: [containerStatus("i", status)] },
    })),
  },
  "pods with sidecars and gates": {
    version: "v1",
    kind: "Pod",
    plural: "pods",
    objects: [
      {
        spec: {
          ...pod.spec,
          nodeName: "n1",
          initContainers: [{ name: "side", image: "x", restartPolicy: "Always" }],
          readinessGates: [{ conditionType: "example.com/a" }, { conditionType: "example.com/b" }],
        },
        status: {
          phase: "Running",
          conditions: [{ type: "example.com/a", status: "True" }],
          initContainerStatuses: [
            containerStatus("side", { ready: true, started: true, restartCount: 1, state: { running: {} } }),
          ],
          containerStatuses: [containerStatus("a", { ready: true, state: { running: {} } })],
        },
      },
      {
        spec: { ...pod.spec, schedulingGates: [{ name: "example.com/g" }] },
        status: {
          phase: "Pending",
          conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }],
        },
      },
    ],
  },
  "deployments": {
    version: "apps/v1",
    kind: "Deployment",
    plural: "deployments",
    objects: [
      { spec: { replicas: 3, selector, template } },
      {
        spec: { selector, template },
        status: { replicas: 2, readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 },
      },
      {
        spec: {
          selector: SELECTIVE,
          template: { ...template, metadata: { labels: { app: "d", z: "1", tier: "a", new: "" } } },
        },
      },
    ],
  },
  "replica sets": {
    version: "apps/v1",
    kind: "ReplicaSet",
    plural: "replicasets",
    objects: [{ spec: { replicas: 2, selector, template }, status: { replicas: 2, readyReplicas: 1 } }],
  },
  "stateful sets": {
    version: "apps/v1",
    kind: "StatefulSet",
    plural: "statefulsets",
    objects: [{
      spec: { serviceName: "s", replicas: 2, selector, template },
      status: { replicas: 2, readyReplicas: 1 },
    }],
  },
  "replication controllers": {
    version: "v1",
    kind: "ReplicationController",
    plural: "replicationcontrollers",
    objects: [{ spec: { replicas: 2, selector: { app: "d" }, template } }],
  },
  "pod templates": { version: "v1", kind: "PodTemplate", plural: "podtemplates", objects: [{ template }] },
  "controller revisions": {
    version: "apps/v1",
    kind: "ControllerRevision",
    plural: "controllerrevisions",
    objects: [{ revision: 3, data: { a: 1 } }],
  },
  "jobs": {
    version: "batch/v1",
    kind: "Job",
    plural: "jobs",
    objects: [
      { spec: { template: { spec: { ...pod.spec, restartPolicy: "Never" } } } },
      { spec: { completions: 3, parallelism: 2, template: { spec: { ...pod.spec, restartPolicy: "Never" } } } },
      { spec: { suspend: true, template: { spec: { ...pod.spec, restartPolicy: "Never" } } } },
    ],
  },
  "cron jobs": {
    version: "batch/v1",
    kind: "CronJob",
    plural: "cronjobs",
    objects: [
      { spec: { schedule: "* * * * *" } },
      { spec: { schedule: "@daily", suspend: true, timeZone: "Etc/UTC" }, status: { lastScheduleTime: LONG_AGO } },
    ].map(({ spec, ...rest }) => ({
      spec: { ...spec, jobTemplate: { spec: { template: { spec: { ...pod.spec, restartPolicy: "Never" } } } } },
      ...rest,
    })),
  },
};
