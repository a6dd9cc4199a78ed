/**
 * Copies what the command line shares with the SDK into its folder: the modules that
 * `src/internal.ts` reaches, and the merge rules of built-in kinds. A published package contains
 * its own files only, and these functions are no public API of `@op/sdk`.
 *
 * `deno run -A tools/cli_internal.ts` writes `cli/internal/` and
 * `cli/kustomize/merge_schemas.gen.ts`.
 */
import { posix } from "node:path";

const ROOT = new URL("../", import.meta.url);
const SOURCE = "src/internal.ts";
const FOLDER = "cli/internal";

/** The fields of a schema that `MergeSchema` of `cli/kustomize` has. */
const MERGE_FIELDS = new Set([
  "x-kubernetes-patch-strategy",
  "x-kubernetes-patch-merge-key",
  "x-kubernetes-list-map-keys",
  "properties",
  "additionalProperties",
  "items",
  "$ref",
]);

/** A statement that imports or exports from a module by a relative path. */
const FROM = /^(import|export)( type)? (\{[^}]*\}) from "(\.[^"]+)";$/gm;

/**
 * Returns the copies of the shared modules.
 *
 * The copies have no comments. Types of modules that are not copied are imported from
 * `@op/sdk/resource`.
 *
 * @param root The root of the repository.
 * @returns The content of each file, by its path from the root.
 */
export async function internalModules(root: URL = ROOT): Promise<Map<string, string>> {
  const sources = new Map<string, string>();
  const pending = [SOURCE];
  for (let file = pending.shift(); file !== undefined; file = pending.shift()) {
    if (sources.has(file)) continue;
    const source = withoutComments(await Deno.readTextFile(new URL(file, root)));
    sources.set(file, source);
    for (const [, , typeOnly, , specifier = ""] of source.matchAll(FROM)) {
      if (typeOnly === undefined) pending.push(posix.join(posix.dirname(file), specifier));
    }
  }
  return new Map([...sources].map(([file, source]) => [copyOf(file), copied(file, source, sources)]));
}

/**
 * Returns the module with the scope and the merge rules of the kinds that are built into
 * Kubernetes.
 *
 * @param data The generated OpenAPI data.
 */
export function mergeSchemasModule(
  { definitions, resources }: Pick<typeof import("../src/openapi/kubernetes.gen.ts"), "definitions" | "resources">,
): string {
  const kinds = resources.map(({ group, version, kind, namespaced, schema }) =>
    `  ${JSON.stringify({ group, version, kind, namespaced, schema })},\n`
  );
  const schemas = Object.entries(definitions).map(([name, text]) =>
    `  ${JSON.stringify(name)}: ${JSON.stringify(JSON.stringify(mergeSchema(JSON.parse(text))))},\n`
  );
  return `// Made by tools/cli_internal.ts from src/openapi/kubernetes.gen.ts: do not edit.
/** A built-in kind; \`schema\` names one of the definitions. */
export interface MergeResource { readonly group: string; readonly version: string; readonly kind: string; readonly namespaced: boolean; readonly schema?: string }
/** The built-in kinds. */
export const resources: readonly MergeResource[] = [
${kinds.join("")}];
/** The schemas of the built-in kinds as JSON, reduced to what merging needs. */
export const definitions: Readonly<Record<string, string>> = {
${schemas.join("")}};
`;
}

function mergeSchema(schema: Record<string, unknown>): Record<string, unknown> {
  const each = (value: unknown) =>
    typeof value === "object" && value !== null ? mergeSchema(value as Record<string, unknown>) : value;
  return Object.fromEntries(
    Object.entries(schema).filter(([field]) => MERGE_FIELDS.has(field)).map(([field, value]) => [
      field,
      field === "properties"
        ? Object.fromEntries(Object.entries(value as object).map(([name, property]) => [name, each(property)]))
        : field === "items" || field === "additionalProperties"
        ? each(value)
        : value,
    ]),
  );
}

/** Returns the path of a file's copy: `cli/internal/base/json.gen.ts` for `src/base/json.ts`. */
function copyOf(file: string): string {
  const path = file === SOURCE ? "mod.ts" : file.slice("src/".length);
  return `${FOLDER}/${path.replace(/\.ts$/, ".gen.ts")}`;
}

function copied(file: string, source: string, sources: ReadonlyMap<string, string>): string {
  const text = source.replaceAll(FROM, (_, word: string, typeOnly = "", names: string, specifier: string) => {
    const target = posix.join(posix.dirname(file), specifier);
    if (!sources.has(target)) return `${word}${typeOnly} ${names} from "@op/sdk/resource";`;
    const path = posix.relative(posix.dirname(copyOf(file)), copyOf(target));
    return `${word}${typeOnly} ${names} from "${path.startsWith(".") ? path : `./${path}`}";`;
  });
  return `// Made by tools/cli_internal.ts from ${file}: do not edit.\n${text}`;
}

/** Removes comments on lines without code. */
function withoutComments(source: string): string {
  return source.replaceAll(/^ *\/\*\*[^]*?\*\/\n/gm, "").replaceAll(/^ *\/\/.*\n/gm, "").replace(/^\n+/, "");
}

if (import.meta.main) {
  const { definitions, resources } = await import("../src/openapi/kubernetes.gen.ts");
  await Deno.remove(new URL(FOLDER, ROOT), { recursive: true }).catch(() => {});
  for (const [path, text] of await internalModules()) {
    await Deno.mkdir(new URL(posix.dirname(path), ROOT), { recursive: true });
    await Deno.writeTextFile(new URL(path, ROOT), text);
  }
  const module = mergeSchemasModule({ definitions, resources });
  await Deno.writeTextFile(new URL("cli/kustomize/merge_schemas.gen.ts", ROOT), module);
}
