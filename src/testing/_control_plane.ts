/** Where the programs of a real control plane lie: etcd, kube-apiserver, kube-controller-manager and kubectl. */

/** The version of Kubernetes that tests run against by default. */
export const CONTROL_PLANE_VERSION = "v1.36.3";

/** Paths of the programs of a control plane. */
export interface ControlPlane {
  /** The store. */
  readonly etcd: string;
  /** The API server. */
  readonly kubeApiserver: string;
  /** Kubernetes' own controllers. */
  readonly kubeControllerManager: string;
  /** The client that people use. */
  readonly kubectl: string;
}

/** File names of the programs, by their key in {@linkcode ControlPlane}. */
export const PROGRAMS: Readonly<Record<keyof ControlPlane, string>> = {
  etcd: "etcd",
  kubeApiserver: "kube-apiserver",
  kubeControllerManager: "kube-controller-manager",
  kubectl: "kubectl",
};

/** A folder in which a control plane was looked for, and what is in it. */
export interface ControlPlaneFolder {
  readonly path: string;
  /** Who named the folder, for messages. */
  readonly origin: "option" | "KUBEBUILDER_ASSETS" | "cache";
  /** The programs that are there. */
  readonly programs: Partial<ControlPlane>;
  /** File names of the programs that are not. */
  readonly missing: readonly string[];
}

/** Options for {@linkcode findControlPlane}. */
export interface FindControlPlaneOptions {
  /** The folder to look in. @default {the folder in KUBEBUILDER_ASSETS, else the cache of this repository} */
  readonly assets?: string;
  /** The version to look for in the cache, such as `v1.37.2`. KUBEBUILDER_ASSETS is then ignored. @default {"v1.36.3"} */
  readonly version?: string;
}

/**
 * Returns the folder in this repository into which `tools/control_plane.ts` builds a version, or `undefined` if this module is not a local file.
 *
 * @param version The version of Kubernetes.
 */
export function cacheFolder(version: string = CONTROL_PLANE_VERSION): string | undefined {
  const url = new URL(`../../.cache/control_plane/${version}`, import.meta.url);
  return url.protocol === "file:" ? decodeURIComponent(url.pathname) : undefined;
}

/**
 * Looks for the programs of a control plane: in the folder given, else in KUBEBUILDER_ASSETS, else in the cache of this repository. Nothing is built.
 *
 * @param options Additional options.
 * @returns The folder, whether complete or not; nothing when no folder was named and the cache is empty.
 */
export async function findControlPlane(options: FindControlPlaneOptions = {}): Promise<ControlPlaneFolder | undefined> {
  if (options.assets !== undefined) return await lookIn(options.assets, "option");
  const assets = options.version === undefined ? Deno.env.get("KUBEBUILDER_ASSETS") : undefined;
  if (assets) return await lookIn(assets, "KUBEBUILDER_ASSETS");
  const cache = cacheFolder(options.version);
  if (cache === undefined) return undefined;
  const found = await lookIn(cache, "cache");
  return found.missing.length === Object.keys(PROGRAMS).length ? undefined : found;
}

async function lookIn(path: string, origin: ControlPlaneFolder["origin"]): Promise<ControlPlaneFolder> {
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
