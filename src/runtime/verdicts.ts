/**
 * What each controller last found of each object. Several controllers of one kind share the condition `Ready`: it says that all is well only when none
 * of them failed last.
 */
import type { AnyKind } from "../resource/kind.ts";
import type { ObjectKey } from "../watch/key.ts";

/** Why a controller's last run of an object failed. */
export interface Verdict {
  readonly reason: string;
  readonly message: string;
}

/** The failures of the controllers of an operator. */
export class Verdicts {
  /** By the object, then by the controller's key. Objects without a failure are not in it. */
  readonly #failed = new Map<string, Map<string, Verdict>>();

  /** Notes how a run of a controller ended: with a failure, or without one. */
  note(kind: AnyKind, key: ObjectKey, part: string, failure: Verdict | undefined): void {
    // Nearly always: nothing fails, and nothing did.
    if (failure === undefined && this.#failed.size === 0) return;
    const object = objectOf(kind, key);
    const failed = this.#failed.get(object) ?? new Map<string, Verdict>();
    if (failure === undefined) failed.delete(part);
    else failed.set(part, failure);
    if (failed.size === 0) this.#failed.delete(object);
    else this.#failed.set(object, failed);
  }

  /** A failure of another controller than this one. */
  beside(kind: AnyKind, key: ObjectKey, part: string): Verdict | undefined {
    if (this.#failed.size === 0) return undefined;
    for (const [other, failure] of this.#failed.get(objectOf(kind, key)) ?? []) if (other !== part) return failure;
    return undefined;
  }

  /** Forgets an object that is gone. */
  forget(kind: AnyKind, key: ObjectKey): void {
    this.#failed.delete(objectOf(kind, key));
  }
}

function objectOf(kind: AnyKind, key: ObjectKey): string {
  return `${kind.group}/${kind.kind} ${key}`;
}
