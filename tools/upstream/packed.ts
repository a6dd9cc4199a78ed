/** Packed kinds on disk. */
import { equal } from "../../src/base/json.ts";
import type { Origin } from "./origins.ts";
import type { Packed } from "./pack.ts";

/** The folder of packed kinds. */
export const PACKED = new URL("../../.cache/upstream/", import.meta.url);

/**
 * Returns the file of a packed kind.
 *
 * @param kind The kind.
 * @param folder The folder of packed kinds.
 */
export function packedFile(kind: string, folder: URL = PACKED): URL {
  return new URL(`${kind.toLowerCase()}.json.gz`, folder);
}

/**
 * Reads a packed kind.
 *
 * @param origin Where it is published.
 * @param folder The folder of packed kinds.
 * @returns The kind, or `undefined` if it was not packed or was packed from another version or
 *   other files.
 */
export async function unpack(origin: Origin, folder: URL = PACKED): Promise<Packed | undefined> {
  const bytes = await Deno.readFile(packedFile(origin.kind, folder)).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  });
  if (bytes === undefined) return undefined;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const packed: Packed = await new Response(stream).json();
  return equal(packed.origin, origin) ? packed : undefined;
}

/**
 * Writes a packed kind atomically, so concurrent readers see either the old file or the new one.
 *
 * @returns The size of the file in bytes.
 */
export async function writePacked(packed: Packed, folder: URL = PACKED): Promise<number> {
  await Deno.mkdir(folder, { recursive: true });
  const stream = new Blob([JSON.stringify(packed)]).stream().pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const temporary = new URL(`${crypto.randomUUID()}.tmp`, folder);
  await Deno.writeFile(temporary, bytes);
  await Deno.rename(temporary, packedFile(packed.kind, folder));
  return bytes.length;
}
