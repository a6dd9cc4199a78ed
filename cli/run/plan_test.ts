import assert from "node:assert/strict";
import { type Apiserver, createApiserver, kubeconfigFor, serveApiserver } from "@op/sdk/testing";
import { operatorFolder } from "../_operator_folder.ts";

const IMPORT = `import { webhook } from "${new URL("../../mod.ts", import.meta.url)}";\n`;
const CONTROLLER = `
const marks = controller(Namespace, {
  owns: [ConfigMap],
  async reconcile(namespace, { apply }) {
    await apply(ConfigMap, { metadata: { name: "seen", namespace: namespace.metadata.name }, data: { text: "seen" } });
  },
});
`;
const WEBHOOK = "const rules = webhook(ConfigMap, { validate() {} });\n";

async function withServer(test: (kubeconfig: string, apiserver: Apiserver) => Promise<void>): Promise<void> {
  await using apiserver = createApiserver();
  await using served = serveApiserver(apiserver);
  await test(kubeconfigFor(served), apiserver);
}

for (const certificates of ["self", "cert-manager", "files"]) {
  Deno.test(`op plan shows the writes of an operator with webhooks (certificates: ${certificates})`, async () => {
    await withServer(async (kubeconfig) => {
      // The port is in use, as if the operator already ran on this machine.
      using taken = Deno.listen({ hostname: "0.0.0.0", port: 0 });
      const health = `health: { port: ${taken.addr.port} }`;
      await using folder = await operatorFolder(
        `${IMPORT}${CONTROLLER}${WEBHOOK}export default operator({ name: "marker", ${health}, parts: { marks, rules } });`,
      );
      await folder.write("kubeconfig", kubeconfig);
      await folder.write("operator.toml", `[generate.webhooks]\ncertificates = "${certificates}"\n`);
      const { code, stdout, stderr } = await folder.op("plan", "--kubeconfig", "kubeconfig", "--timeout", "180");
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^apply ConfigMap default\/seen\n(?: {2}\+.*\n)+/m);
      assert.doesNotMatch(stdout, /Secret|WebhookConfiguration/);
    });
  });
}

Deno.test("op plan of an operator with only webhooks reports no changes", async () => {
  await withServer(async (kubeconfig) => {
    await using folder = await operatorFolder(
      `${IMPORT}${WEBHOOK}export default operator({ name: "guard", parts: { rules } });`,
    );
    await folder.write("kubeconfig", kubeconfig);
    const { code, stdout, stderr } = await folder.op("plan", "--kubeconfig", "kubeconfig");
    assert.deepEqual([code, stdout], [0, "No changes\n"], stderr);
  });
});

Deno.test("op plan ends while an object that the operator watches keeps changing", async () => {
  await withServer(async (kubeconfig, apiserver) => {
    await using folder = await operatorFolder(`
const copies = controller(ConfigMap, {
  owns: [Secret],
  async reconcile({ metadata: { name, namespace }, data }, { apply }) {
    await apply(Secret, { metadata: { name, namespace }, data: { copy: btoa(data?.count ?? "") } });
  },
});
export default operator({ name: "copier", health: false, parts: { copies } });`);
    await folder.write("kubeconfig", kubeconfig);
    const configMaps = "http://apiserver/api/v1/namespaces/default/configmaps";
    const send = async (method: string, url: string, type: string, body: object) => {
      const request = new Request(url, { method, headers: { "content-type": type }, body: JSON.stringify(body) });
      const response = await apiserver.fetch(request);
      assert(response.ok, await response.text());
    };
    await send("POST", configMaps, "application/json", { metadata: { name: "busy" }, data: { count: "0" } });
    let isDone = false;
    const changing = (async () => {
      for (let count = 1; !isDone; count++) {
        const data = { count: String(count) };
        await send("PATCH", `${configMaps}/busy`, "application/merge-patch+json", { data });
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    const { code, stdout, stderr } = await folder.op("plan", "--kubeconfig", "kubeconfig", "--timeout", "45");
    isDone = true;
    await changing;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^apply Secret default\/busy$/m);
  });
});
