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
  return `# Where the kinds of other projects come from

Written by \`deno run -A tools/upstream.ts\`. The definitions and objects belong to the projects named here and are not in
this repository: tests fetch them with Go, as modules of one version whose content must have one sum
(\`tools/upstream/origins.ts\`), and keep what they need of them in \`.cache/upstream\`.

## Modules, all of them Apache-2.0

${modules.join("\n")}

## Kinds

\`\`\`text
${kinds.join("\n")}
\`\`\`
`;
}
