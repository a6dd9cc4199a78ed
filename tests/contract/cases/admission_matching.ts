/** Rules, selectors and match conditions of webhooks. */
import { area } from "../contract.ts";
import {
  add,
  allow,
  CONFIG_MAPS,
  configuration,
  CONFIGURATIONS,
  deny,
  type Hook,
  inNamespace,
  mutating,
  WIDGETS,
  withHooks,
} from "../webhooks.ts";
import { grant } from "../roles.ts";
import { configMap, widget } from "../widget.ts";
import { replicaSet, replicaSets } from "../workloads.ts";

/** Rules, selectors and match conditions. */
export const matching = area("admission matching", {
  "operations": async (api) => {
    const only = (...operations: string[]): Hook => ({ ...allow, with: { rules: [{ ...CONFIG_MAPS, operations }] } });
    await withHooks(
      api,
      { create: only("CREATE"), update: only("UPDATE"), remove: only("DELETE"), all: only("*") },
      async () => {
        await api.post(api.core("configmaps"), configMap("c"));
        await api.merge(api.core("configmaps/c"), { data: { a: "1" } });
        await api.delete(api.core("configmaps/c"));
      },
    );
  },
  "groups, versions and resources": async (api) => {
    const rule = (more: Record<string, unknown>): Hook => ({ ...allow, with: { rules: [{ ...WIDGETS, ...more }] } });
    await withHooks(api, {
      group: rule({ apiGroups: ["*"] }),
      other: rule({ apiGroups: ["apps"] }),
      version: rule({ apiVersions: ["*"] }),
      wrong: rule({ apiVersions: ["v9"] }),
      all: rule({ resources: ["*"] }),
      parts: rule({ resources: ["*/*"] }),
      status: rule({ resources: ["widgets/status"] }),
      any: rule({ resources: ["*/status"] }),
    }, async () => {
      await api.post(api.widgets(), widget("w"));
      await api.merge(api.widgets("/w/status"), { status: { phase: "Up" } });
    });
  },
  "the scope of a rule": async (api) => {
    const scoped = (scope: string): Hook => ({ ...allow, with: { rules: [{ ...CONFIG_MAPS, scope }] } });
    await withHooks(
      api,
      { any: scoped("*"), namespaced: scoped("Namespaced"), cluster: scoped("Cluster") },
      async () => {
        await api.post(api.core("configmaps"), configMap("c"));
      },
    );
  },
  "namespace selectors of cluster-scoped objects and namespaces": async (api) => {
    const rules = [{
      operations: ["*"],
      apiGroups: [""],
      apiVersions: ["v1"],
      resources: ["namespaces"],
      scope: "Cluster",
    }];
    const objectSelector = { matchLabels: { "example.com/of": api.namespace } };
    const namespaceSelector = { matchLabels: { "example.com/of": api.namespace } };
    await withHooks(api, {
      object: { ...allow, with: { rules, objectSelector, namespaceSelector: {} } },
      namespace: { ...allow, with: { rules, namespaceSelector } },
    }, async () => {
      const labels = { "example.com/of": api.namespace };
      const metadata = { name: `${api.namespace}-x`, labels };
      await api.post("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata });
      await api.merge(`/api/v1/namespaces/${api.namespace}-x`, { metadata: { annotations: { a: "b" } } });
    });
  },
  "object selectors see the old and the new object": async (api) => {
    const selector = (objectSelector: unknown): Hook => ({ ...allow, with: { objectSelector } });
    await withHooks(api, {
      equal: selector({ matchLabels: { x: "1" } }),
      inside: selector({ matchExpressions: [{ key: "x", operator: "In", values: ["1", "2"] }] }),
      outside: selector({ matchExpressions: [{ key: "x", operator: "NotIn", values: ["1"] }] }),
      there: selector({ matchExpressions: [{ key: "x", operator: "Exists" }] }),
      none: selector({ matchExpressions: [{ key: "x", operator: "DoesNotExist" }] }),
    }, async () => {
      await api.post(api.core("configmaps"), configMap("c", {}, { labels: { x: "1" } }));
      await api.merge(api.core("configmaps/c"), { metadata: { labels: { x: "3" } } });
      await api.merge(api.core("configmaps/c"), { metadata: { labels: null } });
    });
  },
  "namespace selectors": async (api) => {
    const selector = (key: string, operator: string): Hook => ({
      ...allow,
      with: {
        namespaceSelector: { ...inNamespace(api).namespaceSelector as object, matchExpressions: [{ key, operator }] },
      },
    });
    await api.quietly("PATCH", `/api/v1/namespaces/${api.namespace}`, { metadata: { labels: { team: "a" } } }, {
      contentType: "application/merge-patch+json",
    });
    await withHooks(api, { has: selector("team", "Exists"), not: selector("team", "DoesNotExist") }, async () => {
      await api.post(api.core("configmaps"), configMap("c"));
    });
  },
  "rules do not match the same kind in another group": async (api) => {
    const rules = [{ operations: ["*"], apiGroups: ["events.k8s.io"], apiVersions: ["v1"], resources: ["events"] }];
    await withHooks(api, {
      same: { ...allow, with: { rules } },
      exact: { ...allow, with: { rules, matchPolicy: "Exact" } },
    }, async () => {
      await api.post(api.core("events"), {
        apiVersion: "v1",
        kind: "Event",
        metadata: { name: "e" },
        involvedObject: { kind: "ConfigMap", namespace: api.namespace, name: "c" },
        reason: "Seen",
        message: "hello",
        type: "Normal",
      });
    });
  },
  "a match condition that is true and one that is false": async (api) => {
    const when = (...expressions: string[]): Hook => ({
      ...allow,
      with: { matchConditions: expressions.map((expression, i) => ({ name: `c${i}`, expression })) },
    });
    await withHooks(api, {
      yes: when("object.metadata.name == 'c'"),
      no: when("object.metadata.name != 'c'"),
      both: when("request.operation == 'CREATE'", "request.userInfo.username == 'admin'"),
      one: when("request.operation == 'UPDATE'", "true"),
      old: when("oldObject == null"),
      data: when("has(object.data) && object.data.exists(k, object.data[k] == '1')"),
      kind: when("request.kind.kind == 'ConfigMap' && request.resource.resource == 'configmaps'"),
      dry: when("!request.dryRun"),
    }, async () => {
      await api.post(api.core("configmaps"), configMap("c", { a: "1" }));
    });
  },
  "a match condition that fails": async (api) => {
    const matchConditions = [{ name: "x", expression: "object.data.none == '1'" }];
    await withHooks(api, { fail: { ...allow, with: { matchConditions } } }, async () => {
      await api.post(api.core("configmaps"), configMap("c", { a: "1" }));
    });
  },
  "a match condition that fails with failurePolicy Ignore": async (api) => {
    const matchConditions = [{ name: "x", expression: "object.data.none == '1'" }];
    await withHooks(api, { pass: { ...allow, with: { matchConditions, failurePolicy: "Ignore" } } }, async () => {
      await api.post(api.core("configmaps"), configMap("c", { a: "1" }));
    });
  },
  "a match condition that is false and one that fails": async (api) => {
    const matchConditions = [
      { name: "x", expression: "object.data.none == '1'" },
      { name: "y", expression: "object.metadata.name == 'other'" },
    ];
    await withHooks(api, { fail: { ...allow, with: { matchConditions } } }, async () => {
      await api.post(api.core("configmaps"), configMap("c", { a: "1" }));
    });
  },
  "a match condition that uses the authorizer": async (api) => {
    const when = (expression: string): Hook => ({ ...allow, with: { matchConditions: [{ name: "x", expression }] } });
    await grant(api, "jane", [{ verbs: ["create", "get"], apiGroups: [""], resources: ["configmaps"] }]);
    const path = (verb: string) =>
      `authorizer.group('').resource('configmaps').namespace('${api.namespace}').check('${verb}').allowed()`;
    await withHooks(api, {
      may: when(path("get")),
      not: when(path("delete")),
      named: when("authorizer.requestResource.check('create').allowed()"),
      own: when("authorizer.requestResource.check('breakglass').allowed()"),
      url: when("authorizer.path('/healthz').check('get').allowed()"),
      robot: when("authorizer.serviceAccount('default', 'x').group('').resource('pods').check('get').allowed()"),
      why: when(`authorizer.group('').resource('configmaps').check('get').reason() == ''`),
    }, async () => {
      await api.as("jane").post(api.core("configmaps"), configMap("c"));
    });
  },
  "match conditions see the changes of earlier webhooks": async (api) => {
    const matchConditions = [{ name: "x", expression: "has(object.data) && 'one' in object.data" }];
    await withHooks(api, {
      a: mutating(add("/data", { one: "1" })),
      b: { ...mutating(add("/data/two", "2")), with: { matchConditions } },
    }, async () => void await api.post(api.core("configmaps"), configMap("c")));
  },
  "webhook configurations are not sent to webhooks": async (api) => {
    const rules = [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], scope: "Cluster" }];
    const objectSelector = { matchLabels: { "example.com/of": api.namespace } };
    await withHooks(api, { all: { ...deny, with: { rules, objectSelector } } }, async () => {
      const config = configuration("validate", `${api.namespace}-other`, []);
      const metadata = { name: `${api.namespace}-other`, labels: { "example.com/of": api.namespace } };
      await api.post(CONFIGURATIONS.validate, { ...config, metadata });
      await api.delete(`${CONFIGURATIONS.validate}/${api.namespace}-other`);
    });
  },
  "rules for scale and status": async (api) => {
    const rules = [{ ...CONFIG_MAPS, apiGroups: ["apps"], resources: ["replicasets/scale", "replicasets/status"] }];
    await withHooks(api, { look: { ...allow, with: { rules } } }, async () => {
      const path = replicaSets(api);
      await api.quietly("POST", path, replicaSet());
      await api.merge(`${path}/r/scale`, { spec: { replicas: 1 } });
      await api.merge(`${path}/r/status`, { status: { replicas: 0, observedGeneration: 1 } });
    });
  },
});
