/**
 * Finalizers that a removed controller left on objects. Their names tell that they are the operator's own (`names.ts`), and nobody else will ever remove
 * them, so that a controller that is still there does.
 */
import { controllersOf, type Parts } from "../parts/part_list.ts";
import { finalizerPrefix } from "../resource/finalizer_prefix.ts";
import type { AnyKind } from "../resource/kind.ts";
import { finalizerName } from "./names.ts";

/** Finds the finalizers that a controller has to remove for removed ones. */
export class LeftFinalizers {
  readonly #prefix: string;
  /** Finalizers of the operator's controllers of the kind. */
  readonly #current: ReadonlySet<string>;
  /** One controller of each kind removes them: two would patch the same object at the same time. */
  readonly #isResponsible: boolean;

  /**
   * @param operator The operator's name.
   * @param parts Its parts, whether they run in this process or not.
   * @param part The controller's key.
   */
  constructor(operator: string, parts: Parts, part: string) {
    const controllers = controllersOf(parts);
    const [, { kind }] = controllers.find(([key]) => key === part)!;
    const ofKind = controllers.filter(([, other]) => isSameKind(other.kind, kind));
    // One that cleans up goes first: after a controller was renamed, it is the one that undoes what the old name promised.
    const [responsible] = ofKind.find(([, { cleanup }]) => cleanup !== undefined) ?? ofKind[0]!;
    this.#prefix = finalizerPrefix(operator, kind);
    this.#current = new Set(ofKind.map(([key, controller]) => finalizerName(operator, key, controller)));
    this.#isResponsible = responsible === part;
  }

  /**
   * Returns the finalizers of an object that this controller has to remove for removed ones.
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
