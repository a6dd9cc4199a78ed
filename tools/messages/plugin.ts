/**
 * A lint plugin that reports each message that users can see, as `kind: text`. `deno lint` parses
 * the files: see tools/messages.ts.
 */

/** The kinds of messages. `other` are strings of three words or more without a known use. */
export const KINDS = ["errors", "logs", "events", "metrics", "help", "output", "other"] as const;

/** A kind of message. */
export type MessageKind = typeof KINDS[number];

/** Source code that shows its strings to users. */
interface Place {
  readonly kind: MessageKind;
  readonly range: Deno.lint.Range;
  readonly text: string;
  /** Whether it contains a string, unlike `throw error` or `throw invalid(path)`. */
  hasString: boolean;
}

/** The plugin, as `deno lint` takes it. */
const plugin: Deno.lint.Plugin = {
  name: "messages",
  rules: {
    list: {
      create(context: Deno.lint.RuleContext): Deno.lint.LintVisitor {
        const places: Place[] = [];

        /** Adds the strings of nodes as one message, unless they are part of another one. */
        function add(kind: MessageKind, nodes: readonly Deno.lint.Node[]): void {
          if (nodes.length === 0) return;
          const range: Deno.lint.Range = [nodes[0]!.range[0], nodes.at(-1)!.range[1]];
          if (enclosing(places, range) !== undefined) return;
          places.push({ kind, range, text: textOf(nodes, context.sourceCode), hasString: false });
        }

        function addString(node: Deno.lint.Node, words: string): void {
          const place = enclosing(places, node.range);
          if (place !== undefined) place.hasString ||= /\p{L}/u.test(words);
          else if (isProse(words)) {
            places.push({
              kind: "other",
              range: node.range,
              text: textOf([node], context.sourceCode),
              hasString: true,
            });
          }
        }

        return {
          ThrowStatement({ argument }) {
            if (argument.type === "NewExpression" || argument.type === "CallExpression") {
              add("errors", argument.arguments);
            }
          },
          NewExpression(node) {
            const name = nameOf(node.callee);
            if (/(Error|Failure|Fault|Denial)$/.test(name)) add("errors", node.arguments);
            if (node.callee.type === "Identifier" && HELP_CLASSES.has(name)) add("help", node.arguments);
          },
          CallExpression(node) {
            const kind = kindOfCall(node);
            if (kind !== undefined) add(kind, node.arguments);
          },
          ObjectExpression(node) {
            for (const [kind, value] of messagesOf(node)) add(kind, [value]);
          },
          Literal(node) {
            if (typeof node.value === "string") addString(node, node.value);
          },
          TemplateLiteral: (node) => addString(node, wordsOf(node)),
          // The compiler shows types that are sentences as its errors.
          TSTemplateLiteralType: (node) => addString(node, wordsOf(node)),
          "Program:exit"() {
            for (const { kind, range, text, hasString } of places) {
              if (hasString) context.report({ range, message: `${kind}: ${text}` });
            }
          },
        };
      },
    },
  },
};
export default plugin;

const HELP_CLASSES = new Set(["Command", "Option", "Argument"]);
const HELP_METHODS = new Set([
  ...["addHelpText", "argument", "command", "description", "examples", "option", "requiredOption"],
  ...["summary", "usage", "withExamples"],
]);
const METRIC_TYPES = new Set(["counter", "gauge", "histogram"]);
const LOG_METHODS = new Set(["debug", "error", "info", "warn"]);

/** Returns what the arguments of a call are, or `undefined` if they are no message. */
function kindOfCall({ callee }: Deno.lint.CallExpression): MessageKind | undefined {
  const name = nameOf(callee);
  if (callee.type === "Super" || name === "deny" || name === "reject") return "errors";
  if (name === "examples") return "help";
  if (callee.type === "Identifier" && METRIC_TYPES.has(name)) return "metrics";
  if (callee.type !== "MemberExpression") return undefined;
  const object = nameOf(callee.object);
  if (LOG_METHODS.has(name) && /log(ger)?$/i.test(object)) return "logs";
  if ((name === "normal" || name === "warning") && /events$/i.test(object)) return "events";
  if ((name === "out" || name === "err") && /io$/i.test(object)) return "output";
  if (object === "console") return "output";
  return HELP_METHODS.has(name) ? "help" : undefined;
}

/** Returns the properties of an object that are messages, such as the help of a metric. */
function messagesOf({ properties }: Deno.lint.ObjectExpression): [MessageKind, Deno.lint.Node][] {
  const values = new Map(
    properties.flatMap((one) => one.type === "Property" ? [[nameOf(one.key), one.value] as const] : []),
  );
  const kindOf = (key: string): MessageKind | undefined => {
    if (key === "help") return values.has("labels") ? "metrics" : "help";
    if (key === "summary" || key === "description") return values.has("alert") ? "metrics" : undefined;
    if (key === "message") return values.has("field") ? "errors" : values.has("reason") ? "events" : undefined;
    return undefined;
  };
  return [...values].flatMap(([key, value]) => {
    const kind = kindOf(key);
    return kind === undefined || value.type === "ObjectExpression"
      ? []
      : [[kind, value] satisfies [MessageKind, Deno.lint.Node]];
  });
}

/** Returns the last name of an expression: `log` of `this.#options.log`. */
function nameOf(node: Deno.lint.Node): string {
  if (node.type === "Identifier" || node.type === "PrivateIdentifier") return node.name;
  return node.type === "MemberExpression" ? nameOf(node.property) : "";
}

/** Returns whether a string has three words, at least two of them in lowercase. */
function isProse(text: string): boolean {
  const words = text.split(/\s+/).filter((word) => /^\W*\p{L}[\p{L}'’-]*\W*$/u.test(word));
  return words.length >= 3 && words.filter((word) => !/\p{Lu}/u.test(word)).length >= 2;
}

function wordsOf({ quasis }: Deno.lint.TemplateLiteral | Deno.lint.TSTemplateLiteralType): string {
  return quasis.map(({ cooked }) => cooked).join("x");
}

function enclosing(places: readonly Place[], [from, to]: Deno.lint.Range): Place | undefined {
  return places.find(({ range }) => range[0] <= from && to <= range[1]);
}

/** Returns a single string as its text, and other nodes as their source on one line. */
function textOf(nodes: readonly Deno.lint.Node[], source: Deno.lint.SourceCode): string {
  const texts = nodes.map((node) => {
    if (node.type === "Literal" && typeof node.value === "string" && nodes.length === 1) return node.value;
    const text = source.getText(node);
    return /^TemplateLiteral|^TSTemplate/.test(node.type) && nodes.length === 1 ? text.slice(1, -1) : text;
  });
  return texts.join(", ").replaceAll(/\s*\n\s*/g, " ").trim();
}
