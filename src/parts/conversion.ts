/** Conversion between two versions of a kind, as plain data. */
import type { Returned } from "./returned.ts";
import type { AnyKind, Infer, KubeObject, ObjectMeta } from "../resource/kind.ts";

/**
 * The object that a conversion returns, without `apiVersion` and `kind`. Of the metadata, only
 * labels and annotations may change.
 */
export type ConvertedObject<K extends AnyKind> = Infer<K> extends infer Whole extends KubeObject
  ? Returned<Omit<Whole, "apiVersion" | "kind" | "metadata" | "status">> & {
    readonly metadata?: Returned<Partial<Pick<ObjectMeta, "labels" | "annotations">>> | undefined;
    // A new object has no status, so a conversion may return `status: undefined`.
    readonly status?: Whole extends { readonly status?: infer Status } ? Returned<Status> | undefined : never;
  }
  : never;

/**
 * Options of {@linkcode conversion}: two functions, each the inverse of the other. They are called
 * for every object that is read, and must be synchronous.
 */
export interface ConversionOptions<Old extends AnyKind, New extends AnyKind> {
  /**
   * Converts an object to the second version. Defaults are not applied, so fields that an old
   * object does not have are missing.
   */
  up(object: Infer<Old>): ConvertedObject<New>;
  /**
   * Converts an object to the first version. Values without a field in the first version are lost
   * unless they are stored in an annotation.
   */
  down(object: Infer<New>): ConvertedObject<Old>;
}

/**
 * A conversion as plain data. An operator serves it, and the CustomResourceDefinition refers to it.
 */
export interface Conversion {
  /** Distinguishes conversions from controllers and webhooks. */
  readonly part: "conversion";
  /** The version that `up` converts from. */
  readonly kind: AnyKind;
  /** The version that `up` converts to. */
  readonly into: AnyKind;
  /** Converts an object of the first version to the second. */
  // deno-lint-ignore no-explicit-any -- one list contains conversions of different kinds
  up(object: any): unknown;
  /** Converts an object of the second version to the first. */
  // deno-lint-ignore no-explicit-any
  down(object: any): unknown;
}

/**
 * Declares how objects are converted between two versions of a kind. Conversions are combined: with
 * v1 to v2 and v2 to v3, v1 is also converted to v3.
 *
 * @param kind One version.
 * @param into The other version, usually the one in which objects are stored (the hub).
 * @param options The two functions.
 * @returns The conversion as plain data: a part of an operator, like controllers and webhooks.
 * @throws {TypeError} If the kinds are not two versions of one kind, one of them was not created by
 *   {@linkcode resource}, or one is external.
 *
 * @example Usage
 * ```ts
 * import { conversion, operator, resource, s } from "@op/sdk";
 *
 * const names = { group: "demo.example.com", kind: "Note" } as const;
 * const NoteV1 = resource({ ...names, version: "v1", spec: s.object({ text: s.string() }) });
 * const spec = s.object({ lines: s.array(s.string()) });
 * const Note = resource({ ...names, version: "v2", spec, versions: [NoteV1] });
 *
 * const noteV1 = conversion(NoteV1, Note, {
 *   up: ({ spec }) => ({ spec: { lines: spec.text.split("\n") } }),
 *   down: ({ spec }) => ({ spec: { text: spec.lines.join("\n") } }),
 * });
 * const op = operator({ name: "note-operator", parts: { noteV1 } });
 * ```
 */
export function conversion<Old extends AnyKind, New extends AnyKind>(
  kind: Old,
  into: New,
  options: ConversionOptions<Old, New>,
): Conversion {
  const isOneKind = kind.group === into.group && kind.kind === into.kind && kind.plural === into.plural;
  if (!isOneKind || kind.version === into.version) {
    throw new TypeError(
      `Conversion from ${kind.apiVersion} ${kind.kind} to ${into.apiVersion} ${into.kind}: they are not two versions of one kind. Pass two versions with the same group, kind and plural.`,
    );
  }
  for (const one of [kind, into]) {
    if (one.crd !== undefined) continue;
    throw new TypeError(
      `Conversion of ${one.apiVersion} ${one.kind}: the kind has no CustomResourceDefinition here. Define it with resource().`,
    );
  }
  if (kind.external || into.external) {
    throw new TypeError(
      `Conversion from ${kind.apiVersion} to ${into.apiVersion} of ${kind.kind}: the kind is external, so its CustomResourceDefinition, which names ` +
        `the conversion webhook, belongs to another project. Remove the conversion; the API server already serves the version that you declare.`,
    );
  }
  return {
    part: "conversion",
    kind,
    into,
    up: (object) => options.up(object),
    down: (object) => options.down(object),
  };
}
