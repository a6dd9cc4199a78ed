/** A running operator: live copies, controller loops, their start and their stop. */
import { aborted, linked } from "../base/abort.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { Client } from "../kube/client.ts";
import type { Connection } from "../kube/connection.ts";
import { ControllerLoop } from "../runtime/controller_loop.ts";
import { Informers } from "../runtime/informers.ts";
import type { Logger } from "../runtime/logger.ts";
import { scopeOf } from "../runtime/scope.ts";
import { Verdicts } from "../runtime/verdicts.ts";
import { operatorLog } from "./log.ts";
import type { Operator } from "./operator.ts";

/** Options of running an operator. */
export interface RunOptions {
  /** The way to the API server. */
  readonly connection: Connection;
  /** Stops it: nothing more is begun, what goes on may end within the operator's `stopWithin`. */
  readonly signal?: AbortSignal;
  /** @default {the machine's clock} */
  readonly clock?: Clock;
  /** From 0 to 1, for waiting times. @default {Math.random} */
  readonly random?: () => number;
  /** The only namespace to look at. @default {all} */
  readonly namespace?: string;
}

/** A line of a readiness report. */
export interface ReadinessLine {
  readonly name: string;
  readonly isReady: boolean;
  readonly told: string;
}

/** A running operator. */
export interface Running extends AsyncDisposable {
  /** Settles when it has stopped. */
  readonly ended: Promise<void>;
  /** Grows with whatever happens: while it stands still, nothing is under way that needs no time. */
  readonly activity: number;
  /** What goes on now, in words. */
  readonly busy: readonly string[];
  /** How many requests wait for the time at which the server asked to send them again. */
  readonly waiting: number;
  /** A line for each watch and each controller. */
  readiness(): ReadinessLine[];
}

/**
 * Starts an operator.
 *
 * @param operator The operator.
 * @param options How.
 */
export function startOperator(operator: Operator, options: RunOptions): Running {
  const { connection, clock = systemClock, random = Math.random, namespace } = options;
  const client = new Client(connection, { clock, userAgent: `${operator.name}/${operator.version}` });
  const log = operatorLog(operator.name);
  const informers = new Informers({ client, clock, random, log, operator: operator.name, namespace });
  const verdicts = new Verdicts();
  const loops = Object.entries(operator.parts).map(([key, part]) =>
    new ControllerLoop(scopeOf(operator.name, key, part, { client, clock, random, log, informers, verdicts }))
  );
  const stop = linked(options.signal === undefined ? [] : [options.signal]);
  const ended = runAll(operator, informers, loops, { clock, log, signal: stop.signal }).finally(() =>
    stop[Symbol.dispose]()
  );
  return {
    ended,
    get activity() {
      return sum(loops) + sum(informers.all());
    },
    get busy() {
      return loops.flatMap((loop) => loop.busy);
    },
    get waiting() {
      return client.waiting;
    },
    readiness: () => [...informers.all().map(watchLine), ...loops.map(controllerLine)],
    async [Symbol.asyncDispose]() {
      stop.abort(new DOMException("The operator is stopped", "AbortError"));
      await ended;
    },
  };
}

async function runAll(
  operator: Operator,
  informers: Informers,
  loops: readonly ControllerLoop[],
  { clock, log, signal }: { readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const deadline = new AbortController();
  // Watches go on while runs end, so that these read what they wrote.
  const watches = new AbortController();
  const watching = informers.run(watches.signal);
  log.info("Operator started", { version: operator.version });
  let timer: Disposable | undefined;
  aborted(signal).then(() => {
    timer = clock.after(
      operator.stopWithin,
      () => deadline.abort(new DOMException("The operator stops", "AbortError")),
    );
  });
  await Promise.all([aborted(signal), ...loops.map((loop) => loop.run(signal, deadline.signal))]);
  timer?.[Symbol.dispose]();
  watches.abort();
  await watching;
  log.info("Operator stopped", { isClean: !deadline.signal.aborted });
}

function sum(list: readonly { readonly activity: number }[]): number {
  return list.reduce((total, { activity }) => total + activity, 0);
}

function watchLine({ kind, problem, isSynced }: ReturnType<Informers["all"]>[number]): ReadinessLine {
  const isReady = isSynced && problem === undefined;
  const told = problem?.message ?? (isSynced ? "up to date" : "listing");
  return { name: `watch ${kind.kind}`, isReady, told };
}

function controllerLine({ scope, waitsFor }: ControllerLoop): ReadinessLine {
  const isReady = waitsFor.length === 0;
  return { name: `controller ${scope.part}`, isReady, told: isReady ? "running" : `waits for ${waitsFor.join(", ")}` };
}
