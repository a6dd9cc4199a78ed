/** Privilege escalation, and invalid roles and bindings. */
import { area } from "../contract.ts";
import {
  account,
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
  type Rule,
  uniqueName,
  user,
  WRITE,
} from "../roles.ts";

const ROLES: Rule = {
  verbs: ["get", "create", "update", "patch"],
  apiGroups: ["rbac.authorization.k8s.io"],
  resources: ["roles", "rolebindings", "clusterroles", "clusterrolebindings"],
};

/** Cases about privilege escalation: users can grant only RBAC permissions that they have. */
export const grants = area("grants", {
  "a role can only contain permissions that its author has": async (api) => {
    await grant(api, "jane", [ROLES, READ]);
    const jane = api.as("jane");
    await jane.post(rbacPath(api, "roles"), role("r", [READ]));
    await jane.post(rbacPath(api, "roles"), role("s", [WRITE]));
    await jane.post(rbacPath(api, "roles"), role("s", [{ ...READ, verbs: ["get", "delete", "create"] }]));
    await jane.post(rbacPath(api, "roles"), role("s", [{ ...READ, resources: ["configmaps", "secrets", "pods/log"] }]));
    await jane.post(rbacPath(api, "roles"), role("s", [{ ...READ, apiGroups: ["", "apps"] }]));
    await jane.post(rbacPath(api, "roles"), role("s", [{ ...READ, resourceNames: ["a", "b"] }]));
  },
  "only a user with more permissions can extend a role": async (api) => {
    await grant(api, "jane", [ROLES, READ]);
    await api.quietly("POST", rbacPath(api, "roles"), role("r", [READ]));
    const jane = api.as("jane");
    await jane.merge(rbacPath(api, "roles", "/r"), { rules: [{ ...READ, verbs: ["get"] }] });
    await jane.merge(rbacPath(api, "roles", "/r"), { rules: [WRITE] });
    await jane.put(
      rbacPath(api, "roles", "/r"),
      role("r", [{ ...READ, resources: ["secrets"], resourceNames: ["a"] }]),
    );
    await jane.apply(rbacPath(api, "roles", "/r?fieldManager=m&force=1"), role("r", [WRITE]));
  },
  "an update of a role checks existing permissions, too": async (api) => {
    await grant(api, "jane", [ROLES]);
    await api.quietly("POST", rbacPath(api, "roles"), role("r", [READ]));
    await api.as("jane").merge(rbacPath(api, "roles", "/r"), { metadata: { labels: { a: "1" } } });
    await api.as("jane").merge(rbacPath(api, "roles", "/r"), { metadata: { finalizers: ["example.com/a"] } });
  },
  "a rule with a name covers only that name": async (api) => {
    await grant(api, "jane", [ROLES, { ...READ, resourceNames: ["a"] }]);
    const jane = api.as("jane");
    await jane.post(rbacPath(api, "roles"), role("r", [{ ...READ, resourceNames: ["a"] }]));
    await jane.post(rbacPath(api, "roles"), role("s", [{ ...READ, resourceNames: ["a", "b"] }]));
    await jane.post(rbacPath(api, "roles"), role("s", [READ]));
  },
  "a subresource of all resources covers each one": async (api) => {
    await grant(api, "jane", [ROLES, { verbs: ["get"], apiGroups: [""], resources: ["*/status", "pods"] }]);
    await api.as("jane").post(
      rbacPath(api, "roles"),
      role("r", [{ verbs: ["get"], apiGroups: [""], resources: ["pods/status"] }]),
    );
    await api.as("jane").post(
      rbacPath(api, "roles"),
      role("s", [{ verbs: ["get"], apiGroups: [""], resources: ["pods/log"] }]),
    );
  },
  "missing permissions are listed once for each resource": async (api) => {
    await grant(api, "jane", [ROLES]);
    const rules = [
      { verbs: ["get", "list"], apiGroups: ["", "apps"], resources: ["pods", "deployments"] },
      { verbs: ["delete"], apiGroups: ["apps"], resources: ["deployments"], resourceNames: ["x", "y"] },
    ];
    await api.as("jane").post(rbacPath(api, "roles"), role("r", rules));
    await api.as("jane", { "Impersonate-Group": "team" }).post(rbacPath(api, "roles"), role("r", rules));
  },
  "paths are covered by shorter paths with a star": async (api) => {
    const name = uniqueName(api, "jane");
    await grantAll(api, name, [ROLES, { verbs: ["get"], nonResourceURLs: ["/logs/*", "/metrics"] }]);
    const paths = (...nonResourceURLs: string[]) => [{ verbs: ["get"], nonResourceURLs }];
    await api.as(name).post(
      `${RBAC}/clusterroles`,
      clusterRole(uniqueName(api, "a"), paths("/logs/a", "/logs/b/*", "/metrics")),
    );
    await api.as(name).post(`${RBAC}/clusterroles`, clusterRole(uniqueName(api, "b"), paths("/logs", "/metrics/*")));
  },
  "escalate allows roles with more permissions": async (api) => {
    const rule = { ...ROLES, verbs: ["escalate"], resources: ["roles"] };
    await grant(api, "jane", [ROLES, rule]);
    await api.as("jane").post(rbacPath(api, "roles"), role("r", [WRITE]));
    await api.as("jane").post(rbacPath(api, "rolebindings"), binding("b", "r", [user("jane")]));
  },
  "escalate on one role by name": async (api) => {
    await grant(api, "jane", [ROLES, { ...ROLES, verbs: ["escalate"], resources: ["roles"], resourceNames: ["r"] }]);
    await api.quietly("POST", rbacPath(api, "roles"), role("r", [READ]));
    await api.quietly("POST", rbacPath(api, "roles"), role("s", [READ]));
    await api.as("jane").merge(rbacPath(api, "roles", "/r"), { rules: [WRITE] });
    await api.as("jane").merge(rbacPath(api, "roles", "/s"), { rules: [WRITE] });
    await api.as("jane").post(rbacPath(api, "roles"), role("t", [WRITE]));
  },
  "only a user with all permissions of a role can bind it": async (api) => {
    await grant(api, "jane", [ROLES, READ]);
    await api.quietly("POST", rbacPath(api, "roles"), role("reader", [READ]));
    await api.quietly("POST", rbacPath(api, "roles"), role("writer", [WRITE]));
    const jane = api.as("jane");
    await jane.post(rbacPath(api, "rolebindings"), binding("a", "reader", [user("joe")]));
    await jane.post(rbacPath(api, "rolebindings"), binding("b", "writer", [user("joe")]));
    await jane.post(rbacPath(api, "rolebindings"), binding("c", "cluster-admin", [user("jane")], "ClusterRole"));
    await jane.merge(rbacPath(api, "rolebindings", "/a"), { subjects: [user("jane")] });
  },
  "a binding of a missing role": async (api) => {
    await grant(api, "jane", [ROLES]);
    const jane = api.as("jane");
    await jane.post(rbacPath(api, "rolebindings"), binding("a", "none", [user("joe")]));
    await jane.post(rbacPath(api, "rolebindings"), binding("b", "none", [user("joe")], "ClusterRole"));
    await api.post(rbacPath(api, "rolebindings"), binding("c", "none", [user("joe")]));
  },
  "a user who may not bind can change other fields of a binding": async (api) => {
    await grant(api, "jane", [ROLES]);
    await api.quietly("POST", rbacPath(api, "roles"), role("writer", [WRITE]));
    await api.quietly("POST", rbacPath(api, "rolebindings"), binding("b", "writer", [user("joe")]));
    await api.as("jane").merge(rbacPath(api, "rolebindings", "/b"), { subjects: [user("jane")] });
    await api.as("jane").merge(rbacPath(api, "rolebindings", "/b"), { metadata: { labels: { a: "1" } } });
  },
  "bind allows binding one role": async (api) => {
    const rule = { verbs: ["bind"], apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"] };
    await grant(api, "jane", [ROLES, { ...rule, resourceNames: ["writer"] }]);
    await api.quietly("POST", rbacPath(api, "roles"), role("writer", [WRITE]));
    await api.quietly("POST", rbacPath(api, "roles"), role("other", [WRITE]));
    await api.as("jane").post(rbacPath(api, "rolebindings"), binding("a", "writer", [user("joe")]));
    await api.as("jane").post(rbacPath(api, "rolebindings"), binding("b", "other", [user("joe")]));
  },
  "bind on ClusterRoles in one namespace": async (api) => {
    const rule = { verbs: ["bind"], apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"] };
    await grant(api, "jane", [ROLES, rule]);
    await api.as("jane").post(rbacPath(api, "rolebindings"), binding("a", "edit", [user("joe")], "ClusterRole"));
    const name = uniqueName(api, "b");
    await api.as("jane").post(`${RBAC}/clusterrolebindings`, clusterBinding(name, "edit", [user("joe")]));
  },
  "an aggregated role needs all permissions": async (api) => {
    const name = uniqueName(api, "jane");
    await grantAll(api, name, [ROLES]);
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { "example.com/to": api.namespace } }] };
    await api.as(name).post(`${RBAC}/clusterroles`, clusterRole(uniqueName(api, "all"), null, { aggregationRule }));
  },
  "a ClusterRoleBinding of a role with more permissions": async (api) => {
    const name = uniqueName(api, "jane");
    await grantAll(api, name, [ROLES, READ]);
    await api.quietly("POST", `${RBAC}/clusterroles`, clusterRole(uniqueName(api, "reader"), [READ]));
    await api.as(name).post(
      `${RBAC}/clusterrolebindings`,
      clusterBinding(uniqueName(api, "a"), uniqueName(api, "reader"), [user("joe")]),
    );
    await api.as(name).post(`${RBAC}/clusterrolebindings`, clusterBinding(uniqueName(api, "b"), "edit", [user("joe")]));
  },
});

/** Invalid roles and bindings. */
export const rejectedRoles = area("rejected roles", {
  "a rule without verbs, groups or resources": async (api) => {
    await api.post(rbacPath(api, "roles"), role("r", [{}]));
    await api.post(rbacPath(api, "roles"), role("r", [{ verbs: ["get"] }]));
    await api.post(rbacPath(api, "roles"), role("r", [READ, { verbs: ["get"], resources: ["pods"] }]));
    await api.post(`${RBAC}/clusterroles`, clusterRole(uniqueName(api, "r"), [{ verbs: [] }]));
  },
  "paths in a Role": async (api) => {
    await api.post(rbacPath(api, "roles"), role("r", [{ verbs: ["get"], nonResourceURLs: ["/logs"] }]));
    await api.post(rbacPath(api, "roles"), role("r", [{ ...READ, nonResourceURLs: ["/logs"] }]));
    await api.post(
      `${RBAC}/clusterroles`,
      clusterRole(uniqueName(api, "r"), [{ ...READ, nonResourceURLs: ["/logs"] }]),
    );
  },
  "an aggregation without selectors": async (api) => {
    await api.post(`${RBAC}/clusterroles`, clusterRole(uniqueName(api, "r"), [], { aggregationRule: {} }));
  },
  "a binding without a role": async (api) => {
    await api.post(rbacPath(api, "rolebindings"), { ...binding("b", "", []), roleRef: {} });
    await api.post(rbacPath(api, "rolebindings"), binding("b", "r", [], "Other"));
    await api.post(rbacPath(api, "rolebindings"), binding("b", "a/b", []));
    await api.post(`${RBAC}/clusterrolebindings`, {
      ...clusterBinding(uniqueName(api, "b"), "r", []),
      roleRef: { kind: "Role", name: "r" },
    });
  },
  "invalid subjects": async (api) => {
    await api.post(rbacPath(api, "rolebindings"), binding("b", "r", [{ kind: "Other", name: "x" }]));
    await api.post(rbacPath(api, "rolebindings"), binding("b", "r", [user(""), group(""), account("")]));
    await api.post(rbacPath(api, "rolebindings"), binding("b", "r", [account("Robot")]));
    await api.post(rbacPath(api, "rolebindings"), binding("b", "r", [{ ...account("robot"), apiGroup: "apps" }]));
    await api.post(`${RBAC}/clusterrolebindings`, clusterBinding(uniqueName(api, "b"), "view", [account("robot")]));
  },
  "roleRef of a binding is immutable": async (api) => {
    await api.post(rbacPath(api, "rolebindings"), binding("b", "r", [user("jane")]));
    await api.merge(rbacPath(api, "rolebindings", "/b"), { roleRef: { name: "s" } });
    await api.merge(rbacPath(api, "rolebindings", "/b"), { roleRef: { kind: "ClusterRole" } });
    await api.merge(rbacPath(api, "rolebindings", "/b"), { subjects: null });
  },
});
