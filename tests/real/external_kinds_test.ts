/**
 * Kinds of another project on a real API server: an operator imports, reads and reconciles them,
 * with and without writing their status. It never deletes the CRD or its objects.
 */
import assert from "node:assert/strict";
import { controller, operator, resource, s } from "@op/sdk";
import { mainModule, type OperatorFolder, operatorFolder } from "../../cli/_operator_folder.ts";
import { cli } from "../../cli/cli.ts";
import { ConfigMap, CustomResourceDefinition } from "../../src/kinds/mod.ts";
import type { Client } from "../../src/kube/client.ts";
import { findKind } from "../../src/kube/discovery.ts";
import { startOperator } from "../../src/operator/running.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { eventually } from "../eventually.ts";
import { adminClient } from "../fixtures/watched.ts";
import { untilServed } from "../fixtures/install.ts";
import { RunningIo } from "../fixtures/running_io.ts";

const IN_DEFAULT = { namespace: "default" };
const ROUTES = "routes.gateway.example.com";

const object = (properties: object) => ({ type: "object", properties });
const text = { type: "string" };

/** The CRD as another project installs it, with fields that the SDK does not generate. */
const CRD = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: ROUTES, labels: { "app.kubernetes.io/part-of": "gateway" } },
  spec: {
    group: "gateway.example.com",
    names: { kind: "Route", plural: "routes" },
    scope: "Namespaced",
    versions: [{
      name: "v1",
      served: true,
      storage: true,
      subresources: { status: {} },
      schema: {
        openAPIV3Schema: object({
          spec: object({ host: text }),
          status: object({
            parents: { type: "array", items: object({ name: text, accepted: { type: "boolean" } }) },
            conditions: {
              type: "array",
              "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["type"],
              items: {
                ...object({ type: text, status: text, reason: text, message: text, lastTransitionTime: text }),
                required: ["type"],
              },
            },
          }),
        }),
      },
    }],
  },
};

/** The status that the other project's controller writes. */
const FOREIGN_STATUS = { parents: [{ name: "other", accepted: false }] };

/** One controller reads routes, and another one of the same operator implements them. */
const MAIN = `
import { Route } from "./route.ts";
const mirrors = controller(ConfigMap, {
  owns: [Secret],
  reads: [Route],
  async reconcile({ metadata }, { apply, get }) {
    const route = await get(Route, metadata.name);
    if (route !== undefined) await apply(Secret, { metadata: { name: metadata.name }, stringData: { host: route.spec?.host ?? "" } });
  },
});
const routes = controller(Route, {
  writesStatus: true,
  reconcile({ spec, status: { parents = [] } = {} }, { status, condition }) {
    if (spec?.host === "bad") throw new Error("there is no such host");
    status({ parents: [...parents.filter(({ name }) => name !== "ours"), { name: "ours", accepted: true }] });
    condition({ type: "Accepted", status: "True", reason: "Valid" });
  },
  cleanup() {},
});
const Own = resource({ group: "demo.example.com", version: "v1", kind: "Own", spec: s.object({}) });
export default operator({ name: "gateway", version: "1.0.0", health: false, parts: { mirrors, routes, owns: controller(Own, { reconcile() {} }) } });
`;

async function createForeign(client: Client): Promise<void> {
  await client.create(CustomResourceDefinition, CRD as never);
  await untilServed(client);
  // The API server adds a new CRD to discovery with a delay.
  const Route = await eventually(() => findKind(client, ROUTES));
  for (const name of ["a", "b"]) {
    await client.create(Route, { metadata: { name }, spec: { host: `${name}.example.com` } }, IN_DEFAULT);
    await client.patch(Route, name, { status: FOREIGN_STATUS }, { ...IN_DEFAULT, subresource: "status" });
  }
}

/** Returns the UID and resource version of the CRD, which change with any write. */
async function versionOf(client: Client): Promise<readonly unknown[]> {
  const { metadata } = await client.get(CustomResourceDefinition, ROUTES);
  return [metadata.uid, metadata.resourceVersion];
}

async function generatedFiles(folder: OperatorFolder): Promise<string> {
  const files: string[] = [];
  const walk = async (path: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(path)) {
      if (isDirectory) await walk(`${path}/${name}`);
      else files.push(await Deno.readTextFile(`${path}/${name}`));
    }
  };
  await walk(`${folder.path}/config`);
  return files.join("\n");
}

Deno.test("an operator reads and implements an imported kind without changing its CRD or deleting its objects", async (t) => {
  await using cluster = await realCluster({ controllerManager: true });
  await using folder = await operatorFolder();
  const client = adminClient(cluster);
  await folder.write("kubeconfig", cluster.admin.kubeconfig);
  const op = (...args: string[]) => folder.op(...args, "--kubeconfig", "kubeconfig");
  await createForeign(client);
  const before = await versionOf(client);
  const Route = await findKind(client, ROUTES);
  // deno-lint-ignore no-explicit-any -- found by discovery, so it has no types
  const route = (name: string): Promise<any> => client.get(Route, name, IN_DEFAULT);

  await t.step("op crd import writes the kind as external", async () => {
    const imported = await op("crd", "import", "--cluster", ROUTES, "-o", "route.ts");
    assert.equal(imported.code, 0, imported.stderr);
    assert.match(await folder.read("route.ts"), /^ {2}kind: "Route",\n {2}external: true,$/m);
    await folder.write("main.ts", mainModule(MAIN));
  });

  await t.step("op crd print, op generate and op deploy omit the CRD, and op crd diff compares it", async () => {
    assert.deepEqual((await folder.op("crd", "print")).stdout.match(/^ {2}name: .*$/gm), [
      "  name: owns.demo.example.com",
    ]);
    const generated = await folder.op("generate", "manifests");
    assert.equal(generated.code, 0, generated.stderr);
    assert.doesNotMatch(
      await generatedFiles(folder),
      /kind: CustomResourceDefinition\nmetadata:\n {2}name: routes|kind: Route$/m,
    );
    assert.equal((await folder.op("generate", "overlay", "prod")).code, 0);
    const deployed = await op("deploy", "prod", "--no-wait");
    assert.equal(deployed.code, 0, deployed.stderr);
    assert.doesNotMatch(deployed.stdout, /routes\.gateway/);
    assert.deepEqual(await versionOf(client), before);

    const live = JSON.stringify(await client.get(CustomResourceDefinition, ROUTES));
    await folder.write("live.json", live);
    await folder.write("newer.json", live.replaceAll('"host"', '"hostname"'));
    const diff = await folder.op("crd", "diff", "main.ts", "newer.json");
    assert.match(diff.stdout, /^breaking {3}routes\.gateway\.example\.com v1 \.spec\.host: /m);
    assert.doesNotMatch((await folder.op("crd", "diff", "live.json", "main.ts")).stdout, /routes\.gateway/);
  });

  await t.step("op dev runs the operator with roles that allow the status, and installs no CRD", async () => {
    await client.create(ConfigMap, { metadata: { name: "a" } }, IN_DEFAULT);
    const io = new RunningIo(folder.path);
    const ended = cli(["dev", "--alongside", "--kubeconfig", "kubeconfig"], io);
    await eventually(async () => {
      for (const name of ["a", "b"]) {
        const { status } = await route(name);
        assert.deepEqual(status.parents, [...FOREIGN_STATUS.parents, { name: "ours", accepted: true }]);
        assert.deepEqual(
          status.conditions.map(({ type, reason }: Record<string, string>) => `${type} ${reason}`),
          ["Accepted Valid"],
        );
      }
    });
    await client.patch(Route, "b", { spec: { host: "bad" } }, IN_DEFAULT);
    // A condition would have been written before the second failure.
    await io.waitForOutput(/"msg":"Reconcile failed"|there is no such host/, 2, ended);
    const { status } = await route("b");
    assert.deepEqual(status.conditions.map(({ type }: { type: string }) => type), ["Accepted"]);
    io.end();
    assert.equal(await ended, 0, io.stderr);
    assert.doesNotMatch(io.stdout, /CustomResourceDefinition routes/);
    assert.deepEqual(await versionOf(client), before);
  });

  await t.step("op doctor reports that the external kind is served", async () => {
    const found = await op("doctor");
    assert.match(found.stdout, /^ok +kinds +routes\.gateway\.example\.com \(external\) is served$/m);
  });

  await t.step(
    "op uninstall stops at objects that have its finalizer, and removes the finalizer on request",
    async () => {
      const preview = await op("uninstall");
      assert.match(preview.stdout, /^blocked by Route default\/a, which has a finalizer of the operator$/m);
      assert.doesNotMatch(preview.stdout, /^would delete.*Route|routes\.gateway/m);
      const stopped = await op("uninstall", "--yes");
      assert.equal(stopped.code, 1);
      assert.match(
        stopped.stderr,
        /^Cannot uninstall "gateway": 2 objects have its finalizer and would not be deleted with it \(Route default\/a, Route default\/b\)\./,
      );
      assert.doesNotMatch(stopped.stdout, /^deleted/m);

      const uninstalled = await op("uninstall", "--yes", "--release-finalizers");
      assert.equal(uninstalled.code, 0, uninstalled.stderr);
      assert.match(uninstalled.stdout, /^released {3}Route default\/a$/m);
      assert.match(uninstalled.stdout, /^deleted {4}CustomResourceDefinition owns\.demo\.example\.com$/m);
      assert.deepEqual(await versionOf(client), before);
      for (const name of ["a", "b"]) {
        const { metadata, status } = await route(name);
        assert.deepEqual([metadata.deletionTimestamp, metadata.finalizers ?? []], [undefined, []]);
        assert.equal(status.parents.length, 2);
      }
    },
  );
});

Deno.test("op does not change or delete the CRD of a kind that became external after an earlier version installed it", async () => {
  await using cluster = await realCluster({ controllerManager: true });
  await using folder = await operatorFolder();
  const client = adminClient(cluster);
  await folder.write("kubeconfig", cluster.admin.kubeconfig);
  await folder.write("crd.json", JSON.stringify(CRD));
  const op = (...args: string[]) => folder.op(...args, "--kubeconfig", "kubeconfig");
  const succeeds = async (...args: string[]) => {
    const result = await op(...args);
    assert.equal(result.code, 0, result.stderr);
    return result;
  };
  const generate = async () => {
    const { code, stderr } = await folder.op("generate", "manifests");
    assert.equal(code, 0, stderr);
  };
  await folder.op("crd", "import", "crd.json", "--own", "-o", "route.ts");
  assert.doesNotMatch(await folder.read("route.ts"), /external/);
  const main = 'import { Route } from "./route.ts";\n' +
    "const routes = controller(Route, { reconcile() {} });\n" +
    'export default operator({ name: "gateway", version: "1.0.0", parts: { routes } });\n';
  await folder.write("main.ts", mainModule(main));
  await generate();
  await folder.op("generate", "overlay", "prod");
  assert.match((await succeeds("deploy", "prod", "--no-wait")).stdout, /created +CustomResourceDefinition routes/);
  await untilServed(client);
  // The API server adds a new CRD to discovery with a delay.
  const Route = await eventually(() => findKind(client, ROUTES));
  await client.create(Route, { metadata: { name: "a" }, spec: { host: "a.example.com" } }, IN_DEFAULT);
  const before = await versionOf(client);

  assert.equal((await folder.op("crd", "import", "crd.json", "--force", "-o", "route.ts")).code, 0);
  await generate();
  const deployed = await succeeds("deploy", "prod", "--no-wait");
  assert.doesNotMatch(deployed.stdout, /CustomResourceDefinition/);
  const uninstalled = await succeeds("uninstall", "--yes");
  assert.match(uninstalled.stdout, /^deleted {4}Deployment/m);
  assert.doesNotMatch(uninstalled.stdout, /Route|routes/);
  assert.deepEqual(await versionOf(client), before);
  const { metadata } = await client.get(Route, "a", IN_DEFAULT);
  assert.equal(metadata.deletionTimestamp, undefined);
});

Deno.test("an operator waits for an external kind, and reconciles it once another project installs it", async () => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  const Route = resource({
    group: "gateway.example.com",
    version: "v1",
    kind: "Route",
    external: true,
    spec: s.object({ host: s.string() }),
    status: s.object({ parents: s.optional(s.array(s.anything())) }),
  });
  const seen: string[] = [];
  const routes = controller(Route, {
    reconcile({ metadata }, context) {
      try {
        (context.status as (part: unknown) => void)({ parents: [] });
      } catch (error) {
        seen.push(`${metadata.name}: ${(error as Error).name}`);
      }
    },
  });
  const connection = { url: cluster.url, fetch: (request: Request) => cluster.fetch(request), close() {} };
  const op = operator({ name: "early", parts: { routes }, health: false });
  await using running = startOperator(op, { connection, checkAccess: false });
  const line = () => running.readiness().find(({ name }) => name === "watch Route");
  await eventually(() =>
    assert.match(
      String(line()?.message),
      /^Cannot watch Route: .* Install the project that its CustomResourceDefinition/,
    )
  );
  assert.deepEqual(await client.list(CustomResourceDefinition), []);

  await createForeign(client);
  await eventually(() => assert.deepEqual([...new Set(seen)].sort(), ["a: TypeError", "b: TypeError"]));
  assert.equal(line()?.isReady, true);
  const { status } = await client.get(Route, "a", IN_DEFAULT);
  assert.deepEqual(status, FOREIGN_STATUS);
});
