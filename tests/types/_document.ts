/**
 * A document of mistakes: Markdown that holds programs which do not compile, and what the compiler says of each. Its first `ts` block is what
 * all of them share; after it each heading is a mistake, with its code and what is said of it. Where compilers do not say the same, a block
 * of text carries the version of Deno that it is for.
 */

/** A mistake that a user could make. */
export interface Mistake {
  readonly title: string;
  readonly code: string;
  /** What the compiler says; by version of Deno where versions differ, otherwise under "". */
  readonly said: ReadonlyMap<string, string>;
}

/** A document of mistakes. */
export interface MistakesDocument {
  /** What stands above the first mistake. */
  readonly head: string;
  /** The code that all mistakes share. */
  readonly shared: string;
  readonly mistakes: readonly Mistake[];
}

/** A document out of its text. */
export function parseDocument(text: string): MistakesDocument {
  const [head = "", ...sections] = text.split(/^(?=## )/m);
  return { head, shared: codeOf(head), mistakes: sections.map(mistakeOf) };
}

function mistakeOf(section: string): Mistake {
  const said = [...section.matchAll(/^```text ?(\S*)\n([\s\S]*?)^```$/gm)].map(([, version = "", block = ""]) =>
    [version, block.trimEnd()] as const
  );
  return { title: /^## (.*)$/m.exec(section)![1]!, code: codeOf(section), said: new Map(said) };
}

function codeOf(section: string): string {
  return /^```ts\n([\s\S]*?)^```$/m.exec(section)?.[1] ?? "";
}

/** The text of a document, as `deno fmt` leaves it. */
export function printDocument({ head, mistakes }: MistakesDocument): string {
  const sections = mistakes.map(({ title, code, said }) =>
    [
      `## ${title}`,
      `\`\`\`ts\n${code}\`\`\``,
      ...[...said].map(([version, text]) => `\`\`\`text${version && ` ${version}`}\n${text}\n\`\`\``),
    ].join("\n\n")
  );
  return `${[head.trimEnd(), ...sections].join("\n\n")}\n`;
}
