/** The options of handlers. */
import type { ObjectFilter } from "../../handlers/filters.ts";
import type { RetryOptions } from "../../handlers/steps.ts";
import type { AnyKind, Infer } from "../../resource/kind.ts";
import type { Access } from "../access.ts";
import type { IndexMap, Log } from "../context.ts";
import type { SandboxPermissions } from "../sandbox.ts";

/** The declarations of a handler. Omitted lists default to `[]`. */
export interface Declarations<
  Owns extends readonly AnyKind[] = readonly AnyKind[],
  Reads extends readonly AnyKind[] = readonly AnyKind[],
  Uses extends readonly Access[] = readonly Access[],
  Indexes extends IndexMap = IndexMap,
> {
  /**
   * Kinds that the handler creates. They are watched and cached, may be applied, and get an owner
   * reference. Unlike in a controller, their changes do not call the handler.
   */
  readonly owns?: Owns;
  /** Kinds that the handler only reads. They are watched and cached. */
  readonly reads?: Reads;
  /** Direct calls to the API server, by verb. */
  readonly uses?: Uses;
  /** Indexes of cached objects, by name. Handlers of a kind share the indexes. */
  readonly indexes?: Indexes;
  /** Sandbox permissions in addition to the API server. @default {none} */
  readonly sandbox?: SandboxPermissions;
}

/** Which objects a handler is called for. All filters must match. */
export interface HandlerFilter<K extends AnyKind> extends ObjectFilter {
  /** The kind of the object's controller owner. @default {any} */
  readonly ownedBy?: AnyKind;
  /** Returns whether the handler is called for the object. @default {always true} */
  when?(object: Infer<K>, context: { readonly log: Log }): boolean;
}

/** Where the handler state of objects is stored. */
export type Storage = "status" | "annotation" | "memory";

/** Options of a handler. */
export interface HandlerOptions<
  K extends AnyKind = AnyKind,
  Owns extends readonly AnyKind[] = readonly AnyKind[],
  Reads extends readonly AnyKind[] = readonly AnyKind[],
  Uses extends readonly Access[] = readonly Access[],
  Indexes extends IndexMap = IndexMap,
> extends Declarations<Owns, Reads, Uses, Indexes>, RetryOptions, HandlerFilter<K> {
  /** Earlier keys of the handler, whose state it continues. @default {[]} */
  readonly renamedFrom?: string | readonly string[];
  /**
   * Whether the handler is called with `create` for objects that the operator handled before the
   * handler was added. @default {"skip"}
   */
  readonly existingObjects?: "skip" | "create";
  /**
   * Where the state of the kind's objects is stored. All handlers of a kind have the same storage.
   *
   * - `"status"`: in `status.handlerState.<operator>`, in the status update that happens anyway.
   * - `"annotation"`: in the annotation `<domain>/<operator>.handler-state`.
   * - `"memory"`: not at all. After a restart, all objects count as new.
   *
   * @default {"status" for own kinds with a status, otherwise "annotation"}
   */
  readonly storage?: Storage;
}

/** Options that all handlers of a kind share. */
export interface KindOptions {
  /** Name of the finalizer of `on.delete` handlers. @default {`<domain>/<operator>`} */
  readonly finalizer?: string;
  /** Paths of fields whose changes call no handler. @default {[]} */
  readonly ignoredFields?: readonly string[];
}
