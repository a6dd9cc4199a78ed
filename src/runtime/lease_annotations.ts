/**
 * The annotations of an operator's Lease: the priority of the holder, the process that asks to take
 * over, and the pause of the operator. Their domain contains the operator's name, so annotations of
 * other operators and programs are ignored.
 */
import { isoTime } from "../base/iso_time.ts";

/** A process asks the holder of the Lease to stop leading. */
export interface TakeOverRequest {
  /** Identity of the process. */
  readonly by: string;
  /** A holder with a lower priority yields. */
  readonly priority: number;
  /** Changes whenever the process renews its request. */
  readonly renewed: string;
}

/** A pause of an operator, during which it starts no reconcile. */
export interface OperatorPause {
  /** Who paused it: `jane@laptop`. */
  readonly by: string;
  /** When it ends, in milliseconds since the epoch; `undefined` without an end. */
  readonly until: number | undefined;
}

/** The annotations of a Lease, parsed. */
export interface LeaseState {
  /** Priority of the holder; `undefined` if the Lease is not of this operator. */
  readonly priority: number | undefined;
  readonly takeOver: TakeOverRequest | undefined;
  readonly pause: OperatorPause | undefined;
}

/** Changes of the annotations; `null` removes. */
export interface LeaseStateChanges {
  readonly priority?: number;
  readonly takeOver?: TakeOverRequest | null;
  readonly pause?: OperatorPause | null;
}

/**
 * Parses the annotations of a Lease.
 *
 * @param operator The operator's name.
 * @param annotations The annotations.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const { pause } = leaseState("shop", {
 *   "shop.op/paused-by": "jane@laptop",
 *   "shop.op/paused-until": "2030-01-01T01:00:00Z",
 * });
 * assert.deepEqual(pause, { by: "jane@laptop", until: Date.UTC(2030, 0, 1, 1) });
 * ```
 */
export function leaseState(operator: string, annotations: Readonly<Record<string, string>> = {}): LeaseState {
  const names = namesOf(operator);
  const by = annotations[names.takeOverBy];
  const until = annotations[names.pausedUntil];
  const pausedBy = annotations[names.pausedBy];
  return {
    priority: annotations[names.priority] === undefined ? undefined : integer(annotations[names.priority]),
    takeOver: by === undefined ? undefined : {
      by,
      priority: integer(annotations[names.takeOverPriority]),
      renewed: annotations[names.takeOverRenewed] ?? "",
    },
    pause: until === undefined && pausedBy === undefined
      ? undefined
      : { by: pausedBy ?? "unknown", until: timeOf(until) },
  };
}

/**
 * Returns the annotations for a merge patch of a Lease.
 *
 * @param operator The operator's name.
 * @param changes What changes.
 */
export function leaseAnnotations(
  operator: string,
  { priority, takeOver, pause }: LeaseStateChanges,
): Record<string, string | null> {
  const names = namesOf(operator);
  return {
    ...(priority === undefined ? {} : { [names.priority]: String(priority) }),
    ...(takeOver === undefined ? {} : {
      [names.takeOverBy]: takeOver?.by ?? null,
      [names.takeOverPriority]: takeOver === null ? null : String(takeOver.priority),
      [names.takeOverRenewed]: takeOver?.renewed ?? null,
    }),
    ...(pause === undefined ? {} : {
      [names.pausedBy]: pause?.by ?? null,
      [names.pausedUntil]: pause?.until === undefined ? null : secondsOf(pause.until),
    }),
  };
}

/** Returns a pause as messages show it: `paused by jane@laptop until 2030-01-01T01:00:00Z`. */
export function shownPause({ by, until }: OperatorPause): string {
  return `paused by ${by}${until === undefined ? "" : ` until ${secondsOf(until)}`}`;
}

/** Returns a time with whole seconds. */
function secondsOf(time: number): string {
  return isoTime(time).replace(/\.\d+Z$/, "Z");
}

function namesOf(operator: string) {
  return {
    priority: `${operator}.op/priority`,
    takeOverBy: `${operator}.op/take-over-by`,
    takeOverPriority: `${operator}.op/take-over-priority`,
    takeOverRenewed: `${operator}.op/take-over-renewed`,
    pausedBy: `${operator}.op/paused-by`,
    pausedUntil: `${operator}.op/paused-until`,
  };
}

/** Parses an integer. People may edit annotations, so anything else counts as 0. */
function integer(text = ""): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

/** Parses a time. A pause whose end cannot be parsed has no end. */
function timeOf(text = ""): number | undefined {
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}
