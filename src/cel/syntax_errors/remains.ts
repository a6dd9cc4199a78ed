/** What else is wrong with what could be read of a text that does not fit the grammar: reserved words, macros (cel-go, parser/parser.go). */
import type { Token } from "../lexer.ts";
import { type Macro, MacroError, MacroSite } from "../macro.ts";
import { macroKey } from "../parser.ts";
import { literalValue, RESERVED } from "../literal.ts";
import type { Issues } from "../source.ts";
import { type Expression, NodeFactory } from "../syntax_tree.ts";
import type { Tree } from "./recovery.ts";

/** Notes what else is wrong. */
export function checkRemains(tree: Tree, macros: ReadonlyMap<string, Macro>, issues: Issues): void {
  new Remains(macros, issues).visit(tree);
}

// Where cel-go has nothing that it could tell the place of.
const NOWHERE = -1;

class Remains {
  readonly #macros: ReadonlyMap<string, Macro>;
  readonly #issues: Issues;
  readonly #factory = new NodeFactory();

  constructor(macros: ReadonlyMap<string, Macro>, issues: Issues) {
    this.#macros = macros;
    this.#issues = issues;
  }

  visit(tree: Tree | undefined): Expression {
    if (tree === undefined) return this.#factory.broken(NOWHERE);
    switch (tree.rule) {
      case "member":
        return this.#member(tree);
      case "primary":
        return this.#primary(tree);
      case "literal":
        return this.#literal(tree);
      case "unary":
        return this.#unary(tree);
      default:
        return this.#operation(tree);
    }
  }

  /** A rule without its operator is what is in it. */
  #operation(tree: Tree): Expression {
    const operands = tree.trees.map((each) => this.visit(each));
    const operators = tree.tokens.filter(({ kind }) => kind !== "end");
    // Of a chain of `&&` or `||` the one in the middle is on top.
    const isChain = tree.rule === "or" || tree.rule === "and";
    const operator = operators[isChain ? Math.floor(operators.length / 2) : 0];
    if (operator !== undefined) return this.#factory.call(operator.offset, "", operands);
    return operands[0] ?? this.#factory.broken(tree.offset);
  }

  #unary(tree: Tree): Expression {
    const operand = this.visit(tree.trees[0]);
    if (tree.alternative === undefined) return this.#factory.literal(tree.offset, "");
    const [operator, ...others] = tree.tokens;
    return operator === undefined || others.length % 2 === 1
      ? operand
      : this.#factory.call(operator.offset, "", [operand]);
  }

  #member(tree: Tree): Expression {
    const [first, second] = tree.trees;
    if (tree.alternative === undefined) return this.visit(first);
    const target = this.visit(first);
    const offset = tree.tokens[0]?.offset ?? tree.offset;
    switch (tree.alternative) {
      case 0:
        if (second === undefined) return this.#factory.broken(offset);
        this.#name(second, second.offset);
        return tree.tokens.length > 1
          ? this.#factory.call(offset, "_?._", [target])
          : this.#factory.select(offset, target, "");
      case 1: {
        const [, name, open] = tree.tokens;
        if (name === undefined) return this.#factory.broken(offset);
        return this.#call(name, open, second, target);
      }
      default:
        return this.#factory.call(offset, "_[_]", [target, this.visit(second)]);
    }
  }

  /** @param offset Where a name that is none is told of. */
  #name(tree: Tree, offset: number): void {
    if (tree.alternative === 0) return;
    this.#issues.add(offset, tree.alternative === 1 ? "unsupported syntax: '`'" : "unsupported ident kind");
  }

  #primary(tree: Tree): Expression {
    const { tokens, trees } = tree;
    const offset = tokens.find(({ kind }) => kind === "{" || kind === "[")?.offset ?? tree.offset;
    switch (tree.alternative) {
      case 0:
        return this.#identifier(tree);
      case 1:
        return this.#globalCall(tree);
      case 2:
        return this.visit(trees[0]);
      case 3:
        return this.#factory.list(offset, (trees[0]?.trees ?? []).map((item) => this.visit(item.trees[0])));
      case 4:
        this.#entries(trees[0]);
        return this.#factory.map(offset, []);
      case 5:
        this.#fields(trees[0], tree.offset);
        return this.#factory.struct(offset, "", []);
      case 6:
        return this.visit(trees[0]);
      default:
        return this.#factory.broken(NOWHERE);
    }
  }

  #identifier({ offset, tokens }: Tree): Expression {
    const name = tokens.find(({ kind }) => kind !== ".");
    if (name === undefined || this.#isReserved(name, offset)) return this.#factory.broken(offset);
    return this.#factory.identifier(name.offset, name.text);
  }

  #globalCall({ offset, tokens, trees }: Tree): Expression {
    const [name, open] = tokens.filter(({ kind }) => kind !== ".");
    if (name === undefined || this.#isReserved(name, offset)) return this.#factory.broken(offset);
    return this.#call(name, open, trees[0], undefined);
  }

  #isReserved({ text }: Token, offset: number): boolean {
    if (!RESERVED.has(text)) return false;
    this.#issues.add(offset, `reserved identifier: ${text}`);
    return true;
  }

  #call(name: Token, open: Token | undefined, operands: Tree | undefined, target: Expression | undefined): Expression {
    const given = (operands?.trees ?? []).map((operand) => this.visit(operand));
    const offset = open?.offset ?? name.offset;
    const macro = this.#macros.get(macroKey(name.text, given.length, target !== undefined));
    if (macro === undefined) return this.#factory.call(offset, name.text, given, target);
    try {
      return macro.expand(new MacroSite(this.#factory, offset), given, target);
    } catch (error) {
      if (!(error instanceof MacroError)) throw error;
      this.#issues.add(error.offset, error.message);
      return this.#factory.broken(offset);
    }
  }

  #entries(tree: Tree | undefined): void {
    for (const { key, value } of pairs(tree)) {
      this.visit(key.trees[0]);
      this.visit(value);
    }
  }

  #fields(tree: Tree | undefined, offset: number): void {
    for (const { key, value } of pairs(tree)) {
      const [name] = key.trees;
      if (name !== undefined) this.#name(name, tree?.offset ?? offset);
      this.visit(value);
    }
  }

  #literal(tree: Tree): Expression {
    const isNegative = tree.tokens[0]?.kind === "-";
    const token = tree.tokens[isNegative ? 1 : 0];
    if (token === undefined) return this.#factory.broken(NOWHERE);
    const value = literalValue(token, isNegative, tree.offset, this.#issues);
    return value === undefined ? this.#factory.broken(tree.offset) : this.#factory.literal(tree.offset, value);
  }
}

/** Keys and values of a list of them, up to where one is missing. */
function pairs(tree: Tree | undefined): readonly { readonly key: Tree; readonly value: Tree }[] {
  if (tree === undefined) return [];
  const colons = tree.tokens.filter(({ kind }) => kind === ":" || kind === "missing").length;
  const found = [];
  for (let i = 0; i < colons; i++) {
    const [key, value] = tree.trees.slice(2 * i);
    if (key === undefined || value === undefined) break;
    found.push({ key, value });
  }
  return found;
}
