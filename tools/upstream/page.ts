/** Renders the page that lists the origins of packed kinds. */
import { modulesOf, type Origin } from "./origins.ts";

/** The file of the page. */
export const ORIGINS_PAGE = new URL("../../tests/upstream/ORIGINS.md", import.meta.url);

/**
 * Returns the content of the page.
 *
 * @param origins Where the kinds are published.
 * @param counts The number of objects by kind.
 */
export function originsPage(origins: readonly Origin[], counts: ReadonlyMap<string, number>): string {
  const modules = modulesOf(origins).map(({ path, version }) => `- ${path} ${version}`);
  const kinds = origins.map(({ kind, definition, samples }) =>
    [
      `${kind}, ${counts.get(kind) ?? 0} objects`,
      `  definition  ${definition.module.path}/${definition.path}`,
      ...samples.map(({ module, path }) => `  objects     ${module.path}/${path}/`),
    ].join("\n")
  );
  return `# Origins of the kinds of other projects

Written by \`deno run -A tools/upstream.ts\`. The definitions and objects belong to the projects in this list, and are not
in this repository. Tests fetch them with Go, as modules whose version and checksum are fixed in
\`tools/upstream/origins.ts\`, and store the definitions and objects in \`.cache/upstream\`.

## Modules, all of them Apache-2.0

${modules.join("\n")}

## Kinds

\`\`\`text
${kinds.join("\n")}
\`\`\`
`;
}
