/** The grammar as a network of states, as parsers that ANTLR generates have it. */
import type { TokenKind } from "../lexer.ts";
import { GRAMMAR, type Operator, type Part, type RuleName } from "./grammar.ts";

/** A state of the network. */
export interface State {
  readonly id: number;
  readonly rule: RuleName;
  /** What a parser does here when it cannot go on: at the start of a `block` it gives up, after a turn of a `loop` it skips what does not fit. */
  readonly role: "plain" | "block" | "loop" | "stop";
  /** Where a rule decides by precedence whether to go on. */
  readonly isPrecedenceDecision: boolean;
  readonly edges: Edge[];
}

/** A way from a state to another one. */
export type Edge =
  | { readonly kind: "empty"; readonly to: State }
  | { readonly kind: "tokens"; readonly tokens: ReadonlySet<TokenKind>; readonly to: State }
  | { readonly kind: "precedence"; readonly precedence: number; readonly to: State }
  | { readonly kind: "call"; readonly to: State; readonly follow: State; readonly precedence: number }
  /** From the end of a rule to after one of its calls. */
  | { readonly kind: "return"; readonly to: State; readonly isOutermost: boolean };

/** A part of the grammar, and its states. */
export interface Node {
  readonly part: Part;
  readonly left: State;
  readonly right: State;
  /** The parts of it. */
  readonly children: readonly Node[];
  /** Where it decides what to do, and where again after each turn. */
  readonly decision: State;
  readonly again: State;
  /** For `operators`: where it decides which one. */
  readonly inner: State;
}

/** A rule of the network. */
export interface RuleNode {
  readonly start: State;
  readonly stop: State;
  readonly body: Node;
}

/** All rules. */
export type Network = { readonly [name in RuleName]: RuleNode };

/** Builds the network. */
export function buildNetwork(): Network {
  return new Builder().build();
}

class Builder {
  #states = 0;
  readonly #rules = new Map<RuleName, RuleNode>();
  readonly #ends = new Map<RuleName, { readonly start: State; readonly stop: State }>();
  /** Edges that are drawn once all states are there. */
  readonly #pending: (() => void)[] = [];

  build(): Network {
    const names = Object.keys(GRAMMAR) as RuleName[];
    for (const name of names) {
      this.#ends.set(name, { start: this.#state(name), stop: this.#state(name, "stop") });
    }
    for (const name of names) {
      const { start, stop } = this.#ends.get(name)!;
      const body = this.#node(GRAMMAR[name], name);
      start.edges.push({ kind: "empty", to: body.left });
      body.right.edges.push({ kind: "empty", to: stop });
      this.#rules.set(name, { start, stop, body });
    }
    for (const draw of this.#pending) draw();
    return Object.fromEntries(this.#rules) as Network;
  }

  #state(rule: RuleName, role: State["role"] = "plain", isPrecedenceDecision = false): State {
    return { id: this.#states++, rule, role, isPrecedenceDecision, edges: [] };
  }

  #node(part: Part, rule: RuleName): Node {
    switch (part.kind) {
      case "token":
        return this.#token(part, part.tokens, rule);
      case "rule":
        return this.#call(part, part.rule, part.precedence, rule);
      case "sequence":
        return this.#sequence(part, part.parts, rule);
      case "choice":
        return this.#choice(part, part.alternatives, rule);
      case "optional":
        return this.#optional(part, part.part, rule);
      case "any":
        return this.#any(part, this.#node(part.part, rule), rule, false);
      case "some":
        return this.#some(part, part.part, rule);
      case "operators":
        return this.#operators(part, part.first, part.others, rule);
    }
  }

  #token(part: Part, tokens: readonly TokenKind[], rule: RuleName): Node {
    const [left, right] = [this.#state(rule), this.#state(rule)];
    this.#pending.push(() => left.edges.push({ kind: "tokens", tokens: new Set(tokens), to: shortened(right) }));
    return plain(part, left, right, []);
  }

  #call(part: Part, called: RuleName, precedence: number, rule: RuleName): Node {
    const [left, right] = [this.#state(rule), this.#state(rule)];
    const { start, stop } = this.#ends.get(called)!;
    const isOutermost = GRAMMAR[called].kind === "operators" && precedence === 0;
    this.#pending.push(() => {
      const follow = shortened(right);
      left.edges.push({ kind: "call", to: start, follow, precedence });
      stop.edges.push({ kind: "return", to: follow, isOutermost });
    });
    return plain(part, left, right, []);
  }

  #sequence(part: Part, parts: readonly Part[], rule: RuleName): Node {
    const children = parts.map((each) => this.#node(each, rule));
    for (const [i, child] of children.entries()) {
      const next = children[i + 1];
      if (next !== undefined) child.right.edges.push({ kind: "empty", to: next.left });
    }
    return plain(part, children[0]!.left, children.at(-1)!.right, children);
  }

  #choice(part: Part, alternatives: readonly Part[], rule: RuleName): Node {
    const [left, right] = [this.#state(rule, "block"), this.#state(rule)];
    const children = alternatives.map((each) => this.#between(left, each, right, rule));
    return plain(part, left, right, children);
  }

  #optional(part: Part, inner: Part, rule: RuleName): Node {
    const [left, right] = [this.#state(rule, "block"), this.#state(rule)];
    const child = this.#between(left, inner, right, rule);
    left.edges.push({ kind: "empty", to: right });
    return plain(part, left, right, [child]);
  }

  #between(left: State, part: Part, right: State, rule: RuleName): Node {
    const child = this.#node(part, rule);
    left.edges.push({ kind: "empty", to: child.left });
    child.right.edges.push({ kind: "empty", to: right });
    return child;
  }

  #any(part: Part, child: Node, rule: RuleName, isPrecedenceDecision: boolean): Node {
    const entry = this.#state(rule, "block", isPrecedenceDecision);
    const inner = this.#state(rule, "block");
    const [again, right] = [this.#state(rule, "loop"), this.#state(rule)];
    entry.edges.push({ kind: "empty", to: inner }, { kind: "empty", to: right });
    inner.edges.push({ kind: "empty", to: child.left });
    child.right.edges.push({ kind: "empty", to: again });
    again.edges.push({ kind: "empty", to: entry });
    return { part, left: entry, right, children: [child], decision: entry, again, inner };
  }

  #some(part: Part, each: Part, rule: RuleName): Node {
    const [left, again, right] = [this.#state(rule, "block"), this.#state(rule, "loop"), this.#state(rule)];
    const child = this.#between(left, each, again, rule);
    again.edges.push({ kind: "empty", to: left }, { kind: "empty", to: right });
    return { part, left, right, children: [child], decision: again, again, inner: left };
  }

  #operators(part: Part, first: Part, others: readonly Operator[], rule: RuleName): Node {
    const start = this.#node(first, rule);
    const [entry, inner] = [this.#state(rule, "block", true), this.#state(rule, "block")];
    const [again, right] = [this.#state(rule, "loop"), this.#state(rule)];
    start.right.edges.push({ kind: "empty", to: entry });
    entry.edges.push({ kind: "empty", to: inner }, { kind: "empty", to: right });
    again.edges.push({ kind: "empty", to: entry });
    const children = others.map((other) => {
      const gate = this.#state(rule);
      const child = this.#node(other.part, rule);
      inner.edges.push({ kind: "empty", to: gate });
      gate.edges.push({ kind: "precedence", precedence: other.precedence, to: child.left });
      child.right.edges.push({ kind: "empty", to: again });
      return child;
    });
    return { part, left: start.left, right, children: [start, ...children], decision: entry, again, inner };
  }
}

/** Where a state leads to that does nothing else: ANTLR leaves such states out, so that two ways meet where they lead to the same one. */
function shortened(state: State): State {
  const [edge, ...others] = state.edges;
  return edge?.kind === "empty" && others.length === 0 ? edge.to : state;
}

function plain(part: Part, left: State, right: State, children: readonly Node[]): Node {
  return { part, left, right, children, decision: left, again: left, inner: left };
}
