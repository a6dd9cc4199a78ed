/** What the calls of a client are given, and what they answer. */
import type { AnyKind, Infer, KubeObject } from "../resource/kind.ts";

/** Options of every call. */
export interface CallOptions {
  /** Where the object is; of a kind that lives in namespaces, a list without it is of all of them. */
  readonly namespace?: string;
  /** Ends the call; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Options of calls that write. */
export interface WriteOptions extends CallOptions {
  /** Who writes, for `managedFields`. @default {the `userAgent` of the client} */
  readonly manager?: string;
  /** What of the object is written, such as `status`. @default {the object itself} */
  readonly subresource?: string;
  /** Whether nothing is stored: the answer is what would be. @default {false} */
  readonly dryRun?: boolean;
  /** What the server does with fields that it does not know: `Strict` refuses them (KEP-2885). @default {"Warn"} */
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
}

/** Options of {@linkcode Client.delete}. */
export interface DeleteCallOptions extends CallOptions {
  /** What happens to the objects that the deleted object owns. @default {"Background"} */
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan" | undefined;
  /** What the object must be to be deleted. @default {any} */
  readonly preconditions?: {
    /** The object's `metadata.uid`. */
    readonly uid?: string | undefined;
    /** The object's `metadata.resourceVersion`. */
    readonly resourceVersion?: string | undefined;
  } | undefined;
}

/** Which objects are meant. */
export interface SelectOptions extends CallOptions {
  /** As the API has it: `app=web,tier!=cache`. @default {all} */
  readonly labelSelector?: string;
  /** As the API has it: `metadata.name=web`, or a field that the kind makes selectable. @default {all} */
  readonly fieldSelector?: string;
  /** Whether only the metadata of objects is asked for. @default {false} */
  readonly metadataOnly?: boolean;
}

/** One page of a list. */
export interface Page<K extends AnyKind = AnyKind> {
  /** The objects of it. */
  readonly items: Infer<K>[];
  /** What a watch may begin with that is to go on where the list ends. */
  readonly resourceVersion: string;
  /** Where the next page begins; nothing on the last one. */
  readonly next: string | undefined;
}

/** One line of a watch. A bookmark's object has a resourceVersion and little else; an error's is a `Status`. */
export interface WatchEvent {
  /** What became of the object. */
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  /** The object as it is then; of `DELETED`, as it was. */
  readonly object: KubeObject & { readonly code?: number; readonly message?: string };
}

/** Options of {@linkcode Client.watch}. */
export interface WatchCallOptions extends SelectOptions {
  /** Of which changes it begins with the next. @default {all there is, then what changes} */
  readonly resourceVersion?: string;
  /** Whether the watch begins with all there is (KEP-3157). @default {false} */
  readonly initial?: boolean;
  /** Seconds after which the server ends it. @default {the server's own: from half an hour to an hour} */
  readonly timeoutSeconds?: number;
  /** Called when the server has opened it. */
  readonly onOpen?: () => void;
}
