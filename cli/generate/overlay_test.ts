import assert from "node:assert/strict";
import { kustomize } from "../kustomize/kustomize.ts";
import type { PlainObject } from "../objects.ts";
import { webhookFacts } from "./_webhook_facts.ts";
import { layout, type LayoutFacts } from "./layout.ts";
import { overlay } from "./overlay.ts";

/** Returns the objects of an overlay, built as `op deploy` does. */
async function built(name: string, facts: LayoutFacts): Promise<PlainObject[]> {
  const folder = await Deno.makeTempDir();
  try {
    for (const [file, text] of [...layout("manifests", facts), ...overlay(name, facts)]) {
      await Deno.mkdir(`${folder}/${file}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${folder}/${file}`, text);
    }
    return await kustomize(`${folder}/overlays/${name}`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

// deno-lint-ignore no-explicit-any -- untyped objects from YAML
function named(objects: readonly PlainObject[], kind: string, name: string): any {
  const found = objects.filter((object) => object.kind === kind && object.metadata.name === name);
  assert.equal(found.length, 1, `${kind} ${name}`);
  return found[0];
}

Deno.test("the overlay split runs controllers and webhooks in separate Deployments, and its Service selects the webhooks", async () => {
  const objects = await built("split", webhookFacts());
  const [controllers, webhooks] = ["guard", "guard-webhooks"].map((name) => named(objects, "Deployment", name).spec);
  const [controllerContainer, webhookContainer] = [controllers, webhooks].map(({ template }) =>
    template.spec.containers[0]
  );
  assert.deepEqual(controllerContainer.args, ["start", "--skip-webhook-server"]);
  assert.deepEqual(webhookContainer.args, ["start", "--skip-controllers"]);
  const portsOf = ({ ports }: { ports: { name: string }[] }) => ports.map(({ name }) => name);
  assert.deepEqual([portsOf(controllerContainer), portsOf(webhookContainer)], [["health"], ["health", "webhook"]]);
  assert.deepEqual([controllers.replicas, webhooks.replicas], [1, 2]);

  const { selector } = named(objects, "Service", "guard-webhook").spec;
  const isSelected = ({ template }: { template: { metadata: { labels: Record<string, string> } } }) =>
    Object.entries(selector).every(([label, value]) => template.metadata.labels[label] === value);
  assert.deepEqual([controllers, webhooks].map(isSelected), [false, true]);
  for (const spec of [controllers, webhooks]) {
    assert.equal(
      spec.selector.matchLabels["app.kubernetes.io/name"],
      spec.template.metadata.labels["app.kubernetes.io/name"],
    );
  }
  for (const kind of ["PodDisruptionBudget", "NetworkPolicy"]) {
    const { spec } = named(objects, kind, "guard-webhooks");
    assert.deepEqual((spec.selector ?? spec.podSelector).matchLabels, { "app.kubernetes.io/name": "guard-webhooks" });
  }
});

Deno.test("overlay() throws for the overlay split of an operator without webhooks", () => {
  const { manifests, ...facts } = webhookFacts();
  assert.throws(() => overlay("split", { ...facts, manifests: { ...manifests, webhook: [] } }), {
    message: 'Cannot generate overlay "split": operator "guard" has no webhooks to run separately.',
  });
});

Deno.test("the overlay local never pulls images, so that it uses those of the machine", async () => {
  const { spec } = named(await built("local", webhookFacts()), "Deployment", "guard");
  assert.equal(spec.template.spec.containers[0].imagePullPolicy, "Never");
});

Deno.test("an overlay follows the image tag of the base, except split, which pins it for both Deployments", async () => {
  const entry = (name: string) =>
    overlay(name, webhookFacts()).get(`overlays/${name}/kustomization.yaml`)?.match(/^images:\n((?: {2}.*\n)+)/m)?.[1];
  assert.equal(entry("prod"), "  - name: guard\n    newName: guard\n");
  assert.equal(entry("split"), "  - name: guard\n    newName: guard\n    newTag: 0.0.0\n");
  const { spec } = named(await built("prod", webhookFacts()), "Deployment", "guard");
  assert.equal(spec.template.spec.containers[0].image, "guard:0.0.0");
});

Deno.test("an overlay with an image replaces the image of the base", () => {
  const folder = overlay("prod", webhookFacts(), "registry.example.com:5000/team/guard:9");
  assert.match(
    folder.get("overlays/prod/kustomization.yaml") ?? "",
    /- name: guard\n {4}newName: registry\.example\.com:5000\/team\/guard\n {4}newTag: "9"\n/,
  );
});
