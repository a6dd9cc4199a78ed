/** Which object a wake means. Functions of users say it, and their types may have been checked by nobody. */
import { maskSecrets } from "../base/mask_secrets.ts";
import type { ReconcileRequest } from "../parts/watch.ts";
import type { AnyKind } from "../resource/kind.ts";

/** Where an object is. */
export interface Place {
  readonly name: string;
  readonly namespace: string | undefined;
}

/** One, several or none, as a list. What is nothing in a list names nobody. */
export function wakesOf(
  wakes: ReconcileRequest | readonly ReconcileRequest[] | undefined,
): readonly ReconcileRequest[] {
  const list: readonly (ReconcileRequest | undefined | null)[] = Array.isArray(wakes) ? wakes : [wakes];
  return list.filter((wake) => wake !== undefined && wake !== null);
}

/**
 * The place that a wake means.
 *
 * @param kind The object's kind.
 * @param wake Which object.
 * @param beside The namespace where none is said.
 * @returns Nothing for an empty name: that is what an optional field is that nobody filled in.
 * @throws {TypeError} If it is no wake, or leaves open in which namespace the object is.
 */
export function placeOf(kind: AnyKind, wake: ReconcileRequest, beside: string | undefined): Place | undefined {
  const said: unknown = Object(Object(wake).metadata ?? wake);
  const { name, namespace = beside } = typeof wake === "string" ? { name: wake } : said as Partial<Place>;
  if (name === undefined || name === "") {
    if (typeof wake === "string" || Object.hasOwn(said as object, "name")) return undefined;
    throw new TypeError(
      `Cannot tell which ${kind.kind} is meant by ${
        Deno.inspect(maskSecrets(wake))
      }: say its name, { name, namespace } or the object`,
    );
  }
  if (!kind.namespaced) return { name, namespace: undefined };
  if (namespace !== undefined) return { name, namespace };
  throw new TypeError(`Cannot tell which ${kind.kind} "${name}" is meant: say its namespace too: { name, namespace }`);
}
