/**
 * `op deploy` builds overlays and reads YAML as kubectl does, and rejects what it does not support.
 */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { Failure } from "../../cli/exit_code.ts";
import { kustomize } from "../../cli/kustomize/kustomize.ts";
import { objectsIn, type PlainObject } from "../../cli/objects.ts";
import { toYaml } from "../../cli/yaml.ts";
import { findControlPlane } from "../../src/testing/_control_plane.ts";
import { kubectlKustomize } from "./_kubectl.ts";
import { OVERLAYS } from "./_overlays.ts";

const KUBECTL = (await findControlPlane())?.programs.kubectl;

Deno.test({ name: "op builds overlays as kubectl kustomize does", ignore: KUBECTL === undefined }, async (t) => {
  for (const { name, overlay, files } of OVERLAYS) {
    await t.step(name, async () => {
      await using folder = await overlayFolder(overlay, files);
      const path = join(folder.path, "overlay");
      assert.deepEqual(byIdentity(await kustomize(path)), byIdentity(await kubectlKustomize(path)));
    });
  }
});

Deno.test("op does not set a namespace on cluster-scoped kinds, including those that are newer than kustomize's data", async () => {
  const policy =
    "{ apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: { name: a } }";
  await using folder = await overlayFolder("namespace: apart\nresources: [policy.yaml]", {
    "overlay/policy.yaml": policy,
  });
  const [object] = await kustomize(join(folder.path, "overlay"));
  assert.deepEqual(object?.metadata, { name: "a" });
});

Deno.test("op applies a patch of a port whose base has no protocol, which kustomize drops", async () => {
  const pod = (ports: string) =>
    `{ apiVersion: v1, kind: Pod, metadata: { name: a }, spec: { containers: [{ name: a, ports: [${ports}] }] } }`;
  await using folder = await overlayFolder(
    `resources: [pod.yaml]\npatches: [{ patch: "${pod("{ containerPort: 80, protocol: TCP, hostPort: 1 }")}" }]`,
    { "overlay/pod.yaml": pod("{ containerPort: 80, name: web }, { containerPort: 90, protocol: UDP }") },
  );
  const [object] = await kustomize(join(folder.path, "overlay"));
  assert.deepEqual((object?.spec as { containers: { ports: unknown }[] }).containers[0]?.ports, [
    { containerPort: 80, name: "web", protocol: "TCP", hostPort: 1 },
    { containerPort: 90, protocol: "UDP" },
  ]);
});

Deno.test({ name: "op reads YAML scalars as kubectl does", ignore: KUBECTL === undefined }, async () => {
  const scalars = [
    ..."010 0o10 0x1F 1_000 0b11 yes Yes y n on off No 22:22 190:20:30 2026-01-01 2026-01-01T00:00:00Z ~ null".split(
      " ",
    ),
    ...[
      ..."1e3 1.5e3 .5 1. +1 -0 0.0 12e03 08 0x = NaN TRUE True 'yes' \"010\"".split(" "),
      "!!binary aGk=",
      "!!str 010",
    ],
  ];
  const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\nvalues:\n${
    scalars.map((scalar) => `  - ${scalar}\n`).join("")
  }`;
  await using folder = await overlayFolder("", { "scalars.yaml": text });
  const { values } = await readByKubectl<{ values: unknown[] }>(join(folder.path, "scalars.yaml"));
  const [ours] = objectsIn(text, "the text");
  assert.deepEqual(
    JSON.parse(JSON.stringify(scalars.map((scalar, i) => [scalar, (ours!.values as unknown[])[i]]))),
    scalars.map((scalar, i) => [scalar, values[i]]),
  );
});

Deno.test("op rejects an invalid or unsupported kustomization with an error that names the cause", async (t) => {
  const cases: readonly { name: string; overlay: string; files?: Record<string, string>; message: RegExp }[] = [
    {
      name: "replacements",
      overlay: "replacements: []",
      message: /field "replacements" is not supported\. Run: kubectl kustomize/,
    },
    { name: "vars", overlay: "vars: [{ name: A }]", message: /field "vars" is not supported/ },
    { name: "helmCharts", overlay: "helmCharts: [{ name: a }]", message: /field "helmCharts" is not supported/ },
    {
      name: "includeAll, which is nested",
      overlay: "labels: [{ pairs: { a: b }, includeAll: true }]",
      message: /field "labels\[0\]\.includeAll" is not/,
    },
    { name: "a wrong type", overlay: "namePrefix: [a]", message: /"namePrefix" must be a string, got \["a"\]/ },
    {
      name: "a label that is a number",
      overlay: "commonLabels: { a: 1 }",
      message: /"commonLabels" must be an object with strings/,
    },
    {
      name: "a remote base",
      overlay: "resources: ['https://example.com/base']",
      message: /"https:\/\/example\.com\/base" is remote/,
    },
    { name: "a missing file", overlay: "resources: [none.yaml]", message: /the resource "none\.yaml" does not exist/ },
    {
      name: "a file outside of the overlay",
      overlay: "resources: [../outside.yaml]",
      files: { "outside.yaml": "{ apiVersion: v1, kind: ConfigMap, metadata: { name: a } }" },
      message: /"\.\.\/outside\.yaml" is outside of its directory/,
    },
    {
      name: "an object that exists twice",
      overlay: "resources: [a.yaml, b.yaml]",
      files: {
        "overlay/a.yaml": "{ apiVersion: v1, kind: ConfigMap, metadata: { name: a } }",
        "overlay/b.yaml": "{ apiVersion: v1, kind: ConfigMap, metadata: { name: a, namespace: default } }",
      },
      message: /ConfigMap "default\/a" exists twice/,
    },
    {
      name: "an overlay that includes itself",
      overlay: "resources: [../other]",
      files: { "other/kustomization.yaml": "resources: [../overlay]" },
      message: /includes itself/,
    },
    {
      name: "a patch for a missing object",
      overlay: "patches: [{ patch: '{ apiVersion: v1, kind: ConfigMap, metadata: { name: none } }' }]",
      message: /ConfigMap "none" does not exist among the resources/,
    },
    {
      name: "a JSON patch without a target",
      overlay: "patches: [{ patch: '[]' }]",
      message: /a JSON patch needs a target/,
    },
    {
      name: "replicas of a missing workload",
      overlay: "replicas: [{ name: none, count: 1 }]",
      message: /is named "none"/,
    },
    {
      name: "merging a missing ConfigMap",
      overlay: "configMapGenerator: [{ name: a, behavior: merge }]",
      message: /"a" does not exist/,
    },
    { name: "invalid YAML", overlay: "a: [", message: /Cannot read ".*kustomization\.yaml"/ },
    { name: "a duplicate key", overlay: "namespace: a\nnamespace: b", message: /Map keys must be unique/ },
  ];
  for (const { name, overlay, files = {}, message } of cases) {
    await t.step(name, async () => {
      await using folder = await overlayFolder(overlay, files, "");
      await assert.rejects(kustomize(join(folder.path, "overlay")), (error) => {
        assert(error instanceof Failure, String(error));
        assert.match(error.message, message);
        return true;
      });
    });
  }
});

Deno.test({ name: "kubectl reads the strings that op writes as strings", ignore: KUBECTL === undefined }, async () => {
  const strings = "010 0o10 0x1F 1_000 0b11 yes Yes y n on off No 22:22 190:20:30 2026-01-01 ~ null 1e3 .5 +1 = true -"
    .split(" ");
  const data = Object.fromEntries(strings.map((text) => [text, text]));
  await using folder = await overlayFolder("", {
    "strings.yaml": toYaml({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data }),
  });
  assert.deepEqual((await readByKubectl<{ data: unknown }>(join(folder.path, "strings.yaml"))).data, data);
});

/** Returns the object that kubectl reads from a file, as JSON. */
async function readByKubectl<T>(file: string): Promise<T> {
  const args = ["patch", "--local", "-f", file, "--type=merge", "-p", "{}", "-o", "json"];
  const { stdout, stderr, success } = await new Deno.Command(KUBECTL!, { args }).output();
  assert(success, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

/** Writes an overlay and other files into a temporary folder. */
async function overlayFolder(
  overlay: string,
  files: Readonly<Record<string, string | Uint8Array>> = {},
  base = "resources: [../base]\n",
): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await Deno.makeTempDir({ prefix: "kustomize-" });
  const kustomization = `${/^resources:/m.test(overlay) ? "" : base}${overlay}\n`;
  for (const [file, content] of Object.entries({ ...files, "overlay/kustomization.yaml": kustomization })) {
    await Deno.mkdir(dirname(join(path, file)), { recursive: true });
    await Deno.writeFile(join(path, file), typeof content === "string" ? new TextEncoder().encode(content) : content);
  }
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

function byIdentity(objects: readonly PlainObject[]): Record<string, unknown> {
  return Object.fromEntries(
    objects.map((object) => [
      [object.apiVersion, object.kind, object.metadata.namespace ?? "", object.metadata.name].join(" "),
      JSON.parse(JSON.stringify(object)),
    ]).sort(([a], [b]) => (a as string) < (b as string) ? -1 : 1),
  );
}
