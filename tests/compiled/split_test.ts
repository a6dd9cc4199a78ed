/**
 * A webhook from `op new webhook` to the calls of a real API server: `op` generates, builds and
 * deploys the project, and the two Deployments of the overlay `split` run as processes with the
 * arguments in their manifests.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RecordedIo } from "../../cli/_recorded_io.ts";
import { cli } from "../../cli/cli.ts";
import { Deployment, ValidatingWebhookConfiguration } from "../../src/kinds/mod.ts";
import { findKind } from "../../src/kube/discovery.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { toolchain } from "../../tools/toolchain.ts";
import { tokenOf } from "../fixtures/service_account.ts";
import { adminClient, watched } from "../fixtures/watched.ts";
import { freePort } from "../fixtures/build_operator.ts";
import { patchableCopy, startAsPod } from "../fixtures/operator_pod.ts";
import { eventually } from "../eventually.ts";

const SDK = fileURLToPath(new URL("../../", import.meta.url));
const HOME = { namespace: "shop-system" };

Deno.test("a real API server calls the webhooks of a new project that is deployed with the overlay split", async () => {
  const folder = await Deno.makeTempDir();
  await using owned = new AsyncDisposableStack();
  owned.defer(() => Deno.remove(folder, { recursive: true }));
  const { deno, denort } = await toolchain();
  const cluster = owned.use(await realCluster());
  const client = adminClient(cluster);
  const project = join(folder, "shop");
  const op = async (cwd: string, ...args: string[]) => {
    const io = new RecordedIo(cwd, { PATH: Deno.env.get("PATH") ?? "", DENO_COMPILER: deno, DENORT_BIN: denort });
    assert.equal(await cli(args, io), 0, `op ${args.join(" ")}:\n${io.stdout}${io.stderr}`);
  };
  const ports = freePorts();

  await op(folder, "new", "operator", "shop", "--sdk", SDK);
  await op(project, "new", "webhook", "--kind", "Website", "--api-version", "v1", "--type", "validation");
  // There is no Service network here, so the API server calls it at an address.
  await Deno.writeTextFile(
    join(project, "operator.toml"),
    `[operator]
health = { hostname = "127.0.0.1", port = ${ports.health} }
webhooks = { hostname = "127.0.0.1", port = ${ports.webhooks}, cert_sans = ["127.0.0.1"] }
`,
  );
  await op(project, "generate", "manifests");
  await op(project, "generate", "overlay", "split");
  await op(project, "build");
  await Deno.writeTextFile(join(folder, "kubeconfig"), cluster.admin.kubeconfig);
  await op(project, "deploy", "split", "--no-wait", "--kubeconfig", join(folder, "kubeconfig"));
  const { webhooks = [] } = await client.get(ValidatingWebhookConfiguration, "shop");
  const withUrl = webhooks.map((webhook) => ({
    ...webhook,
    clientConfig: { url: `https://127.0.0.1:${ports.webhooks}${webhook.clientConfig.service?.path}` },
  }));
  await client.patch(ValidatingWebhookConfiguration, "shop", { webhooks: withUrl });

  const token = await tokenOf(cluster, "shop-system", "shop");
  const executable = join(project, "dist/shop");
  // Two pods would have two addresses; here the second one uses another port.
  const other = await patchableCopy(executable, join(folder, "other"));
  await other.replacePermission("allow_net", `127.0.0.1:${ports.health}`, `127.0.0.1:${ports.other}`);
  const settings = await Deno.readTextFile(join(project, "operator.toml"));
  const pod = async (path: string, deployment: string, port: number) => {
    const { spec } = await client.get(Deployment, deployment, HOME);
    const { args = [], env = [] } = spec?.template.spec?.containers[0] ?? {};
    return owned.use(
      await startAsPod(path, {
        cluster,
        token,
        args,
        settings,
        ...HOME,
        env: { ...Object.fromEntries(env.map(({ name, value = "" }) => [name, value])), OP_HEALTH_PORT: String(port) },
      }),
    );
  };
  const webhookPod = await pod(executable, "shop-webhooks", ports.health);
  await webhookPod.logged(({ msg }) => msg === "Webhooks served");
  const controllerPod = await pod(other.path, "shop", ports.other);
  await controllerPod.logged(({ msg, controller }) => msg === "Controller started" && controller === "websites");

  const Website = await findKind(client, "websites.demo.example.com");
  const site = (name: string) => ({ metadata: { name, namespace: "default" }, spec: { host: "a.example.com" } });
  // Until the server has the certificate authority, it cannot call the webhook, and rejects the
  // request.
  await eventually(async () => {
    const result = await client.create(Website, site("forbidden")).then(
      () => "created",
      (error: Error) => error.message,
    );
    assert.match(result, /metadata\.name: this name is reserved/);
  });
  await client.create(Website, site("given"));
  await using deployments = await watched(client, Deployment);
  await deployments.until((all) => all.some(({ metadata }) => metadata.name === "given"));

  assert.equal(await controllerPod.stop("SIGTERM"), 0);
  assert.equal(await webhookPod.stop("SIGTERM"), 0);
  assert(!webhookPod.log.some(({ msg }) => msg === "Controller started"));
  assert(!controllerPod.log.some(({ msg }) => msg === "Webhooks served"));
});

/**
 * Returns free ports. The first two have equal numbers of digits, so that one can replace the other
 * in the executable.
 */
function freePorts(): { readonly health: number; readonly other: number; readonly webhooks: number } {
  const [health, other, webhooks] = [freePort(), freePort(), freePort()];
  const isUsable = new Set([health, other, webhooks]).size === 3 && `${health}`.length === `${other}`.length;
  return isUsable ? { health, other, webhooks } : freePorts();
}
