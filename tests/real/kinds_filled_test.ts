import assert from "node:assert/strict";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { FILLED } from "../../tools/kinds/filled.ts";

const container = {
  name: "web",
  image: "nginx",
  ports: [{ containerPort: 80 }],
  livenessProbe: { httpGet: { port: 80 } },
};
const volumes = [
  { name: "a", configMap: { name: "a" } },
  { name: "b", secret: { secretName: "b" } },
  { name: "c", downwardAPI: { items: [] } },
  { name: "d", projected: { sources: [] } },
];
const template = (more: object = {}) => ({
  metadata: { labels: { app: "web" } },
  spec: { containers: [container], volumes, ...more },
});
const selector = { matchLabels: { app: "web" } };
const metadata = { name: "web" };
const webhook = {
  name: "web.example.com",
  clientConfig: { url: "https://localhost/" },
  rules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["CREATE"], resources: ["*"] }],
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
};
const API = "io.k8s.api";
const CRD = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";

/** Objects with only the required fields, and the path of each type in them. */
const SAMPLES: { url: string; body: Record<string, unknown>; types: { [type: string]: string } }[] = [
  {
    url: "/apis/apps/v1/namespaces/default/deployments",
    body: { spec: { selector, template: template() } },
    types: {
      [`${API}.apps.v1.DeploymentSpec`]: "spec",
      [`${API}.apps.v1.DeploymentStrategy`]: "spec.strategy",
      [`${API}.core.v1.PodSpec`]: "spec.template.spec",
      [`${API}.core.v1.Container`]: "spec.template.spec.containers.0",
      [`${API}.core.v1.Probe`]: "spec.template.spec.containers.0.livenessProbe",
      [`${API}.core.v1.HTTPGetAction`]: "spec.template.spec.containers.0.livenessProbe.httpGet",
      [`${API}.core.v1.ConfigMapVolumeSource`]: "spec.template.spec.volumes.0.configMap",
      [`${API}.core.v1.SecretVolumeSource`]: "spec.template.spec.volumes.1.secret",
      [`${API}.core.v1.DownwardAPIVolumeSource`]: "spec.template.spec.volumes.2.downwardAPI",
      [`${API}.core.v1.ProjectedVolumeSource`]: "spec.template.spec.volumes.3.projected",
    },
  },
  {
    url: "/apis/apps/v1/namespaces/default/statefulsets",
    body: { spec: { selector, serviceName: "web", template: template() } },
    types: {
      [`${API}.apps.v1.StatefulSetSpec`]: "spec",
      [`${API}.apps.v1.StatefulSetUpdateStrategy`]: "spec.updateStrategy",
    },
  },
  {
    url: "/apis/apps/v1/namespaces/default/daemonsets",
    body: { spec: { selector, template: template() } },
    types: {
      [`${API}.apps.v1.DaemonSetSpec`]: "spec",
      [`${API}.apps.v1.DaemonSetUpdateStrategy`]: "spec.updateStrategy",
    },
  },
  {
    url: "/apis/apps/v1/namespaces/default/replicasets",
    body: { spec: { selector, template: template() } },
    types: { [`${API}.apps.v1.ReplicaSetSpec`]: "spec" },
  },
  {
    url: "/apis/batch/v1/namespaces/default/jobs",
    body: { spec: { template: template({ restartPolicy: "Never" }) } },
    types: { [`${API}.batch.v1.JobSpec`]: "spec" },
  },
  {
    url: "/apis/batch/v1/namespaces/default/cronjobs",
    body: {
      spec: { schedule: "* * * * *", jobTemplate: { spec: { template: template({ restartPolicy: "Never" }) } } },
    },
    types: { [`${API}.batch.v1.CronJobSpec`]: "spec" },
  },
  {
    url: "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
    body: { spec: { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "web", apiVersion: "apps/v1" } } },
    types: { [`${API}.autoscaling.v2.HorizontalPodAutoscalerSpec`]: "spec" },
  },
  {
    url: "/api/v1/namespaces/default/services",
    body: { spec: { clusterIP: "None", ports: [{ port: 80 }] } },
    types: { [`${API}.core.v1.ServiceSpec`]: "spec", [`${API}.core.v1.ServicePort`]: "spec.ports.0" },
  },
  {
    url: "/api/v1/namespaces/default/services",
    body: { spec: { type: "ExternalName", externalName: "a.example.com", ports: [{ port: 80 }] } },
    types: { [`${API}.core.v1.ServiceSpec`]: "spec", [`${API}.core.v1.ServicePort`]: "spec.ports.0" },
  },
  { url: "/api/v1/namespaces/default/secrets", body: {}, types: { [`${API}.core.v1.Secret`]: "" } },
  {
    url: "/api/v1/namespaces/default/persistentvolumeclaims",
    body: { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
    types: { [`${API}.core.v1.PersistentVolumeClaimSpec`]: "spec" },
  },
  {
    url: "/api/v1/persistentvolumes",
    body: { spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/a" } } },
    types: { [`${API}.core.v1.PersistentVolumeSpec`]: "spec" },
  },
  {
    url: "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
    body: { spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] } },
    types: {
      [`${API}.networking.v1.NetworkPolicySpec`]: "spec",
      [`${API}.networking.v1.NetworkPolicyPort`]: "spec.ingress.0.ports.0",
    },
  },
  {
    url: "/apis/storage.k8s.io/v1/storageclasses",
    body: { provisioner: "example.com/disk" },
    types: { [`${API}.storage.v1.StorageClass`]: "" },
  },
  {
    url: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    body: { webhooks: [webhook] },
    types: {
      [`${API}.admissionregistration.v1.ValidatingWebhook`]: "webhooks.0",
      [`${API}.admissionregistration.v1.RuleWithOperations`]: "webhooks.0.rules.0",
    },
  },
  {
    url: "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    body: { webhooks: [webhook] },
    types: { [`${API}.admissionregistration.v1.MutatingWebhook`]: "webhooks.0" },
  },
  {
    url: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    body: {
      metadata: { name: "webs.example.com" },
      spec: {
        group: "example.com",
        names: { kind: "Web", plural: "webs" },
        scope: "Namespaced",
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    },
    types: {
      [`${CRD}.CustomResourceDefinitionSpec`]: "spec",
      [`${CRD}.CustomResourceDefinitionNames`]: "spec.names",
    },
  },
];

Deno.test("the samples of this test cover every type in the list of defaulted fields", () => {
  const sampled = new Set(SAMPLES.flatMap(({ types }) => Object.keys(types)));
  assert.deepEqual([...sampled].sort(), Object.keys(FILLED).sort());
});

Deno.test("a real API server sets every field in the list of defaulted fields", async () => {
  await using cluster = await realCluster();
  const missing: string[] = [];
  for (const { url, body, types } of SAMPLES) {
    const response = await cluster.fetch(`${url}?dryRun=All&fieldValidation=Strict`, {
      method: "POST",
      body: JSON.stringify({ metadata, ...body }),
    });
    const created = await response.json();
    assert.equal(response.status, 201, `${url}: ${created.message}`);
    for (const [type, path] of Object.entries(types)) {
      const value = path.split(".").filter((key) => key !== "").reduce((value, key) => value[key], created);
      for (const name of FILLED[type] ?? []) if (value?.[name] === undefined) missing.push(`${type}.${name}`);
    }
  }
  assert.deepEqual(missing, []);
});
