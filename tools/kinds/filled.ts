/**
 * The properties that a kube-apiserver always sets when they are omitted. They are not in the
 * OpenAPI documents, but in functions named `SetDefaults_*`
 * (`pkg/apis/<group>/<version>/defaults.go` of Kubernetes 1.36; apiextensions has its own).
 * Properties that the server sets only under conditions are not listed.
 */
export const FILLED: { readonly [type: string]: readonly string[] } = {
  "io.k8s.api.admissionregistration.v1.MutatingWebhook": [
    "failurePolicy",
    "matchPolicy",
    "namespaceSelector",
    "objectSelector",
    "reinvocationPolicy",
    "timeoutSeconds",
  ],
  "io.k8s.api.admissionregistration.v1.ValidatingWebhook": [
    "failurePolicy",
    "matchPolicy",
    "namespaceSelector",
    "objectSelector",
    "timeoutSeconds",
  ],
  "io.k8s.api.admissionregistration.v1.RuleWithOperations": ["scope"],
  "io.k8s.api.apps.v1.DaemonSetSpec": ["revisionHistoryLimit", "updateStrategy"],
  "io.k8s.api.apps.v1.DaemonSetUpdateStrategy": ["type"],
  "io.k8s.api.apps.v1.DeploymentSpec": ["progressDeadlineSeconds", "replicas", "revisionHistoryLimit", "strategy"],
  "io.k8s.api.apps.v1.DeploymentStrategy": ["type"],
  "io.k8s.api.apps.v1.ReplicaSetSpec": ["replicas"],
  "io.k8s.api.apps.v1.StatefulSetSpec": [
    "persistentVolumeClaimRetentionPolicy",
    "podManagementPolicy",
    "replicas",
    "revisionHistoryLimit",
    "updateStrategy",
  ],
  "io.k8s.api.apps.v1.StatefulSetUpdateStrategy": ["type"],
  "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec": ["minReplicas"],
  "io.k8s.api.batch.v1.CronJobSpec": [
    "concurrencyPolicy",
    "failedJobsHistoryLimit",
    "successfulJobsHistoryLimit",
    "suspend",
  ],
  "io.k8s.api.batch.v1.JobSpec": ["backoffLimit", "completionMode", "parallelism", "podReplacementPolicy", "suspend"],
  "io.k8s.api.core.v1.ConfigMapVolumeSource": ["defaultMode"],
  "io.k8s.api.core.v1.Container": [
    "imagePullPolicy",
    "resources",
    "terminationMessagePath",
    "terminationMessagePolicy",
  ],
  "io.k8s.api.core.v1.DownwardAPIVolumeSource": ["defaultMode"],
  "io.k8s.api.core.v1.HTTPGetAction": ["path", "scheme"],
  "io.k8s.api.core.v1.PersistentVolumeClaimSpec": ["volumeMode"],
  "io.k8s.api.core.v1.PersistentVolumeSpec": ["persistentVolumeReclaimPolicy", "volumeMode"],
  "io.k8s.api.core.v1.PodSpec": [
    "dnsPolicy",
    "restartPolicy",
    "schedulerName",
    "securityContext",
    "terminationGracePeriodSeconds",
  ],
  "io.k8s.api.core.v1.Probe": ["failureThreshold", "periodSeconds", "successThreshold", "timeoutSeconds"],
  "io.k8s.api.core.v1.ProjectedVolumeSource": ["defaultMode"],
  "io.k8s.api.core.v1.Secret": ["type"],
  "io.k8s.api.core.v1.SecretVolumeSource": ["defaultMode"],
  "io.k8s.api.core.v1.ServicePort": ["protocol", "targetPort"],
  "io.k8s.api.core.v1.ServiceSpec": ["sessionAffinity", "type"],
  "io.k8s.api.networking.v1.NetworkPolicyPort": ["protocol"],
  "io.k8s.api.networking.v1.NetworkPolicySpec": ["policyTypes"],
  "io.k8s.api.storage.v1.StorageClass": ["reclaimPolicy", "volumeBindingMode"],
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames": ["listKind", "singular"],
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec": ["conversion"],
};
