/** Impersonation and access reviews. */
import { area } from "../contract.ts";
import type { Recorder } from "../recorder.ts";
import {
  AUTHORIZATION,
  binding,
  clusterBinding,
  clusterRole,
  grant,
  grantAll,
  RBAC,
  rbacPath,
  READ,
  role,
  type Rule,
  uniqueName,
  untilAccessIs,
  user,
  WRITE,
} from "../roles.ts";
import { configMap } from "../widget.ts";

const AUTHENTICATION = "/apis/authentication.k8s.io/v1";

function review(kind: string, spec: unknown, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { apiVersion: "authorization.k8s.io/v1", kind, ...more, spec };
}

/** Sends a SelfSubjectAccessReview. */
async function reviewOwnAccess(api: Recorder, resourceAttributes: Record<string, unknown>): Promise<void> {
  await api.post(
    `${AUTHORIZATION}/selfsubjectaccessreviews`,
    review("SelfSubjectAccessReview", { resourceAttributes }),
  );
}

async function whoAmI(api: Recorder): Promise<void> {
  await api.post(`${AUTHENTICATION}/selfsubjectreviews`, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "SelfSubjectReview",
  });
}

/** Access reviews. */
export const reviews = area("access reviews", {
  "SelfSubjectAccessReview of resources": async (api) => {
    await grant(api, "jane", [READ]);
    const jane = api.as("jane");
    const { namespace } = api;
    await reviewOwnAccess(jane, { namespace, verb: "get", resource: "configmaps" });
    await reviewOwnAccess(jane, { namespace, verb: "get", resource: "configmaps", name: "c", version: "v1" });
    await reviewOwnAccess(jane, { namespace, verb: "delete", resource: "configmaps" });
    await reviewOwnAccess(jane, { verb: "get", resource: "configmaps" });
    await reviewOwnAccess(jane, { namespace, verb: "get", resource: "configmaps", group: "apps" });
    await reviewOwnAccess(jane, { namespace, verb: "get", resource: "configmaps", subresource: "status" });
  },
  "SelfSubjectAccessReview of a path": async (api) => {
    const ask = async (path: string, verb: string) => {
      const spec = { nonResourceAttributes: { path, verb } };
      await api.as("jane").post(`${AUTHORIZATION}/selfsubjectaccessreviews`, review("SelfSubjectAccessReview", spec));
    };
    await ask("/apis", "get");
    await ask("/metrics", "get");
  },
  "an access review without attributes": async (api) => {
    const path = `${AUTHORIZATION}/selfsubjectaccessreviews`;
    await api.post(path, review("SelfSubjectAccessReview", {}));
    const both = { resourceAttributes: { verb: "get" }, nonResourceAttributes: { path: "/", verb: "get" } };
    await api.post(path, review("SelfSubjectAccessReview", both));
    await api.post(`${AUTHORIZATION}/subjectaccessreviews`, review("SubjectAccessReview", {}));
    await api.post(path, review("SelfSubjectAccessReview", { resourceAttributes: { fieldSelector: {} } }));
    const labelSelector = { rawSelector: "a=b", requirements: [{ key: "a", operator: "Exists" }] };
    await api.post(path, review("SelfSubjectAccessReview", { resourceAttributes: { labelSelector } }));
  },
  "SubjectAccessReview of another user": async (api) => {
    await grant(api, "jane", [READ]);
    const ask = (spec: Record<string, unknown>) =>
      api.post(`${AUTHORIZATION}/subjectaccessreviews`, review("SubjectAccessReview", spec));
    const resourceAttributes = { namespace: api.namespace, verb: "get", resource: "configmaps" };
    await ask({ user: "jane", resourceAttributes });
    await ask({ user: "joe", resourceAttributes });
    await ask({ groups: ["system:masters"], resourceAttributes });
    await ask({ user: "joe", groups: ["g"], uid: "1", extra: { a: ["b"] }, resourceAttributes });
  },
  "the reason of a review names the binding": async (api) => {
    const name = uniqueName(api, "ann");
    await grantAll(api, name, [READ]);
    await reviewOwnAccess(api.as(name), { namespace: api.namespace, verb: "get", resource: "configmaps" });
    const createServiceAccount = `system:serviceaccount:${api.namespace}:robot`;
    await api.quietly("POST", rbacPath(api, "roles"), role("r", [READ]));
    const subjects = [{ kind: "ServiceAccount", name: "robot" }];
    await api.quietly("POST", rbacPath(api, "rolebindings"), binding("b", "r", subjects));
    await grant(api, "jane", [READ]);
    await reviewOwnAccess(api.as(createServiceAccount), {
      namespace: api.namespace,
      verb: "get",
      resource: "configmaps",
    });
  },
  "the evaluation error of a review names missing roles": async (api) => {
    await api.quietly("POST", rbacPath(api, "rolebindings"), binding("b", "none", [user("jane")]));
    await grant(api, "jane", [READ]);
    await reviewOwnAccess(api.as("jane"), { namespace: api.namespace, verb: "delete", resource: "configmaps" });
    await reviewOwnAccess(api.as("jane"), { namespace: api.namespace, verb: "get", resource: "configmaps" });
  },
  "LocalSubjectAccessReview": async (api) => {
    await grant(api, "jane", [READ]);
    const path = `/apis/authorization.k8s.io/v1/namespaces/${api.namespace}/localsubjectaccessreviews`;
    const { namespace } = api;
    const ask = (spec: unknown, metadata: unknown = { namespace }) =>
      api.post(path, review("LocalSubjectAccessReview", spec, { metadata }));
    await ask({ user: "jane", resourceAttributes: { namespace, verb: "get", resource: "configmaps" } });
    await ask({ user: "joe", resourceAttributes: { namespace, verb: "get", resource: "configmaps" } });
    await ask({ user: "jane", resourceAttributes: { namespace: "default", verb: "get", resource: "configmaps" } });
    await ask({ user: "jane", nonResourceAttributes: { path: "/", verb: "get" } });
  },
  "permissions to create access reviews": async (api) => {
    const spec = { user: "joe", resourceAttributes: { verb: "get", resource: "pods" } };
    await api.as("jane").post(`${AUTHORIZATION}/subjectaccessreviews`, review("SubjectAccessReview", spec));
    await api.as("jane").get(`${AUTHORIZATION}/subjectaccessreviews`);
  },
  "SelfSubjectRulesReview": async (api) => {
    await grant(api, "jane", [READ, { ...WRITE, resourceNames: ["a"] }]);
    const path = `${AUTHORIZATION}/selfsubjectrulesreviews`;
    await api.as("jane").post(path, review("SelfSubjectRulesReview", { namespace: api.namespace }));
    await api.as("joe").post(path, review("SelfSubjectRulesReview", { namespace: api.namespace }));
    await api.as("jane").post(path, review("SelfSubjectRulesReview", {}));
    await api.as("system:anonymous").post(path, review("SelfSubjectRulesReview", { namespace: api.namespace }));
  },
  "SelfSubjectReview": async (api) => {
    await whoAmI(api.as("jane"));
    await whoAmI(api.as("jane", { "Impersonate-Group": "team" }));
    await whoAmI(api.as("jane", { "Impersonate-Group": "system:authenticated" }));
    await whoAmI(api.as("jane", { "Impersonate-Group": "system:unauthenticated" }));
    await whoAmI(api.as("jane", { "Impersonate-Uid": "1-2", "Impersonate-Extra-Scopes": "view" }));
    await whoAmI(api.as(`system:serviceaccount:${api.namespace}:robot`));
    await whoAmI(api.as("system:anonymous"));
  },
});

/** Creates a service account with rules, and returns a recorder that uses its token. */
async function createServiceAccount(api: Recorder, rules: readonly Rule[]): Promise<Recorder> {
  const name = "robot";
  await api.quietly("POST", api.core("serviceaccounts"), {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name },
  });
  const account = `system:serviceaccount:${api.namespace}:${name}`;
  const role = uniqueName(api, name);
  await api.quietly("POST", `${RBAC}/clusterroles`, clusterRole(role, rules));
  await api.quietly("POST", `${RBAC}/clusterrolebindings`, clusterBinding(role, role, [user(account)]));
  for (const { verbs, apiGroups, resources, resourceNames } of rules) {
    const [resource, subresource] = (resources?.[0] ?? "").split("/");
    const attributes = { verb: verbs[0], group: apiGroups?.[0], resource, subresource, name: resourceNames?.[0] };
    await untilAccessIs(api, { user: account, resourceAttributes: attributes });
  }
  const { body } = await api.quietly("POST", api.core(`serviceaccounts/${name}/token`), {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: {},
  });
  return api.sending({ Authorization: `Bearer ${body.status.token}` });
}

const IMPERSONATE: Rule = {
  verbs: ["impersonate"],
  apiGroups: [""],
  resources: ["users", "groups", "serviceaccounts"],
};
const AUTHENTICATION_GROUP = "authentication.k8s.io";

/** Impersonation. */
export const impersonation = area("impersonation", {
  "impersonation needs a permission": async (api) => {
    const it = await createServiceAccount(api, []);
    await it.as("jane").get(api.core("configmaps/c"));
    await it.as("system:serviceaccount:default:other").get(api.core("configmaps/c"));
    await it.as("system:node:n").get("/api/v1/nodes/n");
    await it.as("jane", { "Impersonate-Group": "team" }).get("/healthz");
  },
  "permissions of a token": async (api) => {
    const it = await createServiceAccount(api, [READ]);
    await it.get(api.core("configmaps/none"));
    await it.get(api.core("secrets/none"));
    await whoAmI(it);
  },
  "impersonation of a group without a user": async (api) => {
    await api.get(api.core("configmaps"), { headers: { "Impersonate-Group": "team" } });
    await api.get(api.core("configmaps"), { headers: { "Impersonate-Uid": "1" } });
    await api.get(api.core("configmaps"), { headers: { "Impersonate-Extra-A": "b" } });
  },
  "a user by name": async (api) => {
    const it = await createServiceAccount(api, [{ ...IMPERSONATE, resources: ["users"], resourceNames: ["jane"] }]);
    await whoAmI(it.as("jane"));
    await it.as("jane").get(api.core("configmaps/c"));
    await it.as("joe").get(api.core("configmaps/c"));
  },
  "impersonation of a group needs its own permission": async (api) => {
    const it = await createServiceAccount(api, [{ ...IMPERSONATE, resources: ["users"] }]);
    await it.as("jane", { "Impersonate-Group": "team" }).get(api.core("configmaps/c"));
  },
  "a group by name": async (api) => {
    const it = await createServiceAccount(api, [IMPERSONATE]);
    await whoAmI(it.as("jane", { "Impersonate-Group": "team" }));
    await it.as("jane", { "Impersonate-Group": "system:masters" }).get(api.core("configmaps/none"));
  },
  "a service account": async (api) => {
    const it = await createServiceAccount(api, [{ ...IMPERSONATE, resources: ["serviceaccounts"] }]);
    await whoAmI(it.as("system:serviceaccount:default:other"));
    await it.as("jane").get(api.core("configmaps/c"));
  },
  "a uid and extra values": async (api) => {
    const it = await createServiceAccount(api, [
      IMPERSONATE,
      { verbs: ["impersonate"], apiGroups: [AUTHENTICATION_GROUP], resources: ["uids"], resourceNames: ["1"] },
      {
        verbs: ["impersonate"],
        apiGroups: [AUTHENTICATION_GROUP],
        resources: ["userextras/scopes"],
        resourceNames: ["view"],
      },
    ]);
    await whoAmI(it.as("jane", { "Impersonate-Uid": "1", "Impersonate-Extra-Scopes": "view" }));
    await it.as("jane", { "Impersonate-Uid": "2" }).get("/healthz");
    await it.as("jane", { "Impersonate-Extra-Scopes": "edit" }).get("/healthz");
    await it.as("jane", { "Impersonate-Extra-Other": "view" }).get("/healthz");
  },
  "constrained impersonation of a user": async (api) => {
    const it = await createServiceAccount(api, [
      {
        verbs: ["impersonate:user-info"],
        apiGroups: [AUTHENTICATION_GROUP],
        resources: ["users"],
        resourceNames: ["jane"],
      },
      { verbs: ["impersonate-on:user-info:list"], apiGroups: [""], resources: ["configmaps"] },
    ]);
    await grant(api, "jane", [WRITE]);
    await it.as("jane").get(api.core("configmaps?fieldSelector=metadata.name%3Dnone"));
    await it.as("jane").get(api.core("configmaps/none"));
    await it.as("joe").get(api.core("configmaps"));
  },
  "constrained impersonation of a service account": async (api) => {
    const it = await createServiceAccount(api, [
      { verbs: ["impersonate:serviceaccount"], apiGroups: [AUTHENTICATION_GROUP], resources: ["serviceaccounts"] },
      { verbs: ["impersonate-on:serviceaccount:get"], apiGroups: ["*"], resources: ["*"] },
    ]);
    await it.as("system:serviceaccount:default:other").get(api.core("configmaps/none"));
    await it.as("system:serviceaccount:default:other").get(api.core("configmaps"));
    await it.as("jane").get(api.core("configmaps/none"));
  },
  "constrained impersonation of system:masters is forbidden": async (api) => {
    const it = await createServiceAccount(api, [
      { verbs: ["impersonate:user-info"], apiGroups: [AUTHENTICATION_GROUP], resources: ["users", "groups"] },
      { verbs: ["impersonate-on:user-info:get"], apiGroups: [""], resources: ["configmaps"] },
    ]);
    await it.as("jane", { "Impersonate-Group": "system:masters" }).get(api.core("configmaps/none"));
    await it.as("jane", { "Impersonate-Group": "team" }).get(api.core("configmaps/none"));
  },
  "an unknown token": async (api) => {
    const stranger = api.sending({ Authorization: "Bearer nothing" });
    await stranger.get("/healthz");
    await stranger.get(api.core("configmaps"));
    await api.sending({ Authorization: "Basic bm90aGluZw==" }).get(api.core("configmaps"));
  },
  "an impersonated request has the permissions of the other user": async (api) => {
    await grant(api, "jane", [WRITE]);
    await api.as("jane").post(api.core("configmaps"), configMap("c"));
    await api.as("joe").post(api.core("configmaps"), configMap("d"));
  },
});
