/**
 * Runs the commands of the webhooks guide, and validates generated manifests with the definitions
 * of cert-manager.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { operator, webhook } from "@op/sdk";
import { ConfigMap, CustomResourceDefinition, Namespace } from "@op/sdk/kinds";
import { cli } from "../../cli/cli.ts";
import { findKind } from "../../src/kube/discovery.ts";
import { collectionPath } from "../../src/kube/path.ts";
import type { Manifest } from "../../src/manifests/manifest.ts";
import type { AnyKind } from "../../src/resource/kind.ts";
import { type RealCluster, realCluster } from "../../src/testing/real_cluster.ts";
import { ISSUER, ORIGINS } from "../../tools/upstream/origins.ts";
import type { Packed } from "../../tools/upstream/pack.ts";
import { unpack } from "../../tools/upstream/packed.ts";
import { adminClient } from "../fixtures/watched.ts";
import { freePort } from "../fixtures/build_operator.ts";
import { RunningIo } from "../fixtures/running_io.ts";
import { shellLine } from "../fixtures/shell_line.ts";
import { eventually } from "../eventually.ts";

const ROOT = new URL("../../", import.meta.url);

Deno.test("the commands of the webhooks guide lead from op new to a rejected object", async (t) => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  const guide = await Deno.readTextFile(new URL("docs/guides/webhooks.md", ROOT));
  const [, block] = /^```sh\n(op new operator[\s\S]*?)^```$/m.exec(guide) ?? assert.fail("the guide has no commands");
  const [, creating] = /^```sh\n(sed .*)\n```$/m.exec(guide) ?? assert.fail("the guide creates no object");
  const [, printed] = /^```text\n(The Website .*)\n```$/m.exec(guide) ??
    assert.fail("the guide shows no output of kubectl");
  const [, rejection] = /^```text\n(admission webhook .*)\n```$/m.exec(guide) ??
    assert.fail("the guide shows no rejection");
  const folder = await Deno.makeTempDir();
  let cwd = folder;
  try {
    await Deno.writeTextFile(`${folder}/kubeconfig`, cluster.admin.kubeconfig);
    for (const line of block!.trim().split("\n")) {
      await t.step(line, async () => {
        const [program, ...args] = line.split(" ");
        if (program === "cd") return void (cwd = `${cwd}/${args[0]}`);
        assert.equal(program, "op");
        if (args[0] !== "dev") {
          const io = new RunningIo(cwd);
          // Uses the SDK of this repository instead of the published one.
          const sdk = args[1] === "operator" ? ["--sdk", fileURLToPath(ROOT)] : [];
          return assert.equal(await cli([...args, ...sdk], io), 0, io.stderr);
        }
        // Other tests on this machine may use the default port.
        const file = `${cwd}/operator.toml`;
        const settings = await Deno.readTextFile(file);
        await Deno.writeTextFile(
          file,
          settings.replace("[operator]\n", `[operator]\nhealth = { port = ${freePort()} }\n`),
        );
        const io = new RunningIo(cwd);
        const ended = cli([...args, "--kubeconfig", `${folder}/kubeconfig`], io);
        await io.waitForOutput(/^Webhooks are called at /, 1, ended);
        const website = {
          apiVersion: "demo.example.com/v1",
          kind: "Website",
          metadata: { name: "forbidden" },
          spec: { host: "a.example.com" },
        };
        await eventually(async () => {
          const response = await cluster.fetch("/apis/demo.example.com/v1/namespaces/default/websites?dryRun=All", {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify(website),
          });
          assert.equal((await response.json()).message, rejection);
        });
        const kubectl = cluster.programs.kubectl ?? assert.fail("kubectl is built with the control plane");
        const printedRejection = await shellLine(creating!, { kubectl, kubeconfig: `${folder}/kubeconfig`, cwd });
        assert.deepEqual(printedRejection, { code: 1, stderr: `${printed}\n` });
        io.end();
        assert.equal(await ended, 0, io.stderr);
      });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }

  const origin = ORIGINS.find(({ kind }) => kind === "Certificate")!;
  const packed = await Promise.all([origin, ISSUER].map((each) => unpack(each)));
  await t.step({
    name: "the API server with cert-manager's definitions accepts the generated objects with strict field validation",
    ignore: packed.includes(undefined),
    fn: async () => {
      for (const { definition } of packed as Packed[]) {
        await client.create(CustomResourceDefinition, definition as never);
      }
      const op = operator({ name: "guard", parts: { maps: webhook(ConfigMap, { validate() {} }) } });
      const { namespace, webhook: webhookObjects, manager } = op.manifests({ certificates: "cert-manager" });
      await client.create(Namespace, { metadata: { name: namespace[0]!.metadata.name } });
      for (const manifest of [...webhookObjects, ...manager]) {
        const [version = "", group = ""] = manifest.apiVersion.split("/").reverse();
        // The API server serves a new definition, and adds it to discovery, with a delay.
        const kind = await eventually(() => findKind(client, `${manifest.kind}.${version}.${group}`));
        await eventually(() => client.list(kind));
        const created = await createStrictly(cluster, kind, manifest);
        assert.equal(created.status, 201, `${manifest.kind}: ${created.body}`);
      }
    },
  });
});

/** Creates an object with strict field validation. */
async function createStrictly(
  cluster: RealCluster,
  kind: AnyKind,
  object: Manifest,
): Promise<{ readonly status: number; readonly body: string }> {
  const { namespace } = object.metadata as { readonly namespace?: string };
  const path = collectionPath(kind, namespace);
  const response = await cluster.fetch(`${path}?fieldValidation=Strict`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(object),
  });
  return { status: response.status, body: await response.text() };
}
