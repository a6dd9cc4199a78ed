/** `op crd import`: generates a TypeScript module with the kinds of CustomResourceDefinitions. */
import { byNearness } from "../internal/mod.gen.ts";
import { checkDefinition, type Definition } from "../definitions/definition.ts";
import { counted } from "../plural.ts";
import type { ClusterOptions } from "../cluster.ts";
import { definitionsOfCluster, definitionsOfFile } from "../definitions/source.ts";
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
  /** Read from the cluster. A string is the name of a kind. */
  readonly cluster?: boolean | string | undefined;
  /**
   * The kinds to import, named as `Certificate`, `certificates`, a short name or
   * `certificates.cert-manager.io`. @default {all}
   */
  readonly kind?: string | readonly string[] | undefined;
  /** The length of the descriptions: `none`, `short` or `full`. @default {"full"} */
  readonly descriptions?: string | undefined;
  /**
   * Let the operator install, change and delete the CustomResourceDefinitions. Otherwise the kinds
   * are `external`. @default {false}
   */
  readonly own?: boolean | undefined;
  /** Print the paths of the schemas that the builders cannot express. */
  readonly report?: boolean | undefined;
}

/**
 * Imports kinds. With `cluster` and no kind, it prints the kinds of the cluster instead.
 *
 * @param source A file, or `-` for standard input. With `cluster`, the name of a kind.
 * @param options The source, the kinds and the output.
 * @param io The terminal and the shell.
 * @param stdin Reads standard input.
 * @throws {UsageError} If no source or two sources are given, or an option is not valid.
 * @throws {Failure} If a kind cannot be imported, or the output cannot be written. The output is
 *   unchanged then.
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
    throw new UsageError(`Cannot import: "${source}" and --cluster ${cluster} are two sources. Remove one of them.`);
  }
  const names = [
    options.kind ?? [],
    cluster === false ? [] : [source ?? []],
    typeof cluster === "string" ? [cluster] : [],
  ].flat(2);
  const isListing = cluster !== false && names.length === 0;
  if (isListing && options.output !== undefined) {
    throw new UsageError(
      `Cannot write "${options.output}": --cluster without a kind only lists the kinds. Name a kind.`,
    );
  }
  await checkOutput(options, io);
  step(`Reading definitions from ${cluster === false ? source : "the cluster"}`, io);
  const definitions = cluster === false
    ? await definitionsOfFile(source!, io, stdin)
    : await definitionsOfCluster(options, io);
  if (isListing) return printKinds(definitions, io);
  const selected = selectKinds(definitions, names).map(checkDefinition);
  step(`Writing TypeScript of ${counted(selected.length, "kind")}`, io);
  const roots = selected.flatMap(({ spec }) => spec.versions.map(({ schema }) => schema.openAPIV3Schema));
  const known = await schemasKnownIn(roots, descriptions);
  const { text, kinds } = moduleOf(selected, { descriptions, known, own: options.own ?? false });
  await writeOutput(text, options, io);
  printReport(kinds, options.report === true, io);
}

function checkedDescriptions(given: string): Descriptions {
  if (given === "none" || given === "short" || given === "full") return given;
  throw new UsageError(`Cannot use --descriptions "${given}": it must be none, short or full.`);
}

/** Prints a table of the kinds. A star marks the version in which objects are stored. */
function printKinds(definitions: readonly Definition[], io: Io): void {
  if (definitions.length === 0) return io.err("The cluster has no CustomResourceDefinitions\n");
  const lines = definitions.map(({ metadata, spec }) => [
    metadata.name,
    spec.names.kind,
    spec.versions.map(({ name, storage }) => (storage ? `${name}*` : name)).join(","),
  ]).sort(([a], [b]) => (a! < b! ? -1 : 1));
  const rows = [["NAME", "KIND", "VERSIONS"], ...lines];
  const widths = [0, 1].map((i) => Math.max(...rows.map((row) => row[i]!.length)) + 2);
  io.out(rows.map((row) => `${row[0]!.padEnd(widths[0]!)}${row[1]!.padEnd(widths[1]!)}${row[2]}\n`).join(""));
}

/**
 * Returns the definitions with the given names, in any form that kubectl accepts. Without names, it
 * returns all definitions.
 */
function selectKinds(definitions: readonly Definition[], names: readonly string[]): Definition[] {
  if (names.length === 0) return [...definitions];
  const picked = names.flatMap((name) => {
    const found = definitions.filter((definition) => isNamed(definition, name.toLowerCase()));
    if (found.length > 0) return found;
    throw new Failure(`Cannot import "${name}": unknown kind. ${suggestKinds(name, definitions)}`);
  });
  return [...new Set(picked)];
}

function isNamed({ metadata, spec: { names, group } }: Definition, name: string): boolean {
  const { kind, plural, singular = "", shortNames = [] } = names;
  const own = [kind.toLowerCase(), plural, singular, ...shortNames].filter((one) => one !== "");
  return name === metadata.name || own.some((one) => name === one || name === `${one}.${group}`);
}

/** The maximum number of kinds that an error message lists. */
const MAX_SUGGESTIONS = 5;

/** Returns a hint for an unknown kind: the most similar kinds of the source. */
function suggestKinds(name: string, definitions: readonly Definition[]): string {
  if (definitions.length === 0) return "The source has no kinds.";
  const names = byNearness(name, [...new Set(definitions.map(({ spec }) => spec.names.kind))].sort());
  const some = names.slice(0, MAX_SUGGESTIONS).map((kind) => `"${kind}"`).join(", ");
  const more = names.length > MAX_SUGGESTIONS ? ` and ${names.length - MAX_SUGGESTIONS} more` : "";
  return `Did you mean "${names[0]}"? Known kinds: ${some}${more}.`;
}

/** Prints a line for each kind, and a line for each difference from its definition. */
function printReport(kinds: readonly ImportedKind[], isVerbose: boolean, io: Io): void {
  for (const { definition, crd, nodes, raw, rawPaths } of kinds) {
    const name = definition.spec.names.kind;
    io.err(`${name}: ${nodes} schemas, ${raw} of them as JSON (${(raw / nodes * 100).toFixed(1)} %)\n`);
    if (isVerbose) { for (const path of rawPaths) io.err(`${name}: "${path}" is written as JSON\n`); }
    for (const loss of lossesOf(definition, crd)) io.err(`${name}: ${loss}\n`);
  }
}
