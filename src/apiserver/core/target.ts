/** What a request is about, once its path is read, and what is answered. */
import type { User } from "../access/user.ts";
import type { ServedKind } from "../objects/kinds.ts";
import type { StoredObject } from "../objects/objects.ts";

/** A request about one kind. */
export interface Target {
  readonly kind: ServedKind;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
  /** What follows the subresource in the path, where that hands it on. */
  readonly subpath?: string;
  /** Who sent it, or as whom it is answered. */
  readonly user: User;
  /** Whether the path itself asks for a watch, as in old times. */
  readonly isWatchPath?: boolean;
  /** What the answer warns of, be it a refusal or not. */
  readonly warnings: string[];
}

/** What is answered. */
export interface Outcome {
  readonly code: number;
  readonly object: StoredObject;
}
