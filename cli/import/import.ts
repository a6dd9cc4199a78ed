/** `op import`: a TypeScript module of the kinds that CustomResourceDefinitions define. */
import { resolve } from "node:path";
import { Failure, UsageError } from "../exit_code.ts";
import type { Io } from "../io.ts";
import type { Definition } from "./definition.ts";
import type { Descriptions } from "./descriptions.ts";
import { kubernetesSchemas } from "./known_schemas.ts";
import { lossesOf } from "./losses.ts";
import { type ImportedKind, moduleOf } from "./module.ts";
import { type ClusterOptions, definitionsOfCluster, definitionsOfFile } from "./source.ts";

/** Options of {@linkcode importKind}. */
export interface ImportOptions extends ClusterOptions {
  /** Read from the cluster; a text is the name of one kind there. */
  readonly cluster?: boolean | string | undefined;
  /** The kinds to import: as `Certificate`, `certificates`, a short name or `certificates.cert-manager.io`. @default {all} */
  readonly kind?: string | readonly string[] | undefined;
  /** The file to write. @default {standard output} */
  readonly output?: string | undefined;
  /** Replace the file if it is there. */
  readonly force?: boolean | undefined;
  /** How much of the descriptions is taken over. @default {"full"} */
  readonly descriptions?: string | undefined;
  /** Say of each kind what it is made of. */
  readonly report?: boolean | undefined;
}

/**
 * Imports kinds. With a cluster and no name it lists what could be imported.
 *
 * @param source A file, `-` for standard input; with a cluster, the name of a kind; nothing.
 * @param options Additional options.
 * @param io The terminal and the shell.
 * @param stdin What standard input holds.
 * @throws {UsageError} If neither a file nor a cluster is named, both are, or an option is none.
 * @throws {Failure} If there is nothing to import, or it cannot be written. The output is then as it was before.
 */
export async function importKind(
  source: string | undefined,
  options: ImportOptions,
  io: Io,
  stdin?: () => Promise<string>,
): Promise<void> {
  const { cluster = false, output, force = false } = options;
  const descriptions = checkedDescriptions(options.descriptions ?? "full");
  if (source === undefined && cluster === false) {
    throw new UsageError('Cannot import: name a file, "-" for standard input, or --cluster');
  }
  if (source !== undefined && typeof cluster === "string") {
    throw new UsageError(`Cannot import: name "${source}" or --cluster ${cluster}, not both`);
  }
  if (output !== undefined && !force) await checkFree(resolve(io.cwd, output), output);
  const names = [
    options.kind ?? [],
    cluster === false ? [] : [source ?? []],
    typeof cluster === "string" ? [cluster] : [],
  ].flat(2);
  const definitions = cluster === false
    ? await definitionsOfFile(source!, io, stdin)
    : await definitionsOfCluster(options, io);
  if (cluster !== false && names.length === 0) return io.out(listing(definitions));
  const known = await kubernetesSchemas(descriptions);
  const { text, kinds } = moduleOf(chosen(definitions, names), { descriptions, known });
  if (output === undefined) io.out(text);
  else await write(resolve(io.cwd, output), output, text);
  report(kinds, options.report === true, io);
}

function checkedDescriptions(given: string): Descriptions {
  if (given === "none" || given === "short" || given === "full") return given;
  throw new UsageError(`Cannot import with descriptions "${given}": choose none, short or full`);
}

async function checkFree(path: string, shown: string): Promise<void> {
  if (await Deno.lstat(path).then(() => true, () => false)) {
    throw new Failure(`Cannot write "${shown}": it is there already; name another file, or say --force`);
  }
}

/** Writes beside the file, then moves into place: a file that could not be written is as it was before. */
async function write(path: string, shown: string, text: string): Promise<void> {
  const beside = `${path}.op-import-${crypto.randomUUID()}`;
  try {
    await Deno.writeTextFile(beside, text);
    await Deno.rename(beside, path);
  } catch (error) {
    await Deno.remove(beside).catch(() => {});
    const why = error instanceof Deno.errors.NotFound ? "there is no such folder" : (error as Error).message;
    throw new Failure(`Cannot write "${shown}": ${why}`, { cause: error });
  }
}

function listing(definitions: readonly Definition[]): string {
  if (definitions.length === 0) return "";
  const lines = definitions.map(({ metadata, spec }) => [
    metadata.name,
    spec.names.kind,
    spec.versions.map(({ name, storage }) => (storage ? `${name}*` : name)).join(","),
  ]).sort(([a], [b]) => (a! < b! ? -1 : 1));
  const rows = [["NAME", "KIND", "VERSIONS"], ...lines];
  const widths = [0, 1].map((i) => Math.max(...rows.map((row) => row[i]!.length)) + 2);
  return rows.map((row) => `${row[0]!.padEnd(widths[0]!)}${row[1]!.padEnd(widths[1]!)}${row[2]}\n`).join("");
}

/** The definitions of some names, as kubectl takes names; all of them when there is none. */
function chosen(definitions: readonly Definition[], names: readonly string[]): Definition[] {
  if (names.length === 0) return [...definitions];
  const picked = names.flatMap((name) => {
    const found = definitions.filter((definition) => isNamed(definition, name.toLowerCase()));
    if (found.length > 0) return found;
    throw new Failure(`Cannot import "${name}": there is no such kind; there is ${namesOf(definitions)}`);
  });
  return [...new Set(picked)];
}

function isNamed({ metadata, spec: { names, group } }: Definition, name: string): boolean {
  const { kind, plural, singular = "", shortNames = [] } = names;
  const own = [kind.toLowerCase(), plural, singular, ...shortNames].filter((one) => one !== "");
  return name === metadata.name || own.some((one) => name === one || name === `${one}.${group}`);
}

/** How many names are told before the rest is counted. */
const NAMES_TOLD = 10;

function namesOf(definitions: readonly Definition[]): string {
  if (definitions.length === 0) return "none at all";
  const names = definitions.map(({ spec }) => `"${spec.names.kind}"`).sort();
  const more = names.length > NAMES_TOLD ? ` and ${names.length - NAMES_TOLD} more` : "";
  return names.slice(0, NAMES_TOLD).join(", ") + more;
}

/** One line a kind; more where something is not as in the original, or where it is asked for. */
function report(kinds: readonly ImportedKind[], isAsked: boolean, io: Io): void {
  for (const { definition, crd, nodes, raw, rawPaths } of kinds) {
    const name = definition.spec.names.kind;
    io.err(`${name}: ${nodes} schemas, ${raw} of them as JSON (${(raw / nodes * 100).toFixed(1)} %)\n`);
    if (isAsked) { for (const path of rawPaths) io.err(`${name}: "${path}" is written as JSON\n`); }
    for (const loss of lossesOf(definition, crd)) io.err(`${name}: ${loss}\n`);
  }
}
