/**
 * Parses an expression into a syntax tree and expands macros (cel-go, parser/parser.go and
 * parser/gen/CEL.g4). The parser stops at the first syntax error. It reports all other errors, such
 * as reserved words.
 */
import type { Token } from "./lexer.ts";
import { literalValue, RESERVED } from "./literal.ts";
import { type Macro, MacroError, MacroSite } from "./macro.ts";
import type { Issues } from "./source.ts";
import { type Expression, type MapEntry, NodeFactory, type StructField } from "./syntax_tree.ts";
import { GrammarError } from "./grammar_error.ts";
import { TokenStream } from "./token_stream.ts";

/** A syntax tree, and the number of node ids in it. */
export interface Parsed {
  readonly root: Expression;
  readonly ids: number;
}

// Maximum length of an expression, in code points.
const MAX_LENGTH = 100_000;
// Maximum recursion of a grammar rule, and maximum height of a tree.
const MAX_DEPTH = 250;

/**
 * Parses an expression.
 *
 * @param text The expression.
 * @param macros The macros, by {@linkcode macroKey}.
 * @param issues Receives the errors.
 * @returns The tree, or `undefined` if there are errors.
 */
export function parse(text: string, macros: ReadonlyMap<string, Macro>, issues: Issues): Parsed | undefined {
  const size = text.length <= MAX_LENGTH ? text.length : [...text].length;
  if (size > MAX_LENGTH) {
    issues.add(undefined, `expression code point size exceeds limit: size: ${size}, limit ${MAX_LENGTH}`);
    return undefined;
  }
  try {
    const parser = new Parser(new TokenStream(text), macros, issues);
    const root = parser.parse();
    return issues.size === 0 ? { root, ids: parser.factory.size } : undefined;
  } catch (error) {
    if (error instanceof GrammarError) issues.add(error.offset, `Syntax error: ${error.message}`);
    else if (error instanceof LimitError) issues.add(undefined, error.message);
    else throw error;
    return undefined;
  }
}

/** Returns the key of a macro: a call matches it by name, number of operands and receiver. */
export function macroKey(name: string, operands: number, isMember: boolean): string {
  return `${name}:${operands}:${isMember}`;
}

class LimitError extends Error {
  override name = "LimitError";
}

const RELATIONS: ReadonlySet<string> = new Set(["<", "<=", ">=", ">", "==", "!=", "in"]);
const LITERALS: ReadonlySet<string> = new Set([
  "int",
  "uint",
  "float",
  "string",
  "bytes",
  "true",
  "false",
  "null",
]);
// Operator precedence.
const CALCULATIONS: ReadonlyMap<string, number> = new Map([["*", 2], ["/", 2], ["%", 2], ["+", 1], ["-", 1]]);

type Rule = "expression" | "relation" | "calculation" | "member";

class Parser {
  readonly factory = new NodeFactory();
  readonly #tokens: TokenStream;
  readonly #macros: ReadonlyMap<string, Macro>;
  readonly #issues: Issues;
  /** The recursion depth of each recursive rule. */
  readonly #depths: Record<Rule, number> = { expression: 0, relation: 0, calculation: 0, member: 0 };
  /** The height of each subtree by node id, counting the nodes that cel-go counts. */
  readonly #heights: number[] = [];

  constructor(tokens: TokenStream, macros: ReadonlyMap<string, Macro>, issues: Issues) {
    this.#tokens = tokens;
    this.#macros = macros;
    this.#issues = issues;
  }

  parse(): Expression {
    const root = this.#expression();
    this.#tokens.expect("end", "an operator or the end of the expression");
    if (this.#heightOf(root) > MAX_DEPTH) throw new LimitError("max recursion depth exceeded");
    return root;
  }

  #expression(): Expression {
    this.#enter("expression");
    const condition = this.#or();
    let result = condition;
    if (this.#tokens.is("?")) {
      const { offset } = this.#tokens.next();
      const then = this.#or();
      this.#tokens.expect(":");
      const otherwise = this.#expression();
      result = this.#call(offset, "_?_:_", [condition, then, otherwise], 1);
    }
    this.#leave("expression", 1);
    return result;
  }

  #or(): Expression {
    return this.#chain("||", "_||_", () => this.#chain("&&", "_&&_", () => this.#relation()));
  }

  #chain(operator: string, name: string, next: () => Expression): Expression {
    const terms = [next()];
    const offsets: number[] = [];
    while (this.#tokens.is(operator)) {
      offsets.push(this.#tokens.next().offset);
      terms.push(next());
    }
    return this.#balanced(name, terms, offsets, 0, offsets.length - 1);
  }

  /**
   * Balances long chains as cel-go does. The tree determines which operand is evaluated first, and
   * therefore the cost of a failure.
   */
  #balanced(
    name: string,
    terms: readonly Expression[],
    offsets: readonly number[],
    low: number,
    high: number,
  ): Expression {
    if (high < low) return terms[low]!;
    const middle = Math.floor((low + high + 1) / 2);
    const left = this.#balanced(name, terms, offsets, low, middle - 1);
    const right = this.#balanced(name, terms, offsets, middle + 1, high);
    return this.#call(offsets[middle]!, name, [left, right], 0);
  }

  #relation(isOperand = false): Expression {
    this.#enter("relation");
    let left = this.#calculation(0);
    let entered = 1;
    while (!isOperand && RELATIONS.has(this.#tokens.peek().kind)) {
      this.#reenter("relation");
      entered++;
      const { offset, kind } = this.#tokens.next();
      const right = this.#relation(true);
      left = this.#call(offset, kind === "in" ? "@in" : `_${kind}_`, [left, right], 1);
    }
    this.#leave("relation", entered);
    return left;
  }

  #calculation(tightness: number): Expression {
    this.#enter("calculation");
    let left = this.#unary();
    let entered = 1;
    for (let binds; (binds = CALCULATIONS.get(this.#tokens.peek().kind)) !== undefined && binds >= tightness;) {
      this.#reenter("calculation");
      entered++;
      const { offset, kind } = this.#tokens.next();
      const right = this.#calculation(binds + 1);
      left = this.#call(offset, `_${kind}_`, [left, right], 1);
    }
    this.#leave("calculation", entered);
    return left;
  }

  #unary(): Expression {
    const operator = this.#tokens.peek();
    // A minus sign before a number is part of the number.
    const isSign = operator.kind === "-" && ["int", "float"].includes(this.#tokens.peek(1).kind);
    if ((operator.kind !== "!" && operator.kind !== "-") || isSign) return this.#member();
    let count = 0;
    for (; this.#tokens.is(operator.kind); count++) this.#tokens.next();
    const operand = this.#member();
    return count % 2 === 0 ? operand : this.#call(operator.offset, `${operator.kind}_`, [operand], 0);
  }

  #member(): Expression {
    this.#enter("member");
    let result = this.#primary();
    let entered = 1;
    while (this.#tokens.is(".") || this.#tokens.is("[")) {
      this.#reenter("member");
      entered++;
      const { kind, offset } = this.#tokens.next();
      const isOptional = this.#tokens.skip("?");
      result = kind === "[" ? this.#index(result, offset, isOptional) : this.#field(result, offset, isOptional);
    }
    this.#leave("member", entered);
    return result;
  }

  #index(target: Expression, offset: number, isOptional: boolean): Expression {
    const index = this.#expression();
    this.#tokens.expect("]");
    return this.#call(offset, isOptional ? "_[?_]" : "_[_]", [target, index], 1);
  }

  #field(target: Expression, offset: number, isOptional: boolean): Expression {
    const token = this.#tokens.next();
    if (token.kind !== "identifier" && token.kind !== "escaped") throw new GrammarError(token, "a field name");
    if (token.kind === "identifier" && !isOptional && this.#tokens.is("(")) {
      const open = this.#tokens.next().offset;
      const operands = this.#operands();
      return this.#macroOrCall(open, token.text, operands, target);
    }
    if (token.kind === "escaped") this.#issues.add(token.offset, "unsupported syntax: '`'");
    if (isOptional) {
      return this.#call(offset, "_?._", [target, this.factory.literal(token.offset, token.text)], 1);
    }
    return this.#withHeight(this.factory.select(offset, target, token.text), [target], 1);
  }

  #primary(): Expression {
    const token = this.#tokens.peek();
    switch (token.kind) {
      case ".":
      case "identifier":
        return this.#identifierOrCall();
      case "(": {
        this.#tokens.next();
        const inner = this.#expression();
        this.#tokens.expect(")");
        return inner;
      }
      case "[":
        return this.#list();
      case "{":
        return this.#map();
      default:
        return this.#literal();
    }
  }

  #identifierOrCall(): Expression {
    const start = this.#tokens.peek().offset;
    const isRooted = this.#tokens.skip(".");
    const token = this.#tokens.expect("identifier", "an identifier");
    const struct = this.#structName(isRooted, token);
    if (struct !== undefined) return this.#struct(struct);
    const isReserved = RESERVED.has(token.text);
    const name = isRooted ? `.${token.text}` : token.text;
    if (isReserved) this.#issues.add(start, `reserved identifier: ${token.text}`);
    if (!this.#tokens.is("(")) {
      return isReserved ? this.factory.broken(start) : this.factory.identifier(token.offset, name);
    }
    const { offset } = this.#tokens.next();
    const operands = this.#operands();
    return isReserved ? this.factory.broken(start) : this.#macroOrCall(offset, name, operands, undefined);
  }

  /**
   * Returns the type name before a `{` and skips its tokens. Returns `undefined`, without skipping,
   * if there is no `{`.
   */
  #structName(isRooted: boolean, first: Token): string | undefined {
    let name = isRooted ? `.${first.text}` : first.text;
    let ahead = 0;
    for (; this.#tokens.peek(ahead).kind === "." && this.#tokens.peek(ahead + 1).kind === "identifier"; ahead += 2) {
      name += `.${this.#tokens.peek(ahead + 1).text}`;
    }
    if (this.#tokens.peek(ahead).kind !== "{") return undefined;
    this.#tokens.advance(ahead);
    return name;
  }

  #struct(name: string): Expression {
    const { offset } = this.#tokens.expect("{");
    const fields: StructField[] = [];
    while (!this.#closes("}", fields.length)) {
      const isOptional = this.#tokens.skip("?");
      const field = this.#tokens.next();
      if (field.kind !== "identifier" && field.kind !== "escaped") throw new GrammarError(field, "a field name");
      if (field.kind === "escaped") this.#issues.add(field.offset, "unsupported syntax: '`'");
      const colon = this.#tokens.expect(":");
      fields.push({ offset: colon.offset, name: field.text, value: this.#expression(), isOptional });
    }
    const values = fields.map((field) => field.value);
    return this.#withHeight(this.factory.struct(offset, name, fields), values, 0);
  }

  #operands(): readonly Expression[] {
    const operands: Expression[] = [];
    if (this.#tokens.skip(")")) return operands;
    do operands.push(this.#expression()); while (this.#tokens.skip(","));
    this.#tokens.expect(")", '"," or ")"');
    return operands;
  }

  #list(): Expression {
    const { offset } = this.#tokens.next();
    const items: Expression[] = [];
    const optionals: number[] = [];
    while (!this.#closes("]", items.length)) {
      if (this.#tokens.skip("?")) optionals.push(items.length);
      items.push(this.#expression());
    }
    return this.#withHeight(this.factory.list(offset, items, optionals), items, 0);
  }

  #map(): Expression {
    const { offset } = this.#tokens.next();
    const entries: MapEntry[] = [];
    while (!this.#closes("}", entries.length)) {
      const isOptional = this.#tokens.skip("?");
      const key = this.#expression();
      this.#tokens.expect(":");
      entries.push({ key, value: this.#expression(), isOptional });
    }
    const parts = entries.flatMap((entry) => [entry.key, entry.value]);
    return this.#withHeight(this.factory.map(offset, entries), parts, 0);
  }

  /**
   * Returns whether an aggregate ends here. A comma may precede the end, even in an empty
   * aggregate.
   */
  #closes(end: string, before: number): boolean {
    if (this.#tokens.skip(end)) return true;
    if (before > 0) this.#tokens.expect(",", `"," or "${end}"`);
    else if (!this.#tokens.skip(",")) return false;
    else return this.#tokens.expect(end) !== undefined;
    return this.#tokens.skip(end);
  }

  #literal(): Expression {
    const sign = this.#tokens.is("-") ? this.#tokens.next() : undefined;
    const token = this.#tokens.next();
    const isLiteral = sign === undefined ? LITERALS.has(token.kind) : token.kind === "int" || token.kind === "float";
    if (!isLiteral) throw new GrammarError(token, "an expression");
    const offset = sign?.offset ?? token.offset;
    const value = literalValue(token, sign !== undefined, offset, this.#issues);
    return value === undefined ? this.factory.broken(offset) : this.factory.literal(offset, value);
  }

  #macroOrCall(
    offset: number,
    name: string,
    operands: readonly Expression[],
    target: Expression | undefined,
  ): Expression {
    const children = target === undefined ? operands : [target, ...operands];
    const isCounted = target === undefined ? 0 : 1;
    const macro = this.#macros.get(macroKey(name, operands.length, target !== undefined));
    if (macro === undefined) {
      return this.#withHeight(this.factory.call(offset, name, operands, target), children, isCounted);
    }
    try {
      const expanded = macro.expand(new MacroSite(this.factory, offset), operands, target);
      return this.#withHeight(expanded, children, isCounted);
    } catch (error) {
      if (!(error instanceof MacroError)) throw error;
      this.#issues.add(error.offset, error.message);
      return this.factory.broken(offset);
    }
  }

  #call(offset: number, name: string, operands: readonly Expression[], isCounted: 0 | 1): Expression {
    return this.#withHeight(this.factory.call(offset, name, operands), operands, isCounted);
  }

  #withHeight(node: Expression, children: readonly Expression[], isCounted: 0 | 1): Expression {
    let height = 0;
    for (const child of children) height = Math.max(height, this.#heightOf(child));
    this.#heights[node.id] = height + isCounted;
    return node;
  }

  #heightOf(node: Expression): number {
    return this.#heights[node.id] ?? 0;
  }

  #enter(rule: Rule): void {
    if (++this.#depths[rule] > MAX_DEPTH) throw new LimitError(`expression recursion limit exceeded: ${MAX_DEPTH}`);
  }

  /**
   * Reproduces cel-go's recursion count, which is too low: cel-go leaves and re-enters the rule for
   * each operator, and then leaves it once more for each operator at the end.
   */
  #reenter(rule: Rule): void {
    this.#leave(rule, 1);
    this.#enter(rule);
  }

  #leave(rule: Rule, times: number): void {
    this.#depths[rule] = Math.max(0, this.#depths[rule] - times);
  }
}
