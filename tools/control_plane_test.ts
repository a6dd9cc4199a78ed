import assert from "node:assert/strict";
import { CONTROL_PLANE_VERSION } from "../src/testing/_control_plane.ts";
import { controlPlane, controlPlaneVersions } from "./control_plane.ts";

const FILES = ["etcd", "kube-apiserver", "kube-controller-manager", "kubectl"];

/**
 * Writes a fake Go command that creates an empty file for each program it builds, and fails for the
 * program `failOn`. It appends its working folder and its arguments to the file `built`.
 */
async function fakeGo(folder: string, failOn = "nothing"): Promise<string> {
  const path = `${folder}/go`;
  const script = `#!/bin/sh
[ "$1" = version ] && exit 0
echo "$(basename "$PWD") $*" >> ${folder}/built
while [ "$1" != -o ]; do shift; done
[ "$(basename "$2")" = ${failOn} ] && exit 1
: > "$2"
`;
  await Deno.writeTextFile(path, script, { mode: 0o755 });
  return path;
}

async function inTempFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function names(folder: string): Promise<string[]> {
  const found = [];
  for await (const entry of Deno.readDir(folder)) found.push(entry.name);
  return found.sort();
}

Deno.test("controlPlane builds all programs into an empty cache and reuses them the second time", () =>
  inTempFolder(async (folder) => {
    const lines: string[] = [];
    const options = { assets: "", cache: `${folder}/cache/v1`, print: (line: string) => void lines.push(line) };

    const built = await controlPlane({ ...options, go: await fakeGo(folder) });

    assert.equal(built?.kubectl, `${folder}/cache/v1/kubectl`);
    assert.deepEqual(await names(`${folder}/cache/v1`), FILES);
    assert.deepEqual(await names(`${folder}/cache`), ["v1"]);
    assert.equal(lines.at(-1), "Built");
    assert.deepEqual(await controlPlane({ ...options, go: `${folder}/no-go` }), built);
  }));

Deno.test("controlPlane builds each version from its own go.mod and stamps the programs with the version", () =>
  inTempFolder(async (folder) => {
    for (const version of controlPlaneVersions()) {
      const go = await fakeGo(folder);
      await controlPlane({ version, cache: `${folder}/cache/${version}`, go, print() {} });
      const lines = (await Deno.readTextFile(`${folder}/built`)).trim().split("\n");
      await Deno.remove(`${folder}/built`);
      assert.equal(lines.length, FILES.length);
      assert(
        lines.every((line) => line.startsWith(`${version} build `) && line.includes(`gitVersion=${version} `)),
        lines[0],
      );
    }
    assert(controlPlaneVersions().includes(CONTROL_PLANE_VERSION));
  }));

Deno.test("controlPlane rejects an unknown version and lists the available ones", async () => {
  await assert.rejects(controlPlane({ version: "v1.2.3" }), {
    name: "RangeError",
    message: `Cannot build a control plane: unknown version "v1.2.3". Available versions: ${
      controlPlaneVersions().join(", ")
    }`,
  });
});

Deno.test("the go.mod of each version requires that version of Kubernetes and replaces all staging modules with it", async () => {
  for (const version of controlPlaneVersions()) {
    const text = await Deno.readTextFile(new URL(`control_plane/${version}/go.mod`, import.meta.url));
    assert.match(text, new RegExp(`^\\s*k8s\\.io/kubernetes ${version}\\b`, "m"));
    const staging = version.replace("v1", "v0");
    const replaced = [...text.matchAll(/=> k8s\.io\/\S+ (\S+)$/gm)].map(([, to]) => to);
    assert(replaced.length > 30 && replaced.every((to) => to === staging), `${version}: ${replaced}`);
  }
});

Deno.test("controlPlane removes its files when a build fails", () =>
  inTempFolder(async (folder) => {
    const options = { assets: "", cache: `${folder}/cache/v1`, print() {} };

    const build = controlPlane({ ...options, go: await fakeGo(folder, "kubectl") });

    await assert.rejects(build, {
      message: `Cannot build "k8s.io/kubernetes/cmd/kubectl": see the output of go above`,
    });
    assert.deepEqual(await names(`${folder}/cache`), []);
  }));

Deno.test("controlPlane warns and returns undefined if Go is not installed", () =>
  inTempFolder(async (folder) => {
    const lines: string[] = [];

    const found = await controlPlane({
      assets: "",
      cache: `${folder}/cache`,
      go: `${folder}/no-go`,
      print: (line) => void lines.push(line),
    });

    assert.equal(found, undefined);
    assert.match(lines[0] ?? "", /^NO REAL CONTROL PLANE: ".*no-go" is not installed/);
  }));

Deno.test("controlPlane names the programs that are missing in KUBEBUILDER_ASSETS", () =>
  inTempFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/etcd`, "");
    await Deno.writeTextFile(`${folder}/kubectl`, "");

    await assert.rejects(controlPlane({ assets: folder }), {
      message: `Cannot use KUBEBUILDER_ASSETS "${folder}": "kube-apiserver", "kube-controller-manager" are missing. ` +
        "Add the files, or unset KUBEBUILDER_ASSETS to build all of them with Go",
    });
  }));

Deno.test("controlPlane warns if KUBEBUILDER_ASSETS has another version", () =>
  inTempFolder(async (folder) => {
    for (const file of FILES) {
      await Deno.writeTextFile(`${folder}/${file}`, "#!/bin/sh\necho Kubernetes v1.20.0\n", { mode: 0o755 });
    }
    const lines: string[] = [];

    const found = await controlPlane({ assets: folder, print: (line) => void lines.push(line) });

    assert.equal(found?.etcd, `${folder}/etcd`);
    assert.match(lines[0] ?? "", /^ANOTHER VERSION: KUBEBUILDER_ASSETS has Kubernetes v1.20.0/);
  }));
