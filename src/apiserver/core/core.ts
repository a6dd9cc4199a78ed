/** State that all parts of the server share. */
import type { Clock } from "../../base/clock.ts";
import type { Access } from "../access/access.ts";
import type { Kinds } from "../objects/kinds.ts";
import type { Store } from "../objects/store.ts";
import type { Caller } from "../webhooks/call.ts";
import type { Background } from "./background.ts";

/** The server's state, and its sources of time and randomness. */
export interface Core {
  readonly clock: Clock;
  readonly store: Store;
  readonly kinds: Kinds;
  readonly background: Background;
  /** Authentication and authorization. */
  readonly access: Access;
  /** Calls webhooks. */
  readonly caller: Caller;
  /** Returns a new uid. */
  readonly uid: () => string;
  /** Increases the activity counter of the server. */
  readonly countActivity: () => void;
}
