/**
 * Which way to go where the next token does not tell: all ways are tried at once, token by token, until one is left (ANTLR's `ParserATNSimulator`, as the
 * Go runtime has it). First without regard to who called the rule; where that leaves several ways, with it.
 */
import type { TokenKind } from "../lexer.ts";
import { Context } from "./context.ts";
import { type Calls, followOf } from "./lookahead.ts";
import type { Edge, Network, State } from "./network.ts";

/** No way fits. */
export class NoWay {
  /** @param at How many tokens ahead the first one is that fits none. */
  constructor(readonly at: number) {}
}

/** What a decision depends on. */
export interface Situation {
  readonly network: Network;
  /** The token so many places ahead, from 0. */
  readonly token: (ahead: number) => TokenKind;
  readonly calls: Calls | undefined;
  /** How tight operators must bind to be taken here. */
  readonly precedence: number;
}

/** The number of the way to go from a state, from 1; or that there is none. */
export function predict(decision: State, situation: Situation): number | NoWay {
  return new Prediction(decision, situation).run();
}

/** A way that is still possible, and where it got to. */
interface Trial {
  readonly state: State;
  readonly way: number;
  readonly context: Context;
  /** Whether it left the rule of the decision. */
  readonly isOutside: boolean;
  /** Whether it did so where operators of any precedence may follow. */
  readonly isOutermost: boolean;
  /** Precedences that it takes for granted. */
  readonly gates: readonly number[];
}

/** Trials, one for each state and way. */
class Trials {
  readonly #byKey = new Map<string, Trial>();
  constructor(readonly isFull: boolean) {}

  get all(): readonly Trial[] {
    return [...this.#byKey.values()];
  }

  add(trial: Trial): void {
    const key = `${trial.state.id}:${trial.way}:${trial.gates}`;
    const known = this.#byKey.get(key);
    if (known === undefined) {
      this.#byKey.set(key, trial);
      return;
    }
    this.#byKey.set(key, {
      ...known,
      context: known.context.joined(trial.context, !this.isFull),
      isOutside: known.isOutside || trial.isOutside,
      isOutermost: known.isOutermost || trial.isOutermost,
    });
  }
}

interface ClosureOptions {
  readonly collects: boolean;
  readonly depth: number;
  readonly endIsEmpty: boolean;
}

class Prediction {
  readonly #decision: State;
  readonly #situation: Situation;

  constructor(decision: State, situation: Situation) {
    this.#decision = decision;
    this.#situation = situation;
  }

  run(): number | NoWay {
    let trials = this.#filtered(this.#start(Context.EMPTY, false));
    for (let ahead = 0;; ahead++) {
      const token = this.#situation.token(ahead);
      const reached = this.#reach(trials, token);
      if (reached === undefined) return finished(trials) ?? new NoWay(ahead);
      const way = onlyWay(reached.all);
      if (way !== undefined) return way;
      if (isAmbiguous(reached.all)) return this.#runInContext();
      trials = reached;
    }
  }

  #runInContext(): number | NoWay {
    let trials = this.#start(this.#outerContext(this.#situation.calls), true);
    for (let ahead = 0;; ahead++) {
      const reached = this.#reach(trials, this.#situation.token(ahead));
      if (reached === undefined) return finished(trials) ?? new NoWay(ahead);
      const way = onlyWay(reached.all) ?? firstWay(reached.all);
      if (way !== undefined) return way;
      trials = reached;
    }
  }

  #outerContext(calls: Calls | undefined): Context {
    if (calls === undefined) return Context.EMPTY;
    return this.#outerContext(calls.outer).called(followOf(calls.caller));
  }

  #start(context: Context, isFull: boolean): Trials {
    const trials = new Trials(isFull);
    for (const [i, edge] of this.#decision.edges.entries()) {
      const trial = { state: edge.to, way: i + 1, context, isOutside: false, isOutermost: false, gates: [] };
      this.#close(trial, trials, { collects: true, depth: 0, endIsEmpty: false }, new Set());
    }
    return trials;
  }

  /** Where operators are decided on: those that do not bind tight enough are out, and leaving where one of them would come too. */
  #filtered(trials: Trials): Trials {
    if (!this.#decision.isPrecedenceDecision) return trials;
    const filtered = new Trials(false);
    const contexts = new Map<State, Context>();
    for (const trial of trials.all) {
      if (trial.way !== 1 || trial.gates.some((gate) => gate < this.#situation.precedence)) continue;
      contexts.set(trial.state, trial.context);
      filtered.add({ ...trial, gates: [] });
    }
    for (const trial of trials.all) {
      if (trial.way === 1) continue;
      const isCovered = contexts.get(trial.state)?.key === trial.context.key;
      if (trial.isOutermost || !isCovered) filtered.add(trial);
    }
    return filtered;
  }

  #reach(from: Trials, token: TokenKind): Trials | undefined {
    const stepped = new Trials(from.isFull);
    const stopped: Trial[] = [];
    for (const trial of from.all) {
      if (trial.state.role === "stop") {
        if (from.isFull || token === "end") stopped.push(trial);
        continue;
      }
      for (const edge of trial.state.edges) {
        if (edge.kind === "tokens" && edge.tokens.has(token)) stepped.add({ ...trial, state: edge.to });
      }
    }
    const isDecided = stopped.length === 0 && token !== "end" && onlyWay(stepped.all) !== undefined;
    let reached = stepped;
    if (!isDecided) {
      reached = new Trials(from.isFull);
      const seen = new Set<string>();
      const options = { collects: false, depth: 0, endIsEmpty: token === "end" };
      for (const trial of stepped.all) this.#close(trial, reached, options, seen);
    }
    if (token === "end") reached = ended(reached);
    if (!from.isFull || !reached.all.some(({ state }) => state.role === "stop")) {
      for (const trial of stopped) reached.add(trial);
    }
    return reached.all.length === 0 ? undefined : reached;
  }

  /** Adds where a trial gets to without a token. */
  #close(trial: Trial, trials: Trials, options: ClosureOptions, seen: Set<string>): void {
    const key =
      `${trial.state.id}:${trial.way}:${trial.gates}:${trial.context.key}:${trial.isOutside}:${trial.isOutermost}:${
        Math.sign(options.depth)
      }`;
    if (seen.has(key)) return;
    seen.add(key);
    if (trial.state.role === "stop") {
      for (const [state, context] of trial.context.returns) {
        this.#close({ ...trial, state, context }, trials, options, seen);
      }
      if (!trial.context.hasEmpty) return;
      if (trials.isFull) {
        trials.add({ ...trial, context: Context.EMPTY });
        return;
      }
    }
    if (trial.state.edges.length === 0 || trial.state.edges.some(({ kind }) => kind === "tokens")) trials.add(trial);
    for (const edge of trial.state.edges) this.#follow(trial, edge, trials, options, seen);
  }

  #follow(trial: Trial, edge: Edge, trials: Trials, options: ClosureOptions, seen: Set<string>): void {
    switch (edge.kind) {
      case "empty":
        return this.#close({ ...trial, state: edge.to }, trials, options, seen);
      case "tokens":
        if (!options.endIsEmpty || !edge.tokens.has("end")) return;
        return this.#close({ ...trial, state: edge.to }, trials, options, seen);
      case "call": {
        const context = trial.context.called(edge.follow);
        const depth = options.depth >= 0 ? options.depth + 1 : options.depth;
        return this.#close({ ...trial, state: edge.to, context }, trials, { ...options, depth }, seen);
      }
      case "return": {
        const isOutermost = this.#decision.isPrecedenceDecision && edge.isOutermost &&
          trial.state.rule === this.#decision.rule;
        return this.#close(
          { ...trial, state: edge.to, isOutside: true, isOutermost: trial.isOutermost || isOutermost },
          trials,
          { ...options, depth: options.depth - 1 },
          seen,
        );
      }
      case "precedence": {
        const isHere = options.collects && options.depth === 0;
        if (isHere && trials.isFull && edge.precedence < this.#situation.precedence) return;
        const gates = isHere && !trials.isFull ? [...trial.gates, edge.precedence] : trial.gates;
        return this.#close({ ...trial, state: edge.to, gates }, trials, options, seen);
      }
    }
  }
}

/** After the end of the text only what is at the end of its rule counts. */
function ended(trials: Trials): Trials {
  const result = new Trials(trials.isFull);
  for (const trial of trials.all) if (trial.state.role === "stop") result.add(trial);
  return result;
}

/** The way that got to the end of its rule, where nothing after it fits: the mistake is in what follows then. */
function finished(trials: Trials): number | undefined {
  const ways = trials.all
    .filter(({ isOutside, state, context }) => isOutside || (state.role === "stop" && context.hasEmpty))
    .map(({ way }) => way);
  return ways.length === 0 ? undefined : Math.min(...ways);
}

function onlyWay(trials: readonly Trial[]): number | undefined {
  const ways = new Set(trials.map(({ way }) => way));
  return ways.size === 1 ? trials[0]!.way : undefined;
}

/** The ways that share a state and a context. */
function rivals(trials: readonly Trial[]): readonly ReadonlySet<number>[] {
  const sets = new Map<string, Set<number>>();
  for (const { state, context, way } of trials) {
    const key = `${state.id}:${context.key}`;
    const set = sets.get(key);
    if (set === undefined) sets.set(key, new Set([way]));
    else set.add(way);
  }
  return [...sets.values()];
}

/** Whether no further token could tell the ways apart. */
function isAmbiguous(trials: readonly Trial[]): boolean {
  if (trials.every(({ state }) => state.role === "stop")) return true;
  if (!rivals(trials).some(({ size }) => size > 1)) return false;
  const ways = new Map<State, Set<number>>();
  for (const { state, way } of trials) ways.set(state, (ways.get(state) ?? new Set()).add(way));
  return [...ways.values()].every(({ size }) => size > 1);
}

/** The first way, where it is so in all rivalries. */
function firstWay(trials: readonly Trial[]): number | undefined {
  const firsts = new Set(rivals(trials).map((ways) => Math.min(...ways)));
  return firsts.size === 1 ? [...firsts][0] : undefined;
}
