/**
 * The grammar of expressions as data, for the text of messages about what does not fit it (cel-go, parser/gen/CEL.g4). `parser.ts` is what reads expressions
 * that do.
 */
import type { TokenKind } from "../lexer.ts";

/** The rules. */
export type RuleName =
  | "start"
  | "expression"
  | "or"
  | "and"
  | "relation"
  | "calculation"
  | "unary"
  | "member"
  | "primary"
  | "expressions"
  | "items"
  | "fields"
  | "field"
  | "entries"
  | "name"
  | "item"
  | "literal";

/** What rules are made of. Those that are `predicted` need more than the next token to decide. */
export type Part =
  | { readonly kind: "token"; readonly tokens: readonly TokenKind[] }
  | { readonly kind: "rule"; readonly rule: RuleName; readonly precedence: number }
  | { readonly kind: "sequence"; readonly parts: readonly Part[] }
  | { readonly kind: "choice"; readonly alternatives: readonly Part[]; readonly isPredicted: boolean }
  | { readonly kind: "optional"; readonly part: Part }
  /** None or more. */
  | { readonly kind: "any"; readonly part: Part; readonly isPredicted: boolean }
  /** One or more. */
  | { readonly kind: "some"; readonly part: Part; readonly isPredicted: boolean }
  /** Binary operators: `first`, and then any of the others, as tight as their precedences say. */
  | { readonly kind: "operators"; readonly first: Part; readonly others: readonly Operator[] };

/** What may follow the first operand, and how tight it binds. */
export interface Operator {
  readonly precedence: number;
  readonly part: Part;
}

/** All tokens, in the order in which messages list them. */
export const TOKENS: readonly TokenKind[] = [
  "end",
  "==",
  "!=",
  "in",
  "<",
  "<=",
  ">=",
  ">",
  "&&",
  "||",
  "[",
  "]",
  "{",
  "}",
  "(",
  ")",
  ".",
  ",",
  "-",
  "!",
  "?",
  ":",
  "+",
  "*",
  "/",
  "%",
  "true",
  "false",
  "null",
  "float",
  "int",
  "uint",
  "string",
  "bytes",
  "identifier",
  "escaped",
];

function part(of: Part | TokenKind): Part {
  return typeof of === "string" ? { kind: "token", tokens: [of] } : of;
}

function oneOf(...tokens: readonly TokenKind[]): Part {
  return { kind: "token", tokens };
}

function rule(name: RuleName, precedence = 0): Part {
  return { kind: "rule", rule: name, precedence };
}

function sequence(...parts: readonly (Part | TokenKind)[]): Part {
  return { kind: "sequence", parts: parts.map(part) };
}

function choice(isPredicted: boolean, ...alternatives: readonly (Part | TokenKind)[]): Part {
  return { kind: "choice", alternatives: alternatives.map(part), isPredicted };
}

function optional(...parts: readonly (Part | TokenKind)[]): Part {
  return { kind: "optional", part: sequence(...parts) };
}

function any(isPredicted: boolean, ...parts: readonly (Part | TokenKind)[]): Part {
  return { kind: "any", part: sequence(...parts), isPredicted };
}

function some(isPredicted: boolean, of: Part | TokenKind): Part {
  return { kind: "some", part: part(of), isPredicted };
}

function operators(first: Part, ...others: readonly Operator[]): Part {
  return { kind: "operators", first, others };
}

/** The grammar. */
export const GRAMMAR: { readonly [name in RuleName]: Part } = {
  start: sequence(rule("expression"), "end"),
  expression: sequence(rule("or"), optional("?", rule("or"), ":", rule("expression"))),
  or: sequence(rule("and"), any(false, "||", rule("and"))),
  and: sequence(rule("relation"), any(false, "&&", rule("relation"))),
  relation: operators(rule("calculation"), {
    precedence: 1,
    part: sequence(oneOf("<", "<=", ">=", ">", "==", "!=", "in"), rule("relation", 2)),
  }),
  calculation: operators(
    rule("unary"),
    { precedence: 2, part: sequence(oneOf("*", "/", "%"), rule("calculation", 3)) },
    { precedence: 1, part: sequence(oneOf("+", "-"), rule("calculation", 2)) },
  ),
  unary: choice(
    true,
    rule("member"),
    sequence(some(false, "!"), rule("member")),
    sequence(some(true, "-"), rule("member")),
  ),
  member: operators(
    rule("primary"),
    { precedence: 3, part: sequence(".", optional("?"), rule("name")) },
    { precedence: 2, part: sequence(".", "identifier", "(", optional(rule("expressions")), ")") },
    { precedence: 1, part: sequence("[", optional("?"), rule("expression"), "]") },
  ),
  primary: choice(
    true,
    sequence(optional("."), "identifier"),
    sequence(optional("."), "identifier", "(", optional(rule("expressions")), ")"),
    sequence("(", rule("expression"), ")"),
    sequence("[", optional(rule("items")), optional(","), "]"),
    sequence("{", optional(rule("entries")), optional(","), "}"),
    sequence(
      optional("."),
      "identifier",
      any(false, ".", "identifier"),
      "{",
      optional(rule("fields")),
      optional(","),
      "}",
    ),
    rule("literal"),
  ),
  expressions: sequence(rule("expression"), any(false, ",", rule("expression"))),
  items: sequence(rule("item"), any(true, ",", rule("item"))),
  fields: sequence(
    rule("field"),
    ":",
    rule("expression"),
    any(true, ",", rule("field"), ":", rule("expression")),
  ),
  field: sequence(optional("?"), rule("name")),
  entries: sequence(
    rule("item"),
    ":",
    rule("expression"),
    any(true, ",", rule("item"), ":", rule("expression")),
  ),
  name: choice(false, "identifier", "escaped"),
  item: sequence(optional("?"), rule("expression")),
  literal: choice(
    true,
    sequence(optional("-"), "int"),
    "uint",
    sequence(optional("-"), "float"),
    "string",
    "bytes",
    "true",
    "false",
    "null",
  ),
};
