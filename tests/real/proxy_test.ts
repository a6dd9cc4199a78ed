/** The proxy of `op dev` and `op plan` in front of a real API server. */
import assert from "node:assert/strict";
import { forwardTo, openProxy } from "../../cli/proxy/proxy.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";

const SECRETS = "/api/v1/namespaces/kube-system/secrets";
const ACCOUNT = "system:serviceaccount:default:limited";

Deno.test("the proxy of op dev drops every Impersonate-* header of its client", async (t) => {
  await using cluster = await realCluster();
  const connection = { url: cluster.url, fetch: (request: Request) => cluster.fetch(request), close() {} };
  await using proxy = openProxy({ forward: forwardTo(connection, { "impersonate-user": ACCOUNT }) });
  const authorization = `Bearer ${JSON.parse(proxy.kubeconfig).users[0].user.token}`;

  const attempts: Record<string, string>[] = [
    {},
    { "Impersonate-Group": "system:masters" },
    { "impersonate-user": "kubernetes-admin" },
    { "Impersonate-Uid": "1", "Impersonate-Extra-Scopes": "all", "impersonate-group": "system:masters" },
    { "Impersonate-User": "kubernetes-admin", "Impersonate-Group": "system:masters" },
  ];
  for (const headers of attempts) {
    await t.step(`a request with the headers ${JSON.stringify(headers)} is sent as the service account`, async () => {
      const response = await fetch(proxy.url + SECRETS, { headers: { authorization, ...headers } });
      const { message } = await response.json();
      assert.equal(response.status, 403, message);
      assert.match(message, new RegExp(`User "${ACCOUNT}" cannot list resource "secrets"`));
    });
  }
});
