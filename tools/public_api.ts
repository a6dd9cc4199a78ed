/** Renders the public API as text and classifies the changes between two versions of it. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = new URL("../", import.meta.url);

/**
 * A change of the public API. Code that compiled may no longer compile after a `breaking` change or
 * a `removed` one.
 */
export interface ApiChange {
  readonly kind: "added" | "breaking" | "removed";
  /** The declaration that changed, such as `interface Context`. */
  readonly declaration: string;
  /** The line that appeared or disappeared, if it is one inside the declaration. */
  readonly line?: string;
}

/**
 * Returns the declarations that modules export, as `deno doc` prints them, without documentation.
 *
 * @param modules The modules, from the root of the repository.
 * @returns The text of each module: a declaration per paragraph, its members indented.
 */
export async function publicApi(modules: readonly string[]): Promise<Map<string, string>> {
  const folder = await Deno.makeTempDir();
  try {
    // Documentation is not part of the API, so `deno doc` reads a copy without comments.
    for (const file of ["mod.ts", "deno.json", ...sources("entry_points/"), ...sources("src/")]) {
      const text = await Deno.readTextFile(new URL(file, ROOT));
      await Deno.mkdir(dirname(`${folder}/${file}`), { recursive: true });
      await Deno.writeTextFile(`${folder}/${file}`, text.replaceAll(/^ *\/\*\*[^]*?\*\/\n/gm, ""));
    }
    const config = JSON.parse(await Deno.readTextFile(`${folder}/deno.json`));
    await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify({ ...config, workspace: [] }));
    const texts = await Promise.all(modules.map((module) => declarations(folder, module)));
    return new Map(modules.map((module, i) => [module, texts[i]!]));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Returns the changes between two versions of a module's API.
 *
 * A new member of a class and a new optional member of an interface are `added`. Any other new
 * member of an interface is `breaking`, because users may implement it or pass an object.
 *
 * @param before The text of the earlier version, from {@linkcode publicApi}.
 * @param after The text of the later version.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const before = "interface Options\n  readonly port?: number\n\nfunction start(): void\n";
 * const after = "interface Options\n  readonly host?: string\n  readonly port: number\n";
 * assert.deepEqual(apiChanges(before, after), [
 *   { kind: "breaking", declaration: "interface Options", line: "- readonly port?: number" },
 *   { kind: "added", declaration: "interface Options", line: "+ readonly host?: string" },
 *   { kind: "breaking", declaration: "interface Options", line: "+ readonly port: number" },
 *   { kind: "removed", declaration: "function start" },
 * ]);
 * ```
 */
export function apiChanges(before: string, after: string): ApiChange[] {
  const [old, current] = [parse(before), parse(after)];
  const changes = [...old].flatMap(([declaration, lines]): ApiChange[] => {
    const now = current.get(declaration);
    return now === undefined ? [{ kind: "removed", declaration }] : memberChanges(declaration, lines, now);
  });
  const added = [...current.keys()].filter((declaration) => !old.has(declaration));
  return [...changes, ...added.map((declaration): ApiChange => ({ kind: "added", declaration }))];
}

function memberChanges(declaration: string, old: readonly string[], current: readonly string[]): ApiChange[] {
  const removed = old.filter((line) => !current.includes(line));
  const added = current.filter((line) => !old.includes(line));
  return [
    ...removed.map((line): ApiChange => ({ kind: "breaking", declaration, line: `- ${line.trim()}` })),
    ...added.map((line): ApiChange => ({
      kind: isCompatible(declaration, line) ? "added" : "breaking",
      declaration,
      line: `+ ${line.trim()}`,
    })),
  ];
}

/** Returns whether code that compiled before still compiles if a line is added to a declaration. */
function isCompatible(declaration: string, line: string): boolean {
  if (!line.startsWith(" ")) return declaration.startsWith("function ");
  return declaration.startsWith("class ") || /^ +(readonly )?[\w$"-]+\?[:(<]/.test(line);
}

/**
 * Returns the lines of each declaration, by its kind and name. Overloads of a function are one
 * declaration.
 */
function parse(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const block of text.split("\n\n")) {
    const lines = block.split("\n").filter((line) => line !== "");
    const declaration = /^(?:abstract )?\w+ [\w$]+/.exec(lines[0] ?? "")?.[0];
    if (declaration === undefined) continue;
    found.set(declaration, [...found.get(declaration) ?? [], ...lines]);
  }
  return found;
}

async function declarations(folder: string, module: string): Promise<string> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["doc", `${folder}/${module}`],
    cwd: folder,
    env: { NO_COLOR: "1" },
  });
  const { success, stdout, stderr } = await command.output();
  if (!success) throw new Error(`deno doc ${module}: ${new TextDecoder().decode(stderr)}`);
  const lines = new TextDecoder().decode(stdout).split("\n").map((line) => line.trimEnd());
  const kept = lines.filter((line) => line !== "" && !/^\s*@\w+$/.test(line));
  return `${kept.map((line) => line.startsWith("Defined in ") ? "" : line).join("\n").trim()}\n`;
}

function sources(folder: string): string[] {
  return [...Deno.readDirSync(fileURLToPath(new URL(folder, ROOT)))].flatMap(({ name, isDirectory }) =>
    isDirectory ? sources(`${folder}${name}/`) : /(?<!_test)\.ts$/.test(name) ? [`${folder}${name}`] : []
  );
}
