import { area } from "../contract.ts";
import { APPLY, type Recorder } from "../recorder.ts";

const LABELS = { app: "a" };

const container = {
  name: "main",
  image: "busybox",
  workingDir: "",
  stdin: false,
  stdinOnce: false,
  tty: false,
  args: [],
  env: [{ name: "EMPTY", value: "" }],
  ports: [{ containerPort: 80, hostPort: 0, hostIP: "", name: "" }],
  volumeMounts: [{ name: "data", mountPath: "/data", readOnly: false, subPath: "" }],
  readinessProbe: { initialDelaySeconds: 0, httpGet: { port: 80, host: "" } },
  securityContext: { privileged: false, runAsUser: 0 },
};

const pod = {
  hostNetwork: false,
  hostPID: false,
  nodeName: "",
  priorityClassName: "",
  serviceAccountName: "",
  enableServiceLinks: false,
  containers: [container],
  volumes: [{ name: "data", emptyDir: { medium: "" } }, { name: "more", configMap: { name: "c", optional: false } }],
};

const deployment = (spec: object = {}) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "d", generation: 0, namespace: "" },
  spec: {
    paused: false,
    minReadySeconds: 0,
    replicas: 0,
    selector: { matchLabels: LABELS },
    template: { metadata: { labels: LABELS, annotations: {} }, spec: pod },
    ...spec,
  },
});

const deployments = ({ namespace }: Recorder, rest = "") => `/apis/apps/v1/namespaces/${namespace}/deployments${rest}`;

/** Objects with zero values, by group, version and plural. */
const OBJECTS: readonly (readonly [path: string, object: Readonly<Record<string, unknown>>])[] = [
  ["api/v1/services", {
    spec: { clusterIP: "None", selector: LABELS, publishNotReadyAddresses: false, ports: [{ name: "", port: 80 }] },
  }],
  ["api/v1/secrets", { type: "", immutable: false, stringData: { a: "" } }],
  ["api/v1/serviceaccounts", { automountServiceAccountToken: false, imagePullSecrets: [{ name: "" }] }],
  ["apis/batch/v1/cronjobs", {
    spec: {
      schedule: "* * * * *",
      suspend: false,
      concurrencyPolicy: "",
      startingDeadlineSeconds: 0,
      jobTemplate: {
        spec: {
          template: {
            spec: { restartPolicy: "Never", containers: [container], volumes: [{ name: "data", emptyDir: {} }] },
          },
        },
      },
    },
  }],
  ["apis/policy/v1/poddisruptionbudgets", { spec: { minAvailable: 0, selector: {} } }],
  ["apis/networking.k8s.io/v1/networkpolicies", { spec: { podSelector: {}, ingress: [{ ports: [] }] } }],
  ["apis/coordination.k8s.io/v1/leases", { spec: { holderIdentity: "", leaseTransitions: 0 } }],
  ["apis/discovery.k8s.io/v1/endpointslices", {
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.1.1.1"], conditions: { ready: false }, hostname: "a" }],
    ports: [{ name: "", port: 80 }],
  }],
  ["apis/rbac.authorization.k8s.io/v1/roles", {
    rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: [] }],
  }],
];

const KINDS: Readonly<Record<string, string>> = {
  services: "Service",
  secrets: "Secret",
  serviceaccounts: "ServiceAccount",
  cronjobs: "CronJob",
  poddisruptionbudgets: "PodDisruptionBudget",
  networkpolicies: "NetworkPolicy",
  leases: "Lease",
  endpointslices: "EndpointSlice",
  roles: "Role",
};

/** Zero values (false, 0, the empty string) in built-in kinds, some of which are dropped. */
export const zeros = area("zeros", {
  "zero values in a workload": async (api) => {
    const { body } = await api.post(deployments(api), deployment());
    await api.put(deployments(api, "/d"), { ...body, spec: { ...body.spec, paused: true, minReadySeconds: 5 } });
    await api.merge(deployments(api, "/d"), { spec: { paused: false, minReadySeconds: 0 } });
    await api.jsonPatch(deployments(api, "/d"), [{ op: "add", path: "/spec/template/spec/hostIPC", value: false }]);
    await api.call("PATCH", deployments(api, "/d"), {
      spec: { template: { spec: { containers: [{ name: "main", tty: true }] } } },
    }, { contentType: "application/strategic-merge-patch+json" });
    await api.get(deployments(api, "/d"));
  },
  "zero values in a status": async (api) => {
    await api.post(deployments(api), deployment());
    const conditions = [{ type: "Available", status: "False", reason: "", message: "" }];
    const status = { observedGeneration: 1, replicas: 0, readyReplicas: 0, unavailableReplicas: 2, conditions };
    await api.merge(deployments(api, "/d/status"), { status });
    await api.merge(deployments(api, "/d/status"), { status: { unavailableReplicas: 0 } });
  },
  "zero values in an applied object": async (api) => {
    const apply = (manager: string, body: object, force = false) =>
      api.call("PATCH", `${deployments(api, "/d")}?fieldManager=${manager}&force=${force}`, body, {
        contentType: APPLY,
      });
    await apply("one", deployment());
    await apply("one", deployment());
    await apply("two", { ...deployment(), spec: { ...deployment().spec, paused: true } });
    await apply("two", { ...deployment(), spec: { ...deployment().spec, paused: true } }, true);
    const { paused: _, ...spec } = deployment().spec;
    await apply("one", { ...deployment(), spec });
    await apply("two", { ...deployment(), spec });
  },
  "zero values in objects of several kinds": async (api) => {
    for (const [place, object] of OBJECTS) {
      const parts = place.split("/");
      const plural = parts.pop() ?? "";
      const apiVersion = parts.slice(1).join("/");
      const path = `/${parts.join("/")}/namespaces/${api.namespace}/${plural}`;
      await api.post(path, { apiVersion, kind: KINDS[plural], metadata: { name: "zero", labels: {} }, ...object });
      await api.call("PATCH", `${path}/applied?fieldManager=me`, {
        apiVersion,
        kind: KINDS[plural],
        metadata: { name: "applied" },
        ...object,
      }, { contentType: APPLY });
    }
  },
});
