/** The `manifests` and `rbac` commands of an operator's program. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import op from "../examples/01_website/main.ts";
import webhooks from "../examples/02_webhooks/main.ts";
import { runOperator } from "./fixtures/operator_process.ts";

Deno.test("the commands manifests and rbac of an operator print a List of what manifests() returns", async () => {
  const printed = async (...args: string[]) => {
    const { code, stdout, stderr } = await runOperator({ home: Deno.cwd(), args, permissions: ["--no-prompt"] });
    assert.equal(code, 0, stderr);
    const { kind, apiVersion, items } = JSON.parse(stdout);
    assert.deepEqual([kind, apiVersion], ["List", "v1"]);
    return items;
  };
  // Without the group prometheus: most clusters do not have the kind ServiceMonitor.
  const { prometheus: _, ...groups } = op.manifests();
  assert.deepEqual(await printed("manifests"), JSON.parse(JSON.stringify(Object.values(groups).flat())));
  const options = { watchNamespaces: ["team"], namespace: "ops", image: "registry/web:1" };
  assert.deepEqual(
    await printed("rbac", "--namespace", "team", "--into", "ops"),
    JSON.parse(JSON.stringify(op.manifests(options).rbac)),
  );
  const deployment = (await printed("manifests", "--image", "registry/web:1", "--into", "ops", "-n", "team"))
    .find(({ kind }: { kind: string }) => kind === "Deployment");
  assert.equal(deployment.metadata.namespace, "ops");
  assert.equal(deployment.spec.template.spec.containers[0].image, "registry/web:1");
  assert.deepEqual(deployment.spec.template.spec.containers[0].args, ["start", "--namespace=team"]);
});

Deno.test("the command manifests of an operator rejects an invalid namespace", async () => {
  const { code, stderr } = await runOperator({ home: Deno.cwd(), args: ["manifests", "--into", "My_Space"] });
  assert.equal(code, 2);
  assert.match(stderr, /Cannot install operator "website-operator": "My_Space" is not the name of a namespace\./);
});

const WEBHOOKS = fileURLToPath(new URL("../examples/02_webhooks/main.ts", import.meta.url));

for (const certificates of ["self", "cert-manager", "files"] as const) {
  Deno.test(`the command manifests of an operator prints the objects for certificates from ${certificates}`, async () => {
    const args = ["manifests", "--certificates", certificates];
    const { code, stdout, stderr } = await runOperator({ home: Deno.cwd(), main: WEBHOOKS, args });
    assert.equal(code, 0, stderr);
    const { prometheus: _, ...groups } = webhooks.manifests({ certificates });
    const { items } = JSON.parse(stdout) as { readonly items: readonly { readonly kind: string }[] };
    assert.deepEqual(items, JSON.parse(JSON.stringify(Object.values(groups).flat())));
    assert.equal(items.some(({ kind }) => kind === "Certificate"), certificates === "cert-manager");
    assert.equal(stdout.includes("--webhook-certificate"), certificates !== "self");
    assert.equal(/"secrets"/.test(stdout), certificates === "self");
  });
}

Deno.test("an operator's program rejects an unknown source of certificates and lists the valid ones", async () => {
  const args = ["manifests", "--certificates", "certmanager"];
  const { code, stdout, stderr } = await runOperator({ home: Deno.cwd(), main: WEBHOOKS, args });
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /"certificates" must be one of .*cert-manager.*, got "certmanager"\./);
});
