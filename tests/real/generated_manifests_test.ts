/**
 * The files that `op generate` writes, on a real API server: strict dry run, kustomize, Pod
 * Security.
 */
import assert from "node:assert/strict";
import { mainModule, operatorFolder } from "../../cli/_operator_folder.ts";
import { webhookFacts } from "../../cli/generate/_webhook_facts.ts";
import { layout } from "../../cli/generate/layout.ts";
import { overlay } from "../../cli/generate/overlay.ts";
import type { PlainObject } from "../../cli/objects.ts";
import { Pod } from "../../src/kinds/mod.ts";
import { findKind } from "../../src/kube/discovery.ts";
import type { Client } from "../../src/kube/client.ts";
import { type RealCluster, realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient } from "../fixtures/watched.ts";
import { untilServed } from "../fixtures/install.ts";
import { eventually } from "../eventually.ts";
import { kubectlKustomize } from "./_kubectl.ts";

/**
 * A kind that is difficult to write a sample for: patterns, formats, rules, alternatives, scope.
 */
const SHOP = mainModule(`
const Shop = resource({
  group: "shops.example.com", version: "v1", kind: "Shop", scope: "Cluster",
  spec: s.object({
    code: s.string({ pattern: "^[A-Z]{2}-[0-9]{3,}$", minLength: 8 }),
    hosts: s.array(s.string({ format: "hostname" }), { minItems: 2 }),
    opens: s.string({ format: "date-time" }),
    size: s.integer({ minimum: 3, maximum: 9, multipleOf: 4 }),
    source: s.exactlyOneOf(s.object({ git: s.optional(s.string({ format: "uri" })), image: s.optional(s.string()) }), ["git", "image"]),
    memory: s.quantity(),
    every: s.duration(),
    limits: s.map(s.integer({ minimum: 1 }), { minProperties: 1 }),
  }, { validations: [{ rule: "self.size < 5 || self.code.startsWith('ZZ')", message: "large shops are ZZ" }] }),
  status: s.object({}),
});
const shops = controller(Shop, { owns: [Namespace], reads: [Secret], reconcile() {}, cleanup() {} });
export default operator({ name: "shops", version: "2.0.0", parts: { shops } });
`);

Deno.test("a strict dry run, kustomize and Pod Security accept the output of op generate", async (t) => {
  await using cluster = await realCluster();
  await using folder = await operatorFolder();
  const client = adminClient(cluster);
  await folder.write("main.ts", SHOP);
  await assertSucceeds(folder.op("generate", "manifests"));
  for (const overlay of ["prod", "local"]) await assertSucceeds(folder.op("generate", "overlay", overlay));
  const built = await kubectlKustomize(`${folder.path}/config/overlays/prod`);

  await t.step("the overlay prod contains each object once", () => {
    const names = built.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    assert.equal(new Set(names).size, names.length);
    assert.deepEqual(built.map(({ kind }) => kind).sort(), [
      "ClusterRole",
      "ClusterRole",
      "ClusterRole",
      "ClusterRole",
      "ClusterRoleBinding",
      "ConfigMap",
      "CustomResourceDefinition",
      "Deployment",
      "Namespace",
      "NetworkPolicy",
      "PodDisruptionBudget",
      // Events about cluster-scoped objects are in "default"; the Lease is in the operator's own
      // namespace.
      "Role",
      "Role",
      "RoleBinding",
      "RoleBinding",
      "Service",
      "ServiceAccount",
    ]);
  });

  await t.step("the overlay local uses the image on the machine", async () => {
    const [deployment] = (await kubectlKustomize(`${folder.path}/config/overlays/local`)).filter(({ kind }) =>
      kind === "Deployment"
    );
    assert.equal(podOf(deployment).containers[0].imagePullPolicy, "Never");
  });

  await t.step("the server accepts each object without a warning", async () => {
    for (const object of built.filter(({ kind }) => kind === "CustomResourceDefinition" || kind === "Namespace")) {
      assert.deepEqual(await applyStrictly(cluster, client, object, {}), [201, []]);
    }
    await untilServed(client);
    for (const object of built) {
      const [status, warnings] = await applyStrictly(cluster, client, object, { dryRun: "All" });
      assert([200, 201].includes(status), `${object.kind} ${object.metadata.name}: ${status}`);
      assert.deepEqual(warnings, [], `${object.kind} ${object.metadata.name}`);
    }
  });

  await t.step(
    "the server accepts controllers and webhooks in separate Deployments, as in the overlay split",
    async () => {
      const facts = webhookFacts();
      for (const [file, text] of [...layout("manifests", facts), ...overlay("split", facts)]) {
        await Deno.mkdir(`${folder.path}/split/${file}`.replace(/\/[^/]*$/, ""), { recursive: true });
        await folder.write(`split/${file}`, text);
      }
      const objects = await kubectlKustomize(`${folder.path}/split/overlays/split`);
      assert.equal(objects.filter(({ kind }) => kind === "Deployment").length, 2);
      await applyStrictly(cluster, client, objects.find(({ kind }) => kind === "Namespace")!, {});
      for (const object of objects) {
        const [, warnings] = await applyStrictly(cluster, client, object, { dryRun: "All" });
        assert.deepEqual(warnings, [], `${object.kind} ${object.metadata.name}`);
      }
    },
  );

  await t.step("the server accepts the generated sample", async () => {
    const samples = await kubectlKustomize(`${folder.path}/config/samples`);
    assert.equal(samples.length, 1);
    for (const object of samples) {
      assert.deepEqual(
        await applyStrictly(cluster, client, object, { dryRun: "All" }),
        [201, []],
        JSON.stringify(object.spec),
      );
    }
  });

  await t.step("Pod Security accepts the pod, and rejects less restricted ones", async () => {
    const [deployment] = built.filter(({ kind }) => kind === "Deployment");
    const spec = podOf(deployment);
    const { namespace } = deployment!.metadata;
    assert(namespace);
    // A controller that does not run here would create the namespace's account.
    await applyStrictly(cluster, client, built.find(({ kind }) => kind === "ServiceAccount")!, {});
    const pod = (containers: unknown, security: unknown) =>
      client.create(Pod, {
        metadata: { name: "trial", namespace },
        spec: { ...spec, containers, securityContext: security } as never,
      }, { dryRun: true });
    await eventually(() => pod(spec.containers, spec.securityContext));
    await assert.rejects(pod(spec.containers, {}), /violates PodSecurity "restricted:latest"/);
    for (const key of ["allowPrivilegeEscalation", "capabilities"]) {
      const containers = spec.containers.map((container: { securityContext: object }) => ({
        ...container,
        securityContext: { ...container.securityContext, [key]: undefined },
      }));
      await assert.rejects(pod(containers, spec.securityContext), /violates PodSecurity "restricted:latest"/, key);
    }
  });
});

/** Asserts that a command succeeds without output on standard error. */
async function assertSucceeds(ended: Promise<{ readonly code: number; readonly stderr: string }>): Promise<void> {
  const { code, stderr } = await ended;
  assert.equal(code, 0, stderr);
  assert.equal(stderr, "");
}

/**
 * Applies an object with strict field validation. Returns the status and the warnings. Throws with
 * the server's message if it rejects the object.
 */
async function applyStrictly(
  cluster: RealCluster,
  client: Client,
  object: PlainObject,
  query: Record<string, string>,
): Promise<[number, string[]]> {
  const [version = "", group = ""] = object.apiVersion.split("/").reverse();
  const kind = await findKind(client, `${object.kind.toLowerCase()}.${version}.${group}`);
  const { name, namespace } = object.metadata;
  const namespacePath = kind.namespaced ? `namespaces/${namespace}/` : "";
  const base = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const search = new URLSearchParams({ fieldManager: "test", fieldValidation: "Strict", force: "true", ...query });
  const response = await cluster.fetch(`${base}/${namespacePath}${kind.plural}/${name}?${search}`, {
    method: "PATCH",
    headers: { "content-type": "application/apply-patch+yaml" },
    body: JSON.stringify(object),
  });
  const { message } = await response.json();
  assert(response.status < 300, `${object.kind} ${name}: ${message}`);
  return [response.status, [...response.headers].filter(([header]) => header === "warning").map(([, text]) => text)];
}

// deno-lint-ignore no-explicit-any -- the template of a Deployment from YAML
function podOf(deployment: any): any {
  return deployment.spec.template.spec;
}
