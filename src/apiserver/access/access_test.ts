import assert from "node:assert/strict";
import { VirtualClock } from "../../base/virtual_clock.ts";
import { type Apiserver, type ApiserverOptions, createApiserver } from "../mod.ts";

const ADMIN = { name: "admin", groups: ["system:masters"] };
const RBAC = "rbac.authorization.k8s.io/v1";

/** Sends a request as the administrator, unless a token is given. */
async function send(server: Apiserver, method: string, path: string, body?: unknown, token?: string) {
  const headers = new Headers({ "content-type": "application/json" });
  if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
  const request = new Request(`http://server${path}`, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  });
  const response = await server.fetch(request, token === undefined ? { user: ADMIN } : {});
  return { status: response.status, body: await response.json() };
}

function server(options: ApiserverOptions = {}): Apiserver {
  return createApiserver({ clock: new VirtualClock(), rbac: true, ...options });
}

Deno.test("createApiserver with rbac allows a token's user only what the user's roles allow", async () => {
  await using it = server({ tokens: { secret: { name: "jane", groups: [] } } });
  const path = "/api/v1/namespaces/default/configmaps";
  assert.equal((await send(it, "GET", path, undefined, "secret")).status, 403);

  const rules = [{ verbs: ["list"], apiGroups: [""], resources: ["configmaps"] }];
  await send(it, "POST", `/apis/${RBAC}/clusterroles`, {
    apiVersion: RBAC,
    kind: "ClusterRole",
    metadata: { name: "reader" },
    rules,
  });
  await send(it, "POST", `/apis/${RBAC}/namespaces/default/rolebindings`, {
    apiVersion: RBAC,
    kind: "RoleBinding",
    metadata: { name: "jane" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reader" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }],
  });

  assert.equal((await send(it, "GET", path, undefined, "secret")).status, 200);
  assert.equal((await send(it, "GET", `${path}/a`, undefined, "secret")).status, 403);
  assert.equal((await send(it, "GET", "/api/v1/configmaps", undefined, "secret")).status, 403);
  assert.equal((await send(it, "GET", path, undefined, "other")).status, 401);
});

Deno.test("createApiserver without rbac allows every request, with any token", async () => {
  await using it = server({ rbac: false });
  const { status } = await send(it, "GET", "/api/v1/secrets", undefined, "anything");
  assert.equal(status, 200);
});

Deno.test("a service account token is valid until it expires or its account is recreated", async () => {
  const clock = new VirtualClock();
  await using it = server({ clock });
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "robot" } };
  const issue = async () => {
    const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 600 } };
    return (await send(it, "POST", `${accounts}/robot/token`, request)).body.status.token;
  };
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const whoami = (token: string) =>
    send(it, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review, token);
  await send(it, "POST", accounts, account);
  const first = await issue();
  assert.equal((await whoami(first)).body.status.userInfo.username, "system:serviceaccount:default:robot");
  const claims = JSON.parse(atob(first.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
  assert.equal(claims.sub, "system:serviceaccount:default:robot");
  assert.equal(claims.exp - claims.iat, 600);

  clock.step(clock.now() + 601_000);
  assert.equal((await whoami(first)).status, 401);

  const second = await issue();
  assert.equal((await whoami(second)).status, 201);
  await send(it, "DELETE", `${accounts}/robot`);
  await send(it, "POST", accounts, account);
  assert.equal((await whoami(second)).status, 401);
});

Deno.test("a request that impersonates more than one group is rejected", async () => {
  await using it = server();
  const headers = new Headers({ "impersonate-user": "jane" });
  headers.append("impersonate-group", "a");
  headers.append("impersonate-group", "b");
  const response = await it.fetch(new Request("http://server/api", { headers }), { user: ADMIN });
  assert.equal(response.status, 400);
  assert.match((await response.json()).message, /only one group.*"a, b"/);
});
