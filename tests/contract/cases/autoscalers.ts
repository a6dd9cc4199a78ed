import { area } from "../contract.ts";
import { APPLY, type Recorder } from "../recorder.ts";

const path = ({ namespace }: Recorder, version: "v1" | "v2", rest = "") =>
  `/apis/autoscaling/${version}/namespaces/${namespace}/horizontalpodautoscalers${rest}`;

const autoscaler = (version: "v1" | "v2", name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: `autoscaling/${version}`,
  kind: "HorizontalPodAutoscaler",
  metadata: { name, ...metadata },
  spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, maxReplicas: 5, ...spec },
});

async function getBothVersions(api: Recorder, name: string): Promise<void> {
  await api.get(path(api, "v1", `/${name}`));
  await api.get(path(api, "v2", `/${name}`));
}

const cpu = (averageUtilization: number) => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization } },
});

/** One metric of each type. */
const METRICS = [
  cpu(60),
  { type: "Resource", resource: { name: "memory", target: { type: "AverageValue", averageValue: "100Mi" } } },
  {
    type: "ContainerResource",
    containerResource: { name: "cpu", container: "main", target: { type: "Utilization", averageUtilization: 50 } },
  },
  {
    type: "Pods",
    pods: { metric: { name: "requests" }, target: { type: "AverageValue", averageValue: "10" } },
  },
  {
    type: "Object",
    object: {
      metric: { name: "hits", selector: { matchLabels: { verb: "GET" } } },
      describedObject: { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "main" },
      target: { type: "Value", value: "2k" },
    },
  },
  {
    type: "External",
    external: { metric: { name: "queue" }, target: { type: "AverageValue", averageValue: "30" } },
  },
];

const STATUS = {
  observedGeneration: 1,
  currentReplicas: 2,
  desiredReplicas: 3,
  lastScaleTime: "2026-01-01T00:00:00Z",
  currentMetrics: [
    { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 40, averageValue: "200m" } } },
    { type: "External", external: { metric: { name: "queue" }, current: { averageValue: "7" } } },
  ],
  conditions: [
    {
      type: "AbleToScale",
      status: "True",
      reason: "ReadyForNewScale",
      message: "ready",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    },
  ],
};

/** Cases of autoscalers, which are stored in one version and served in two. */
export const autoscalers = area("autoscalers", {
  "an autoscaler created in the old version": async (api) => {
    await api.post(path(api, "v1"), autoscaler("v1", "a", { targetCPUUtilizationPercentage: 70 }));
    await api.post(path(api, "v1"), autoscaler("v1", "b"));
    for (const name of ["a", "b"]) await getBothVersions(api, name);
    await api.merge(path(api, "v1", "/a"), { spec: { targetCPUUtilizationPercentage: 30, minReplicas: 2 } });
    await getBothVersions(api, "a");
    await api.get(path(api, "v1"));
  },
  "created in the new version, with annotations for the old one": async (api) => {
    const behavior = { scaleDown: { stabilizationWindowSeconds: 60 } };
    await api.post(
      path(api, "v2"),
      autoscaler("v2", "a", { metrics: METRICS, behavior }, { annotations: { own: "1" } }),
    );
    await getBothVersions(api, "a");
    await api.merge(path(api, "v1", "/a"), { metadata: { annotations: { more: "2" } }, spec: { maxReplicas: 9 } });
    await getBothVersions(api, "a");
    const { body } = await api.get(path(api, "v1", "/a"));
    await api.put(path(api, "v1", "/a"), { ...body, spec: { ...body.spec, targetCPUUtilizationPercentage: 10 } });
    await getBothVersions(api, "a");
  },
  "the status of an autoscaler": async (api) => {
    await api.post(path(api, "v2"), autoscaler("v2", "a", { metrics: METRICS }));
    await api.merge(path(api, "v2", "/a/status"), { status: STATUS });
    await getBothVersions(api, "a");
    await api.merge(path(api, "v1", "/a/status"), { status: { currentReplicas: 4 } });
    await getBothVersions(api, "a");
    await api.get(path(api, "v2", "/a/status"));
  },
  "managed fields in both versions": async (api) => {
    const spec = { metrics: [cpu(50)], minReplicas: 2 };
    const apply = (version: "v1" | "v2", manager: string, body: object) =>
      api.call("PATCH", `${path(api, version, "/a")}?fieldManager=${manager}`, body, { contentType: APPLY });
    await apply("v2", "new", autoscaler("v2", "a", spec));
    await apply("v1", "old", autoscaler("v1", "a", { minReplicas: 3 }));
    await apply("v1", "old", autoscaler("v1", "a"));
    await getBothVersions(api, "a");
  },
  "required fields of an autoscaler": async (api) => {
    const createWithSpec = (spec: object) => api.post(path(api, "v2"), autoscaler("v2", "a", spec));
    await createWithSpec({ maxReplicas: 0 });
    await createWithSpec({ maxReplicas: -1 });
    await createWithSpec({ minReplicas: 6 });
    await createWithSpec({ minReplicas: 0 });
    await createWithSpec({ scaleTargetRef: { kind: "a/b", name: "" } });
    await api.post(path(api, "v1"), autoscaler("v1", "a", { maxReplicas: 0 }));
    await api.post(path(api, "v1"), autoscaler("v1", "a"));
    await api.merge(path(api, "v1", "/a/status"), { status: { currentReplicas: -1 } });
  },
  "a watch in both versions": async (api) => {
    const open = (version: "v1" | "v2", use: () => Promise<void>) =>
      api.watch(`${path(api, version)}?watch=1`, async (watch) => {
        await use();
        await watch.take(2);
      });
    await open("v1", async () => {
      await open("v2", async () => {
        await api.post(path(api, "v2"), autoscaler("v2", "a", { metrics: METRICS.slice(0, 2) }));
        await api.merge(path(api, "v1", "/a"), { spec: { maxReplicas: 7 } });
      });
    });
    await api.delete(path(api, "v1", "/a"));
  },
});
