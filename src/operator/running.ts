/** A running operator: live copies, controller loops, their start and their stop. */
import { aborted, linked } from "../base/abort.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { Client } from "../kube/client.ts";
import type { Connection } from "../kube/connection.ts";
import { ControllerLoop } from "../runtime/controller_loop.ts";
import { Elector, type ElectorOptions } from "../runtime/elector.ts";
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
  /**
   * Whether to work only while it leads. @default {what the operator says; where that leaves it open: no}
   */
  readonly leaderElection?: boolean;
  /** Who this process is in the Lease, beside what tells it from others of that name. @default {the operator's name} */
  readonly host?: string;
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
  /** Whether it works: it leads, or is alone. */
  readonly isLeading: boolean;
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
  const userAgent = `${operator.name}/${operator.version}`;
  const log = operatorLog(operator.name);
  const elector = electorOf(operator, options, { clock, random, log, userAgent });
  const client = new Client(connection, {
    clock,
    userAgent,
    ...(elector === undefined ? {} : { fence: elector.fence }),
  });
  const informers = new Informers({ client, clock, random, log, operator: operator.name, namespace });
  const verdicts = new Verdicts();
  const loops = Object.entries(operator.parts).map(([key, part]) =>
    new ControllerLoop(scopeOf(operator.name, key, part, { client, clock, random, log, informers, verdicts }))
  );
  const stop = linked(options.signal === undefined ? [] : [options.signal]);
  const ended = runAll(operator, informers, loops, { clock, log, elector, signal: stop.signal }).finally(() =>
    stop[Symbol.dispose]()
  );
  return {
    ended,
    get activity() {
      return sum(loops) + sum(informers.all()) + (elector?.activity ?? 0);
    },
    get busy() {
      return loops.flatMap((loop) => loop.busy);
    },
    get waiting() {
      return client.waiting;
    },
    get isLeading() {
      return elector?.isLeading ?? true;
    },
    readiness: () => [
      ...informers.all().map(watchLine),
      ...loops.map(controllerLine),
      ...(elector === undefined ? [] : [leaderLine(elector)]),
    ],
    async [Symbol.asyncDispose]() {
      stop.abort(new DOMException("The operator is stopped", "AbortError"));
      await ended;
    },
  };
}

/** Who decides whether this process works; nothing where it is alone. */
function electorOf(
  { name, leaderElection }: Operator,
  { connection, leaderElection: asked = leaderElection.when === "always", host = name }: RunOptions,
  { userAgent, ...shared }: Pick<ElectorOptions, "clock" | "random" | "log"> & { readonly userAgent: string },
): Elector | undefined {
  if (!asked) return undefined;
  const { id, namespace = connection.namespace ?? "default", ...times } = leaderElection;
  return new Elector({
    ...shared,
    ...times,
    client: new Client(connection, { clock: shared.clock, userAgent }),
    name: id,
    namespace,
    // A pod that starts anew has the name of before: it must not take the lease of its former self for its own.
    identity: `${host}_${crypto.randomUUID()}`,
  });
}

async function runAll(
  operator: Operator,
  informers: Informers,
  loops: readonly ControllerLoop[],
  { clock, log, elector, signal }: {
    readonly clock: Clock;
    readonly log: Logger;
    readonly elector: Elector | undefined;
    readonly signal: AbortSignal;
  },
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
  const lead = async (term: AbortSignal): Promise<void> => {
    using over = linked([signal, term]);
    await Promise.all([aborted(over.signal), ...loops.map((loop) => loop.run(signal, deadline.signal, term))]);
  };
  // The lease is kept until the last run has ended.
  await (elector === undefined ? lead(new AbortController().signal) : elector.run(signal, lead));
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

/** Standing by is what a standby is for: it is ready. */
function leaderLine({ isLeading, holder }: Elector): ReadinessLine {
  return { name: "leadership", isReady: true, told: isLeading ? "leads" : `stands by: ${holder ?? "nobody"} leads` };
}
