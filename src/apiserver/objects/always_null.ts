/**
 * Fields that a server writes as null if they are not set: times in Go's types that are not
 * pointers (`types.go` of `k8s.io/api`), by the last three parts of the definition's name.
 */

const TRANSITION = ["lastTransitionTime"];
const UPDATE = ["lastUpdateTime", "lastTransitionTime"];
const PROBE = ["lastProbeTime", "lastTransitionTime"];

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  "apps.v1.DaemonSetCondition": TRANSITION,
  "apps.v1.DeploymentCondition": UPDATE,
  "apps.v1.ReplicaSetCondition": TRANSITION,
  "apps.v1.StatefulSetCondition": TRANSITION,
  "autoscaling.v2.HorizontalPodAutoscalerCondition": TRANSITION,
  "batch.v1.JobCondition": PROBE,
  "certificates.v1.CertificateSigningRequestCondition": UPDATE,
  "core.v1.ContainerStateRunning": ["startedAt"],
  "core.v1.ContainerStateTerminated": ["startedAt", "finishedAt"],
  "core.v1.EventSeries": ["lastObservedTime"],
  "core.v1.NamespaceCondition": TRANSITION,
  "core.v1.NodeCondition": ["lastHeartbeatTime", "lastTransitionTime"],
  "core.v1.PersistentVolumeClaimCondition": PROBE,
  "core.v1.PodCondition": PROBE,
  "core.v1.ReplicationControllerCondition": TRANSITION,
  "events.v1.EventSeries": ["lastObservedTime"],
  "flowcontrol.v1.FlowSchemaCondition": TRANSITION,
  "flowcontrol.v1.PriorityLevelConfigurationCondition": TRANSITION,
  "meta.v1.Condition": TRANSITION,
  "apiextensions.v1.CustomResourceDefinitionCondition": TRANSITION,
  "apiregistration.v1.APIServiceCondition": TRANSITION,
  "storage.v1.VolumeError": ["time"],
};

/**
 * Returns the fields of a definition that are null if they are not set.
 *
 * @param definition Name of the definition, such as `io.k8s.api.core.v1.PodCondition`.
 */
export function alwaysNull(definition: string | undefined): readonly string[] {
  if (definition === undefined) return NONE;
  return FIELDS[definition.split(".").slice(-3).join(".")] ?? NONE;
}

const NONE: readonly string[] = [];
