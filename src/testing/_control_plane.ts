/**
 * Finds the programs of a real control plane: etcd, kube-apiserver, kube-controller-manager,
 * kubectl.
 */

/** The version of Kubernetes that tests run against by default. */
export const CONTROL_PLANE_VERSION = "v1.36.3";

/** Paths of the programs of a control plane. */
export interface ControlPlane {
  /** Path of etcd. */
  readonly etcd: string;
  /** Path of kube-apiserver. */
  readonly kubeApiserver: string;
  /** Path of kube-controller-manager. */
  readonly kubeControllerManager: string;
  /** Path of kubectl. */
  readonly kubectl: string;
}

/** File names of the programs, by their key in {@linkcode ControlPlane}. */
export const PROGRAMS: Readonly<Record<keyof ControlPlane, string>> = {
  etcd: "etcd",
  kubeApiserver: "kube-apiserver",
  kubeControllerManager: "kube-controller-manager",
  kubectl: "kubectl",
};

/** A folder that was searched for a control plane. */
export interface ControlPlaneFolder {
  readonly path: string;
  /** Where the path comes from, for error messages. */
  readonly origin: "option" | "KUBEBUILDER_ASSETS" | "cache";
  /** The programs in it. */
  readonly programs: Partial<ControlPlane>;
  /** File names of missing programs. */
  readonly missing: readonly string[];
}

/** Options for {@linkcode findControlPlane}. */
export interface FindControlPlaneOptions {
  /** The folder to search. @default {KUBEBUILDER_ASSETS, or else the cache of this repository} */
  readonly assets?: string;
  /**
   * The version to search for in the cache, such as `v1.37.2`. KUBEBUILDER_ASSETS is then ignored.
   *
   * @default {"v1.36.3"}
   */
  readonly version?: string;
}

/**
 * Returns the folder in this repository into which `tools/control_plane.ts` builds a version, or
 * `undefined` if this module is not a local file.
 *
 * @param version The version of Kubernetes.
 */
export function cacheFolder(version: string = CONTROL_PLANE_VERSION): string | undefined {
  const url = new URL(`../../.cache/control_plane/${version}`, import.meta.url);
  return url.protocol === "file:" ? decodeURIComponent(url.pathname) : undefined;
}

/**
 * Searches the given folder, KUBEBUILDER_ASSETS or the cache of this repository for the programs of
 * a control plane. Builds nothing.
 *
 * @param options Folder or version.
 * @returns The folder, complete or not; `undefined` if no folder is configured and the cache is
 * empty.
 */
export async function findControlPlane(options: FindControlPlaneOptions = {}): Promise<ControlPlaneFolder | undefined> {
  if (options.assets !== undefined) return await search(options.assets, "option");
  const assets = options.version === undefined ? Deno.env.get("KUBEBUILDER_ASSETS") : undefined;
  if (assets) return await search(assets, "KUBEBUILDER_ASSETS");
  const cache = cacheFolder(options.version);
  if (cache === undefined) return undefined;
  const found = await search(cache, "cache");
  return found.missing.length === Object.keys(PROGRAMS).length ? undefined : found;
}

async function search(path: string, origin: ControlPlaneFolder["origin"]): Promise<ControlPlaneFolder> {
  const programs: { -readonly [P in keyof ControlPlane]?: string } = {};
  const missing: string[] = [];
  for (const [key, file] of Object.entries(PROGRAMS) as [keyof ControlPlane, string][]) {
    if (await isFile(`${path}/${file}`)) programs[key] = `${path}/${file}`;
    else missing.push(file);
  }
  return { path, origin, programs, missing };
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return false;
    throw error;
  }
}
