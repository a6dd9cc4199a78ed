/** What a client is made with. */
import type { Clock } from "../base/clock.ts";
import type { RequestInfo } from "./api_error.ts";
import type { Pulse } from "./pulse.ts";
import type { RateLimit } from "./rate_limit.ts";

/** Options of a client of an API server. */
export interface ClientOptions {
  /** Whose time waits go by, before what was refused with `Retry-After` is sent again. @default {the machine's clock} */
  readonly clock?: Clock;
  /** What the server's audit log shows. @default {"op"} */
  readonly userAgent?: string;
  /** Called before each request that writes is sent, also when it is sent again. What it throws ends the call, and nothing is sent. */
  readonly fence?: () => void;
  /** Told of each answer: the method, and the status or `<error>` where there was none, as client-go has it. */
  readonly onAnswer?: (method: string, code: string) => void;
  /** Looks after the connection: what goes on fails when it is given up. */
  readonly pulse?: Pulse | undefined;
  /** Delays requests, except those for Leases and access reviews. @default {none} */
  readonly rateLimit?: RateLimit | undefined;
  /** Goes round each call but watches, with all that is sent for it: what it answers is the call's answer. */
  readonly around?: (<T>(asked: RequestInfo, call: () => Promise<T>) => Promise<T>) | undefined;
}
