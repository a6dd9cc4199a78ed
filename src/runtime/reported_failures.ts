/**
 * The failed objects of each controller. Controllers of the same kind share the condition `Ready`,
 * which is only true if the last reconcile of each succeeded.
 */
import type { AnyKind } from "../resource/kind.ts";
import type { ObjectKey } from "../watch/key.ts";

/** The failure of a controller's last reconcile of an object. */
export interface ReportedFailure {
  readonly reason: string;
  readonly message: string;
}

/** The failed objects of an operator's controllers. */
export class ReportedFailures {
  /** Failures by object, then by part. Objects without a failure are not in it. */
  readonly #failed = new Map<string, Map<string, ReportedFailure>>();

  /**
   * Records the result of a reconcile.
   *
   * @param kind The object's kind.
   * @param key The object.
   * @param part The controller's part.
   * @param failure The failure; `undefined` if the reconcile succeeded.
   */
  set(kind: AnyKind, key: ObjectKey, part: string, failure: ReportedFailure | undefined): void {
    // The common case.
    if (failure === undefined && this.#failed.size === 0) return;
    const object = objectOf(kind, key);
    const failed = this.#failed.get(object) ?? new Map<string, ReportedFailure>();
    if (failure === undefined) failed.delete(part);
    else failed.set(part, failure);
    if (failed.size === 0) this.#failed.delete(object);
    else this.#failed.set(object, failed);
  }

  /** Returns the failure of another controller of the object, if there is one. */
  ofOthers(kind: AnyKind, key: ObjectKey, part: string): ReportedFailure | undefined {
    if (this.#failed.size === 0) return undefined;
    for (const [other, failure] of this.#failed.get(objectOf(kind, key)) ?? []) if (other !== part) return failure;
    return undefined;
  }

  /** Removes the failures of a deleted object. */
  forget(kind: AnyKind, key: ObjectKey): void {
    this.#failed.delete(objectOf(kind, key));
  }
}

function objectOf(kind: AnyKind, key: ObjectKey): string {
  return `${kind.group}/${kind.kind} ${key}`;
}
