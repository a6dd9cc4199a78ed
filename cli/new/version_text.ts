/** Generates the modules of a new version of a kind from the module of the stored version. */
import {
  bracketsAt,
  type Edit,
  edited,
  entryEdits,
  importEdit,
  importsIn,
  ModuleEditError,
  objectAt,
  properties,
  type Property,
  tokensOf,
} from "./module_text.ts";
import type { Token } from "./scan.ts";

/** A new version. */
export interface NewVersion {
  readonly kind: string;
  /** The name of the stored version, such as `v1`. */
  readonly stored: string;
  /** The name of the new version, such as `v2`. */
  readonly version: string;
  /** The name under which other modules import the new version: `WebsiteV2`. */
  readonly name: string;
  /** The key of the conversion in the operator's parts. */
  readonly key: string;
}

/**
 * Returns the name under which a module exports its kind.
 *
 * @param code The module.
 * @param stored The version that it defines.
 * @throws {ModuleEditError} If the module does not export one kind of that version, written as an
 *   object literal.
 */
export function exportedName(code: string, stored: string): string {
  return resourceIn(code, stored).name;
}

/**
 * Returns the module of a new version: a copy of the stored version's module.
 *
 * @param code The module of the stored version.
 * @param added The new version.
 * @throws {ModuleEditError} If the module cannot be edited automatically.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const code = 'import { resource, s } from "@op/sdk";\n' +
 *   'const names = { group: "demo.example.com", kind: "Note" };\n' +
 *   'export const Note = resource({ ...names, version: "v1", spec: s.object({}) });\n';
 * const added = { kind: "Note", stored: "v1", version: "v2", name: "NoteV2", key: "noteV2" };
 * assert.equal(versionText(code, added), code.replace('"v1"', '"v2"'));
 * ```
 */
export function versionText(code: string, { stored, version }: NewVersion): string {
  const { options, comments } = resourceIn(code, stored);
  const [first] = comments;
  const header = first !== undefined && code.slice(0, first.start).trim() === "" ? [first] : [];
  const edits: Edit[] = header.map(({ start, end, text }) => ({
    at: start,
    end,
    insert: text.replaceAll(new RegExp(`\\b${stored}\\b`, "g"), version),
  }));
  for (const property of properties(options)) {
    if (property.key === "version") edits.push({ ...placeOf(property.value), insert: JSON.stringify(version) });
    // Only the stored version lists the others.
    if (property.key === "versions" || property.key === "storage") edits.push(removal(code, options, property));
  }
  return withoutUnusedImports(edited(code, edits));
}

/**
 * Returns the module of the stored version with the new one among its `versions`.
 *
 * @param code The module of the stored version.
 * @param added The new version.
 * @throws {ModuleEditError} If the module cannot be edited automatically.
 */
export function withVersion(code: string, { stored, version, name }: NewVersion): string {
  const { options, comments, tokens, name: exported } = resourceIn(code, stored);
  if (tokens.some(({ type, text }) => type === "word" && text === name)) {
    throw new ModuleEditError(`it already uses the name "${name}"`);
  }
  const listed = properties(options).find(({ key }) => key === "versions");
  const [open] = listed?.value ?? [];
  if (listed !== undefined && open?.text !== "[") throw new ModuleEditError('its "versions" are not an array literal');
  const edits = open === undefined
    ? entryEdits(code, options, comments, `versions: [${name}]`)
    : entryEdits(code, bracketsAt(tokens, tokens.indexOf(open)), comments, name);
  const statement = `import { ${exported} as ${name} } from "./${version}.ts";`;
  return edited(code, [...edits, importEdit(code, importsIn(tokens), statement)]);
}

/** Returns the lines to add by hand to the module of the stored version. */
export function versionLines({ version, name }: NewVersion, exported: string): string {
  return `import { ${exported} as ${name} } from "./${version}.ts";\nresource({ ..., versions: [${name}] })\n`;
}

/**
 * Returns the module of a conversion between the stored version and the new one. Both have the same
 * fields at first, so it copies them.
 *
 * @param added The new version.
 * @param exported The name under which both modules export the kind.
 * @param fields The fields of an object besides `apiVersion`, `kind` and `metadata`.
 * @param module The file of the stored version.
 */
export function conversionText(
  { kind, stored, version, name, key }: NewVersion,
  exported: string,
  fields: readonly string[],
  module: string,
): string {
  const same = `({ ${fields.join(", ")} }) => ({ ${fields.join(", ")} })`;
  return `/** Converts ${kind} between ${stored}, in which objects are stored, and ${version}. */
import { conversion } from "@op/sdk";
import { ${exported} } from "./${module}";
import { ${exported} as ${name} } from "./${version}.ts";

export const ${key} = conversion(${exported}, ${name}, {
  /**
   * Converts ${stored} to ${version}. Store a value that has no field in ${version} in an
   * annotation.
   */
  up: ${same},
  /** Converts ${version} to ${stored}. */
  down: ${same},
});
`;
}

/** Returns the test module of the conversion. */
export function conversionTestText({ kind, stored, version, key }: NewVersion, module: string): string {
  return `import { roundTrips } from "@op/sdk/testing";
import { ${key} } from "./${module}";

Deno.test("${kind} is unchanged after a conversion from ${stored} to ${version} and back, and the reverse", async () => {
  await roundTrips(${key});
});
`;
}

interface ResourceCall {
  /** The name under which the kind is exported. */
  readonly name: string;
  readonly tokens: readonly Token[];
  readonly comments: readonly Token[];
  /** The tokens of the object literal that `resource()` is called with. */
  readonly options: readonly Token[];
}

function resourceIn(code: string, stored: string): ResourceCall {
  const all = tokensOf(code);
  const tokens = all.filter(({ type }) => type !== "comment");
  const called = (name: string): number[] => {
    const localNames = importsIn(tokens).flatMap(({ names }) =>
      [...names].filter(([, imported]) => imported === name).map(([local]) => local)
    );
    return tokens.flatMap(({ type, text }, i) =>
      type === "word" && localNames.includes(text) && tokens[i + 1]?.text === "(" && tokens[i - 1]?.text !== "."
        ? [i]
        : []
    );
  };
  for (const other of ["operator", "controller", "webhook", "conversion"]) {
    if (called(other).length > 0) {
      throw new ModuleEditError(
        `it also calls ${other}(). Move the kind into its own module`,
      );
    }
  }
  const [at, ...more] = called("resource");
  if (at === undefined) throw new ModuleEditError("it does not call resource()");
  if (more.length > 0) throw new ModuleEditError(`it calls resource() ${more.length + 1} times`);
  const options = objectAt(tokens, at + 2);
  if (options === undefined) throw new ModuleEditError("resource() is not called with an object literal");
  const [before, keyword, name, equals] = tokens.slice(Math.max(0, at - 4), at);
  if (before?.text !== "export" || keyword?.text !== "const" || name?.type !== "word" || equals?.text !== "=") {
    throw new ModuleEditError("the kind is not exported as a constant");
  }
  const value = properties(options).find(({ key }) => key === "version")?.value ?? [];
  if (value.length !== 1 || value[0]?.type !== "text" || value[0].text.slice(1, -1) !== stored) {
    throw new ModuleEditError(`the call of resource() does not have "version: ${JSON.stringify(stored)}"`);
  }
  return { name: name.text, tokens, options, comments: all.filter(({ type }) => type === "comment") };
}

function placeOf(tokens: readonly Token[]): Pick<Edit, "at" | "end"> & { readonly end: number } {
  return { at: tokens[0]!.start, end: tokens.at(-1)!.end };
}

/** Removes a property, its comma and the white space before it. */
function removal(code: string, options: readonly Token[], { name, value }: Property): Edit {
  const last = value.at(-1) ?? name;
  const next = options[options.indexOf(last) + 1];
  const space = /\s*$/.exec(code.slice(0, name.start))![0];
  return { at: name.start - space.length, end: next?.text === "," ? next.end : last.end, insert: "" };
}

/** Removes unused imports. */
function withoutUnusedImports(code: string): string {
  const tokens = tokensOf(code).filter(({ type }) => type !== "comment");
  const imports = importsIn(tokens);
  const words = new Set(
    tokens.flatMap(({ type, text, start }) =>
      type === "word" && !imports.some((one) => start >= one.start && start < one.end) ? [text] : []
    ),
  );
  const unused = imports.filter(({ names }) => names.size > 0 && [...names.keys()].every((name) => !words.has(name)));
  return edited(
    code,
    unused.map(({ start, end }) => ({ at: start, end: end + (code[end] === "\n" ? 1 : 0), insert: "" })),
  );
}
