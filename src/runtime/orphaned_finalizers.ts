/**
 * Finds finalizers of controllers that were removed from the operator. Their names begin with the
 * operator's prefix (`names.ts`). A remaining controller of the kind must remove them.
 */
import type { Units } from "../parts/units.ts";
import { finalizerPrefix } from "../resource/finalizer_prefix.ts";
import type { AnyKind } from "../resource/kind.ts";
import { finalizerName } from "./names.ts";

/** Finds the finalizers that a controller must remove instead of removed controllers. */
export class OrphanedFinalizers {
  readonly #prefix: string;
  /** Finalizers of the operator's controllers of the kind. */
  readonly #current: ReadonlySet<string>;
  /**
   * Whether this controller removes them. Only one controller of a kind does, so that two do not
   * patch the same object at once.
   */
  readonly #isResponsible: boolean;

  /**
   * @param operator The operator's name.
   * @param controllers Its controllers, whether they run in this process or not.
   * @param part The controller's key.
   */
  constructor(operator: string, controllers: Units["controllers"], part: string) {
    const { kind } = controllers.get(part)!;
    const ofKind = [...controllers].filter(([, other]) => isSameKind(other.kind, kind));
    // A controller with a cleanup is preferred: after a rename, it cleans up instead of the
    // controller with the old name.
    const [responsible] = ofKind.find(([, { cleanup }]) => cleanup !== undefined) ?? ofKind[0]!;
    this.#prefix = finalizerPrefix(operator, kind);
    this.#current = new Set(ofKind.map(([key, controller]) => finalizerName(operator, key, controller)));
    this.#isResponsible = responsible === part;
  }

  /**
   * Returns the finalizers that this controller must remove from an object.
   *
   * @param finalizers The object's finalizers.
   */
  in(finalizers: readonly string[] = []): string[] {
    if (!this.#isResponsible) return [];
    return finalizers.filter((name) => name.startsWith(this.#prefix) && !this.#current.has(name));
  }
}

function isSameKind(one: AnyKind, other: AnyKind): boolean {
  return one.group === other.group && one.kind === other.kind;
}
