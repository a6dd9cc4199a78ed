/** What runs an operator in a cluster: its namespace, settings, Deployment, Service, and what guards them. */
import { CONFIG_FOLDER, MEMORY_LIMIT, WEBHOOK_FOLDER } from "../base/pod.ts";
import type { Install } from "./install.ts";
import { certificateSecret } from "./webhooks.ts";
import { labelsOf, type Manifest } from "./manifest.ts";

/** What of an operator decides how its pod looks. */
export interface Workload {
  readonly name: string;
  readonly version: string;
  readonly health: { readonly hostname: string; readonly port: number } | undefined;
  /** Where metrics are served, which may be where health is; absent when they are not. */
  readonly metrics?: { readonly port: number; readonly guarded?: boolean } | undefined;
  /** Where webhooks are served; absent when there are none. */
  readonly webhooks?: { readonly port: number } | undefined;
  /** Milliseconds that runs may go on after it is told to stop. */
  readonly gracefulShutdownTimeout: number;
  /** Whether its processes agree on the one that works. Without that there must never be two. */
  readonly isElected: boolean;
  /** What it is told: the table `[operator]` of a file, as TOML. @default {nothing} */
  readonly settings?: string;
}

/** The user that distroless images call nonroot. */
const NONROOT = 65532;

/** Between the end of the runs and the kill: the lease is given back, logs are written. */
const GRACE_SECONDS = 5;

/**
 * The objects that run an operator. The pod meets the Pod Security Standard "restricted", and the namespace enforces it.
 *
 * @param workload The operator.
 * @param install Where and how it is installed.
 */
export function workloadManifests(workload: Workload, install: Install): Manifest[] {
  return [
    namespaceOf(workload, install),
    configMap(workload, install),
    deploymentOf(workload, install),
    ...(workload.metrics === undefined ? [] : [metricsService(workload, workload.metrics.port, install)]),
    disruptionBudget(workload, install),
  ];
}

/** The namespace, which takes no pod that is less restricted than the operator's own. */
function namespaceOf({ name }: Workload, { namespace }: Install): Manifest {
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: namespace,
      labels: { ...labelsOf(name), "pod-security.kubernetes.io/enforce": "restricted" },
    },
  };
}

/** The file's name in the ConfigMap, and in the folder where that is mounted. */
const CONFIG_FILE = "operator.toml";

/** Always there, so that an overlay or `kubectl edit` can say something. The operator reads it again when it changes. */
function configMap({ name, settings = "" }: Workload, { namespace }: Install): Manifest {
  const text = settings === "" ? "# Nothing is said here: the operator does as its code has it.\n" : settings;
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: `${name}-config`, namespace, labels: labelsOf(name) },
    data: { [CONFIG_FILE]: text },
  };
}

function deploymentOf(workload: Workload, { namespace, image, watchNamespaces, certificates }: Install): Manifest {
  const { name, version, health, metrics, webhooks, gracefulShutdownTimeout, isElected } = workload;
  const isMounted = webhooks !== undefined && certificates !== "self";
  const args = [
    "start",
    ...(watchNamespaces ?? []).map((watch) => `--namespace=${watch}`),
    ...(isMounted
      ? [`--webhook-certificate=${WEBHOOK_FOLDER}/tls.crt`, `--webhook-key=${WEBHOOK_FOLDER}/tls.key`]
      : []),
  ];
  const probe = (path: string) => ({ httpGet: { path, port: "health" } });
  const ports = [
    ...(health === undefined ? [] : [{ name: "health", containerPort: health.port, protocol: "TCP" }]),
    ...(metrics === undefined || metrics.port === health?.port
      ? []
      : [{ name: "metrics", containerPort: metrics.port, protocol: "TCP" }]),
    ...(webhooks === undefined ? [] : [{ name: "webhook", containerPort: webhooks.port, protocol: "TCP" }]),
  ];
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels: { ...labelsOf(name), "app.kubernetes.io/version": labelValue(version) } },
    spec: {
      replicas: 1,
      // Without an election the old process must be gone before the new one works.
      strategy: isElected
        ? { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }
        : { type: "Recreate" },
      selector: { matchLabels: labelsOf(name) },
      template: {
        metadata: {
          labels: labelsOf(name),
          annotations: {
            "kubectl.kubernetes.io/default-container": "operator",
            // Another text makes new pods, for which it counts from the start.
            [`${name}/settings`]: digest(workload.settings ?? ""),
          },
        },
        spec: {
          serviceAccountName: name,
          automountServiceAccountToken: true,
          // Nothing but the API server is found by variables.
          enableServiceLinks: false,
          terminationGracePeriodSeconds: Math.ceil(gracefulShutdownTimeout / 1000) + GRACE_SECONDS,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: NONROOT,
            runAsGroup: NONROOT,
            seccompProfile: { type: "RuntimeDefault" },
          },
          containers: [{
            name: "operator",
            image,
            imagePullPolicy: "IfNotPresent",
            args,
            env: [
              { name: "OP_CONFIG", value: `${CONFIG_FOLDER}/${CONFIG_FILE}` },
              // A patch of the limit changes what reviews may take as well.
              ...(webhooks === undefined ? [] : [{
                name: MEMORY_LIMIT,
                valueFrom: { resourceFieldRef: { containerName: "operator", resource: "limits.memory", divisor: "0" } },
              }]),
            ],
            ...(ports.length === 0 ? {} : { ports }),
            ...(health === undefined ? {} : {
              livenessProbe: { ...probe("/livez"), periodSeconds: 20, failureThreshold: 3 },
              readinessProbe: { ...probe("/readyz"), periodSeconds: 10 },
            }),
            // An idle one takes about 60 MB. No limit of CPU: a throttled leader loses its lease.
            resources: { requests: { cpu: "10m", memory: "96Mi" }, limits: { memory: "256Mi" } },
            securityContext: {
              allowPrivilegeEscalation: false,
              capabilities: { drop: ["ALL"] },
              readOnlyRootFilesystem: true,
            },
            volumeMounts: [
              { name: "config", mountPath: CONFIG_FOLDER, readOnly: true },
              ...(isMounted ? [{ name: "webhook-certificate", mountPath: WEBHOOK_FOLDER, readOnly: true }] : []),
            ],
          }],
          volumes: [
            { name: "config", configMap: { name: `${name}-config` } },
            ...(isMounted ? [{ name: "webhook-certificate", secret: { secretName: certificateSecret(name) } }] : []),
          ],
        },
      },
    },
  };
}

function metricsService({ name, health }: Workload, port: number, { namespace }: Install): Manifest {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: `${name}-metrics`, namespace, labels: labelsOf(name) },
    spec: {
      selector: labelsOf(name),
      ports: [{ name: "metrics", port, targetPort: port === health?.port ? "health" : "metrics", protocol: "TCP" }],
    },
  };
}

/** One may go at a time: with one replica a node can still be drained, with more the others stay. */
function disruptionBudget({ name }: Workload, { namespace }: Install): Manifest {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: { maxUnavailable: 1, selector: { matchLabels: labelsOf(name) } },
  };
}

/**
 * Who may reach the pod: for metrics, namespaces with the label `metrics: enabled`; for webhooks, everybody; otherwise nobody. The node's own probes always may. What it reaches
 * itself is decided by the permissions in the executable, by name and not by address.
 *
 * @param workload The operator.
 * @param install Where and how it is installed.
 */
export function networkPolicy({ name, metrics, webhooks }: Workload, { namespace }: Install): Manifest {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: {
      podSelector: { matchLabels: labelsOf(name) },
      policyTypes: ["Ingress"],
      // No list lets nobody in. An empty one does as well, but a server stores none, and each apply would look like a change.
      ...(metrics === undefined && webhooks === undefined ? {} : {
        ingress: [
          ...(metrics === undefined ? [] : [{
            from: [{ namespaceSelector: { matchLabels: { metrics: "enabled" } } }],
            ports: [{ port: metrics.port, protocol: "TCP" }],
          }]),
          // The API server is no pod, and where it is is not known.
          ...(webhooks === undefined ? [] : [{ ports: [{ port: webhooks.port, protocol: "TCP" }] }]),
        ],
      }),
    },
  };
}

/** What counts while the operator runs makes no new pods. */
const COUNTS_AT_ONCE = /^(log_level|paused) *=.*$/gm;

/** Tells one text of settings from another (FNV-1a). */
function digest(settings: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(settings.replace(COUNTS_AT_ONCE, ""))) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash.toString(16).padStart(8, "0");
}

/** A version as the value of a label: build metadata of a semantic version has a plus sign, which labels may not have. */
function labelValue(version: string): string {
  return version.replace(/[^A-Za-z0-9._-]/g, "_").slice(0, 63).replace(/[^A-Za-z0-9]+$/, "");
}
