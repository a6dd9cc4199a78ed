/**
 * The hot loops of an operator's controllers: objects that are reconciled over and over, each with
 * the cause.
 */
import { BURST, effectOf, LONGEST_PAUSE, LONGEST_PAUSE_OF_PROGRESS } from "../queue/loop_limit.ts";
import type { AnyKind, KubeObject } from "../resource/kind.ts";
import { keyOf, type ObjectKey } from "../watch/key.ts";
import { printPath } from "./field_path.ts";
import { conditionsIn, statusOf } from "./status.ts";
import type { FieldWrites, LoopTrace, LoopTrigger } from "./loop_trace.ts";

/** Reason of the condition and of the Event. */
export const HOT_LOOP = "HotLoop";

/** The cause of a hot loop. */
export interface HotLoop {
  /** Describes the loop and how to end it. */
  readonly message: string;
  /** The trigger of the last reconcile; empty if it is unknown. */
  readonly trigger: string;
  /** Kind of the object that is written over and over; empty if the cause is not a write. */
  readonly kind: string;
  /** Name of the object that is written. */
  readonly object: string;
  /** The field that changes back and forth; empty if the object itself is created and deleted. */
  readonly field: string;
  /** The controller's field manager. */
  readonly manager: string;
  /** The other field manager; empty if it is unknown. */
  readonly otherManager: string;
}

/**
 * Explains a loop.
 *
 * @param trace The writes and triggers of the object's reconciles.
 * @param manager The controller's field manager.
 */
export function explainLoop(trace: LoopTrace, manager: string): HotLoop {
  const { busiest, requeuedAfter } = trace;
  const isRepeated = busiest !== undefined && busiest.repeats > 0;
  const effect = effectOf({ wrote: true, repeated: isRepeated, after: requeuedAfter });
  const longest = (effect === "repeat" ? LONGEST_PAUSE : LONGEST_PAUSE_OF_PROGRESS) / 1000;
  const limited = `Reconciled more than ${BURST} times in a row; now delayed by up to ${longest}s.`;
  const loop = { trigger: printTrigger(trace.trigger), kind: "", object: "", field: "", manager, otherManager: "" };
  if (requeuedAfter !== undefined && !isRepeated) {
    const duration = requeuedAfter === 0 ? "0s" : `${requeuedAfter}ms`;
    const advice = `The reconciler returned requeue("${duration}") each time. Return a longer delay, or undefined.`;
    return { ...loop, message: `${limited} ${advice}` };
  }
  if (busiest === undefined) return { ...loop, message: limited };
  const { target: { kind: { kind }, key }, path, otherManager = "" } = busiest;
  const field = printPath(path);
  const message = `${limited} ${printCause(busiest, manager)}`;
  return { ...loop, message, kind, object: key, field, otherManager };
}

function printCause({ target: { kind, key }, path, repeats, otherManager }: FieldWrites, manager: string): string {
  const object = `${kind.kind} "${key}"`;
  if (path.length === 0) return `Each reconcile of "${manager}" creates or deletes ${object}.`;
  const field = `${printPath(path)} of ${object}`;
  if (repeats === 0) return `Each reconcile of "${manager}" sets ${field} to a new value.`;
  if (otherManager === undefined) return `Each reconcile of "${manager}" sets ${field} to the same value again.`;
  return `Field managers "${manager}" and "${otherManager}" change ${field} back and forth. Let only one of them set it.`;
}

function printTrigger(trigger: LoopTrigger | undefined): string {
  if (trigger?.change === undefined) return trigger?.reason ?? "";
  const { object, by } = trigger.change;
  const change = `${object.kind} "${keyOf(object.metadata)}" changed`;
  return by === undefined ? change : `${change} by controller "${by.part}", which reconciled "${by.key}"`;
}

// How often the condition is added. Another operator of the same kind may remove it each time, so
// adding it without a limit would be another loop.
const MAX_REPORTS = 3;

/** The loops of one object. */
interface ObjectLoops {
  /** By the controller's key. */
  readonly loops: Map<string, HotLoop>;
  /** How often the condition was added. */
  reports: number;
}

/** The loops of an operator's controllers. */
export class HotLoops {
  readonly #objects = new Map<string, ObjectLoops>();

  /** Records that a controller has a hot loop on an object. */
  begin(kind: AnyKind, key: ObjectKey, part: string, loop: HotLoop): void {
    const object = objectOf(kind, key);
    const entry = this.#objects.get(object) ?? { loops: new Map<string, HotLoop>(), reports: 0 };
    entry.loops.set(part, loop);
    this.#objects.set(object, entry);
  }

  /** Records that the loop has ended. */
  end(kind: AnyKind, key: ObjectKey, part: string): void {
    const object = objectOf(kind, key);
    const entry = this.#objects.get(object);
    entry?.loops.delete(part);
    if (entry?.loops.size === 0) this.#objects.delete(object);
  }

  /**
   * Returns the message of an object's condition; `undefined` if the object has no condition. The
   * message of an existing condition stays, whichever controller wrote it, so that two controllers
   * do not change it back and forth.
   *
   * @param kind The object's kind.
   * @param object The object in the cluster.
   */
  messageFor(kind: AnyKind, object: KubeObject): string | undefined {
    if (this.#objects.size === 0) return undefined;
    const entry = this.#objects.get(objectOf(kind, keyOf(object.metadata)));
    if (entry === undefined) return undefined;
    const existing = conditionsIn(statusOf(object)).find(({ reason }) => reason === HOT_LOOP);
    if (existing !== undefined) return existing.message;
    if (entry.reports === MAX_REPORTS) return undefined;
    entry.reports++;
    const [[part, { message }]] = [...entry.loops] as [[string, HotLoop]];
    return `Controller "${part}": ${message}`;
  }

  /** Returns the loops of one controller. */
  of(part: string): readonly HotLoop[] {
    return [...this.#objects.values()].flatMap(({ loops }) => loops.get(part) ?? []);
  }
}

function objectOf(kind: AnyKind, key: ObjectKey): string {
  return `${kind.group}/${kind.kind} ${key}`;
}
