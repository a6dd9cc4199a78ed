/**
 * Embeds the files of `templates/` in a module of the command line, because a published or compiled
 * program cannot read them from disk: `deno run -A tools/templates.ts` writes
 * `cli/templates.gen.ts`.
 */

const TEMPLATES = new URL("../templates/", import.meta.url);
const MODULE = new URL("../cli/templates.gen.ts", import.meta.url);

/** Returns the source of the module with the current content of the files. */
export function templatesModule(templates: URL = TEMPLATES): string {
  const entries = folders(templates).map((template) => {
    const files = [...filesOf(new URL(`${template}/`, templates), "")].sort(([a], [b]) => (a < b ? -1 : 1));
    const lines = files.map(([path, text]) => `    ${JSON.stringify(path)}: ${JSON.stringify(text)},\n`);
    return `  ${template}: {\n${lines.join("")}  },\n`;
  });
  return `// Made by tools/templates.ts from the folder templates. Change the files there.
export const TEMPLATES: { readonly ${
    folders(templates).map((name) => `${name}: { readonly [path: string]: string }`).join("; ")
  } } = {
${entries.join("")}};
`;
}

function folders(templates: URL): string[] {
  return [...Deno.readDirSync(templates)].filter((entry) => entry.isDirectory).map((entry) => entry.name).sort();
}

function* filesOf(folder: URL, prefix: string): Generator<[path: string, text: string]> {
  for (const entry of Deno.readDirSync(folder)) {
    const url = new URL(entry.isDirectory ? `${entry.name}/` : entry.name, folder);
    if (entry.isDirectory) yield* filesOf(url, `${prefix}${entry.name}/`);
    else yield [`${prefix}${entry.name}`, Deno.readTextFileSync(url)];
  }
}

if (import.meta.main) await Deno.writeTextFile(MODULE, templatesModule());
