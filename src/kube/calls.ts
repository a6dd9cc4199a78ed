/** What the calls of a client are given, and what they answer. */
import type { AnyKind, Infer, KubeObject } from "../resource/kind.ts";

/** Options of every call. */
export interface CallOptions {
  readonly namespace?: string;
  readonly signal?: AbortSignal;
}

/** Options of calls that write. */
export interface WriteOptions extends CallOptions {
  /** Who writes, for `managedFields`. */
  readonly manager?: string;
  readonly subresource?: string;
  readonly dryRun?: boolean;
  /** What the server does with fields that it does not know: `Strict` refuses them (KEP-2885). @default {"Warn"} */
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
}

/** Which objects are meant. */
export interface SelectOptions extends CallOptions {
  /** As the API has it: `app=web,tier!=cache`. */
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Whether only the metadata of objects is asked for. @default {false} */
  readonly metadataOnly?: boolean;
}

/** One page of a list. */
export interface Page<K extends AnyKind = AnyKind> {
  readonly items: Infer<K>[];
  readonly resourceVersion: string;
  /** Where the next page begins; nothing on the last one. */
  readonly next: string | undefined;
}

/** One line of a watch. A bookmark's object has a resourceVersion and little else; an error's is a `Status`. */
export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: KubeObject & { readonly code?: number; readonly message?: string };
}

/** Options of {@linkcode Client.watch}. */
export interface WatchOptions extends SelectOptions {
  readonly resourceVersion?: string;
  /** Whether the watch begins with all there is (KEP-3157). */
  readonly initial?: boolean;
  /** Seconds after which the server ends it. */
  readonly timeoutSeconds?: number;
  /** Called when the server has opened it. */
  readonly onOpen?: () => void;
}
