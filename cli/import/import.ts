/** `op crd import`: a TypeScript module of the kinds that CustomResourceDefinitions define. */
import { byNearness } from "../internal/mod.gen.ts";
import { checkDefinition, type Definition } from "../definitions/definition.ts";
import { counted } from "../plural.ts";
import { type ClusterOptions, definitionsOfCluster, definitionsOfFile } from "../definitions/source.ts";
import { Failure, UsageError } from "../exit_code.ts";
import type { Io } from "../io.ts";
import { checkOutput, type OutputOptions, writeOutput } from "../output.ts";
import type { Descriptions } from "./descriptions.ts";
import { schemasKnownIn } from "./known_schemas.ts";
import { lossesOf } from "./losses.ts";
import { type ImportedKind, moduleOf } from "./module.ts";
import { step } from "../progress.ts";

/** Options of {@linkcode importKind}. */
export interface ImportOptions extends ClusterOptions, OutputOptions {
  /** Read from the cluster; a text is the name of one kind there. */
  readonly cluster?: boolean | string | undefined;
  /**
   * The kinds to import: as `Certificate`, `certificates`, a short name or
   * `certificates.cert-manager.io`. @default {all}
   */
  readonly kind?: string | readonly string[] | undefined;
  /** How much of the descriptions is taken over. @default {"full"} */
  readonly descriptions?: string | undefined;
  /**
   * Take the CustomResourceDefinitions over: the operator installs, changes and deletes them.
   * Without it the kinds are `external`.
   */
  readonly own?: boolean | undefined;
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
 * @throws {Failure} If there is nothing to import, or it cannot be written. The output is then as
 * it was before.
 */
export async function importKind(
  source: string | undefined,
  options: ImportOptions,
  io: Io,
  stdin?: () => Promise<string>,
): Promise<void> {
  const { cluster = false } = options;
  const descriptions = checkedDescriptions(options.descriptions ?? "full");
  if (source === undefined && cluster === false) {
    throw new UsageError('Cannot import: no source is given. Name a file, "-" for standard input, or --cluster.');
  }
  if (source !== undefined && typeof cluster === "string") {
    throw new UsageError(`Cannot import: name "${source}" or --cluster ${cluster}, not both`);
  }
  const names = [
    options.kind ?? [],
    cluster === false ? [] : [source ?? []],
    typeof cluster === "string" ? [cluster] : [],
  ].flat(2);
  const isListing = cluster !== false && names.length === 0;
  if (isListing && options.output !== undefined) {
    throw new UsageError(`Cannot import into "${options.output}": name a kind; --cluster alone lists what is there`);
  }
  await checkOutput(options, io);
  step(`Reading definitions from ${cluster === false ? source : "the cluster"}`, io);
  const definitions = cluster === false
    ? await definitionsOfFile(source!, io, stdin)
    : await definitionsOfCluster(options, io);
  if (isListing) return list(definitions, io);
  const wanted = chosen(definitions, names).map(checkDefinition);
  step(`Writing TypeScript of ${counted(wanted.length, "kind")}`, io);
  const roots = wanted.flatMap(({ spec }) => spec.versions.map(({ schema }) => schema.openAPIV3Schema));
  const known = await schemasKnownIn(roots, descriptions);
  const { text, kinds } = moduleOf(wanted, { descriptions, known, own: options.own ?? false });
  await writeOutput(text, options, io);
  report(kinds, options.report === true, io);
}

function checkedDescriptions(given: string): Descriptions {
  if (given === "none" || given === "short" || given === "full") return given;
  throw new UsageError(`Cannot import with descriptions "${given}": choose none, short or full`);
}

/** What could be imported, as a table; the version in which objects are stored has a star. */
function list(definitions: readonly Definition[], io: Io): void {
  if (definitions.length === 0) return io.err("There is no CustomResourceDefinition in the cluster\n");
  const lines = definitions.map(({ metadata, spec }) => [
    metadata.name,
    spec.names.kind,
    spec.versions.map(({ name, storage }) => (storage ? `${name}*` : name)).join(","),
  ]).sort(([a], [b]) => (a! < b! ? -1 : 1));
  const rows = [["NAME", "KIND", "VERSIONS"], ...lines];
  const widths = [0, 1].map((i) => Math.max(...rows.map((row) => row[i]!.length)) + 2);
  io.out(rows.map((row) => `${row[0]!.padEnd(widths[0]!)}${row[1]!.padEnd(widths[1]!)}${row[2]}\n`).join(""));
}

/** The definitions of some names, as kubectl takes names; all of them when there is none. */
function chosen(definitions: readonly Definition[], names: readonly string[]): Definition[] {
  if (names.length === 0) return [...definitions];
  const picked = names.flatMap((name) => {
    const found = definitions.filter((definition) => isNamed(definition, name.toLowerCase()));
    if (found.length > 0) return found;
    throw new Failure(`Cannot import "${name}": there is no such kind; ${namesLike(name, definitions)}`);
  });
  return [...new Set(picked)];
}

function isNamed({ metadata, spec: { names, group } }: Definition, name: string): boolean {
  const { kind, plural, singular = "", shortNames = [] } = names;
  const own = [kind.toLowerCase(), plural, singular, ...shortNames].filter((one) => one !== "");
  return name === metadata.name || own.some((one) => name === one || name === `${one}.${group}`);
}

/** How many names are told. */
const NAMES_TOLD = 5;

/** The names most like another, and how many more there are. */
function namesLike(name: string, definitions: readonly Definition[]): string {
  if (definitions.length === 0) return "there is none at all";
  const names = [...new Set(definitions.map(({ spec }) => spec.names.kind))].sort();
  const told = byNearness(name, names).slice(0, NAMES_TOLD).map((kind) => `"${kind}"`).join(", ");
  const more = names.length > NAMES_TOLD ? ` and ${names.length - NAMES_TOLD} more` : "";
  return `there is ${told}${more}`;
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
