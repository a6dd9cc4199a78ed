/** Reads CustomResourceDefinitions from an operator's file, YAML or JSON. */
import { Failure } from "../exit_code.ts";
import { checkDefinition, type Definition, definitionsIn } from "../definitions/definition.ts";
import { definitionsOfFile } from "../definitions/source.ts";
import { factsOf, NO_IMAGE } from "../generate/generate.ts";
import type { Io } from "../io.ts";
import type { ProjectOptions } from "../project_file.ts";

/** Options for {@linkcode definitionsOf}. */
export interface DefinitionsOptions extends ProjectOptions {
  /** Reads standard input. */
  readonly stdin?: (() => Promise<string>) | undefined;
}

/** File names of operators. Other files have definitions. */
const PROGRAM = /\.[cm]?[jt]sx?$/;

/**
 * Returns the definitions in a file.
 *
 * @param file A file whose default export is an operator, a YAML or JSON file with
 *   CustomResourceDefinitions, or `-` for standard input.
 * @param action The verb for error messages, such as `document`.
 * @param options The operator's settings. Their namespace is used in definitions with a conversion
 *   webhook.
 * @param io The terminal and the shell.
 * @throws {Failure} If the file has no definition.
 */
export async function definitionsOf(
  file: string,
  action: string,
  { config, stdin }: DefinitionsOptions,
  io: Io,
): Promise<readonly Definition[]> {
  const { own } = await declaredIn(file, { config, stdin }, io);
  if (own.length > 0) return own;
  throw new Failure(`Cannot ${action} "${file}": the operator has no kinds of its own.`);
}

/**
 * The definitions in a file: the own and the external kinds of an operator. All definitions in YAML
 * and JSON files count as own kinds.
 */
export interface DeclaredDefinitions {
  readonly own: readonly Definition[];
  readonly external: readonly Definition[];
}

/**
 * Returns the definitions in a file. An operator may have none.
 *
 * @param file A file whose default export is an operator, one with CustomResourceDefinitions as
 *   YAML or JSON, or `-` for standard input.
 * @param options The operator's settings.
 * @param io The terminal and the shell.
 * @throws {Failure} If the file cannot be read, or has YAML or JSON without a definition.
 */
export async function declaredIn(
  file: string,
  { config, stdin }: DefinitionsOptions,
  io: Io,
): Promise<DeclaredDefinitions> {
  if (!PROGRAM.test(file)) {
    return { own: (await definitionsOfFile(file, io, stdin)).map(checkDefinition), external: [] };
  }
  const { manifests: { crd }, externalCrds } = await factsOf(file, { config, image: NO_IMAGE }, io);
  const read = (crds: readonly unknown[]) => crds.length === 0 ? [] : definitionsIn(crds).map(checkDefinition);
  return { own: read(crd), external: read(externalCrds) };
}
