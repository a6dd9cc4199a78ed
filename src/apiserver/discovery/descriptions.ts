/** What Kubernetes says of its kinds and their fields: read when somebody asks for it, as nobody does in most tests. */
import { Buffer } from "node:buffer";
import { brotliDecompressSync } from "node:zlib";

/** What is said of a definition. */
export interface Description {
  /** The kinds that it is the schema of. */
  readonly kinds?: readonly unknown[];
  /** By field; that of the definition itself by "". */
  readonly texts: Readonly<Record<string, string>>;
}

/** Descriptions by definition. */
export type Descriptions = Readonly<Record<string, Description>>;

let loaded: Promise<Descriptions> | undefined;

/** All descriptions of built-in kinds, unpacked once. */
export function loadDescriptions(): Promise<Descriptions> {
  return loaded ??= load();
}

async function load(): Promise<Descriptions> {
  const { packedDescriptions } = await import("../../openapi/descriptions.gen.ts");
  return JSON.parse(brotliDecompressSync(Buffer.from(packedDescriptions, "base64")).toString());
}
