/** Conversion between two versions of a kind, as plain data. */
import type { Returned } from "./returned.ts";
import type { AnyKind, Infer, KubeObject, ObjectMeta } from "../resource/kind.ts";

/** What a conversion answers: an object without its type. Of metadata only labels and annotations may change. */
export type ConvertedObject<K extends AnyKind> = Infer<K> extends infer Whole extends KubeObject
  ? Returned<Omit<Whole, "apiVersion" | "kind" | "metadata" | "status">> & {
    readonly metadata?: Returned<Partial<Pick<ObjectMeta, "labels" | "annotations">>> | undefined;
    // An object has no status as long as nobody reported one: what was handed in may be handed on.
    readonly status?: Whole extends { readonly status?: infer Status } ? Returned<Status> | undefined : never;
  }
  : never;

/** Options of {@linkcode conversion}: two functions, of which each undoes the other. They are called for every object that is read, and may wait for nothing. */
export interface ConversionOptions<Old extends AnyKind, New extends AnyKind> {
  /** An object of the first version as one of the second. Defaults are not filled in: what an old object never had is not there. */
  up(object: Infer<Old>): ConvertedObject<New>;
  /** And back. What the first version has no field for goes into an annotation, or is lost. */
  down(object: Infer<New>): ConvertedObject<Old>;
}

/** A conversion: plain data. An operator serves it, and the definition by which a cluster calls it is made from it. */
export interface Conversion {
  /** Tells it from controllers and webhooks. */
  readonly part: "conversion";
  /** The version that `up` takes. */
  readonly kind: AnyKind;
  /** The version that `up` answers. */
  readonly into: AnyKind;
  /** Makes an object of the second version of one of the first. */
  // deno-lint-ignore no-explicit-any -- conversions of different kinds stand in one list
  up(object: any): unknown;
  /** And back. */
  // deno-lint-ignore no-explicit-any
  down(object: any): unknown;
}

/**
 * Declares how objects get from one version of a kind to another and back. Several are put together: with v1 to v2 and v2 to v3, v1 gets to v3 as well.
 *
 * @param kind One version.
 * @param into The other, mostly the one that objects are stored in: the hub.
 * @param options The two ways.
 * @returns Plain data: a part of an operator, beside controllers and webhooks.
 * @throws {TypeError} If they are not two versions of one kind, or one of them was not made by {@linkcode resource}, or is external.
 *
 * @example Usage
 * ```ts
 * import { conversion, operator, resource, s } from "@op/sdk";
 *
 * const names = { group: "demo.example.com", kind: "Note" } as const;
 * const NoteV1 = resource({ ...names, version: "v1", spec: s.object({ text: s.string() }) });
 * const Note = resource({ ...names, version: "v2", spec: s.object({ lines: s.array(s.string()) }), versions: [NoteV1] });
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
      `Cannot convert ${kind.apiVersion} ${kind.kind} into ${into.apiVersion} ${into.kind}: they must be two versions of one kind`,
    );
  }
  for (const one of [kind, into]) {
    if (one.crd !== undefined) continue;
    throw new TypeError(
      `Cannot convert ${one.apiVersion} ${one.kind}: it has no definition here; only kinds made by resource() are converted`,
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
