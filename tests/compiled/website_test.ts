/**
 * The compiled example operator on a real API server, as its own service account with its minimal
 * role.
 */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import op from "../../examples/01_website/main.ts";
import { DIRECTORY } from "../../examples/01_website/controller.ts";
import { Website } from "../../examples/01_website/website.ts";
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Namespace,
  Role,
  RoleBinding,
  ServiceAccount,
} from "../../src/kinds/mod.ts";
import type { Client } from "../../src/kube/client.ts";
import { variablesOf } from "../../src/operator/setting_list.ts";
import type { AuditEvent, RealCluster } from "../../src/testing/real_cluster.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { buildOperator, freePort } from "../fixtures/build_operator.ts";
import { compiledPermissions, startAsPod } from "../fixtures/operator_pod.ts";
import { adminClient, watched } from "../fixtures/watched.ts";
import { install } from "../fixtures/install.ts";
import { tokenOf } from "../fixtures/service_account.ts";
import { eventually } from "../eventually.ts";

const ACCOUNT = "website-operator";
const USER = `system:serviceaccount:default:${ACCOUNT}`;

Deno.test("the compiled website operator runs as a pod of a real API server, with its minimal role and sandbox", async (t) => {
  const port = freePort();
  await using built = await buildOperator(`
    import { operator } from "@op/sdk";
    import { websites } from "repository/examples/01_website/controller.ts";
    const op = operator({ name: "website-operator", parts: { websites }, health: { hostname: "127.0.0.1", port: ${port} }, gracefulShutdownTimeout: "10s" });
    export default op;
    if (import.meta.main) await op.main();
  `);
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  const rules = await installWithRole(client);
  await using operator = await startAsPod(built.path, { cluster, token: await tokenOf(cluster, "default", ACCOUNT) });
  await operator.logged(({ msg }) => msg === "Controller started");
  await using sites = await watched(client, Website);
  await using maps = await watched(client, ConfigMap);

  await t.step(
    "the executable and the role have exactly the permissions that the declarations need",
    async () => {
      const { allow_net, allow_read, allow_env, ...rest } = await compiledPermissions(built.path);
      assert.deepEqual(allow_net, ["kubernetes.default.svc:443", `127.0.0.1:${port}`, "pages.example.com"]);
      assert.deepEqual(allow_read, ["/var/run/secrets/kubernetes.io/serviceaccount", "/etc/op"]);
      assert.deepEqual(allow_env, [
        ...variablesOf(false),
        "KUBERNETES_SERVICE_PORT",
        "KUBERNETES_SERVICE_PORT_HTTPS",
        "HOSTNAME",
      ]);
      for (const access of ["allow_ffi", "allow_run", "allow_sys", "allow_write"]) {
        assert.equal(rest[access], null, access);
      }
      assert.deepEqual([rest.allow_all, rest.prompt, rest.deny_import], [false, false, []]);
      assert.deepEqual(rules, [
        "demo.example.com/websites: list watch patch",
        "demo.example.com/websites/status: patch",
        "demo.example.com/websites/finalizers: update",
        "/configmaps: list watch create patch delete",
        "events.k8s.io/events: create patch",
      ]);
      console.log(`net ${allow_net}\nread ${allow_read}\nenv ${allow_env}\n${rules.join("\n")}`);
    },
  );

  await t.step("health reports that the operator is ready", async () => {
    await eventually(async () => {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`);
      const lines = (await response.text()).trim().split("\n").map((line) =>
        line.replace(/last event \d+ s/, "last event 0 s")
      );
      assert(lines.includes("[+]RBAC permission to create configmaps: granted"), lines.join("\n"));
      assert.deepEqual(lines.filter((line) => !/^\[\+\]RBAC permission to .*: granted$/.test(line)), [
        "[+]watch Website: up to date, last event 0 s ago",
        "[+]watch ConfigMap: up to date, last event 0 s ago",
        "[+]controller websites: running",
        "[+]leadership: leads",
      ]);
      assert.equal(response.status, 200);
    });
  });

  await t.step("the metrics have Prometheus' text format", async () => {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    assert.match(response.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    assert.match(text, /^controller_runtime_max_concurrent_reconciles\{controller="websites"\} 10$/m);
    assert.match(text, /^leader_election_master_status\{name="website-operator"\} 1$/m);
    assert.match(text, /^process_resident_memory_bytes [1-9]\d{7,}$/m);
    assert.match(text, /^process_cpu_seconds_total \d+\.\d+$/m);
  });

  await t.step("the operator makes four writes for each of 100 websites: finalizer, page, record, status", async () => {
    await createSites(client, 0, 100);
    await sites.until((all) => all.filter(isPublished).length === 100);
    // The server may write an event to its audit log after it sent the event to watches.
    const writes = await eventually(async () => {
      const writes = await writesOf(cluster);
      assert.deepEqual(countBy(writes, ({ objectRef }) => `${objectRef?.resource}/${objectRef?.subresource ?? ""}`), {
        "configmaps/": 200,
        "websites/": 100,
        "websites/status": 100,
      });
      return writes;
    });
    assert.deepEqual(writes.filter(({ responseStatus }) => (responseStatus?.code ?? 0) >= 400), []);
  });

  await t.step("no change is lost when the API server crashes", async () => {
    await createSites(client, 100, 120);
    await cluster.restartApiserver({ signal: "SIGKILL" });
    await createSites(client, 120, 200);
    await sites.until((all) => all.filter(isPublished).length === 200);
    for (const site of sites.values()) {
      assert.equal(site.status?.url, `https://${site.spec.host}`);
      assert.equal(site.status?.observedGeneration, site.metadata.generation);
    }
    // The watch of pages may reconnect later than that of websites.
    await maps.until(() =>
      sites.values().every(({ metadata: { name, uid } }) =>
        maps.store.get(`default/${name}-page`)?.metadata.ownerReferences?.[0]?.uid === uid
      )
    );
    // Writes in progress at the crash may be repeated: at most ten, for the ten concurrent objects.
    const late = (await writesOf(cluster)).filter(({ objectRef, responseStatus }) =>
      /site-1\d\d/.test(objectRef?.name ?? "") && (responseStatus?.code ?? 500) < 300
    );
    assert(late.length <= 4 * 100 + 10, `${late.length} writes for 100 websites`);
  });

  await t.step("a change of the spec updates the page and the status", async () => {
    await client.patch(Website, "site-7", { spec: { text: "Moved" } }, { namespace: "default" });
    await sites.until((all) =>
      all.some(({ metadata, status }) => metadata.name === "site-7" && status?.observedGeneration === 2)
    );
    const page = await client.get(ConfigMap, "site-7-page", { namespace: "default" });
    assert.match(page.data?.["index.html"] ?? "", /Moved/);
  });

  await t.step("a deleted owned page is created again", async () => {
    const before = await client.get(ConfigMap, "site-3-page", { namespace: "default" });
    await client.delete(ConfigMap, "site-3-page", { namespace: "default" });
    await maps.until((all) =>
      all.some(({ metadata }) => metadata.name === "site-3-page" && metadata.uid !== before.metadata.uid)
    );
    const after = await client.get(ConfigMap, "site-3-page", { namespace: "default" });
    assert.deepEqual(after.data, before.data);
  });

  await t.step("deleting a website runs its cleanup, then deletes it", async () => {
    const record = `default.site-5`;
    await maps.until(() => maps.store.get(`${DIRECTORY}/${record}`) !== undefined);
    await client.delete(Website, "site-5", { namespace: "default" });
    await sites.until((all) => all.every(({ metadata }) => metadata.name !== "site-5"));
    await maps.until((all) => all.every(({ metadata }) => metadata.name !== record));
  });

  await t.step("the condition of a website with an undeclared host names the declaration to add", async () => {
    const source = "http://undeclared.example.org/page";
    await client.create(
      Website,
      { metadata: { name: "undeclared" }, spec: { host: "undeclared.example.com", source } },
      {
        namespace: "default",
      },
    );
    await sites.until((all) => all.some((site) => site.metadata.name === "undeclared" && readyOf(site) !== undefined));
    const ready = readyOf(await client.get(Website, "undeclared", { namespace: "default" }));
    assert.equal(ready?.status, "False");
    assert.equal(ready?.reason, "NotDeclared");
    assert.equal(
      ready?.message,
      'Cannot use net "undeclared.example.org": it is not declared. Add sandbox: { net: ["undeclared.example.org"] } to controller "websites" and build again',
    );
  });

  await t.step("SIGTERM stops the operator with exit code 0", async () => {
    assert.equal(await operator.stop("SIGTERM"), 0);
    assert(operator.log.some(({ msg, isClean }) => msg === "Operator stopped" && isClean === true));
  });
});

/**
 * Installs the definition, the namespaces, the account and its role. Returns the role's rules as
 * lines.
 */
async function installWithRole(client: Client): Promise<string[]> {
  await install(client, op);
  await client.create(Namespace, { metadata: { name: DIRECTORY } });
  await client.create(ServiceAccount, { metadata: { name: ACCOUNT, namespace: "default" } });
  const [role, leaderRole] = parseAllDocuments(
    await Deno.readTextFile(new URL("../../examples/01_website/role.yaml", import.meta.url)),
  ).map((document) => document.toJS());
  const subjects = [{ kind: "ServiceAccount", name: ACCOUNT, namespace: "default" }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io" };
  await client.create(ClusterRole, role);
  await client.create(ClusterRoleBinding, {
    metadata: { name: ACCOUNT },
    roleRef: { ...roleRef, kind: "ClusterRole", name: role.metadata.name },
    subjects,
  });
  await client.create(Role, leaderRole, { namespace: "default" });
  await client.create(RoleBinding, {
    metadata: { name: ACCOUNT },
    roleRef: { ...roleRef, kind: "Role", name: leaderRole.metadata.name },
    subjects,
  }, { namespace: "default" });
  const { rules = [] } = await client.get(ClusterRole, ACCOUNT);
  return rules.map(({ apiGroups, resources, verbs }) => `${apiGroups}/${resources}: ${verbs.join(" ")}`);
}

async function createSites(client: Client, from: number, to: number): Promise<void> {
  const names = Array.from({ length: to - from }, (_, i) => `site-${from + i}`);
  await Promise.all(
    names.map((name) =>
      client.create(Website, { metadata: { name }, spec: { host: `${name}.example.com` } }, { namespace: "default" })
    ),
  );
}

function isPublished(site: Website): boolean {
  return site.status?.url === `https://${site.spec.host}` &&
    site.status.observedGeneration === site.metadata.generation &&
    readyOf(site)?.status === "True";
}

function readyOf(site: Website) {
  return site.status?.conditions?.find(({ type }) => type === "Ready");
}

async function writesOf(cluster: RealCluster): Promise<AuditEvent[]> {
  const events = await cluster.auditLog();
  return events.filter(({ user, verb, objectRef }) =>
    user.username === USER && ["create", "update", "patch", "delete"].includes(verb) &&
    !["leases", "events", "selfsubjectaccessreviews"].includes(objectRef?.resource ?? "")
  );
}

function countBy<T>(list: readonly T[], key: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of list) counts[key(item)] = (counts[key(item)] ?? 0) + 1;
  return counts;
}
