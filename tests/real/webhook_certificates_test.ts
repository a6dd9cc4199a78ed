/**
 * Runs the commands of the webhooks guide for each source of certificates, and sends reviews over
 * TLS.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { cli } from "../../cli/cli.ts";
import { CustomResourceDefinition, ValidatingWebhookConfiguration } from "../../src/kinds/mod.ts";
import { createAuthority } from "../../src/testing/_certificates.ts";
import { type RealCluster, realCluster } from "../../src/testing/real_cluster.ts";
import { ISSUER, ORIGINS } from "../../tools/upstream/origins.ts";
import { unpack } from "../../tools/upstream/packed.ts";
import { adminClient, watched } from "../fixtures/watched.ts";
import { freePort } from "../fixtures/build_operator.ts";
import { RunningIo } from "../fixtures/running_io.ts";
import { shellLine } from "../fixtures/shell_line.ts";

const ROOT = new URL("../../", import.meta.url);
const SERVICE = "shop-webhook.shop-system.svc";

Deno.test("an operator set up by the webhooks guide answers reviews with each source of certificates", async (t) => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  const folder = await Deno.makeTempDir();
  const port = freePort();
  const shell = new Shell(cluster, folder);
  await using configurations = await watched(client, ValidatingWebhookConfiguration);
  const bundle = (): string => {
    const shop = configurations.values().find(({ metadata }) => metadata.name === "shop");
    return atob(shop?.webhooks?.[0]?.clientConfig.caBundle ?? "");
  };
  const guide = await Deno.readTextFile(new URL("docs/guides/webhooks.md", ROOT));
  const [, rejection] = /^```text\n(admission webhook .*)\n```$/m.exec(guide) ??
    assert.fail("the guide shows no rejection");
  const [first = "", , own = "", certManager = "", files = ""] = [...guide.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .map(([, block]) => block);
  try {
    await Deno.writeTextFile(`${folder}/kubeconfig`, cluster.admin.kubeconfig);
    for (const line of lines(first).filter((line) => line !== "op dev")) await shell.run(line);
    // Other tests on this machine may use the default ports.
    const file = `${shell.cwd}/operator.toml`;
    const settings = await Deno.readTextFile(file);
    const ports = `health = { port = ${freePort()} }\nwebhooks = { port = ${port} }\n`;
    await Deno.writeTextFile(file, settings.replace("[operator]\n", `[operator]\n${ports}`));

    const deniesReview = async (authority: string): Promise<void> => {
      const { message } = (await review(port, authority)).response.status;
      assert(rejection!.endsWith(`denied the request: ${message}`), message);
    };

    await t.step("the operator issues its own certificate and renews its authority", async () => {
      for (const line of lines(own)) {
        await shell.run(line);
        if (line !== "op start") continue;
        await configurations.until(() => bundle() !== "");
        await shell.untilServed();
        await deniesReview(bundle());
      }
      const before = bundle();
      await configurations.until(() => bundle() !== before && bundle().includes(before.trim()));
      await deniesReview(bundle());
      await shell.stop();
    });

    const definitions = await Promise.all(
      [ORIGINS.find(({ kind }) => kind === "Certificate")!, ISSUER].map(definitionOf),
    );
    await t.step({
      name: "the operator serves the mounted certificate of cert-manager",
      ignore: definitions.includes(undefined),
      fn: async () => {
        await using installed = await watched(client, CustomResourceDefinition);
        for (const definition of definitions) await client.create(CustomResourceDefinition, definition as never);
        await installed.until((all) =>
          all.filter(({ spec, status }) => spec.group === "cert-manager.io" && status?.conditions?.some(isEstablished))
            .length === 2
        );
        for (const line of lines(certManager)) await shell.run(line);
        const path = "/apis/cert-manager.io/v1/namespaces/shop-system";
        const { spec } = await shell.get(`${path}/certificates/shop-webhook`);
        assert.deepEqual((await shell.get(`${path}/issuers/${spec.issuerRef.name}`)).spec, { selfSigned: {} });
        // Acts as cert-manager, which signs the certificate, and as the kubelet, which mounts it.
        const authority = await createAuthority();
        const { certificate, key } = await authority.server(spec.dnsNames);
        await Deno.writeTextFile(`${shell.cwd}/mounted.crt`, certificate);
        await Deno.writeTextFile(`${shell.cwd}/mounted.key`, key);
        const { spec: { template: { spec: pod } } } = parse(
          await Deno.readTextFile(`${shell.cwd}/config/manager/deployment.yaml`),
        );
        const mounted = pod.volumes.find(({ secret }: { secret?: { secretName: string } }) =>
          secret?.secretName === spec.secretName
        );
        const [container] = pod.containers;
        const { mountPath } = container.volumeMounts.find(({ name }: { name: string }) => name === mounted.name);
        const args = (container.args as string[]).filter((arg) => arg.startsWith("--webhook-"))
          .map((arg) => arg.replace(`${mountPath}/tls.`, `${shell.cwd}/mounted.`));
        assert.equal(args.length, 2);
        await shell.run(`op start -- ${args.join(" ")}`);
        await shell.untilServed();
        await deniesReview(authority.certificate);
        await shell.stop();
      },
    });

    await t.step("the operator serves the certificate in files", async () => {
      const authority = await createAuthority();
      const { certificate, key } = await authority.server([SERVICE]);
      await Deno.writeTextFile(`${shell.cwd}/tls.crt`, certificate);
      await Deno.writeTextFile(`${shell.cwd}/tls.key`, key);
      await Deno.writeTextFile(`${shell.cwd}/ca.crt`, authority.certificate);
      for (const line of lines(files)) await shell.run(line);
      await configurations.until(() => bundle() === authority.certificate);
      await shell.untilServed();
      await deniesReview(authority.certificate);
      const { data, type } = await shell.get("/api/v1/namespaces/shop-system/secrets/shop-webhook");
      assert.deepEqual([type, atob(data["tls.crt"])], ["kubernetes.io/tls", certificate]);
      await shell.stop();
    });
  } finally {
    await shell.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

/** Runs commands of a guide: `op` in this process, kubectl as a program. */
class Shell {
  readonly #cluster: RealCluster;
  readonly #folder: string;
  #started: { readonly io: RunningIo; readonly ended: Promise<number> } | undefined;
  cwd: string;

  constructor(cluster: RealCluster, folder: string) {
    this.#cluster = cluster;
    this.#folder = folder;
    this.cwd = folder;
  }

  /** Runs a line. An operator that it starts continues to run. */
  async run(line: string): Promise<void> {
    const [program, ...args] = line.split(" ");
    const kubeconfig = `${this.#folder}/kubeconfig`;
    if (program === "cd") return void (this.cwd = `${this.cwd}/${args[0]}`);
    if (program === "kubectl") return await this.#kubectl(line, kubeconfig);
    assert.equal(program, "op");
    const io = new RunningIo(this.cwd);
    const [command, ...rest] = args;
    if (command === "start") {
      this.#started = { io, ended: cli(["start", "--kubeconfig", kubeconfig, ...rest], io) };
      return;
    }
    // Uses the SDK of this repository instead of the published one.
    const sdk = rest[0] === "operator" ? ["--sdk", fileURLToPath(ROOT)] : [];
    assert.equal(await cli([...args, ...sdk], io), 0, io.stderr);
  }

  /** Waits until the started operator serves webhooks. */
  async untilServed(): Promise<void> {
    const { io, ended } = this.#started ?? assert.fail("no operator was started");
    await io.waitForOutput(/Webhooks served/, 1, ended);
  }

  /** Stops the started operator. */
  async stop(): Promise<void> {
    this.#started?.io.end();
    await this.#started?.ended;
    this.#started = undefined;
  }

  /** Returns the object at a path of the API server. */
  // deno-lint-ignore no-explicit-any -- any object
  async get(path: string): Promise<any> {
    const response = await this.#cluster.fetch(path);
    assert.equal(response.status, 200, path);
    return await response.json();
  }

  async #kubectl(line: string, kubeconfig: string): Promise<void> {
    const kubectl = this.#cluster.programs.kubectl ?? assert.fail("kubectl is built with the control plane");
    const { code, stderr } = await shellLine(line, { kubectl, kubeconfig, cwd: this.cwd });
    assert.equal(code, 0, `${line}: ${stderr}`);
  }
}

/**
 * Sends a review of a Website as the API server does: to the Service's name, trusting only the
 * configured authority.
 */
// deno-lint-ignore no-explicit-any -- a review
async function review(port: number, authority: string): Promise<any> {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  using tls = await Deno.startTls(conn, { hostname: SERVICE, caCerts: [authority] });
  const kind = { group: "demo.example.com", version: "v1", kind: "Website" };
  const resource = { group: "demo.example.com", version: "v1", resource: "websites" };
  const metadata = { name: "forbidden", namespace: "default" };
  const body = JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid: "1",
      kind,
      resource,
      requestKind: kind,
      requestResource: resource,
      ...metadata,
      operation: "CREATE",
      userInfo: { username: "admin" },
      object: { apiVersion: "demo.example.com/v1", kind: "Website", metadata, spec: { host: "a.example.com" } },
      oldObject: null,
      dryRun: false,
      options: null,
    },
  });
  const head = `POST /validate/website-validation HTTP/1.1\r\nhost: ${SERVICE}\r\ncontent-type: application/json\r\n`;
  const request = `${head}content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;
  const writer = tls.writable.getWriter();
  await writer.write(new TextEncoder().encode(request));
  const response = await new Response(tls.readable).text();
  return JSON.parse(/\{.*\}/s.exec(response)?.[0] ?? assert.fail(response));
}

/** Returns a definition of cert-manager, or `undefined` if it is not available. */
async function definitionOf(origin: typeof ISSUER): Promise<Record<string, unknown> | undefined> {
  return (await unpack(origin))?.definition;
}

function isEstablished({ type, status }: { readonly type: string; readonly status: string }): boolean {
  return type === "Established" && status === "True";
}

function lines(block: string): string[] {
  return block.trim().split("\n");
}
