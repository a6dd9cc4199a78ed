/** Authorization by roles and bindings. */
import { area } from "../contract.ts";
import {
  account,
  AUTHORIZATION,
  binding,
  clusterBinding,
  clusterRole,
  grant,
  grantAll,
  group,
  RBAC,
  rbacPath,
  READ,
  role,
  uniqueName,
  untilAccessIs,
  untilMayRead,
  user,
  WRITE,
} from "../roles.ts";
import type { Recorder } from "../recorder.ts";
import { configMap, widget } from "../widget.ts";

const BOOTSTRAPPED = "labelSelector=kubernetes.io%2Fbootstrapping%3Drbac-defaults";

/** Cases about the requests that roles allow. */
export const access = area("access", {
  "a request that no role allows is forbidden": async (api) => {
    const jane = api.as("jane");
    await jane.get(api.core("configmaps"));
    await jane.get(api.core("configmaps/c"));
    await jane.get(api.core("configmaps?watch=1"));
    await jane.post(api.core("configmaps"), configMap("c"));
    await jane.put(api.core("configmaps/c"), configMap("c"));
    await jane.merge(api.core("configmaps/c"), {});
    await jane.delete(api.core("configmaps/c"));
    await jane.delete(api.core("configmaps"));
  },
  "the message of a 403 names the cluster scope": async (api) => {
    const jane = api.as("jane");
    await jane.get("/api/v1/configmaps");
    await jane.get("/api/v1/nodes/n");
    await jane.get("/api/v1/namespaces");
    await jane.get(`/api/v1/namespaces/${api.namespace}`);
    await jane.put(`/api/v1/namespaces/${api.namespace}/finalize`, {});
    await jane.get(`/api/v1/namespaces/${api.namespace}/status`);
  },
  "the message of a 403 names group, subresource and name": async (api) => {
    const jane = api.as("jane");
    await jane.get(`/apis/apps/v1/namespaces/${api.namespace}/deployments/d/scale`);
    await jane.merge(api.widgets("/w/status"), { status: {} });
    await jane.post(api.core("pods/p/eviction"), {});
  },
  "403 takes precedence over 404": async (api) => {
    const jane = api.as("jane");
    await jane.get("/apis/nothing.example.com/v1/namespaces/default/things/t");
    await jane.get("/apis/nothing.example.com/v1/things");
    await jane.get(api.core("configmaps/c/nothing"));
    await jane.get("/nothing");
    await jane.post("/version", {});
  },
  "403 takes precedence over an invalid body": async (api) => {
    await api.as("jane").post(api.core("configmaps"), "{");
    await api.as("jane").post(api.widgets(), widget("w", { size: 99 }));
  },
  "HTML characters in messages are escaped": async (api) => {
    await api.as("<b>&").get("/nothing/<i>");
    await api.as("jane").get(api.core("configmaps/<c>"));
  },
  "paths that every authenticated user may read": async (api) => {
    const jane = api.as("jane");
    for (const path of ["/healthz", "/livez", "/readyz", "/apis/apps", "/metrics", "/logs"]) await jane.get(path);
  },
  "paths that anonymous users may read": async (api) => {
    const nobody = api.as("system:anonymous");
    for (const path of ["/healthz", "/livez", "/readyz", "/apis/apps", "/api"]) await nobody.get(path);
    await nobody.get(api.core("configmaps"));
  },
  "a role allows its verbs in its namespace": async (api) => {
    await grant(api, "jane", [READ]);
    const jane = api.as("jane");
    await api.quietly("POST", api.core("configmaps"), configMap("c"));
    await jane.get(api.core("configmaps/c"));
    await jane.get(api.core("configmaps?fieldSelector=metadata.name%3Dc"));
    await jane.watch(api.core("configmaps?watch=1&fieldSelector=metadata.name%3Dc"), async (watch) => {
      await watch.take(1);
    });
    await jane.delete(api.core("configmaps/c"));
    await jane.get("/api/v1/namespaces/default/configmaps");
    await jane.get("/api/v1/configmaps");
  },
  "a star allows all verbs": async (api) => {
    await grant(api, "jane", [WRITE]);
    const jane = api.as("jane");
    await jane.post(api.core("configmaps"), configMap("c"));
    await jane.merge(api.core("configmaps/c"), { data: { a: "1" } });
    await jane.delete(api.core("configmaps/c"));
    await jane.get(api.core("secrets"));
  },
  "a star allows all groups": async (api) => {
    await grant(api, "jane", [{ verbs: ["get"], apiGroups: ["*"], resources: ["widgets", "pods"] }]);
    await api.as("jane").get(api.widgets("/none"));
    await api.as("jane").get(api.core("pods/none"));
    await api.as("jane").get(api.core("configmaps/none"));
  },
  "a star allows all resources and subresources": async (api) => {
    await grant(api, "jane", [{ verbs: ["get"], apiGroups: ["contract.example.com"], resources: ["*"] }]);
    await api.as("jane").get(api.widgets("/none"));
    await api.as("jane").get(api.widgets("/none/status"));
    await api.as("jane").get(api.core("pods/none"));
  },
  "a rule for a resource does not allow its subresources": async (api) => {
    await grant(api, "jane", [{ verbs: ["get"], apiGroups: ["contract.example.com"], resources: ["widgets"] }]);
    await api.as("jane").get(api.widgets("/none"));
    await api.as("jane").get(api.widgets("/none/status"));
  },
  "a rule for a subresource does not allow its resource": async (api) => {
    await grant(api, "jane", [{ verbs: ["get"], apiGroups: ["contract.example.com"], resources: ["widgets/status"] }]);
    await api.as("jane").get(api.widgets("/none"));
    await api.as("jane").get(api.widgets("/none/status"));
  },
  "a rule for a subresource of all resources": async (api) => {
    const rule = { verbs: ["get"], apiGroups: ["*"], resources: ["*/status"] };
    await grant(api, "jane", [rule, { verbs: ["get"], apiGroups: [""], resources: ["pods/status"] }]);
    await api.as("jane").get(api.widgets("/none/status"));
    await api.as("jane").get(api.core("pods/none/status"));
    await api.as("jane").get(api.core("pods/none/log"));
    await api.as("jane").get(api.core("pods/none"));
  },
  "a rule with a name allows that object only": async (api) => {
    const rule = { verbs: ["get", "delete", "list"], apiGroups: [""], resources: ["configmaps"], resourceNames: ["a"] };
    await grant(api, "jane", [rule]);
    await api.quietly("POST", api.core("configmaps"), configMap("a"));
    const jane = api.as("jane");
    await jane.get(api.core("configmaps/a"));
    await jane.get(api.core("configmaps/b"));
    await jane.get(api.core("configmaps"));
    await jane.get(api.core("configmaps?fieldSelector=metadata.name%3Da"));
    await jane.get(api.core("configmaps?fieldSelector=metadata.name%3Db"));
    await jane.get(api.core("configmaps?fieldSelector=metadata.name!%3Da"));
    await jane.delete(api.core("configmaps/a"));
  },
  "a rule with a name allows no create": async (api) => {
    const rule = { verbs: ["create", "get"], apiGroups: [""], resources: ["configmaps"], resourceNames: ["a"] };
    await grant(api, "jane", [rule]);
    await api.as("jane").post(api.core("configmaps"), configMap("a"));
  },
  "an apply that creates an object needs create, too": async (api) => {
    await grant(api, "jane", [{ verbs: ["patch"], apiGroups: [""], resources: ["configmaps"] }]);
    await api.as("jane").apply(api.core("configmaps/c?fieldManager=m"), configMap("c"));
    await api.quietly("POST", api.core("configmaps"), configMap("c"));
    await api.as("jane").apply(api.core("configmaps/c?fieldManager=m"), configMap("c", { a: "1" }));
  },
  "an apply that creates a custom object needs create, too": async (api) => {
    await grant(api, "jane", [{ verbs: ["patch"], apiGroups: ["contract.example.com"], resources: ["widgets"] }]);
    await api.as("jane").apply(api.widgets("/w?fieldManager=m"), widget("w"));
  },
  "delete does not allow deletecollection": async (api) => {
    await grant(api, "jane", [{ verbs: ["delete", "list"], apiGroups: [""], resources: ["configmaps"] }]);
    await api.as("jane").delete(api.core("configmaps?labelSelector=a%3Db"));
    await grant(api, "joe", [{ verbs: ["deletecollection"], apiGroups: [""], resources: ["configmaps"] }]);
    await api.as("joe").delete(api.core("configmaps?labelSelector=a%3Db"));
    await api.as("joe").delete(api.core("configmaps/c"));
  },
  "list does not allow watch": async (api) => {
    await grant(api, "jane", [{ verbs: ["list"], apiGroups: [""], resources: ["configmaps"] }]);
    for (const query of ["watch=true", "watch=0", "watch=false", "watch=1", "watch"]) {
      if (query === "watch=0" || query === "watch=false") await api.as("jane").get(api.core(`secrets?${query}`));
      else await api.as("jane").get(api.core(`configmaps?${query}`));
    }
  },
  "a ClusterRole bound in one namespace": async (api) => {
    const name = uniqueName(api, "reader");
    await api.quietly("POST", `${RBAC}/clusterroles`, clusterRole(name, [READ]));
    await api.quietly("POST", rbacPath(api, "rolebindings"), binding("b", name, [user("jane")], "ClusterRole"));
    await untilMayRead(api, { user: "jane" });
    await api.as("jane").get(api.core("configmaps/none"));
    await api.as("jane").get("/api/v1/namespaces/default/configmaps/none");
    await api.as("jane").get("/api/v1/configmaps");
  },
  "a ClusterRoleBinding applies to all namespaces": async (api) => {
    const name = uniqueName(api, "jane");
    await grantAll(api, name, [READ, { verbs: ["get"], apiGroups: [""], resources: ["nodes"] }]);
    const jane = api.as(name);
    await jane.get(api.core("configmaps/none"));
    await jane.get("/api/v1/namespaces/default/configmaps/none");
    await jane.get("/api/v1/nodes/none");
    await jane.get("/api/v1/nodes");
  },
  "a path that is not a resource": async (api) => {
    const name = uniqueName(api, "jane");
    await grantAll(api, name, [{ verbs: ["get"], nonResourceURLs: ["/logs/*", "/nothing"] }]);
    const jane = api.as(name);
    await jane.get("/nothing");
    await jane.get("/nothing/more");
    await jane.post("/nothing", {});
  },
  "a RoleBinding does not grant paths of a ClusterRole": async (api) => {
    const name = uniqueName(api, "paths");
    const rules = [{ verbs: ["get"], nonResourceURLs: ["/nothing"] }, READ];
    await api.quietly("POST", `${RBAC}/clusterroles`, clusterRole(name, rules));
    await api.quietly("POST", rbacPath(api, "rolebindings"), binding("b", name, [user("jane")], "ClusterRole"));
    await untilMayRead(api, { user: "jane" });
    await api.as("jane").get("/nothing");
  },
  "members of a group have its permissions": async (api) => {
    await api.quietly("POST", rbacPath(api, "roles"), role("r", [READ]));
    await api.quietly("POST", rbacPath(api, "rolebindings"), binding("b", "r", [group("team")]));
    await untilMayRead(api, { user: "jane", groups: ["team"] });
    await api.as("jane", { "Impersonate-Group": "team" }).get(api.core("configmaps/none"));
    await api.as("jane", { "Impersonate-Group": "other" }).get(api.core("configmaps/none"));
    await api.as("jane").get(api.core("configmaps/none"));
    await api.as("team").get(api.core("configmaps/none"));
  },
  "a service account of the binding's namespace": async (api) => {
    await api.quietly("POST", rbacPath(api, "roles"), role("r", [READ]));
    await api.quietly("POST", rbacPath(api, "rolebindings"), binding("b", "r", [account("robot")]));
    await untilMayRead(api, { user: `system:serviceaccount:${api.namespace}:robot` });
    await api.as(`system:serviceaccount:${api.namespace}:robot`).get(api.core("configmaps/none"));
    await api.as("system:serviceaccount:default:robot").get(api.core("configmaps/none"));
    await api.as(`system:serviceaccount:${api.namespace}:other`).get(api.core("configmaps/none"));
  },
  "a service account of another namespace": async (api) => {
    await api.quietly("POST", rbacPath(api, "roles"), role("r", [READ]));
    await api.quietly("POST", rbacPath(api, "rolebindings"), binding("b", "r", [account("robot", "default")]));
    await untilMayRead(api, { user: "system:serviceaccount:default:robot" });
    await api.as("system:serviceaccount:default:robot").get(api.core("configmaps/none"));
    await api.as(`system:serviceaccount:${api.namespace}:robot`).get(api.core("configmaps/none"));
  },
  "the group of all service accounts of a namespace": async (api) => {
    await api.quietly("POST", rbacPath(api, "roles"), role("r", [READ]));
    const all = group(`system:serviceaccounts:${api.namespace}`);
    await api.quietly("POST", rbacPath(api, "rolebindings"), binding("b", "r", [all]));
    await untilMayRead(api, { user: "x", groups: [`system:serviceaccounts:${api.namespace}`] });
    await api.as(`system:serviceaccount:${api.namespace}:any`).get(api.core("configmaps/none"));
    await api.as("system:serviceaccount:default:any").get(api.core("configmaps/none"));
  },
  "permissions end when the binding is deleted": async (api) => {
    await grant(api, "jane", [READ]);
    await api.as("jane").get(api.core("configmaps/none"));
    await api.quietly("DELETE", rbacPath(api, "rolebindings", "/b-jane"));
    await untilMayRead(api, { user: "jane" }, false);
    await api.as("jane").get(api.core("configmaps/none"));
  },
  "permissions change when the role changes": async (api) => {
    await grant(api, "jane", [READ]);
    await api.quietly("PUT", rbacPath(api, "roles", "/role-of-jane"), role("role-of-jane", []));
    await untilMayRead(api, { user: "jane" }, false);
    await api.as("jane").get(api.core("configmaps/none"));
  },
  "the message of a 403 names a missing role": async (api) => {
    await api.quietly("POST", rbacPath(api, "rolebindings"), binding("b", "gone", [user("jane"), user("joe")]));
    await grant(api, "joe", [READ]);
    await api.untilAnswer(rbacPath(api, "rolebindings"), () => true);
    await api.as("joe").get(api.core("secrets"));
    const name = uniqueName(api, "gone");
    await api.quietly("POST", rbacPath(api, "rolebindings"), binding("c", name, [user("ann")], "ClusterRole"));
    await grant(api, "ann", [READ]);
    await api.as("ann").get(api.core("secrets"));
    await api.as("ann").get(api.core("configmaps/none"));
  },
  "a role is aggregated by label": async (api) => {
    const [all, part] = [uniqueName(api, "all"), uniqueName(api, "part")];
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { "example.com/to": api.namespace } }] };
    await api.post(`${RBAC}/clusterroles`, clusterRole(all, null, { aggregationRule }));
    await api.quietly("POST", `${RBAC}/clusterroles`, {
      ...clusterRole(part, [READ]),
      metadata: { name: part, labels: { "example.com/to": api.namespace } },
    });
    await api.untilAnswer(`${RBAC}/clusterroles/${all}`, ({ body }) => body.rules?.length === 1);
    await api.get(`${RBAC}/clusterroles/${all}`);
    await api.quietly("POST", rbacPath(api, "rolebindings"), binding("b", all, [user("jane")], "ClusterRole"));
    await untilMayRead(api, { user: "jane" });
    await api.as("jane").get(api.core("configmaps/none"));
  },
  "an aggregated role follows the roles it selects": async (api) => {
    const [all, a, b] = [uniqueName(api, "all"), uniqueName(api, "a"), uniqueName(api, "b")];
    const to = (value: string) => ({ "example.com/to": `${api.namespace}-${value}` });
    const expression = { key: "example.com/to", operator: "In", values: [`${api.namespace}-x`, `${api.namespace}-y`] };
    const aggregationRule = { clusterRoleSelectors: [{ matchExpressions: [expression] }] };
    await api.quietly("POST", `${RBAC}/clusterroles`, clusterRole(all, null, { aggregationRule }));
    const roleWithLabels = (name: string, labels: unknown, rule: unknown) => ({
      ...clusterRole(name, [rule]),
      metadata: { name, labels },
    });
    await api.quietly("POST", `${RBAC}/clusterroles`, roleWithLabels(b, to("x"), WRITE));
    await api.quietly("POST", `${RBAC}/clusterroles`, roleWithLabels(a, to("y"), READ));
    await api.untilAnswer(`${RBAC}/clusterroles/${all}`, ({ body }) => body.rules?.length === 2);
    const { body } = await api.get(`${RBAC}/clusterroles/${all}`);
    await api.quietly("PUT", `${RBAC}/clusterroles/${all}`, { ...body, rules: [] });
    await api.untilAnswer(`${RBAC}/clusterroles/${all}`, ({ body }) => body.rules?.length === 2);
    await api.quietly("DELETE", `${RBAC}/clusterroles/${b}`);
    await api.untilAnswer(`${RBAC}/clusterroles/${all}`, ({ body }) => body.rules?.length === 1);
    await api.quietly("PATCH", `${RBAC}/clusterroles/${a}`, { metadata: { labels: null } }, {
      contentType: "application/merge-patch+json",
    });
    await api.untilAnswer(`${RBAC}/clusterroles/${all}`, ({ body }) => (body.rules?.length ?? 0) === 0);
    await api.get(`${RBAC}/clusterroles/${all}`);
  },
  "the roles of a fresh cluster": async (api) => {
    const { body } = await api.quietly("GET", `${RBAC}/clusterroles?labelSelector=kubernetes.io%2Fbootstrapping`);
    type Item = { metadata: { name: string }; aggregationRule?: unknown };
    const single = body.items.filter(({ aggregationRule }: Item) => aggregationRule === undefined);
    for (const { metadata: { name } } of single) await api.get(`${RBAC}/clusterroles/${name}`);
  },
  ...Object.fromEntries(["view", "edit", "admin"].map((name) => [
    `the role ${name} of a fresh cluster`,
    async (api: Recorder) => {
      await api.untilAnswer(`${RBAC}/clusterroles/${name}`, ({ body }) => body.rules?.length > 8);
      await api.get(`${RBAC}/clusterroles/${name}`);
    },
  ])),
  "the bindings of a fresh cluster": async (api) => {
    await api.get(`${RBAC}/clusterrolebindings?${BOOTSTRAPPED}`);
  },
  ...Object.fromEntries(["kube-system", "kube-public"].map((namespace) => [
    `the roles of ${namespace}`,
    async (api: Recorder) => {
      await api.get(`${RBAC}/namespaces/${namespace}/roles?${BOOTSTRAPPED}`);
      await api.get(`${RBAC}/namespaces/${namespace}/rolebindings?${BOOTSTRAPPED}`);
    },
  ])),
  "view, edit and admin in one namespace": async (api) => {
    for (const name of ["view", "edit", "admin"]) {
      await api.quietly("POST", rbacPath(api, "rolebindings"), binding(name, name, [user(name)], "ClusterRole"));
      await untilAccessIs(api, {
        user: name,
        resourceAttributes: { verb: "get", resource: "pods", namespace: api.namespace },
      });
      const person = api.as(name);
      await person.get(api.core("configmaps/none"));
      await person.get(api.core("secrets/none"));
      await person.delete(api.core("configmaps/none"));
      await person.get(rbacPath(api, "rolebindings", "/none"));
      await person.get(api.widgets("/none"));
    }
  },
  "the members of system:masters may do everything": async (api) => {
    const master = api.as("anybody", { "Impersonate-Group": "system:masters" });
    await master.get(api.core("configmaps/none"));
    await master.get("/nothing");
    await master.post(`${AUTHORIZATION}/selfsubjectaccessreviews`, {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: { verb: "anything", resource: "whatever" } },
    });
  },
  "cluster-admin may do everything except impersonate system:masters": async (api) => {
    const name = uniqueName(api, "boss");
    await api.quietly("POST", `${RBAC}/clusterrolebindings`, clusterBinding(name, "cluster-admin", [user(name)]));
    await untilMayRead(api, { user: name });
    await api.as(name).get(api.core("secrets/none"));
    await api.as(name).get("/nothing");
    await api.as(name).post(
      `${RBAC}/clusterroles`,
      clusterRole(uniqueName(api, "any"), [{ ...WRITE, resources: ["*"] }]),
    );
  },
});
