/**
 * Provides kinds and objects that well-known projects publish, for tests. They belong to those
 * projects, so they are stored in `.cache/upstream` and not in this repository. As a script, it
 * packs all of them again and writes `tests/upstream/ORIGINS.md`.
 */
import { fileURLToPath } from "node:url";
import { fetchModules, type FetchOptions, NoModules } from "./upstream/modules.ts";
import { ISSUER, modulesOf, type Origin, ORIGINS } from "./upstream/origins.ts";
import { pack, type Packed } from "./upstream/pack.ts";
import { PACKED, unpack, writePacked } from "./upstream/packed.ts";
import { ORIGINS_PAGE, originsPage } from "./upstream/page.ts";

/** Options for {@linkcode upstream}. */
export interface UpstreamOptions extends FetchOptions {
  /** Where the kinds are published. @default {all} */
  readonly origins?: readonly Origin[];
  /** Folder of packed kinds. @default {the cache of this repository} */
  readonly folder?: URL;
  /** Called with each line of progress output. @default {console.error} */
  readonly print?: (line: string) => void;
}

/** The result of {@linkcode upstream}. */
export interface Upstream {
  readonly packed: readonly Packed[];
  /** The kinds that are not packed and cannot be fetched. */
  readonly missing: readonly string[];
  /** Why kinds are missing; empty if none is. */
  readonly reason: string;
}

/**
 * Returns kinds of other projects. The first call fetches them with Go, later ones read the cache.
 *
 * @param options Additional options.
 * @returns The packed kinds in order, and the names of those that cannot be fetched.
 * @throws {Error} If a fetched module does not have the expected checksum, license or definition.
 */
export async function upstream(options: UpstreamOptions = {}): Promise<Upstream> {
  const { origins = [...ORIGINS, ISSUER], folder = PACKED, print = console.error } = options;
  const found = await Promise.all(origins.map((origin) => unpack(origin, folder)));
  const wanted = origins.filter((_, i) => found[i] === undefined);
  if (wanted.length === 0) return { packed: found as Packed[], missing: [], reason: "" };
  let folders: Awaited<ReturnType<typeof fetchModules>>;
  try {
    folders = await fetchModules(modulesOf(wanted), options);
  } catch (error) {
    if (!(error instanceof NoModules)) throw error;
    const packed = found.filter((one) => one !== undefined);
    return { packed, missing: wanted.map(({ kind }) => kind), reason: error.message };
  }
  const packed: Packed[] = [];
  for (const [i, origin] of origins.entries()) {
    packed.push(found[i] ?? await packInto(folder, await pack(origin, folders), print));
  }
  return { packed, missing: [], reason: "" };
}

async function packInto(folder: URL, packed: Packed, print: (line: string) => void): Promise<Packed> {
  const bytes = await writePacked(packed, folder);
  print(`Packed ${packed.kind}: ${packed.samples.length} objects, ${bytes} bytes`);
  return packed;
}

if (import.meta.main) {
  await Deno.remove(PACKED, { recursive: true }).catch(() => {});
  const { packed, missing, reason } = await upstream();
  if (missing.length > 0) throw new Error(reason);
  const counts = new Map(packed.map(({ kind, samples }) => [kind, samples.length]));
  await Deno.writeTextFile(ORIGINS_PAGE, originsPage([...ORIGINS, ISSUER], counts));
  console.log(`Written to ${fileURLToPath(PACKED)}`);
}
