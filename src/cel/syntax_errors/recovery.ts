/**
 * Reads text that does not fit the grammar: tells what is wrong, skips or makes up a token, and goes on, as parsers do that ANTLR generates (its
 * `DefaultErrorStrategy`).
 */
import type { Token, TokenKind } from "../lexer.ts";
import type { RuleName } from "./grammar.ts";
import { type Calls, followOf, listed, nextTokens, nextWithinRule } from "./lookahead.ts";
import type { Network, Node, State } from "./network.ts";
import { NoWay, predict } from "./prediction.ts";
import type { TokenSource } from "./tokens.ts";

/** What was read of a rule. */
export interface Tree {
  readonly rule: RuleName;
  /** Where it begins. */
  readonly offset: number;
  /** Which alternative it is, from 0; nothing where that is not known. */
  readonly alternative: number | undefined;
  readonly tokens: readonly Token[];
  readonly trees: readonly Tree[];
}

/** Gets the mistakes. */
export type Listener = (offset: number, message: string) => void;

/** There is no going on. */
export class GivesUp extends Error {
  override name = "GivesUp";
  /** @param isTold Whether the listener knows already. */
  constructor(message: string, readonly isTold: boolean) {
    super(message);
  }
}

// As cel-go sets them: how often it goes on after a mistake, and how many tokens it skips then.
const MOST_RECOVERIES = 30;
const MOST_SKIPPED = 256;

/** Reads tokens by the grammar. */
export function readTolerantly(
  network: Network,
  tokens: TokenSource,
  listener: Listener,
): Tree {
  return new Reader(network, tokens, listener).read();
}

/** A rule that cannot go on. */
class Stuck extends Error {
  override name = "Stuck";
  constructor(message: string, readonly offset: number) {
    super(message);
  }
}

interface OpenTree {
  readonly rule: RuleName;
  readonly offset: number;
  alternative: number | undefined;
  readonly tokens: Token[];
  readonly trees: Tree[];
}

class Reader {
  readonly #network: Network;
  readonly #tokens: TokenSource;
  readonly #listener: Listener;
  #at = 0;
  #state: State;
  #calls: Calls | undefined;
  #precedences: number[] = [];
  #isRecovering = false;
  #lastMistake = -1;
  #statesOfMistake = new Set<State>();
  #recoveries = 0;

  constructor(network: Network, tokens: TokenSource, listener: Listener) {
    this.#network = network;
    this.#tokens = tokens;
    this.#listener = listener;
    this.#state = network.start.start;
  }

  read(): Tree {
    return this.#rule("start", 0);
  }

  #rule(rule: RuleName, precedence: number): Tree {
    const { body, start } = this.#network[rule];
    const tree: OpenTree = { rule, offset: this.#peek().offset, alternative: undefined, tokens: [], trees: [] };
    const isOperators = body.part.kind === "operators";
    if (isOperators) this.#precedences.push(precedence);
    this.#state = start;
    let result: Tree = tree;
    try {
      if (isOperators) this.#operators(body, tree, (grown) => result = grown);
      else this.#read(body, tree);
    } catch (error) {
      if (!(error instanceof Stuck)) throw error;
      this.#tell(error.offset, error.message);
      this.#recover();
    }
    if (isOperators) this.#precedences.pop();
    return result;
  }

  #read(node: Node, tree: OpenTree): void {
    const { part, children } = node;
    switch (part.kind) {
      case "token":
        tree.tokens.push(this.#match(node));
        return;
      case "rule":
        this.#call(node, tree);
        return;
      case "sequence":
        for (const child of children) this.#read(child, tree);
        return;
      case "choice":
        this.#at_(node.left);
        this.#sync();
        this.#choose(node, tree, part.isPredicted);
        return;
      case "optional":
        this.#at_(node.left);
        this.#sync();
        if (this.#fits(children[0]!)) this.#read(children[0]!, tree);
        return;
      case "any":
        this.#any(node, tree, part.isPredicted);
        return;
      case "some":
        this.#some(node, tree, part.isPredicted);
        return;
      case "operators":
        throw new TypeError("Cannot read operators inside of a rule: the grammar has them as whole rules only");
    }
  }

  #call(node: Node, tree: OpenTree): void {
    if (node.part.kind !== "rule") return;
    this.#at_(node.left);
    const outer = this.#calls;
    this.#calls = { caller: node.left, outer };
    tree.trees.push(this.#rule(node.part.rule, node.part.precedence));
    this.#calls = outer;
    this.#state = node.left;
  }

  #choose(node: Node, tree: OpenTree, isPredicted: boolean): void {
    let index: number;
    if (isPredicted) index = this.#predict(node.left) - 1;
    else {
      index = node.children.findIndex((child) => this.#fits(child));
      if (index < 0) throw this.#noWay(0);
    }
    tree.alternative = index;
    this.#read(node.children[index]!, tree);
  }

  #any(node: Node, tree: OpenTree, isPredicted: boolean): void {
    const [child] = node.children;
    this.#at_(node.decision);
    this.#sync();
    while (isPredicted ? this.#predict(node.decision) === 1 : this.#fits(child!)) {
      this.#read(child!, tree);
      this.#at_(node.again);
      this.#sync();
    }
  }

  #some(node: Node, tree: OpenTree, isPredicted: boolean): void {
    const [child] = node.children;
    this.#at_(node.left);
    this.#sync();
    do {
      this.#read(child!, tree);
      this.#at_(node.again);
      this.#sync();
    } while (isPredicted ? this.#predict(node.again) === 1 : this.#fits(child!));
  }

  /** @param grow Called with what there is so far, each time that it grows. */
  #operators(node: Node, first: OpenTree, grow: (tree: Tree) => void): void {
    const [start, ...others] = node.children;
    this.#read(start!, first);
    let tree = first;
    this.#at_(node.decision);
    this.#sync();
    while (this.#predict(node.decision) === 1) {
      let index = 0;
      if (others.length > 1) {
        this.#at_(node.inner);
        this.#sync();
        index = this.#predict(node.inner) - 1;
      }
      tree = { rule: tree.rule, offset: tree.offset, alternative: index, tokens: [], trees: [tree] };
      grow(tree);
      this.#read(others[index]!, tree);
      this.#at_(node.again);
      this.#sync();
    }
  }

  #at_(state: State): void {
    this.#state = state;
  }

  #peek(ahead = 0): Token {
    return this.#tokens.at(this.#at + ahead);
  }

  #consume(): Token {
    const token = this.#peek();
    if (token.kind !== "end") this.#at++;
    return token;
  }

  #fits(node: Node): boolean {
    return nextWithinRule(node.left).tokens.has(this.#peek().kind);
  }

  #predict(decision: State): number {
    const way = predict(decision, {
      network: this.#network,
      token: (ahead) => this.#peek(ahead).kind,
      calls: this.#calls,
      precedence: this.#precedences.at(-1) ?? 0,
    });
    if (way instanceof NoWay) throw this.#noWay(way.at);
    return way;
  }

  #noWay(ahead: number): Stuck {
    const [first, last] = [this.#peek(), this.#peek(ahead)];
    const input = first.kind === "end" ? "<EOF>" : this.#tokens.textOf(first, last);
    return new Stuck(`no viable alternative at input ${quoted(input)}`, last.offset);
  }

  #mismatch(): Stuck {
    const expected = nextTokens(this.#state, this.#calls);
    const token = this.#peek();
    return new Stuck(`mismatched input ${quoted(token.text)} expecting ${listed(expected)}`, token.offset);
  }

  #match(node: Node): Token {
    this.#at_(node.left);
    const token = this.#peek();
    if (nextWithinRule(node.left).tokens.has(token.kind)) {
      this.#recovered();
      return this.#consume();
    }
    this.#countRecovery();
    if (this.#deletes()) return this.#consume();
    if (nextTokens(node.right, this.#calls).has(token.kind)) {
      this.#tellMissing(token);
      return { kind: "missing", text: "<missing undefined>", offset: token.offset };
    }
    throw this.#mismatch();
  }

  #tellMissing(token: Token): void {
    const expected = listed(nextTokens(this.#state, this.#calls));
    this.#tell(token.offset, `missing ${expected} at ${quoted(token.text)}`);
  }

  /** Skips a token that has no place here, where the one after it has. */
  #deletes(): boolean {
    if (!nextTokens(this.#state, this.#calls).has(this.#peek(1).kind)) return false;
    this.#tellUnwanted();
    this.#consume();
    this.#recovered();
    return true;
  }

  #tellUnwanted(): void {
    const token = this.#peek();
    const expected = listed(nextTokens(this.#state, this.#calls));
    this.#tell(token.offset, `extraneous input ${quoted(token.text)} expecting ${expected}`);
  }

  /** Before a decision: what cannot be meant here is told of at once. */
  #sync(): void {
    if (this.#isRecovering) return;
    const next = nextWithinRule(this.#state);
    if (next.mayEnd || next.tokens.has(this.#peek().kind)) return;
    if (this.#state.role === "block") {
      if (!this.#deletes()) throw this.#mismatch();
    } else if (this.#state.role === "loop") {
      this.#tellUnwanted();
      const wanted = new Set([...nextTokens(this.#state, this.#calls), ...this.#recoverySet()]);
      this.#skipTo(wanted, Infinity);
    }
  }

  /** One mistake is told of until a token fits again. */
  #tell(offset: number, message: string): void {
    if (this.#isRecovering) return;
    this.#isRecovering = true;
    this.#listener(offset, message);
  }

  #recovered(): void {
    this.#isRecovering = false;
    this.#lastMistake = -1;
    this.#statesOfMistake.clear();
  }

  #recover(): void {
    this.#countRecovery();
    let skipped = 0;
    if (this.#lastMistake === this.#at && this.#statesOfMistake.has(this.#state)) {
      this.#consume();
      skipped++;
    }
    this.#lastMistake = this.#at;
    this.#statesOfMistake.add(this.#state);
    this.#skipTo(this.#recoverySet(), MOST_SKIPPED - skipped);
  }

  #countRecovery(): void {
    if (this.#recoveries++ < MOST_RECOVERIES) return;
    const message = `error recovery attempt limit exceeded: ${MOST_RECOVERIES}`;
    this.#listener(this.#peek().offset, message);
    throw new GivesUp(message, true);
  }

  /** All that may follow one of the rules that are open. */
  #recoverySet(): ReadonlySet<TokenKind> {
    const tokens = new Set<TokenKind>();
    for (let open = this.#calls; open !== undefined; open = open.outer) {
      for (const token of nextWithinRule(followOf(open.caller)).tokens) tokens.add(token);
    }
    return tokens;
  }

  #skipTo(tokens: ReadonlySet<TokenKind>, most: number): void {
    for (let skipped = 0; this.#peek().kind !== "end" && !tokens.has(this.#peek().kind); skipped++) {
      if (skipped >= most) {
        throw new GivesUp(`error recovery token lookahead limit exceeded: ${MOST_SKIPPED}`, false);
      }
      this.#consume();
    }
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("\t", "\\t").replaceAll("\n", "\\n").replaceAll("\r", "\\r")}'`;
}
