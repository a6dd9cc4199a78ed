/** Generates ConfigMaps and Secrets, and the hash that is appended to their names. */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { Failure } from "../exit_code.ts";
import type { PlainObject } from "../objects.ts";
import type { GeneratorEntry, GeneratorOptions } from "./kustomization.ts";

/** Reads a file of a kustomization. */
export type ReadFile = (path: string) => Promise<Uint8Array>;

/**
 * Generates a ConfigMap or a Secret.
 *
 * @param kind The kind to generate.
 * @param entry Name and sources of the data.
 * @param global Options for all generated objects; those of the entry take precedence.
 * @param read Reads a file of the kustomization.
 * @throws {Failure} If a source is not well-formed, or cannot be read.
 */
export async function generated(
  kind: "ConfigMap" | "Secret",
  entry: GeneratorEntry,
  global: GeneratorOptions,
  read: ReadFile,
): Promise<PlainObject> {
  const shown = `${kind} generator "${entry.name}"`;
  const pairs = new Map<string, Uint8Array>();
  for (const [key, value] of await sources(entry, read, shown)) {
    if (pairs.has(key)) throw new Failure(`${shown}: the key "${key}" has more than one source. Remove all but one.`);
    pairs.set(key, value);
  }
  const { labels, annotations, immutable } = merged(entry.options, global);
  const { name, namespace } = entry;
  return {
    apiVersion: "v1",
    kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    ...(kind === "Secret" ? { type: entry.type ?? "Opaque" } : {}),
    ...(kind === "Secret" ? encoded("data", pairs) : configMapData(pairs)),
    ...(immutable ? { immutable } : {}),
  };
}

/** Returns whether a hash is appended to the name of an entry's object. */
export function needsHash({ options }: GeneratorEntry, global: GeneratorOptions): boolean {
  return merged(options, global).disableNameSuffixHash !== true;
}

/** Merges options like kustomize. A boolean is true if it is true in either of them. */
function merged(options: GeneratorOptions = {}, global: GeneratorOptions): GeneratorOptions {
  const maps = (["labels", "annotations"] as const).flatMap((name) => {
    const map = { ...global[name], ...options[name] };
    return Object.keys(map).length === 0 ? [] : [[name, map]];
  });
  return {
    ...Object.fromEntries(maps),
    disableNameSuffixHash: global.disableNameSuffixHash || options.disableNameSuffixHash || false,
    immutable: global.immutable || options.immutable || false,
  };
}

async function sources(entry: GeneratorEntry, read: ReadFile, shown: string): Promise<[string, Uint8Array][]> {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const pairs: [string, Uint8Array][] = [];
  const env = entry.env === undefined ? [] : [entry.env];
  for (const path of [...entry.envs ?? [], ...env]) {
    const text = new TextDecoder().decode(await read(path));
    for (const line of text.split(/\r?\n/).map((one) => one.trimStart())) {
      if (line === "" || line.startsWith("#")) continue;
      const at = line.indexOf("=");
      pairs.push(at < 0 ? [line, bytes("")] : [line.slice(0, at), bytes(line.slice(at + 1))]);
    }
  }
  for (const literal of entry.literals ?? []) {
    const at = literal.indexOf("=");
    if (at < 1) throw new Failure(`${shown}: the literal "${literal}" has no key. Write key=value.`);
    const value = literal.slice(at + 1);
    const quoted = /^(["'])([^]*)\1$/.exec(value);
    pairs.push([literal.slice(0, at), bytes(quoted === null ? value : quoted[2]!)]);
  }
  for (const file of entry.files ?? []) {
    const at = file.indexOf("=");
    const path = file.slice(at + 1);
    pairs.push([at < 0 ? basename(path) : file.slice(0, at), await read(path)]);
  }
  return pairs;
}

/** Returns the data of a ConfigMap. Values that are not UTF-8 become `binaryData`. */
function configMapData(pairs: ReadonlyMap<string, Uint8Array>): object {
  const data: Record<string, string> = {};
  const binary = new Map<string, Uint8Array>();
  for (const [key, value] of pairs) {
    try {
      data[key] = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(value);
    } catch {
      binary.set(key, value);
    }
  }
  return { ...(Object.keys(data).length === 0 ? {} : { data }), ...encoded("binaryData", binary) };
}

function encoded(field: string, pairs: ReadonlyMap<string, Uint8Array>): object {
  if (pairs.size === 0) return {};
  return { [field]: Object.fromEntries([...pairs].map(([key, value]) => [key, base64(value)])) };
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/**
 * Returns the suffix that kustomize appends to the name of a generated ConfigMap or Secret.
 *
 * It consists of the first ten hexadecimal digits of a SHA-256. Some digits are replaced, so that
 * the suffix cannot contain words.
 *
 * @param object The object.
 */
export function nameHash(object: PlainObject): string {
  const { kind, type = "", data = "", binaryData, stringData } = object;
  // Kustomize tries to hash the name too, but a bug in the lookup always makes it hash an empty
  // name.
  const name = "";
  const hashed = kind === "Secret"
    ? { data, kind, name, ...(stringData === undefined ? {} : { stringData }), type }
    : { ...(binaryData === undefined ? {} : { binaryData }), data, kind, name };
  const digest = createHash("sha256").update(goJson(hashed)).digest("hex");
  const letters: Record<string, string> = { "0": "g", "1": "h", "3": "k", a: "m", e: "t" };
  return digest.slice(0, 10).replace(/[013ae]/g, (digit) => letters[digit]!);
}

/** Formats JSON like Go, with sorted keys and some escaped characters. */
function goJson(value: unknown): string {
  const sorted = (_: string, inner: unknown) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0))
      : inner;
  return JSON.stringify(value, sorted).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
