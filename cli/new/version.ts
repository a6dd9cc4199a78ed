/** `op new version`: adds a version to a kind, with its conversion and a test. */
import { basename, dirname, join, relative, resolve } from "node:path";
import { type SourceFile, sourceFile } from "../deno.ts";
import { Failure, UsageError } from "../exit_code.ts";
import { inspect, type OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { partKey } from "./controller.ts";
import { exists } from "./atomic_folder.ts";
import { checkVersionName, type KindNames, namesOf } from "./kind_names.ts";
import { ModuleEditError } from "./module_text.ts";
import { type AddOptions, addToProject } from "./project.ts";
import {
  conversionTestText,
  conversionText,
  exportedName,
  type NewVersion,
  versionLines,
  versionText,
  withVersion,
} from "./version_text.ts";

/** Options for {@linkcode newVersion}. */
export interface NewVersionOptions extends AddOptions {
  readonly kind: string;
  /** The new version. */
  readonly apiVersion: string;
  /** The API group. @default {the only group with a kind of that name} */
  readonly group?: string | undefined;
  /** The module that exports the stored version. @default {KIND/VERSION.ts} */
  readonly module?: string | undefined;
  /**
   * The key of the conversion among the operator's parts. @default {the kind and the version:
   * `websiteV2`}
   */
  readonly part?: string | undefined;
}

type Definition = OperatorFacts["crds"][number];

/**
 * Adds a version to a kind of a project. The stored version stays the same, and controllers and
 * webhooks continue to use it.
 *
 * @param file The file whose default export is the operator.
 * @param options The kind and the version.
 * @param io The terminal and the shell.
 * @throws {UsageError} If the version is not one in Kubernetes' order, such as `v2` or `v1beta1`.
 * @throws {Failure} If the operator does not have the kind or already has the version, a file would
 *   be overwritten, or a module cannot be edited automatically.
 */
export async function newVersion(file: string, options: NewVersionOptions, io: Io): Promise<void> {
  const main = await sourceFile(file, io);
  const facts = await inspect(main.url, main.folder, file, io);
  const definition = definitionOf(options, facts, file);
  checkVersionName(options.kind, options.apiVersion);
  const { spec } = definition;
  const versions = spec.versions.map(({ name }) => name);
  if (versions.includes(options.apiVersion)) {
    throw new Failure(
      `Cannot add version "${options.apiVersion}" to ${options.kind}: the operator in "${file}" already has it. Its versions are ${
        versions.join(", ")
      }.`,
    );
  }
  const { name: stored, schema } = spec.versions.find(({ storage }) => storage)!;
  const names = namesOf({ ...options, group: spec.group }, spec.names.plural, false);
  const module = await moduleOf(names, stored, options, main, io);
  const name = nameOf(options);
  const added: NewVersion = {
    kind: options.kind,
    stored,
    version: options.apiVersion,
    name,
    key: partKey(options.part ?? names.camel + name.slice(options.kind.length)),
  };
  const fields = Object.keys(schema.openAPIV3Schema.properties ?? {})
    .filter((field) => !["apiVersion", "kind", "metadata"].includes(field));
  const code = await Deno.readTextFile(module);
  const shown = relative(io.cwd, module);
  const { files, changed, lines } = withFailureReason(
    () => {
      const exported = exportedName(code, stored);
      return {
        files: new Map([
          [`${added.version}.ts`, versionText(code, added)],
          [`${added.version}_conversion.ts`, conversionText(added, exported, fields, basename(module))],
          [`${added.version}_conversion_test.ts`, conversionTestText(added, `${added.version}_conversion.ts`)],
        ]),
        changed: withVersion(code, added),
        lines: versionLines(added, exported),
      };
    },
    added,
    shown,
  );
  const folder = relative(main.folder, dirname(module)).replaceAll("\\", "/");
  const part = { key: added.key, from: `./${join(folder, `${added.version}_conversion.ts`).replaceAll("\\", "/")}` };
  const changes = new Map([[basename(module), { text: changed, lines }]]);
  const paths = await addToProject(main, { part, folder, files, changes }, options, io);
  io.out(`Created version ${added.version} of ${added.kind}:\n\n${paths.map((path) => `  ${path}\n`).join("")}`);
  io.out(
    `\nObjects are still stored in ${stored}. Next, edit ${
      join(folder, `${added.version}.ts`)
    } and the conversion, then:\n\n` +
      "  deno task generate\n  deno task test\n",
  );
}

function definitionOf({ kind, apiVersion, group }: NewVersionOptions, facts: OperatorFacts, file: string): Definition {
  const matches = ({ spec }: Definition): boolean =>
    spec.names.kind === kind && (group === undefined || spec.group === group);
  const failed = `Cannot add version "${apiVersion}" to ${kind}: `;
  const [found, ...others] = facts.crds.filter(matches);
  if (others.length > 0) {
    const groups = [found!, ...others].map(({ spec }) => spec.group);
    throw new UsageError(`${failed}several groups have a kind of that name. Add --group ${groups.join(" or ")}.`);
  }
  if (found !== undefined) return found;
  if (facts.externalCrds.some(matches)) {
    throw new Failure(
      `${failed}the kind is external, so another project defines its versions. Import them with "op crd import".`,
    );
  }
  const known = facts.crds.map(({ spec }) => spec.names.kind);
  const hint = known.length === 0
    ? 'It has no kinds of its own. Add one with "op new controller".'
    : `Its own kinds are ${known.join(", ")}.`;
  throw new Failure(`${failed}the operator in "${file}" has no such kind. ${hint}`);
}

/** Returns the kind and the version as one name: `WebsiteV1beta1`. */
function nameOf({ kind, apiVersion }: NewVersionOptions): string {
  return `${kind}${apiVersion[0]!.toUpperCase()}${apiVersion.slice(1)}`;
}

async function moduleOf(
  { folder }: KindNames,
  stored: string,
  { kind, apiVersion, module }: NewVersionOptions,
  main: SourceFile,
  io: Io,
): Promise<string> {
  const path = module === undefined ? join(main.folder, folder, `${stored}.ts`) : resolve(io.cwd, module);
  if (await exists(path)) return path;
  throw new Failure(
    `Cannot add version "${apiVersion}" to ${kind}: "${
      module ?? `${folder}/${stored}.ts`
    }" does not exist. Name the module that exports version ${stored} with --module.`,
  );
}

function withFailureReason<T>(make: () => T, { kind, version }: NewVersion, shown: string): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof ModuleEditError)) throw error;
    throw new Failure(
      `Cannot add version "${version}" to ${kind}: "${shown}" cannot be copied: ${error.message}. No file was changed.`,
    );
  }
}
