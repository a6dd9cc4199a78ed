/** The target of a request, as parsed from its path, and the outcome of the request. */
import type { User } from "../access/user.ts";
import type { ServedKind } from "../objects/kinds.ts";
import type { StoredObject } from "../objects/objects.ts";

/** A request to one kind. */
export interface Target {
  readonly kind: ServedKind;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
  /** Rest of the path after the subresource, for proxies. */
  readonly subpath?: string;
  /** The user of the request: the sender, or the impersonated user. */
  readonly user: User;
  /** Whether the path is one of the deprecated watch paths (`/api/v1/watch/...`). */
  readonly isWatchPath?: boolean;
  /** Warnings of the response, including the response to a rejected request. */
  readonly warnings: string[];
}

/** A successful response: its status code and object. */
export interface Outcome {
  readonly code: number;
  readonly object: StoredObject;
}
