/** Options and results of client calls. */
import type { AnyKind, Infer, KubeObject } from "../resource/kind.ts";

/** Options of every call. */
export interface CallOptions {
  /** Namespace of the object. A list of a namespaced kind without it covers all namespaces. */
  readonly namespace?: string;
  /** Aborts the call, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

/** Options of calls that write. */
export interface WriteOptions extends CallOptions {
  /** Field manager of the write. @default {the `userAgent` of the client} */
  readonly manager?: string;
  /** Subresource to write, such as `status`. @default {the object itself} */
  readonly subresource?: string;
  /** Whether to return the result without storing it. @default {false} */
  readonly dryRun?: boolean;
  /** How the server handles unknown fields: `Strict` rejects them (KEP-2885). @default {"Warn"} */
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
}

/** Options of {@linkcode Client.delete}. */
export interface DeleteCallOptions extends CallOptions {
  /** How the objects that the deleted object owns are deleted. @default {"Background"} */
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan" | undefined;
  /** Properties that the object must have to be deleted. @default {none} */
  readonly preconditions?: {
    /** The object's `metadata.uid`. */
    readonly uid?: string | undefined;
    /** The object's `metadata.resourceVersion`. */
    readonly resourceVersion?: string | undefined;
  } | undefined;
}

/** Options that select objects. */
export interface SelectOptions extends CallOptions {
  /** Label selector, such as `app=web,tier!=cache`. @default {all objects} */
  readonly labelSelector?: string;
  /** Field selector, such as `metadata.name=web`. @default {all objects} */
  readonly fieldSelector?: string;
  /** Whether to request only the metadata of objects. @default {false} */
  readonly metadataOnly?: boolean;
}

/** One page of a list. */
export interface Page<K extends AnyKind = AnyKind> {
  /** The objects of the page. */
  readonly items: Infer<K>[];
  /** The list's version, from which a watch can start. */
  readonly resourceVersion: string;
  /** Token of the next page; `undefined` on the last page. */
  readonly continue: string | undefined;
}

/**
 * An event of a watch. The object of a `BOOKMARK` has only a resourceVersion. The object of an
 * `ERROR` is a `Status`.
 */
export interface WatchEvent {
  /** The type of the event. */
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  /** The object after the change; for `DELETED`, before it. */
  readonly object: KubeObject & { readonly code?: number; readonly message?: string };
}

/** Options of {@linkcode Client.watch}. */
export interface WatchCallOptions extends SelectOptions {
  /**
   * Version after which the events start. @default {none: the watch starts with all existing
   * objects}
   */
  readonly resourceVersion?: string;
  /** Whether the watch starts with all existing objects (KEP-3157). @default {false} */
  readonly sendInitialEvents?: boolean;
  /**
   * Seconds after which the server ends the watch. @default {30 to 60 minutes, chosen by the
   * server}
   */
  readonly timeoutSeconds?: number;
  /** Called when the server has accepted the watch. */
  readonly onOpen?: () => void;
}
