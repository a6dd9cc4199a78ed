/** The handler state of an object in this process, and how it continues the stored record. */
import type { DecodedRecord } from "../../handlers/record.ts";
import type { HandlerState } from "../../handlers/state.ts";
import { PermanentError } from "../../parts/outcome.ts";

/** Thrown if the record of an object disappeared twice. */
export class HandlerStateLostError extends PermanentError {
  override name = "HandlerStateLostError";
  override readonly code = "HandlerStateLost";
}

/** The state from which a reconcile continues. */
export interface LoadedState {
  /** The state; `undefined` if no handler was called for the object. */
  readonly state: HandlerState | undefined;
  /** Whether it must be written although no call changes it. */
  readonly mustWrite: boolean;
  /** Fields of the record that a newer version of the SDK added. */
  readonly unknown: Readonly<Record<string, unknown>>;
  /** Whether the stored record disappeared. */
  readonly isLost: boolean;
  /** Whether another process wrote the record, so the state of this process is outdated. */
  readonly isReplaced: boolean;
}

/**
 * Remembers the state of an object between reconciles. Memory has what records do not have, such as
 * the time of the next attempt, and it survives failed writes and removed records.
 */
export class StateMemory {
  #state: HandlerState | undefined;
  #unknown: Readonly<Record<string, unknown>> = {};
  /** The record that the object had when the state was read. */
  #stored: string | undefined;
  /** A record that was sent but not seen in the object yet. */
  #sent: { readonly record: string; isAccepted: boolean } | undefined;
  /** Whether the state has changes that were not sent. */
  #isUnsent = false;
  #losses = 0;

  /**
   * Returns the state from which a reconcile continues.
   *
   * @param record The record that the object has now.
   * @param decode Decodes a record. It returns `undefined` for the record of another object.
   * @throws {HandlerStateLostError} If the record disappeared for the second time.
   * @throws What `decode` throws.
   */
  load(record: string | undefined, decode: (record: string) => DecodedRecord | undefined): LoadedState {
    if (this.#sent !== undefined && record === this.#sent.record) {
      this.#stored = record;
      this.#sent = undefined;
    }
    if (record === undefined && this.#losses > 1) throw lostError();
    const sent = this.#sent;
    if (record === this.#stored && (sent === undefined || !sent.isAccepted)) return this.#known();
    if (record === this.#stored || record === undefined) {
      this.#losses++;
      this.#stored = record;
      this.#sent = undefined;
      this.#isUnsent = true;
      if (this.#losses > 1) throw lostError();
      return { ...this.#known(), isLost: true };
    }
    const decoded = decode(record);
    const isReplaced = this.#state !== undefined;
    const { resumed } = this.#state ?? {};
    this.#state = decoded && { ...decoded.state, resumed: resumed ?? decoded.state.resumed };
    this.#unknown = decoded?.unknown ?? {};
    this.#stored = record;
    this.#sent = undefined;
    this.#isUnsent = decoded?.isOutdated ?? false;
    return { ...this.#known(), isReplaced };
  }

  /**
   * Forgets which `resume` handlers were called. Other processes may have written records since the
   * last term, so an accepted record counts as stored.
   */
  beginTerm(): void {
    if (this.#sent?.isAccepted) {
      this.#stored = this.#sent.record;
      this.#sent = undefined;
    }
    this.#state = this.#state && { ...this.#state, resumed: new Set() };
  }

  #known(): LoadedState {
    const mustWrite = this.#isUnsent || this.#sent !== undefined;
    return { state: this.#state, mustWrite, unknown: this.#unknown, isLost: false, isReplaced: false };
  }

  /**
   * Remembers the state after the calls of a reconcile. The reconcile may end before it is sent.
   *
   * @param state The state.
   * @param isChanged Whether its record changed.
   */
  update(state: HandlerState, isChanged: boolean): void {
    this.#state = state;
    this.#isUnsent ||= isChanged;
  }

  /**
   * Remembers that a record of the state is sent.
   *
   * @param record The record.
   * @returns The record that it replaces; `undefined` if the object has none.
   */
  send(record: string): string | undefined {
    // An earlier record may be stored already although the object does not have it yet.
    this.#isUnsent = record === this.#stored && this.#sent !== undefined;
    if (record !== this.#stored) this.#sent = { record, isAccepted: false };
    return this.#stored;
  }

  /** Records that the API server accepted the write. */
  accept(): void {
    if (this.#sent !== undefined) this.#sent.isAccepted = true;
  }
}

function lostError(): HandlerStateLostError {
  return new HandlerStateLostError(
    "Handler state: the stored record disappeared twice. Find out which program or schema removes it, or set " +
      'the option "storage" of the handlers.',
  );
}
