/** Who may grant what, and what is no role or binding. */
import { area } from "../contract.ts";
import {
  account,
  binding,
  clusterBinding,
  clusterRole,
  grant,
  grantAll,
  group,
  own,
  RBAC,
  READ,
  role,
  type Rule,
  user,
  within,
  WRITE,
} from "../roles.ts";

const ROLES: Rule = {
  verbs: ["get", "create", "update", "patch"],
  apiGroups: ["rbac.authorization.k8s.io"],
  resources: ["roles", "rolebindings", "clusterroles", "clusterrolebindings"],
};

/** Nobody grants what he does not have. */
export const grants = area("grants", {
  "a role holds only what its writer has": async (api) => {
    await grant(api, "jane", [ROLES, READ]);
    const jane = api.as("jane");
    await jane.post(within(api, "roles"), role("r", [READ]));
    await jane.post(within(api, "roles"), role("s", [WRITE]));
    await jane.post(within(api, "roles"), role("s", [{ ...READ, verbs: ["get", "delete", "create"] }]));
    await jane.post(within(api, "roles"), role("s", [{ ...READ, resources: ["configmaps", "secrets", "pods/log"] }]));
    await jane.post(within(api, "roles"), role("s", [{ ...READ, apiGroups: ["", "apps"] }]));
    await jane.post(within(api, "roles"), role("s", [{ ...READ, resourceNames: ["a", "b"] }]));
  },
  "a role is widened only by who has more": async (api) => {
    await grant(api, "jane", [ROLES, READ]);
    await api.quietly("POST", within(api, "roles"), role("r", [READ]));
    const jane = api.as("jane");
    await jane.merge(within(api, "roles", "/r"), { rules: [{ ...READ, verbs: ["get"] }] });
    await jane.merge(within(api, "roles", "/r"), { rules: [WRITE] });
    await jane.put(within(api, "roles", "/r"), role("r", [{ ...READ, resources: ["secrets"], resourceNames: ["a"] }]));
    await jane.apply(within(api, "roles", "/r?fieldManager=m&force=1"), role("r", [WRITE]));
  },
  "what a role held before is asked for again": async (api) => {
    await grant(api, "jane", [ROLES]);
    await api.quietly("POST", within(api, "roles"), role("r", [READ]));
    await api.as("jane").merge(within(api, "roles", "/r"), { metadata: { labels: { a: "1" } } });
    await api.as("jane").merge(within(api, "roles", "/r"), { metadata: { finalizers: ["example.com/a"] } });
  },
  "a name covers only itself": async (api) => {
    await grant(api, "jane", [ROLES, { ...READ, resourceNames: ["a"] }]);
    const jane = api.as("jane");
    await jane.post(within(api, "roles"), role("r", [{ ...READ, resourceNames: ["a"] }]));
    await jane.post(within(api, "roles"), role("s", [{ ...READ, resourceNames: ["a", "b"] }]));
    await jane.post(within(api, "roles"), role("s", [READ]));
  },
  "a part of all resources covers each part": async (api) => {
    await grant(api, "jane", [ROLES, { verbs: ["get"], apiGroups: [""], resources: ["*/status", "pods"] }]);
    await api.as("jane").post(
      within(api, "roles"),
      role("r", [{ verbs: ["get"], apiGroups: [""], resources: ["pods/status"] }]),
    );
    await api.as("jane").post(
      within(api, "roles"),
      role("s", [{ verbs: ["get"], apiGroups: [""], resources: ["pods/log"] }]),
    );
  },
  "what is missing is listed once a resource": async (api) => {
    await grant(api, "jane", [ROLES]);
    const rules = [
      { verbs: ["get", "list"], apiGroups: ["", "apps"], resources: ["pods", "deployments"] },
      { verbs: ["delete"], apiGroups: ["apps"], resources: ["deployments"], resourceNames: ["x", "y"] },
    ];
    await api.as("jane").post(within(api, "roles"), role("r", rules));
    await api.as("jane", { "Impersonate-Group": "team" }).post(within(api, "roles"), role("r", rules));
  },
  "paths are covered by longer stars": async (api) => {
    const name = own(api, "jane");
    await grantAll(api, name, [ROLES, { verbs: ["get"], nonResourceURLs: ["/logs/*", "/metrics"] }]);
    const paths = (...nonResourceURLs: string[]) => [{ verbs: ["get"], nonResourceURLs }];
    await api.as(name).post(
      `${RBAC}/clusterroles`,
      clusterRole(own(api, "a"), paths("/logs/a", "/logs/b/*", "/metrics")),
    );
    await api.as(name).post(`${RBAC}/clusterroles`, clusterRole(own(api, "b"), paths("/logs", "/metrics/*")));
  },
  "escalate lifts it for roles": async (api) => {
    const rule = { ...ROLES, verbs: ["escalate"], resources: ["roles"] };
    await grant(api, "jane", [ROLES, rule]);
    await api.as("jane").post(within(api, "roles"), role("r", [WRITE]));
    await api.as("jane").post(within(api, "rolebindings"), binding("b", "r", [user("jane")]));
  },
  "escalate of one role by its name": async (api) => {
    await grant(api, "jane", [ROLES, { ...ROLES, verbs: ["escalate"], resources: ["roles"], resourceNames: ["r"] }]);
    await api.quietly("POST", within(api, "roles"), role("r", [READ]));
    await api.quietly("POST", within(api, "roles"), role("s", [READ]));
    await api.as("jane").merge(within(api, "roles", "/r"), { rules: [WRITE] });
    await api.as("jane").merge(within(api, "roles", "/s"), { rules: [WRITE] });
    await api.as("jane").post(within(api, "roles"), role("t", [WRITE]));
  },
  "a role is bound only by who has all of it": async (api) => {
    await grant(api, "jane", [ROLES, READ]);
    await api.quietly("POST", within(api, "roles"), role("reader", [READ]));
    await api.quietly("POST", within(api, "roles"), role("writer", [WRITE]));
    const jane = api.as("jane");
    await jane.post(within(api, "rolebindings"), binding("a", "reader", [user("joe")]));
    await jane.post(within(api, "rolebindings"), binding("b", "writer", [user("joe")]));
    await jane.post(within(api, "rolebindings"), binding("c", "cluster-admin", [user("jane")], "ClusterRole"));
    await jane.merge(within(api, "rolebindings", "/a"), { subjects: [user("jane")] });
  },
  "a binding of a role that is not there": async (api) => {
    await grant(api, "jane", [ROLES]);
    const jane = api.as("jane");
    await jane.post(within(api, "rolebindings"), binding("a", "none", [user("joe")]));
    await jane.post(within(api, "rolebindings"), binding("b", "none", [user("joe")], "ClusterRole"));
    await api.post(within(api, "rolebindings"), binding("c", "none", [user("joe")]));
  },
  "a binding is left alone by who may not bind": async (api) => {
    await grant(api, "jane", [ROLES]);
    await api.quietly("POST", within(api, "roles"), role("writer", [WRITE]));
    await api.quietly("POST", within(api, "rolebindings"), binding("b", "writer", [user("joe")]));
    await api.as("jane").merge(within(api, "rolebindings", "/b"), { subjects: [user("jane")] });
    await api.as("jane").merge(within(api, "rolebindings", "/b"), { metadata: { labels: { a: "1" } } });
  },
  "bind lifts it for one role": async (api) => {
    const rule = { verbs: ["bind"], apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"] };
    await grant(api, "jane", [ROLES, { ...rule, resourceNames: ["writer"] }]);
    await api.quietly("POST", within(api, "roles"), role("writer", [WRITE]));
    await api.quietly("POST", within(api, "roles"), role("other", [WRITE]));
    await api.as("jane").post(within(api, "rolebindings"), binding("a", "writer", [user("joe")]));
    await api.as("jane").post(within(api, "rolebindings"), binding("b", "other", [user("joe")]));
  },
  "bind of ClusterRoles in one namespace only": async (api) => {
    const rule = { verbs: ["bind"], apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"] };
    await grant(api, "jane", [ROLES, rule]);
    await api.as("jane").post(within(api, "rolebindings"), binding("a", "edit", [user("joe")], "ClusterRole"));
    const name = own(api, "b");
    await api.as("jane").post(`${RBAC}/clusterrolebindings`, clusterBinding(name, "edit", [user("joe")]));
  },
  "an aggregation needs everything": async (api) => {
    const name = own(api, "jane");
    await grantAll(api, name, [ROLES]);
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { "example.com/to": api.namespace } }] };
    await api.as(name).post(`${RBAC}/clusterroles`, clusterRole(own(api, "all"), null, { aggregationRule }));
  },
  "a ClusterRoleBinding of more than one has": async (api) => {
    const name = own(api, "jane");
    await grantAll(api, name, [ROLES, READ]);
    await api.quietly("POST", `${RBAC}/clusterroles`, clusterRole(own(api, "reader"), [READ]));
    await api.as(name).post(
      `${RBAC}/clusterrolebindings`,
      clusterBinding(own(api, "a"), own(api, "reader"), [user("joe")]),
    );
    await api.as(name).post(`${RBAC}/clusterrolebindings`, clusterBinding(own(api, "b"), "edit", [user("joe")]));
  },
});

/** Roles and bindings that are refused. */
export const refusedRoles = area("refused roles", {
  "a rule without verbs, groups or resources": async (api) => {
    await api.post(within(api, "roles"), role("r", [{}]));
    await api.post(within(api, "roles"), role("r", [{ verbs: ["get"] }]));
    await api.post(within(api, "roles"), role("r", [READ, { verbs: ["get"], resources: ["pods"] }]));
    await api.post(`${RBAC}/clusterroles`, clusterRole(own(api, "r"), [{ verbs: [] }]));
  },
  "paths in a Role": async (api) => {
    await api.post(within(api, "roles"), role("r", [{ verbs: ["get"], nonResourceURLs: ["/logs"] }]));
    await api.post(within(api, "roles"), role("r", [{ ...READ, nonResourceURLs: ["/logs"] }]));
    await api.post(`${RBAC}/clusterroles`, clusterRole(own(api, "r"), [{ ...READ, nonResourceURLs: ["/logs"] }]));
  },
  "an aggregation of nothing": async (api) => {
    await api.post(`${RBAC}/clusterroles`, clusterRole(own(api, "r"), [], { aggregationRule: {} }));
  },
  "a binding without a role": async (api) => {
    await api.post(within(api, "rolebindings"), { ...binding("b", "", []), roleRef: {} });
    await api.post(within(api, "rolebindings"), binding("b", "r", [], "Other"));
    await api.post(within(api, "rolebindings"), binding("b", "a/b", []));
    await api.post(`${RBAC}/clusterrolebindings`, {
      ...clusterBinding(own(api, "b"), "r", []),
      roleRef: { kind: "Role", name: "r" },
    });
  },
  "subjects that are none": async (api) => {
    await api.post(within(api, "rolebindings"), binding("b", "r", [{ kind: "Other", name: "x" }]));
    await api.post(within(api, "rolebindings"), binding("b", "r", [user(""), group(""), account("")]));
    await api.post(within(api, "rolebindings"), binding("b", "r", [account("Robot")]));
    await api.post(within(api, "rolebindings"), binding("b", "r", [{ ...account("robot"), apiGroup: "apps" }]));
    await api.post(`${RBAC}/clusterrolebindings`, clusterBinding(own(api, "b"), "view", [account("robot")]));
  },
  "the role of a binding stays": async (api) => {
    await api.post(within(api, "rolebindings"), binding("b", "r", [user("jane")]));
    await api.merge(within(api, "rolebindings", "/b"), { roleRef: { name: "s" } });
    await api.merge(within(api, "rolebindings", "/b"), { roleRef: { kind: "ClusterRole" } });
    await api.merge(within(api, "rolebindings", "/b"), { subjects: null });
  },
});
