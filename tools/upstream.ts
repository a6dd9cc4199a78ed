/**
 * Kinds of well-known projects, and objects of them that those projects publish, as material for tests. What is packed is other people's: it
 * stays out of this repository, in `.cache/upstream`. Run as a script it packs all of them anew and writes tests/upstream/ORIGINS.md.
 */
import { fileURLToPath } from "node:url";
import { fetchModules, type FetchOptions, NoModules } from "./upstream/modules.ts";
import { ISSUER, modulesOf, type Origin, ORIGINS } from "./upstream/origins.ts";
import { pack, type Packed } from "./upstream/pack.ts";
import { PACKED, unpack, writePacked } from "./upstream/packed.ts";
import { ORIGINS_PAGE, originsPage } from "./upstream/page.ts";

/** Options of {@linkcode upstream}. */
export interface UpstreamOptions extends FetchOptions {
  /** Where they are published. @default {all} */
  readonly origins?: readonly Origin[];
  /** Where packed kinds are kept. @default {the cache of this repository} */
  readonly folder?: URL;
  /** Takes the lines that say what goes on. @default {console.error} */
  readonly print?: (line: string) => void;
}

/** What there is. */
export interface Upstream {
  readonly packed: readonly Packed[];
  /** The kinds that are neither packed nor to be had here. */
  readonly missing: readonly string[];
  /** Why they are not; empty where none is missing. */
  readonly reason: string;
}

/**
 * Other projects' kinds: fetched with Go once, found in the cache afterwards.
 *
 * @param options Additional options.
 * @returns Those there are, in order, and the names of those that cannot be had.
 * @throws {Error} If what was fetched is not what it must be.
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
