/** An operator of one namespace on a real API server, with permissions in that namespace only. */
import assert from "node:assert/strict";
import { controller, operator, resource, s } from "../../mod.ts";
import { ConfigMap, Namespace, Role, RoleBinding } from "../../src/kinds/mod.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient, watched } from "../fixtures/watched.ts";
import { eventually } from "../eventually.ts";
import { install } from "../fixtures/install.ts";

const Note = resource({
  group: "namespaced.example.com",
  version: "v1",
  kind: "Note",
  spec: s.object({ text: s.string() }),
  status: s.object({ copied: s.optional(s.string()) }),
});

const notes = controller(Note, {
  owns: [ConfigMap],
  async reconcile(note, { apply, status }) {
    await apply(ConfigMap, { metadata: { name: note.metadata.name }, data: { text: note.spec.text } });
    status({ copied: note.spec.text });
  },
});

Deno.test("an operator of one namespace needs permissions only there, and sends no request about others", async () => {
  await using cluster = await realCluster({ audit: "everything" });
  const client = adminClient(cluster);
  const op = operator({ name: "note-operator", parts: { notes }, health: false });
  await install(client, op);
  for (const name of ["team", "other"]) {
    await client.create(Namespace, { metadata: { name } });
    await client.create(Note, { metadata: { name: "a" }, spec: { text: `of ${name}` } }, { namespace: name });
  }
  await client.create(Role, {
    metadata: { name: "notes" },
    rules: [
      { apiGroups: ["namespaced.example.com"], resources: ["notes"], verbs: ["list", "watch"] },
      { apiGroups: ["namespaced.example.com"], resources: ["notes/status"], verbs: ["patch"] },
      { apiGroups: [""], resources: ["configmaps"], verbs: ["list", "watch", "create", "patch"] },
    ],
  }, { namespace: "team" });
  await client.create(RoleBinding, {
    metadata: { name: "notes" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "notes" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "limited" }],
  }, { namespace: "team" });

  const user = await cluster.user("limited");
  const connection = { url: cluster.url, fetch: (request: Request) => user.fetch(request), close() {} };
  const stop = new AbortController();
  const running = op.run({ connection, namespaces: ["team"], signal: stop.signal });
  {
    await using seen = await watched(client, Note);
    await seen.until((all) =>
      all.some((note) => note.metadata.namespace === "team" && note.status?.copied === "of team")
    );
    await client.patch(Note, "a", { spec: { text: "changed" } }, { namespace: "team" });
    await seen.until((all) =>
      all.some((note) => note.metadata.namespace === "team" && note.status?.copied === "changed")
    );
    assert.equal(seen.store.get("other/a") && (await client.get(Note, "a", { namespace: "other" })).status, undefined);
  }
  stop.abort();
  await running;

  assert.equal((await client.get(ConfigMap, "a", { namespace: "team" })).data?.text, "changed");
  // SelfSubjectAccessReviews have no namespace. The audit log contains a watch only after the
  // server has noticed that it ended.
  const requests = await eventually(async () => {
    const requests = (await cluster.auditLog()).filter(({ user, objectRef }) =>
      user.username === "limited" && objectRef?.resource !== "selfsubjectaccessreviews"
    );
    const watches = requests.filter(({ verb }) => verb === "watch").map(({ objectRef }) => objectRef?.resource ?? "");
    assert.deepEqual([...new Set(watches)].sort(), ["configmaps", "notes"]);
    return requests;
  });
  assert(requests.length >= 6, `the audit log has ${requests.length} requests`);
  assert.deepEqual(requests.filter(({ objectRef }) => objectRef?.namespace !== "team"), []);
  assert.deepEqual(requests.filter(({ responseStatus }) => (responseStatus?.code ?? 0) >= 400), []);
});
