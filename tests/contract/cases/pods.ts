import { area } from "../contract.ts";
import { MERGE as MERGE_PATCH, type Recorder } from "../recorder.ts";
import { allow, type Hook, withHooks } from "../webhooks.ts";

const LABELS = { app: "a" };

const pod = (name: string, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels: LABELS },
  spec: {
    serviceAccountName: "runner",
    automountServiceAccountToken: false,
    containers: [{ name: "main", image: "busybox" }],
    ...spec,
  },
});

const eviction = (name: string, more: object = {}) => ({
  apiVersion: "policy/v1",
  kind: "Eviction",
  metadata: { name },
  ...more,
});

const MERGE = { contentType: MERGE_PATCH };

async function createRunningPod(api: Recorder, name: string, status: object = {}): Promise<void> {
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "runner" } };
  await api.quietly("PATCH", `${api.core("serviceaccounts/runner")}?fieldManager=case`, account, {
    contentType: "application/apply-patch+yaml",
  });
  await api.quietly("POST", api.core("pods"), pod(name));
  const whole = { phase: "Running", conditions: [{ type: "Ready", status: "True" }], ...status };
  await api.quietly("PATCH", api.core(`pods/${name}/status`), { status: whole }, MERGE);
}

const budgets = ({ namespace }: Recorder) => `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;

async function createBudget(api: Recorder, name: string, status: object): Promise<void> {
  await api.quietly("POST", budgets(api), {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name },
    spec: { minAvailable: 1, selector: { matchLabels: LABELS } },
  });
  await setBudgetStatus(api, name, status);
}

async function setBudgetStatus(api: Recorder, name: string, status: object): Promise<void> {
  await api.quietly("PATCH", `${budgets(api)}/${name}/status`, { status }, MERGE);
}

/** Pods: subresources, required and mutable fields. */
export const pods = area("pods", {
  "a pod that is not running is evicted": async (api) => {
    await createRunningPod(api, "p", { phase: "Pending", conditions: [] });
    await api.post(api.core("pods/p/eviction"), eviction("other"));
    await api.post(api.core("pods/none/eviction"), eviction("none"));
    await api.post(api.core("pods/p/eviction"), pod("p"));
    await api.post(
      api.core("pods/p/eviction"),
      eviction("p", { deleteOptions: { preconditions: { uid: "another" } } }),
    );
    await api.post(api.core("pods/p/eviction?dryRun=All"), eviction("p"));
    await api.get(api.core("pods/p"));
    await api.post(api.core("pods/p/eviction"), eviction("p"));
    await api.get(api.core("pods/p"));
    await api.get(api.core("pods/p/eviction"));
  },
  "a budget allows one eviction": async (api) => {
    await createRunningPod(api, "p");
    await createRunningPod(api, "q");
    await createBudget(api, "budget", { observedGeneration: 0 });
    await api.post(api.core("pods/p/eviction"), eviction("p"));
    const counted = { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 };
    await setBudgetStatus(api, "budget", { ...counted, expectedPods: 2 });
    await api.post(api.core("pods/p/eviction"), eviction("p"));
    await setBudgetStatus(api, "budget", { disruptionsAllowed: 1, currentHealthy: 2 });
    await api.post(api.core("pods/p/eviction"), eviction("p"));
    await api.post(api.core("pods/q/eviction"), eviction("q"));
    await api.get(`${budgets(api)}/budget`);
    await createBudget(api, "another", counted);
    await api.post(api.core("pods/q/eviction"), eviction("q"));
  },
  "an unready pod is evicted if enough others are ready": async (api) => {
    await createRunningPod(api, "p", { conditions: [{ type: "Ready", status: "False" }] });
    const counted = { observedGeneration: 1, disruptionsAllowed: 0, desiredHealthy: 1, expectedPods: 1 };
    await createBudget(api, "budget", { ...counted, currentHealthy: 0 });
    await api.post(api.core("pods/p/eviction"), eviction("p"));
    await setBudgetStatus(api, "budget", { ...counted, currentHealthy: 1 });
    await api.post(api.core("pods/p/eviction"), eviction("p"));
  },
  "a pod can be bound once": async (api) => {
    await createRunningPod(api, "p", { phase: "Pending", conditions: [] });
    const binding = { apiVersion: "v1", kind: "Binding", metadata: { name: "p" }, target: { kind: "Node", name: "n" } };
    await api.post(api.core("pods/p/binding"), binding);
    await api.get(api.core("pods/p"));
    await api.post(api.core("pods/p/binding"), { ...binding, target: { kind: "Node", name: "m" } });
    await api.post(api.core("pods/p/eviction"), eviction("p"));
    await api.get(api.core("pods/p"));
  },
  "required fields of a binding": async (api) => {
    await createRunningPod(api, "p", { phase: "Pending", conditions: [], nominatedNodeName: "n" });
    const post = (metadata: object, target: object, path = "pods/p/binding") =>
      api.post(api.core(path), { apiVersion: "v1", kind: "Binding", metadata: { name: "p", ...metadata }, target });
    await post({ name: "q" }, { name: "n" });
    await post({}, { kind: "Pod" });
    await post({}, { kind: "Pod", name: "n" });
    await post({ namespace: "default" }, { name: "n" });
    await post({ uid: "00000000-0000-0000-0000-000000000000" }, { name: "n" });
    await post({ name: "none" }, { name: "n" }, "pods/none/binding");
    await post({}, { name: "n" }, "pods/p/binding?dryRun=All");
    await post({ labels: { zone: "a" }, annotations: { by: "me" } }, { name: "n" }, "bindings");
    await api.get(api.core("pods/p"));
    await api.get(api.core("bindings"));
  },
  "node selectors of a pod with scheduling gates are mutable": async (api) => {
    await createRunningPod(api, "unused");
    const term = (...values: string[]) => ({ matchExpressions: [{ key: "zone", operator: "In", values }] });
    const affinity = (...nodeSelectorTerms: object[]) => ({
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
    });
    await api.post(
      api.core("pods"),
      pod("p", {
        schedulingGates: [{ name: "example.com/gate" }],
        nodeSelector: { disk: "ssd" },
        affinity: affinity(term("a")),
      }),
    );
    const binding = { apiVersion: "v1", kind: "Binding", metadata: { name: "p" }, target: { kind: "Node", name: "n" } };
    await api.post(api.core("pods/p/binding"), binding);
    const change = (spec: object) => api.merge(api.core("pods/p"), { spec });
    await change({ nodeSelector: { arch: "arm64" } });
    await change({ nodeSelector: { disk: "hdd" } });
    await change({ affinity: affinity(term("b")) });
    await change({ affinity: affinity(term("a"), term("b")) });
    await change({
      affinity: affinity({ matchExpressions: [...term("a").matchExpressions, ...term("a", "b").matchExpressions] }),
    });
    await change({ schedulingGates: null });
    await change({ containers: [{ name: "main", image: " b ", imagePullPolicy: "Always" }] });
    await api.post(api.core("pods/p/binding"), binding);
  },
  "webhooks receive evictions and bindings": async (api) => {
    await createRunningPod(api, "p", { phase: "Pending", conditions: [] });
    const rules = [{
      operations: ["CREATE"],
      apiGroups: [""],
      apiVersions: ["v1"],
      resources: ["pods/eviction", "pods/binding"],
    }];
    const no: Hook = {
      phase: "validate",
      answer: ({ dryRun }) => ({ allowed: dryRun, status: { message: "not today" } }),
      with: { rules },
    };
    await withHooks(api, { look: { ...allow, phase: "mutate", with: { rules } }, no }, async () => {
      await api.post(api.core("pods/p/eviction"), eviction("p"));
      await api.post(api.core("pods/p/eviction?dryRun=All"), eviction("p"));
      await api.post(api.core("pods/p/binding"), {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name: "p" },
        target: { kind: "Node", name: "n" },
      });
    });
    await api.get(api.core("pods/p"));
  },
  "subresources ephemeralcontainers and resize": async (api) => {
    await createRunningPod(api, "p", { phase: "Pending", conditions: [] });
    const strategic = (path: string, spec: object) =>
      api.call("PATCH", api.core(path), { spec }, { contentType: "application/strategic-merge-patch+json" });
    const container = { name: "shell", image: "busybox", stdin: true };
    await strategic("pods/p/ephemeralcontainers", { ephemeralContainers: [container], restartPolicy: "Never" });
    await strategic("pods/p/ephemeralcontainers", { ephemeralContainers: [{ $patch: "delete", name: "shell" }] });
    await strategic("pods/p/ephemeralcontainers", { containers: [{ name: "main", image: "other" }] });
    await api.get(api.core("pods/p/ephemeralcontainers"));
    await strategic("pods/p/resize", { containers: [{ name: "main", image: "x" }] });
  },
  "required fields of a pod": async (api) => {
    await createRunningPod(api, "unused");
    const createPod = (container: object, spec: object = {}) =>
      api.post(api.core("pods"), pod("p", { containers: [{ name: "main", image: "busybox", ...container }], ...spec }));
    await createPod({ volumeMounts: [{ name: "data", mountPath: "/a" }, { name: "", mountPath: "/a" }] });
    const volumes = [{ name: "data" }, { name: "data", emptyDir: {} }, { name: "Up" }, { name: "s", secret: {} }];
    await createPod({}, { volumes });
    await createPod({}, {
      volumes: [{ name: "a", configMap: {} }, { name: "b", persistentVolumeClaim: {} }, { name: "c", hostPath: {} }],
    });
    await createPod({ ports: [{ containerPort: 70000 }, { containerPort: 80, protocol: "HTTP", hostPort: -1 }, {}] });
    await createPod({ ports: [{ name: "a", containerPort: 80 }, { name: "a", containerPort: 81 }] });
    await createPod({ env: [{ name: "" }], imagePullPolicy: "Sometimes" });
    await createPod({ resources: { requests: { cpu: "2", memory: "1Gi" }, limits: { cpu: "1", memory: "2Gi" } } });
    await createPod({}, { restartPolicy: "Maybe" });
    await createPod({}, { volumes: [{ name: "data" }] });
  },
  "log and exec of an unscheduled pod": async (api) => {
    await createRunningPod(api, "p");
    for (const part of ["log", "exec?command=ls", "attach", "portforward"]) await api.get(api.core(`pods/p/${part}`));
    await api.get(api.core("pods/none/log"));
  },
  "mutable fields of a pod": async (api) => {
    await createRunningPod(api, "p");
    const change = (spec: object) => api.merge(api.core("pods/p"), { spec });
    await change({ containers: [{ name: "main", image: "other" }] });
    await change({ containers: [{ name: "main", image: "", imagePullPolicy: "Always" }] });
    await change({ containers: [{ name: "main", image: "a" }, { name: "more", image: "b" }] });
    await change({ activeDeadlineSeconds: 60 });
    await change({ activeDeadlineSeconds: 70 });
    await change({ activeDeadlineSeconds: 50 });
    await change({ activeDeadlineSeconds: null });
    await change({ tolerations: [{ key: "mine", operator: "Exists" }] });
    await change({ schedulingGates: [{ name: "example.com/gate" }] });
  },
  "immutable fields of a pod": async (api) => {
    await createRunningPod(api, "p");
    await api.merge(api.core("pods/p"), { spec: { restartPolicy: "Never" } });
    await api.merge(api.core("pods/p"), { spec: { nodeName: "n" } });
  },
});
