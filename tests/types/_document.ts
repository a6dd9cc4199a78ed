/**
 * Parses and prints documents of mistakes: Markdown with programs that do not compile, and the
 * errors of the compiler. The first `ts` block is shared by all mistakes. Each heading after it is
 * a mistake, with its code and its errors. If versions of Deno differ, each block of errors names
 * its version.
 */

/** A mistake of a user. */
export interface Mistake {
  readonly title: string;
  readonly code: string;
  /** The errors by version of Deno, under "" if all versions have the same. */
  readonly errors: ReadonlyMap<string, string>;
}

/** A document of mistakes. */
export interface MistakesDocument {
  /** Text above the first mistake. */
  readonly head: string;
  /** The code that all mistakes share. */
  readonly shared: string;
  readonly mistakes: readonly Mistake[];
}

/** Parses a document. */
export function parseDocument(text: string): MistakesDocument {
  const [head = "", ...sections] = text.split(/^(?=## )/m);
  return { head, shared: codeOf(head), mistakes: sections.map(mistakeOf) };
}

function mistakeOf(section: string): Mistake {
  const errors = [...section.matchAll(/^```text ?(\S*)\n([\s\S]*?)^```$/gm)].map(([, version = "", block = ""]) =>
    [version, block.trimEnd()] as const
  );
  return { title: /^## (.*)$/m.exec(section)![1]!, code: codeOf(section), errors: new Map(errors) };
}

function codeOf(section: string): string {
  return /^```ts\n([\s\S]*?)^```$/m.exec(section)?.[1] ?? "";
}

/** Returns the text of a document, as `deno fmt` formats it. */
export function printDocument({ head, mistakes }: MistakesDocument): string {
  const sections = mistakes.map(({ title, code, errors }) =>
    [
      `## ${title}`,
      `\`\`\`ts\n${code}\`\`\``,
      ...[...errors].map(([version, text]) => `\`\`\`text${version && ` ${version}`}\n${text}\n\`\`\``),
    ].join("\n\n")
  );
  return `${[head.trimEnd(), ...sections].join("\n\n")}\n`;
}
