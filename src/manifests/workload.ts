/**
 * The workload of an operator in a cluster: namespace, settings, Deployment, Service, disruption
 * budget and network policy.
 */
import { CONFIG_FOLDER, MEMORY_LIMIT, WEBHOOK_FOLDER } from "../base/pod.ts";
import type { Install } from "./install.ts";
import { certificateSecret } from "./webhooks.ts";
import { labelsOf, type Manifest } from "./manifest.ts";

/** The options of an operator that determine its pod. */
export interface Workload {
  readonly name: string;
  readonly version: string;
  readonly health: { readonly hostname: string; readonly port: number } | undefined;
  /** Where metrics are served, possibly on the port of health. Absent if they are not served. */
  readonly metrics?: { readonly port: number; readonly authorization?: boolean } | undefined;
  /** Where webhooks are served. Absent without webhooks. */
  readonly webhooks?: { readonly port: number } | undefined;
  /** How long running reconciles may take to finish when the operator stops, in milliseconds. */
  readonly gracefulShutdownTimeout: number;
  /** Whether the processes elect a leader. Without an election, two must never run at once. */
  readonly isElected: boolean;
  /** The table `[operator]` of the file, as TOML. @default {""} */
  readonly settings?: string;
}

/** The ID of the user `nonroot` in distroless images. */
const NONROOT = 65532;

/**
 * The time between the deadline of reconciles and SIGKILL, in which the Lease is released and logs
 * are written.
 */
const GRACE_SECONDS = 5;

/**
 * Returns the objects that run an operator. The pod meets the Pod Security Standard "restricted",
 * and the namespace enforces it.
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

/** Returns the namespace. It rejects pods that do not meet the standard "restricted". */
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

/** The name of the file in the ConfigMap, and in the folder where it is mounted. */
const CONFIG_FILE = "operator.toml";

/**
 * Returns the ConfigMap, which always exists, so that overlays and `kubectl edit` can change it.
 * The operator reads it again when it changes.
 */
function configMap({ name, settings = "" }: Workload, { namespace }: Install): Manifest {
  const text = settings === "" ? "# No settings: the operator uses the options in its code.\n" : settings;
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
      // Without an election, the old process must exit before the new one starts.
      strategy: isElected
        ? { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }
        : { type: "Recreate" },
      selector: { matchLabels: labelsOf(name) },
      template: {
        metadata: {
          labels: labelsOf(name),
          annotations: {
            "kubectl.kubernetes.io/default-container": "operator",
            // A change of settings that only apply at startup creates new pods.
            [`${name}/settings`]: digest(workload.settings ?? ""),
          },
        },
        spec: {
          serviceAccountName: name,
          automountServiceAccountToken: true,
          // The pod needs no variables of Services: the operator only calls the API server.
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
              // A patch of the limit also changes the budget of reviews.
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
            // An idle operator uses about 60 MB. There is no CPU limit, because a throttled leader
            // loses its Lease.
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

/**
 * Returns the disruption budget. It allows one eviction at a time: a node with the only
 * replica can still be drained, and of several replicas all but one keep running.
 */
function disruptionBudget({ name }: Workload, { namespace }: Install): Manifest {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: { maxUnavailable: 1, selector: { matchLabels: labelsOf(name) } },
  };
}

/**
 * Returns the network policy. Pods in namespaces with the label `metrics: enabled` may reach the
 * metrics, and any client may reach the webhooks. All other incoming traffic is denied, except
 * probes of the node. The sandbox permissions of the executable limit outgoing connections, by name
 * and not by address.
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
      // An omitted list denies all traffic. An empty list does too, but the API server does not
      // store it, so each apply would look like a change.
      ...(metrics === undefined && webhooks === undefined ? {} : {
        ingress: [
          ...(metrics === undefined ? [] : [{
            from: [{ namespaceSelector: { matchLabels: { metrics: "enabled" } } }],
            ports: [{ port: metrics.port, protocol: "TCP" }],
          }]),
          // The API server is not a pod, and its address is unknown.
          ...(webhooks === undefined ? [] : [{ ports: [{ port: webhooks.port, protocol: "TCP" }] }]),
        ],
      }),
    },
  };
}

/** Settings that the operator reloads while it runs, so a change creates no new pods. */
const RELOADED_SETTINGS = /^(log_level|paused) *=.*$/gm;

/** Returns a hash of the settings (FNV-1a). */
function digest(settings: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(settings.replace(RELOADED_SETTINGS, ""))) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash.toString(16).padStart(8, "0");
}

/**
 * Returns a version as a label value: build metadata of a semantic version starts with a plus sign,
 * which labels may not contain.
 */
function labelValue(version: string): string {
  return version.replace(/[^A-Za-z0-9._-]/g, "_").slice(0, 63).replace(/[^A-Za-z0-9]+$/, "");
}
