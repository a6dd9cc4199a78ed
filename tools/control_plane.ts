/**
 * Finds the programs of a real control plane, or builds them with Go from
 * `tools/control_plane/VERSION/go.mod`. The build takes about five minutes on two cores and is
 * cached.
 *
 * As a script, with an optional version as its argument, it prints the folder of the programs.
 */
import {
  cacheFolder,
  CONTROL_PLANE_VERSION,
  type ControlPlane,
  findControlPlane,
  PROGRAMS,
} from "../src/testing/_control_plane.ts";

/** Options for {@linkcode controlPlane}. */
export interface ControlPlaneOptions {
  /**
   * Version of Kubernetes, one of {@linkcode controlPlaneVersions}. If it is given,
   * KUBEBUILDER_ASSETS is ignored. @default {"v1.36.3"}
   */
  readonly version?: string;
  /** Folder with the programs. @default {KUBEBUILDER_ASSETS} */
  readonly assets?: string;
  /** Folder to build into. @default {the cache of this repository} */
  readonly cache?: string;
  /** The Go command. @default {"go"} */
  readonly go?: string;
  /** Called with each line of progress output. @default {console.error} */
  readonly print?: (line: string) => void;
}

/** Returns the versions of Kubernetes that can be built, oldest first. */
export function controlPlaneVersions(): string[] {
  const folders = [...Deno.readDirSync(new URL("./control_plane", import.meta.url))];
  return folders.map(({ name }) => name).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

/**
 * Returns the programs of a control plane: those in KUBEBUILDER_ASSETS if it is set, otherwise
 * those in the cache. If the cache is empty, they are built first.
 *
 * @param options Additional options.
 * @returns Their paths. If they have to be built and Go is not installed, prints a warning and
 *   returns `undefined`.
 * @throws {RangeError} If the version is not one of {@linkcode controlPlaneVersions}.
 * @throws {Error} If the folder in KUBEBUILDER_ASSETS lacks one of them, or a build fails.
 */
export async function controlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane | undefined> {
  const { version = CONTROL_PLANE_VERSION, go = "go", print = console.error } = options;
  const { cache = cacheFolder(version) } = options;
  const { assets = options.version === undefined ? Deno.env.get("KUBEBUILDER_ASSETS") : undefined } = options;
  if (!controlPlaneVersions().includes(version)) {
    throw new RangeError(
      `Cannot build a control plane: unknown version "${version}". Available versions: ${
        controlPlaneVersions().join(", ")
      }`,
    );
  }
  if (assets) return await fromAssets(assets, print);
  if (cache === undefined) throw new Error("Cannot build a control plane: this module is not in a local folder");

  const cached = await complete(cache);
  if (cached !== undefined) return cached;
  if (!await hasGo(go)) {
    print(
      `NO REAL CONTROL PLANE: "${go}" is not installed, KUBEBUILDER_ASSETS is unset, and "${cache}" has no control plane`,
    );
    print("Tests against a real apiserver are skipped; install Go 1.26 or set KUBEBUILDER_ASSETS to run them");
    return undefined;
  }
  await build(cache, { version, go, print });
  return await complete(cache);
}

async function fromAssets(assets: string, print: (line: string) => void): Promise<ControlPlane> {
  const found = await findControlPlane({ assets });
  const missing = (found?.missing ?? []).map((file) => `"${file}"`);
  if (missing.length > 0) {
    throw new Error(
      `Cannot use KUBEBUILDER_ASSETS "${assets}": ${missing.join(", ")} ${
        missing.length === 1 ? "is" : "are"
      } missing. ` +
        "Add the files, or unset KUBEBUILDER_ASSETS to build all of them with Go",
    );
  }
  const programs = found?.programs as ControlPlane;
  const { stdout } = await new Deno.Command(programs.kubeApiserver, { args: ["--version"] }).output();
  const version = new TextDecoder().decode(stdout).trim().replace(/^Kubernetes /, "");
  if (version !== CONTROL_PLANE_VERSION) {
    print(
      `ANOTHER VERSION: KUBEBUILDER_ASSETS has Kubernetes ${version}, the tests are written for ${CONTROL_PLANE_VERSION}`,
    );
  }
  return programs;
}

async function complete(folder: string): Promise<ControlPlane | undefined> {
  const found = await findControlPlane({ assets: folder });
  return found?.missing.length === 0 ? found.programs as ControlPlane : undefined;
}

async function hasGo(go: string): Promise<boolean> {
  try {
    return (await new Deno.Command(go, { args: ["version"], stdout: "null", stderr: "null" }).output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/**
 * Builds in a temporary folder and then moves it, so that an interrupted build never looks
 * complete.
 */
async function build(
  cache: string,
  { version, go, print }: { version: string; go: string; print: (line: string) => void },
): Promise<void> {
  const parent = cache.slice(0, cache.lastIndexOf("/"));
  await Deno.mkdir(parent, { recursive: true });
  const folder = await Deno.makeTempDir({ dir: parent, prefix: "building-" });
  print(`Building a control plane (Kubernetes ${version}) into "${cache}": about five minutes, once`);
  try {
    const files = Object.values(PROGRAMS);
    for (const [i, file] of files.entries()) {
      print(`  ${i + 1} of ${files.length}: ${file}`);
      await buildProgram(file, { version, go, folder });
    }
    await moveInto(cache, folder);
  } finally {
    await Deno.remove(folder, { recursive: true }).catch(() => {});
  }
  print("Built");
}

async function buildProgram(
  file: string,
  { version, go, folder }: { version: string; go: string; folder: string },
): Promise<void> {
  const source = file === "etcd" ? "go.etcd.io/etcd/server/v3" : `k8s.io/kubernetes/cmd/${file}`;
  const { success } = await new Deno.Command(go, {
    cwd: new URL(`./control_plane/${version}`, import.meta.url),
    args: ["build", "-trimpath", "-ldflags", linkerFlags(version), "-o", `${folder}/${file}`, source],
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).output();
  if (!success) throw new Error(`Cannot build "${source}": see the output of go above`);
}

/**
 * Returns the linker flags that set the version. The programs would have version v0.0.0 and reject
 * each other without them.
 */
function linkerFlags(version: string): string {
  const [major, minor] = version.slice(1).split(".");
  const component = "k8s.io/component-base/version";
  const values = {
    [`${component}.gitVersion`]: version,
    [`${component}.gitMajor`]: major,
    [`${component}.gitMinor`]: minor,
    [`${component}.gitTreeState`]: "clean",
    "k8s.io/client-go/pkg/version.gitVersion": version,
  };
  return ["-s -w", ...Object.entries(values).map(([name, value]) => `-X ${name}=${value}`)].join(" ");
}

/**
 * Moves a build into the cache. A complete build from another process stays; an incomplete one is
 * replaced.
 */
async function moveInto(cache: string, folder: string): Promise<void> {
  if (await complete(cache) !== undefined) return;
  await Deno.remove(cache, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  await Deno.rename(folder, cache);
}

if (import.meta.main) {
  const [version] = Deno.args;
  const programs = await controlPlane(version === undefined ? {} : { version });
  if (programs === undefined) Deno.exitCode = 1;
  else console.log(programs.kubeApiserver.slice(0, programs.kubeApiserver.lastIndexOf("/")));
}
