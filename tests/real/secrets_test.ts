/** Values of Secrets in the output of `op plan` and in errors. */
import assert from "node:assert/strict";
import { operatorFolder } from "../../cli/_operator_folder.ts";
import { ConfigMap, Secret } from "../../src/kinds/mod.ts";
import { ApiError } from "../../src/kube/api_error.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient } from "../fixtures/watched.ts";

const SECRETS = ["hunter2", "TOPSECRET", "not base64"].flatMap((value) => [value, btoa(value)]);

function assertMasked(text: string): void {
  for (const value of SECRETS) assert(!text.includes(value), `"${value}" is in: ${text}`);
}

const MAIN = `
const keeper = controller(ConfigMap, {
  owns: [Secret],
  async reconcile({ metadata: { name } }, { apply }) {
    if (name !== "a") return;
    await apply(Secret, { metadata: { name: "db" }, stringData: { password: "TOPSECRET", user: "hunter2" } });
    await apply(Secret, { metadata: { name: "new" }, data: { password: btoa("TOPSECRET") } });
    await apply(Secret, { metadata: { name: "wrong" }, data: "TOPSECRET" } as never);
  },
});
export default operator({ name: "keeper", health: false, parts: { keeper } });
`;

Deno.test("op plan and errors mask the values of Secrets on a real API server", async (t) => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  const inDefault = { namespace: "default" };
  const annotations = {
    "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify({ data: { password: btoa("hunter2") } }),
  };
  await client.create(Secret, {
    metadata: { name: "db", namespace: "default", annotations },
    stringData: { password: "hunter2", user: "hunter2" },
  });

  await t.step("the error of a patch that the server cannot decode does not quote the stored values", async () => {
    for (const type of ["merge", "strategic"] as const) {
      const patch = { data: { password: "not base64!" } };
      const error = await client.patch(Secret, "db", patch, { ...inDefault, type }).catch((error) => error);
      assert(error instanceof ApiError && error.status === 422, String(error));
      assert.match(error.message, /Invalid value: "\*\*\*": .*illegal base64/);
      assertMasked(error.message + JSON.stringify(error.causes));
    }
    const wrong = { metadata: { name: "db", ...inDefault }, data: "TOPSECRET" };
    const error = await client.apply(Secret, wrong as never, { manager: "test" }).catch((error) => error);
    assert(error instanceof ApiError, String(error));
    assertMasked(error.message);
  });

  await client.create(ConfigMap, { metadata: { name: "a", namespace: "default" } });
  await using folder = await operatorFolder(MAIN);
  await folder.write("kubeconfig", cluster.admin.kubeconfig);
  const plan = (...args: string[]) => folder.op("plan", "--kubeconfig", "kubeconfig", "-n", "default", ...args);

  await t.step("op plan masks values of Secrets as text", async () => {
    const { stdout, stderr } = await plan();
    assertMasked(stdout + stderr);
    assert.match(
      stdout,
      /^ {2}- {2}password: "\*\*\* \(before\)"\n {2}\+ {2}password: "\*\*\* \(after\)"\n {3} {2}user: "\*\*\*"$/m,
    );
    assert.match(stdout, /^apply Secret default\/new\n(?: {2}\+.*\n)* {2}\+ {2}password: "\*\*\*"$/m);
    assert.match(stdout, /^apply Secret default\/wrong: rejected: /m);
  });

  for (const format of ["json", "yaml"]) {
    await t.step(`op plan masks values of Secrets as ${format}`, async () => {
      const { stdout, stderr } = await plan("-o", format);
      assertMasked(stdout + stderr);
      assert.match(stdout, /\*\*\* \(before\)/);
      assert.match(stdout, /\*\*\* \(after\)/);
    });
  }

  await t.step("op plan --show-secrets prints values of Secrets", async () => {
    const { stdout } = await plan("--show-secrets");
    assert.match(
      stdout,
      new RegExp(`^ {2}- {2}password: ${btoa("hunter2")}\n {2}\\+ {2}password: ${btoa("TOPSECRET")}$`, "m"),
    );
  });
});
