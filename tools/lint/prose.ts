/**
 * The lint plugin that checks the prose of comments and messages. `deno lint` runs it: see
 * `lint.plugins` of deno.json.
 */
import { fileURLToPath } from "node:url";
import { COMMENT_WIDTH, violations } from "../prose/rules.ts";
import { isCovered } from "../prose/scope.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The files that have the banned phrases as data or as examples start with this path. */
const RULES = "tools/prose/rules";

/** The plugin for `deno lint`. */
const plugin: Deno.lint.Plugin = {
  name: "prose",
  rules: {
    "plain-english": {
      create(context: Deno.lint.RuleContext): Deno.lint.LintVisitor {
        const file = context.filename.startsWith(ROOT) ? context.filename.slice(ROOT.length) : context.filename;
        if (!isCovered(file) || file.startsWith(RULES)) return {};
        const source = context.sourceCode.text;
        function check(range: Deno.lint.Range, text: string): void {
          for (const message of violations(text)) context.report({ range, message });
        }
        function checkString(node: Deno.lint.Node, text: unknown): void {
          // Identifiers, paths and keys have no spaces.
          if (typeof text === "string" && text.includes(" ")) check(node.range, text);
        }
        return {
          Program() {
            for (const { range, value } of context.sourceCode.getAllComments()) {
              check(range, value.replace(/\n\s*\* ?/g, " "));
              if (isTooWide(source, range) && !/https?:\/\//.test(value)) {
                context.report({ range, message: `Comments wrap at ${COMMENT_WIDTH} columns` });
              }
              if (/\{@\w+ *\n/.test(value)) {
                context.report({ range, message: "Put an inline tag such as {@linkcode X} on one line" });
              }
            }
          },
          Literal: (node) => checkString(node, node.value),
          TemplateElement: (node) => checkString(node, node.cooked),
        };
      },
    },
  },
};
export default plugin;

/** A comment at the end of a line of code may be as wide as the code. */
function isTooWide(source: string, [from, to]: Deno.lint.Range): boolean {
  const start = source.lastIndexOf("\n", from - 1) + 1;
  if (source.slice(start, from).trim() !== "") return false;
  const end = source.indexOf("\n", to);
  return source.slice(start, end < 0 ? source.length : end).split("\n").some((line) => line.length > COMMENT_WIDTH);
}
