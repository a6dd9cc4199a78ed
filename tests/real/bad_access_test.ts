/**
 * Clusters that lack a definition, a permission, a valid token or the API server: a running
 * operator reports each problem with its fix, and recovers by itself once it is fixed.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { parse, stringify } from "yaml";
import { ClusterRole, ClusterRoleBinding, CustomResourceDefinition, Namespace } from "../../src/kinds/mod.ts";
import type { Client } from "../../src/kube/client.ts";
import { type RealCluster, realCluster } from "../../src/testing/real_cluster.ts";
import { DIRECTORY } from "../../examples/01_website/controller.ts";
import { Website } from "../../examples/01_website/website.ts";
import { freePort } from "../fixtures/build_operator.ts";
import { adminClient, watched } from "../fixtures/watched.ts";
import { type LogLine, type OperatorCommand, runOperator, startOperator } from "../fixtures/operator_process.ts";
import { eventually } from "../eventually.ts";
import { type Folder, temporaryFolder } from "../fixtures/kubeconfig_clients.ts";

const IN_DEFAULT = { namespace: "default" };
const USER = "website-operator";

Deno.test("an operator reports missing definitions, RBAC permissions, tokens and servers, and recovers once they are fixed", async (t) => {
  await using cluster = await realCluster();
  await using home = await temporaryFolder();
  const client = adminClient(cluster);
  await client.create(Namespace, { metadata: { name: DIRECTORY } });

  await t.step("an operator waits for a missing CustomResourceDefinition, and starts once it is created", async () => {
    await using running = await startWithReadiness(home, { kubeconfig: cluster.admin.kubeconfig });
    const { operator } = running;
    const error =
      `Cannot watch Website: the API server does not serve "websites" of demo.example.com/v1. Install its CustomResourceDefinition "websites.demo.example.com": run "op deploy", or apply the output of the operator's command "crds".`;
    const line = await operator.logged(({ msg, kind }) =>
      msg === "Waiting until the kind is served" && kind === "Website"
    );
    assert.deepEqual([line.level, line.error], ["warn", error]);
    await eventually(async () =>
      assert.deepEqual(await running.readiness(), [
        503,
        `[-]watch Website: ${error}`,
        "[+]watch ConfigMap: up to date, last event 0 s ago",
        "[+]watch Namespace: up to date, last event 0 s ago",
        "[-]controller websites: waits for Website",
        "[+]controller namespaces: running",
      ])
    );

    const { stdout } = await runOperator({ home: home.path, args: ["crds"] });
    for (const crd of JSON.parse(stdout).items) await client.create(CustomResourceDefinition, crd);
    await operator.logged(({ msg, kind }) => msg === "Watch recovered" && kind === "Website");
    await operator.logged(({ msg, controller }) => msg === "Controller started" && controller === "websites");
    await eventually(async () => assert.equal((await running.readiness())[0], 200));
    assert.equal(await operator.stop(), 0);
  });

  await t.step(
    "an operator names missing RBAC permissions, runs its other controller, and uses a permission once it is granted",
    async () => {
      const rules = {
        websites: { apiGroups: ["demo.example.com"], resources: ["websites"], verbs: ["list", "watch", "patch"] },
        namespaces: { apiGroups: [""], resources: ["namespaces"], verbs: ["list", "watch"] },
        status: { apiGroups: ["demo.example.com"], resources: ["websites/status"], verbs: ["patch"] },
        configMaps: {
          apiGroups: [""],
          resources: ["configmaps"],
          verbs: ["list", "watch", "create", "patch", "delete"],
        },
      };
      await createRole(client, [rules.websites, rules.namespaces]);
      await using running = await startWithReadiness(home, { kubeconfig: (await cluster.user(USER)).kubeconfig });
      const { operator } = running;
      const error =
        `Cannot watch ConfigMap: the apiserver answered 403 Forbidden: configmaps is forbidden: User "${USER}" cannot watch resource "configmaps" in API group "" at the cluster scope. Grant this user the verbs list and watch on "configmaps"`;
      const line = await operator.logged(isInterrupted("ConfigMap"));
      assert.deepEqual([line.level, line.error], ["warn", error]);
      await operator.logged(({ msg, controller }) => msg === "Namespace seen" && controller === "namespaces");
      await eventually(async () =>
        assert.deepEqual(await running.readiness(), [
          503,
          "[+]watch Website: up to date, last event 0 s ago",
          `[-]watch ConfigMap: ${error}`,
          "[+]watch Namespace: up to date, last event 0 s ago",
          "[-]controller websites: waits for ConfigMap",
          "[+]controller namespaces: running",
          "[-]RBAC permission to patch websites.demo.example.com/status: missing",
          ...["list", "watch", "create", "patch", "delete"].map((verb) =>
            `[-]RBAC permission to ${verb} configmaps: missing`
          ),
        ])
      );

      await client.patch(ClusterRole, USER, { rules: [rules.websites, rules.namespaces, rules.configMaps] });
      await eventually(async () =>
        assert.deepEqual((await running.readiness()).filter((line) => String(line).startsWith("[-]")), [
          "[-]controller websites: waits for the RBAC permission to patch websites.demo.example.com/status",
          "[-]RBAC permission to patch websites.demo.example.com/status: missing",
        ])
      );
      await client.patch(ClusterRole, USER, { rules: Object.values(rules) });
      await operator.logged(({ msg, controller }) => msg === "Controller started" && controller === "websites");
      await eventually(async () => assert.equal((await running.readiness())[0], 200));

      await client.patch(ClusterRole, USER, { rules: [rules.websites, rules.namespaces, rules.configMaps] });
      await client.create(Website, { metadata: { name: "blog", ...IN_DEFAULT }, spec: { host: "blog.example.com" } });
      const failed = await operator.logged(({ msg }) => msg === "Reconcile failed");
      assert.equal(
        failed.error,
        `Cannot patch Website "default/blog" (status): the apiserver answered 403 Forbidden: websites.demo.example.com "blog" is forbidden: User "${USER}" cannot patch resource "websites/status" in API group "demo.example.com" in the namespace "default"`,
      );
      assert.equal(failed.stack, undefined);
      await operator.logged(({ msg, permission }) =>
        msg === "RBAC permission missing" && permission === "patch websites.demo.example.com/status"
      );
      await client.patch(ClusterRole, USER, { rules: Object.values(rules) });
      await untilPublished(client, "blog");
      assert.equal(await operator.stop(), 0);
    },
  );

  await t.step("an operator reports an expired token, and reads a valid one from the file later", async () => {
    const expired = await cluster.user("admin", { groups: ["system:masters"] });
    await cluster.expire(expired.token);
    await home.write({ token: expired.token });
    await using running = await startWithReadiness(home, { kubeconfig: withTokenFile(cluster) });
    const { operator } = running;
    const error =
      "Cannot watch Website: the apiserver answered 401 Unauthorized: Unauthorized. The token has expired or is for another cluster. Log in again, or renew the kubeconfig";
    const line = await operator.logged(isInterrupted("Website"));
    assert.deepEqual([line.level, line.error], ["warn", error]);
    await eventually(async () => {
      const [status, ...lines] = await running.readiness();
      assert.equal(status, 503);
      for (const line of [`[-]watch Website: ${error}`, "[-]controller namespaces: waits for Namespace"]) {
        assert(lines.includes(line), `${line} is not in:\n${lines.join("\n")}`);
      }
    });

    const valid = await cluster.user("admin", { groups: ["system:masters"] });
    await home.write({ token: valid.token });
    await operator.logged(({ msg, controller }) => msg === "Controller started" && controller === "websites");
    await eventually(async () => assert.equal((await running.readiness())[0], 200));
    assert(!operator.text.includes(expired.token) && !operator.text.includes(valid.token), "a token is in the log");
    assert.equal(await operator.stop(), 0);
  });

  await t.step(
    "an operator reports a token that expires at run time with the failed request, and uses a renewed one",
    async () => {
      const user = await cluster.user("admin", { groups: ["system:masters"] });
      await home.write({ token: user.token });
      await using running = await startWithReadiness(home, { kubeconfig: withTokenFile(cluster) });
      const { operator } = running;
      await operator.logged(({ msg, controller }) => msg === "Controller started" && controller === "websites");
      await cluster.expire(user.token);
      await client.create(Website, { metadata: { name: "late", ...IN_DEFAULT }, spec: { host: "late.example.com" } });
      const failed = await operator.logged(({ msg, name }) => msg === "Reconcile failed" && name === "late");
      await home.write({ token: (await cluster.user("admin", { groups: ["system:masters"] })).token });
      await untilPublished(client, "late");
      assert.equal(
        failed.error,
        'Cannot patch Website "default/late": the apiserver answered 401 Unauthorized: Unauthorized. The token has expired or is for another cluster. Log in again, or renew the kubeconfig',
      );
      assert.equal(await operator.stop(), 0);
    },
  );

  await t.step(
    "an operator whose health port is in use exits with a message that names the setting",
    async () => {
      using other = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const { port } = other.addr;
      await home.write({ config: cluster.admin.kubeconfig, "main.ts": operatorOf(port) });
      const ended = await runOperator({
        home: home.path,
        main: `${home.path}/main.ts`,
        args: ["--kubeconfig", "config"],
      });
      assert.equal(
        ended.stderr.split("\n").findLast((line) => line !== ""),
        `website-operator: Cannot serve health at 127.0.0.1:${port}: the port is in use. Set another with health: { port } or --health-port.`,
      );
      assert.equal(ended.code, 1);
    },
  );

  await t.step(
    "an operator reports the address of a server that is down, and reconnects when it is up again",
    async () => {
      await cluster.stopApiserver({ signal: "SIGKILL" });
      await using running = await startWithReadiness(home, { kubeconfig: cluster.admin.kubeconfig });
      const { operator } = running;
      const line = await operator.logged(isInterrupted("Website"));
      assert.deepEqual([line.level, line.error], [
        "warn",
        `Cannot watch Website: no response from "${cluster.url}": connection refused. Check that the API server is running, and its address`,
      ]);
      await eventually(async () => assert.equal((await running.readiness())[0], 503));
      await cluster.startApiserver();
      await operator.logged(({ msg, controller }) => msg === "Controller started" && controller === "websites");
      assert.equal(await operator.stop(), 0);
    },
  );
});

interface OperatorWithReadiness extends AsyncDisposable {
  readonly operator: OperatorCommand;
  /** Returns the status and lines of `/readyz`, without those of granted permissions. */
  readiness(): Promise<[number, ...string[]]>;
}

/** Starts an operator with the website controller and a second one. */
async function startWithReadiness(
  home: Folder,
  { kubeconfig }: { readonly kubeconfig: string },
): Promise<OperatorWithReadiness> {
  const port = freePort();
  await home.write({ config: kubeconfig, "main.ts": operatorOf(port) });
  const main = `${home.path}/main.ts`;
  const operator = await startOperator({ home: home.path, main, args: ["--kubeconfig", `${home.path}/config`] });
  return {
    operator,
    async readiness() {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`);
      const lines = (await response.text()).trim().split("\n").map((line) =>
        line.replace(/last event \d+ s/, "last event 0 s")
      );
      return [response.status, ...lines.filter((line) => !/^\[\+\]RBAC permission to .*: granted$/.test(line))];
    },
    [Symbol.asyncDispose]: () => operator[Symbol.asyncDispose](),
  };
}

/** Returns the source of a main module with the website controller and a second one. */
function operatorOf(port: number): string {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  return `
    import { controller, operator } from "${root}mod.ts";
    import { Namespace } from "${root}src/kinds/mod.ts";
    import { websites } from "${root}examples/01_website/controller.ts";
    const namespaces = controller(Namespace, { reconcile: (_, { log }) => log.info("Namespace seen") });
    const health = { hostname: "127.0.0.1", port: ${port} };
    await operator({ name: "website-operator", parts: { websites, namespaces }, health }).main();
  `;
}

function isInterrupted(kind: string): (line: LogLine) => boolean {
  return (line) => line.msg === "Watch interrupted" && line.kind === kind;
}

async function createRole(client: Client, rules: object[]): Promise<void> {
  await client.create(ClusterRole, { metadata: { name: USER }, rules: rules as never });
  await client.create(ClusterRoleBinding, {
    metadata: { name: USER },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: USER },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: USER }],
  });
}

/** Writes the administrator's kubeconfig, with the token in a separate file. */
function withTokenFile(cluster: RealCluster): string {
  const config = parse(cluster.admin.kubeconfig);
  config.users[0].user = { tokenFile: "token" };
  return stringify(config);
}

/** Resolves when the status of a website has its URL. */
async function untilPublished(client: Client, name: string): Promise<void> {
  await using sites = await watched(client, Website);
  await sites.until((all) => all.some(({ metadata, status }) => metadata.name === name && status?.url !== undefined));
}
