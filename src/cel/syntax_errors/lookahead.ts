/** Which tokens may come next (ANTLR's `LL1Analyzer`). */
import type { TokenKind } from "../lexer.ts";
import { TOKENS } from "./grammar.ts";
import type { State } from "./network.ts";

/** The calls that are open: each the state that made it, innermost first. */
export interface Calls {
  readonly caller: State;
  readonly outer: Calls | undefined;
}

/** Tokens, and whether the rule may end before one comes. */
export interface Next {
  readonly tokens: ReadonlySet<TokenKind>;
  readonly mayEnd: boolean;
}

const known = new WeakMap<State, Next>();

/** What may come next within the rule of a state. */
export function nextWithinRule(state: State): Next {
  const found = known.get(state);
  if (found !== undefined) return found;
  const tokens = new Set<TokenKind>();
  const made = { tokens, mayEnd: look(state, tokens, new Set()) };
  known.set(state, made);
  return made;
}

/** What may come next in the whole text. */
export function nextTokens(state: State, calls: Calls | undefined): ReadonlySet<TokenKind> {
  let next = nextWithinRule(state);
  const tokens = new Set(next.tokens);
  for (let open = calls; open !== undefined && next.mayEnd; open = open.outer) {
    next = nextWithinRule(followOf(open.caller));
    for (const token of next.tokens) tokens.add(token);
  }
  if (next.mayEnd) tokens.add("end");
  return tokens;
}

/** Where it goes on after a call. */
export function followOf(caller: State): State {
  const [edge] = caller.edges;
  return edge?.kind === "call" ? edge.follow : caller;
}

/** Tokens as messages list them. */
export function listed(tokens: ReadonlySet<TokenKind>): string {
  const names = TOKENS.filter((token) => tokens.has(token)).map((token) => NAMES[token] ?? `'${token}'`);
  return names.length === 1 ? names[0]! : `{${names.join(", ")}}`;
}

const NAMES: { readonly [token: TokenKind]: string } = {
  end: "<EOF>",
  float: "NUM_FLOAT",
  int: "NUM_INT",
  uint: "NUM_UINT",
  string: "STRING",
  bytes: "BYTES",
  identifier: "IDENTIFIER",
  escaped: "ESC_IDENTIFIER",
};

/** Adds what comes next; whether the rule may end before. */
function look(state: State, tokens: Set<TokenKind>, seen: Set<State>): boolean {
  if (state.role === "stop") return true;
  if (seen.has(state)) return false;
  seen.add(state);
  let mayEnd = false;
  for (const edge of state.edges) {
    if (edge.kind === "tokens") { for (const token of edge.tokens) tokens.add(token); }
    else if (edge.kind !== "call") mayEnd = look(edge.to, tokens, seen) || mayEnd;
    else if (look(edge.to, tokens, seen)) mayEnd = look(edge.follow, tokens, seen) || mayEnd;
  }
  return mayEnd;
}
