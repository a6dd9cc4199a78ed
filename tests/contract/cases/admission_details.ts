/** Several webhooks, and details of matching. */
import { area } from "../contract.ts";
import {
  add,
  type AdmissionRequest,
  allow,
  CONFIG_MAPS,
  deny,
  type Hook,
  mutating,
  patching,
  WIDGETS,
  withHooks,
} from "../webhooks.ts";
import { configMap, widget } from "../widget.ts";
import { collectionPath, fruit, untilVersions, versionedDefinition } from "./_kinds_with_versions.ts";

const PODS = { ...CONFIG_MAPS, resources: ["pods"] };

/** Returns a pod to which no service account adds fields. */
function pod(name: string): object {
  const spec = {
    automountServiceAccountToken: false,
    serviceAccountName: "default",
    containers: [{ name: "c", image: "x" }],
  };
  return { apiVersion: "v1", kind: "Pod", metadata: { name }, spec };
}

/** Several webhooks. */
export const matchingDetails = area("admission matching", {
  "object selectors of a deletion": async (api) => {
    const objectSelector = { matchLabels: { x: "1" } };
    await withHooks(api, {
      a: { ...allow, with: { objectSelector } },
      m: { phase: "mutate", with: { objectSelector } },
      n: { ...allow, with: { objectSelector: { matchExpressions: [{ key: "x", operator: "DoesNotExist" }] } } },
    }, async () => {
      await api.post(api.core("configmaps"), configMap("c", {}, { labels: { x: "1" } }));
      await api.post(api.core("configmaps"), configMap("d", {}));
      await api.delete(api.core("configmaps/c"));
      await api.delete(api.core("configmaps/d"));
    });
  },
  "a deletion that a webhook patches": async (api) => {
    await withHooks(api, {
      a: {
        ...mutating(add("/metadata/labels", { x: "y" })),
        with: { rules: [{ ...CONFIG_MAPS, operations: ["DELETE"] }] },
      },
    }, async () => {
      await api.post(api.core("configmaps"), configMap("c"));
      await api.delete(api.core("configmaps/c"));
      await api.get(api.core("configmaps/c"));
    });
  },
  "object selectors of a namespace and its status": async (api) => {
    const rules = [{
      operations: ["*"],
      apiGroups: [""],
      apiVersions: ["v1"],
      resources: ["namespaces", "namespaces/*"],
    }];
    const namespaceSelector = { matchLabels: { "example.com/of": api.namespace } };
    const ns = `${api.namespace}-y`;
    await withHooks(api, {
      look: { ...allow, with: { rules, namespaceSelector } },
      named: { ...allow, with: { rules, namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": ns } } } },
    }, async () => {
      await api.post("/api/v1/namespaces", {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name: ns, labels: { "example.com/of": api.namespace } },
      });
      await api.merge(`/api/v1/namespaces/${ns}`, { metadata: { labels: { "example.com/of": null } } });
      await api.merge(`/api/v1/namespaces/${ns}`, { metadata: { labels: { "example.com/of": api.namespace } } });
      await api.merge(`/api/v1/namespaces/${ns}/status`, { status: { conditions: [{ type: "A", status: "True" }] } });
    });
  },
  "reinvocation of several webhooks": async (api) => {
    const n = (key: string, policy: string): Hook => ({
      phase: "mutate",
      with: { reinvocationPolicy: policy },
      answer: ({ object }: AdmissionRequest) =>
        patching(add("/data", { ...object.data, [key]: String(Number(object.data?.[key] ?? 0) + 1) })),
    });
    const look: Hook = { phase: "mutate", with: { reinvocationPolicy: "IfNeeded" } };
    await withHooks(api, {
      a: look,
      b: n("b", "Never"),
      c: look,
      d: n("d", "IfNeeded"),
      e: look,
      f: n("f", "Never"),
      v: allow,
    }, async () => {
      await api.post(api.core("configmaps"), configMap("c"));
      await api.merge(api.core("configmaps/c"), { data: { z: "1" } });
      await api.post(api.core("configmaps?dryRun=All"), configMap("d"));
    });
  },
  "object selectors see labels that an earlier webhook added": async (api) => {
    await withHooks(api, {
      a: { phase: "mutate", with: { reinvocationPolicy: "IfNeeded", objectSelector: { matchLabels: { x: "y" } } } },
      b: mutating(add("/metadata/labels", { x: "y" })),
      c: { phase: "mutate", with: { objectSelector: { matchLabels: { x: "y" } } } },
      v: { ...allow, with: { objectSelector: { matchLabels: { x: "y" } } } },
    }, async () => {
      await api.post(api.core("configmaps"), configMap("c"));
    });
  },
  "dry runs without side effects": async (api) => {
    for (const [sideEffects, failurePolicy] of [["None", "Fail"], ["NoneOnDryRun", "Fail"]] as const) {
      await withHooks(api, {
        a: { ...allow, with: { sideEffects, failurePolicy } },
        m: { phase: "mutate", with: { sideEffects, failurePolicy } },
      }, async () => {
        await api.post(api.core("configmaps?dryRun=All"), configMap("c"));
        await api.post(api.core("configmaps"), configMap("c"));
        await api.delete(api.core("configmaps/c?dryRun=All"));
        await api.delete(api.core("configmaps/c"), { dryRun: ["All"] });
        await api.delete(api.core("configmaps/c"));
      });
    }
  },
  "webhooks that time out with failurePolicy Ignore": async (api) => {
    const stop = Promise.withResolvers<void>();
    const answer = async () => {
      await stop.promise;
      return { allowed: true };
    };
    await withHooks(api, {
      m: { phase: "mutate", answer, ignoresRequests: true, with: { timeoutSeconds: 1, failurePolicy: "Ignore" } },
      v: { phase: "validate", answer, ignoresRequests: true, with: { timeoutSeconds: 1, failurePolicy: "Ignore" } },
      w: allow,
    }, async () => {
      await api.post(api.core("configmaps"), configMap("c"));
      stop.resolve();
    });
  },
  "the first denial is reported, failures with policy Ignore are not": async (api) => {
    await withHooks(api, { m: { ...deny, phase: "mutate" }, n: { ...deny, phase: "mutate" }, v: allow }, async () => {
      await api.post(api.core("configmaps"), configMap("c"));
    });
    await withHooks(api, {
      a: mutating(add("/data/x", "y")),
      b: { phase: "mutate", answer: () => new Response("", { status: 500 }), with: { failurePolicy: "Ignore" } },
      c: allow,
    }, async () => {
      await api.post(api.core("configmaps"), configMap("c", { a: "1" }));
    });
  },
  "matchPolicy Equivalent with another version of a custom kind": async (api) => {
    const made = versionedDefinition("Bacuri", "bacuris", [{}, {}]);
    await api.quietlyDefine(made);
    await untilVersions(api, "bacuris", { v1: 200, v2: 200 });
    const rule = (
      version: string,
    ) => [{ operations: ["*"], apiGroups: ["fruit.example.com"], apiVersions: [version], resources: ["bacuris"] }];
    const matchConditions = [{
      name: "v",
      expression: "object == null || object.apiVersion == 'fruit.example.com/v2'",
    }];
    await withHooks(api, {
      m: { ...mutating(add("/spec/size", 7)), with: { rules: rule("v2") } },
      same: { ...allow, with: { rules: rule("v2"), matchConditions } },
      exact: { ...allow, with: { rules: rule("v2"), matchPolicy: "Exact" } },
      both: { ...allow, with: { rules: [...rule("v2"), ...rule("v1")] } },
      first: { ...allow, with: { rules: rule("v1") } },
    }, async () => {
      await api.post(collectionPath(api, "bacuris"), fruit("Bacuri", "a", { size: 1 }));
      await api.merge(collectionPath(api, "bacuris", "v2") + "/a", { spec: { size: 3 } });
      await api.apply(
        collectionPath(api, "bacuris") + "/a?fieldManager=m&force=true",
        fruit("Bacuri", "a", { size: 4 }),
      );
      await api.delete(collectionPath(api, "bacuris") + "/a");
    });
  },
  "matchPolicy Equivalent with another version of a built-in kind": async (api) => {
    const rules = [{
      operations: ["*"],
      apiGroups: ["autoscaling"],
      apiVersions: ["v1"],
      resources: ["horizontalpodautoscalers"],
    }];
    await withHooks(api, {
      m: { ...mutating(add("/spec/minReplicas", 2)), with: { rules } },
      v: { ...allow, with: { rules } },
    }, async () => {
      await api.post(`/apis/autoscaling/v2/namespaces/${api.namespace}/horizontalpodautoscalers`, {
        apiVersion: "autoscaling/v2",
        kind: "HorizontalPodAutoscaler",
        metadata: { name: "h" },
        spec: {
          maxReplicas: 3,
          scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" },
          metrics: [{
            type: "Resource",
            resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
          }],
        },
      });
    });
  },
  "a deletion of a collection is sent object by object": async (api) => {
    const count: Hook = { phase: "mutate", with: { rules: [{ ...CONFIG_MAPS, operations: ["DELETE"] }] } };
    await withHooks(api, { m: count, v: { ...count, phase: "validate" } }, async () => {
      for (const n of ["a", "b"]) {
        await api.quietly("POST", api.core("configmaps"), configMap(n, {}, { labels: { x: "y" } }));
      }
      await api.delete(api.core("configmaps?labelSelector=x%3Dy"), undefined, { pick: ({ items }) => items.length });
    });
  },
  "a webhook on status can change only the status": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w", { size: 1 }));
    await withHooks(api, {
      change: {
        ...mutating(add("/metadata/labels", { x: "y" }), add("/spec/size", 5), add("/status/ready", 2)),
        with: { rules: [{ ...WIDGETS, resources: ["widgets/status"] }] },
      },
    }, async () => {
      await api.merge(api.widgets("/w/status"), { status: { phase: "Up" } });
      await api.get(api.widgets("/w"));
    });
  },
  "a pod in an admission review": async (api) => {
    await api.untilStatus(api.core("serviceaccounts/default"), 200);
    await withHooks(api, {
      see: { phase: "mutate", with: { rules: [PODS] } },
      look: { ...allow, with: { rules: [PODS] } },
    }, async () => {
      await api.post(api.core("pods"), pod("p"));
    });
  },
});
