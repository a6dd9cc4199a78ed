/**
 * Descriptions of built-in kinds and their fields, loaded on demand, since most tests need none.
 */
import { Buffer } from "node:buffer";
import { brotliDecompressSync } from "node:zlib";

/** The descriptions of a definition. */
export interface Description {
  /** The kinds whose schema it is. */
  readonly kinds?: readonly unknown[];
  /** Descriptions by field; that of the definition itself has the key "". */
  readonly texts: Readonly<Record<string, string>>;
}

/** Descriptions by definition. */
export type Descriptions = Readonly<Record<string, Description>>;

/** The loaded descriptions. They cannot become stale, since the generated data is constant. */
let loaded: Promise<Descriptions> | undefined;

/** Returns the descriptions of all built-in kinds. They are decompressed once. */
export function loadDescriptions(): Promise<Descriptions> {
  return loaded ??= load();
}

async function load(): Promise<Descriptions> {
  const { packedDescriptions } = await import("../../openapi/descriptions.gen.ts");
  return JSON.parse(brotliDecompressSync(Buffer.from(packedDescriptions, "base64")).toString());
}
