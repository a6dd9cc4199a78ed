/**
 * The HTTP server that operators report to. It records the calls of handlers, decides how they end,
 * and knows what an operator is busy with.
 */
import assert from "node:assert/strict";
import type { Answer, Call, RecordedCall } from "./scenario.ts";

/** Causes of calls that are recorded once per step: how many there are depends on the machine. */
const REPEATED = new Set(["timer", "index", "probe", "authentication", "validating", "mutating"]);

/** A handler that kopf adds if a program has none for its credentials. */
const BUILT_IN = new Set(["login_via_pykube"]);

/** State of an operator, from its reports. */
export class OperatorState {
  /** Plural names of the kinds that were listed since it started. */
  readonly listed = new Set<string>();
  /** Last processed version of each object, by uid. `DELETED` objects stay. */
  readonly versions = new Map<string, { version: string; type: string | null; isProcessing: boolean }>();
  pendingEvents = 0;
  isPaused = false;
}

interface StartedCall {
  readonly call: Call;
  readonly operator: string;
  readonly step: number;
  outcome?: string;
}

/** A call that is held, or will be. */
interface Hold {
  /** How many calls pass before it. */
  skipped: number;
  isHeld: boolean;
  readonly released: PromiseWithResolvers<void>;
}

/** A report, as JSON. Its kind is the path. */
// deno-lint-ignore no-explicit-any -- each kind of report has its own fields
type Report = any;

/** The server. Dispose of it after the operators have ended. */
export class Switchboard implements AsyncDisposable {
  readonly #operators = new Map<string, OperatorState>();
  readonly #calls: StartedCall[] = [];
  /** Calls that ended in a later step than they started in, with that step. */
  readonly #late: { readonly started: StartedCall; readonly step: number }[] = [];
  readonly #answers = new Map<string, Answer[]>();
  readonly #holds = new Map<string, Hold>();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  #step = 0;

  /** @param hasSeveral Whether the scenario has several operators, which recordings then name. */
  constructor(private readonly hasSeveral: boolean) {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
      const report = await request.json();
      const result = await this.#received(new URL(request.url).pathname.slice(1), report);
      return Response.json(result ?? {});
    });
  }

  /** URL that operators report to. */
  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** State of an operator since it started. */
  state(operator: string): OperatorState {
    const state = this.#operators.get(operator);
    assert(state, `no operator "${operator}" was started`);
    return state;
  }

  /** Forgets what an earlier process of this name reported. Its open calls were cut off. */
  started(operator: string): void {
    this.#operators.set(operator, new OperatorState());
  }

  /** The process ended: its open calls cannot end anymore. */
  ended(operator: string): void {
    this.#operators.delete(operator);
    for (const [id, each] of this.#calls.entries()) {
      if (each.operator === operator && each.outcome === undefined) this.#end(id, "killed");
    }
  }

  /** Begins the next step. */
  beginStep(): void {
    this.#step++;
  }

  answer(handler: string, answers: readonly Answer[]): void {
    this.#answers.set(handler, [...answers]);
  }

  hold(handler: string, skipped: number): void {
    this.#holds.set(handler, { skipped, isHeld: false, released: Promise.withResolvers() });
  }

  isHeld(handler: string): boolean {
    return this.#holds.get(handler)?.isHeld ?? false;
  }

  release(handler: string): void {
    this.#holds.get(handler)?.released.resolve();
    this.#holds.delete(handler);
  }

  /** Returns how often a handler was called in this step. */
  count(handler: string): number {
    return this.#calls.filter(({ call, step }) => step === this.#step && call.handler === handler).length;
  }

  /** Returns handlers with calls that have not ended. Daemons run until their object is deleted. */
  get open(): string[] {
    return this.#calls.filter(({ call, outcome }) => outcome === undefined && call.cause !== "daemon")
      .map(({ call }) => call.handler);
  }

  /** Returns the calls of this step by handler and object. */
  calls(): Record<string, RecordedCall[]> {
    const found: Record<string, RecordedCall[]> = {};
    const here = [
      ...this.#calls.filter(({ step }) => step === this.#step).map((started) => ({
        started,
        outcome: this.#late.some((late) => late.started === started) ? "running" : started.outcome ?? "running",
      })),
      ...this.#late.filter(({ step }) => step === this.#step).map(({ started }) => ({
        started,
        outcome: started.outcome,
      })),
    ];
    for (const { started, outcome } of here) {
      const { call: { handler, object, ...rest }, operator } = started;
      const about = object === undefined ? "" : ` ${object.kind}/${object.name}`;
      const recorded: RecordedCall = { ...rest, outcome: outcome ?? "running" };
      // A timer may be running at the end of any step.
      if (REPEATED.has(recorded.cause) && (recorded.outcome === "running" || started.step !== this.#step)) continue;
      const calls = found[`${this.hasSeveral ? `${operator}: ` : ""}${handler}${about}`] ??= [];
      const isRepeated = REPEATED.has(recorded.cause) &&
        calls.some((each) => JSON.stringify(each) === JSON.stringify(recorded));
      if (!isRepeated) calls.push(recorded);
    }
    return Object.fromEntries(Object.entries(found).sort(([one], [other]) => one < other ? -1 : 1));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const handler of [...this.#holds.keys()]) this.release(handler);
    await this.#server.shutdown();
  }

  async #received(kind: string, report: Report): Promise<object | undefined> {
    const state = this.#operators.get(report.operator);
    if (state === undefined) return kind === "call" ? { id: -1, answer: "proceed" } : undefined;
    state.pendingEvents = report.pendingEvents ?? 0;
    switch (kind) {
      case "call":
        return await this.#called(report);
      case "ended":
        this.#end(report.id, report.outcome);
        break;
      case "listed":
        state.listed.add(report.plural);
        break;
      case "processing":
      case "processed":
        state.versions.set(report.uid, {
          version: report.version,
          type: report.type,
          isProcessing: kind === "processing",
        });
        break;
      case "paused":
      case "resumed":
        state.isPaused = kind === "paused";
        break;
    }
    return undefined;
  }

  async #called({ operator, pendingEvents: _, ...call }: Report): Promise<{ id: number; answer: Answer }> {
    if (BUILT_IN.has(call.handler)) return { id: -1, answer: "proceed" };
    const id = this.#calls.push({ call, operator, step: this.#step }) - 1;
    const held = this.#holds.get(call.handler);
    if (held && !held.isHeld && held.skipped-- === 0) {
      held.isHeld = true;
      await held.released.promise;
    }
    return { id, answer: this.#answers.get(call.handler)?.shift() ?? "proceed" };
  }

  #end(id: number, outcome: string): void {
    const started = this.#calls[id];
    if (started === undefined || started.outcome !== undefined) return;
    started.outcome = outcome;
    if (started.step !== this.#step) this.#late.push({ started, step: this.#step });
  }
}
