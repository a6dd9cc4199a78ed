/**
 * The lint plugin that rejects decisions on the text of messages: an error that code recognizes has
 * a class or a code. `deno lint` runs it: see `lint.plugins` of deno.json.
 */
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Files that may decide on messages, with the reason. If another program or library writes the
 * messages, a test must provoke them, so that it fails when they change.
 */
export const EXEMPT: { readonly [file: string]: string } = {
  "cli/deno.ts": "reads the output of Deno, which has one exit code for all errors",
  "src/apiserver/objects/go_fields.ts": "its messages are protobuf types, not errors",
  "src/apiserver/wire/yaml.ts": "the library yaml has one code for all errors of indentation",
  "src/apiserver/webhooks/reply.ts": "converts a response body as client-go does; `message` is a field of Status",
  "src/base/deno_errors.ts": "reads the errors of Deno and V8 that have neither a class nor a code",
  "src/operator/log.ts": "escapes the placeholders of the log library in a message",
};

/** Methods of a string that search in it. */
const SEARCHES = ["endsWith", "includes", "indexOf", "lastIndexOf", "match", "matchAll", "search", "startsWith"];

/** Methods of a string that return a part of it, or another form. */
const PARTS = ["at", "replace", "replaceAll", "slice", "split", "substring", "toLowerCase", "toUpperCase", "trim"];

/** Properties and variables with the text of an error. */
const TEXT = /^(?:message|stderr)$/;

/** Variables with an error. */
const ERROR = /^(?:cause|e|err|error|exception|failure|thrown)$/;

const ADVICE = "Check the class or the code of the error. The text of a message may change";

/** The plugin for `deno lint`. */
const plugin: Deno.lint.Plugin = {
  name: "errors",
  rules: {
    "no-message-matching": {
      create(context: Deno.lint.RuleContext): Deno.lint.LintVisitor {
        const file = context.filename.startsWith(ROOT) ? context.filename.slice(ROOT.length) : context.filename;
        if (!isChecked(file)) return {};
        // Variables that contain a message, such as `reason` after `const reason = error.message`.
        const names = new Set<string>();
        const isMessage = (node: Deno.lint.Node): boolean => hasMessage(node, names);
        const isExempt = EXEMPT[file] !== undefined;
        let decisions = 0;
        const report = (node: Deno.lint.Node): void => {
          decisions++;
          if (!isExempt) context.report({ node, message: ADVICE });
        };
        return {
          "Program:exit"(node) {
            if (isExempt && decisions === 0) context.report({ node, message: `Remove "${file}" from EXEMPT` });
          },
          VariableDeclarator({ id, init }) {
            if (id.type === "Identifier" && init && isMessage(init)) names.add(id.name);
            if (id.type !== "ObjectPattern") return;
            for (const property of id.properties) {
              if (property.type !== "Property" || property.key.type !== "Identifier") continue;
              const name = property.value.type === "AssignmentPattern" ? property.value.left : property.value;
              if (TEXT.test(property.key.name) && name.type === "Identifier") names.add(name.name);
            }
          },
          CallExpression(node) {
            const { arguments: [argument] } = node;
            const callee = unchained(node.callee);
            if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return;
            const method = callee.property.name;
            if (SEARCHES.includes(method) && isMessage(callee.object)) report(node);
            if (["exec", "test"].includes(method) && argument !== undefined && isMessage(argument)) report(node);
          },
          BinaryExpression(node) {
            const { left, right, operator } = node;
            if (!/^[!=]==?$/.test(operator)) return;
            if ((isText(left) && isMessage(right)) || (isText(right) && isMessage(left))) report(node);
          },
          SwitchStatement(node) {
            if (isMessage(node.discriminant)) report(node);
          },
        };
      },
    },
  },
};
export default plugin;

/** Tests may check messages. */
function isChecked(file: string): boolean {
  return /^(?:src|cli|examples|templates)\//.test(file) && !/_test\.tsx?$/.test(file);
}

/** Returns whether an expression has the text of an error. */
function hasMessage(node: Deno.lint.Node, names: ReadonlySet<string>): boolean {
  const isMessage = (inner: Deno.lint.Node) => hasMessage(inner, names);
  switch (node.type) {
    case "Identifier":
      return TEXT.test(node.name) || names.has(node.name);
    case "ChainExpression":
    case "TSAsExpression":
    case "TSNonNullExpression":
      return isMessage(node.expression);
    case "ConditionalExpression":
      return isMessage(node.consequent) || isMessage(node.alternate);
    case "LogicalExpression":
      return isMessage(node.left) || isMessage(node.right);
    case "TemplateLiteral":
      return node.expressions.some(isMessage);
    case "MemberExpression":
      return node.property.type === "Identifier" && !node.computed && TEXT.test(node.property.name);
    case "CallExpression": {
      const { arguments: [argument] } = node;
      const callee = unchained(node.callee);
      if (callee.type === "Identifier") return callee.name === "String" && argument !== undefined && isError(argument);
      if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return false;
      const { name } = callee.property;
      return (name === "toString" && isError(callee.object)) || (PARTS.includes(name) && isMessage(callee.object));
    }
    default:
      return false;
  }
}

/** Returns the expression of an optional chain, such as `error?.message`. */
function unchained(node: Deno.lint.Node): Deno.lint.Node {
  return node.type === "ChainExpression" ? node.expression : node;
}

/** Returns whether an expression is a string that is not empty. */
function isText(node: Deno.lint.Node): boolean {
  return node.type === "Literal" && typeof node.value === "string" && node.value !== "";
}

function isError(node: Deno.lint.Node): boolean {
  return node.type === "Identifier" && ERROR.test(node.name);
}
