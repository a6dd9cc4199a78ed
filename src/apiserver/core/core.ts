/** What all parts of the server share. */
import type { Clock } from "../../base/clock.ts";
import type { Access } from "../access/access.ts";
import type { Kinds } from "../objects/kinds.ts";
import type { Store } from "../objects/store.ts";
import type { Caller } from "../webhooks/call.ts";
import type { Background } from "./background.ts";

/** The server's state and its sources of time and chance. */
export interface Core {
  readonly clock: Clock;
  readonly store: Store;
  readonly kinds: Kinds;
  readonly background: Background;
  /** Who may do what. */
  readonly access: Access;
  /** How webhooks are reached. */
  readonly caller: Caller;
  /** A fresh uid. */
  readonly uid: () => string;
  /** Counts something that happened. */
  readonly happened: () => void;
}
