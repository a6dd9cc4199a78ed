/** A request that is under way over an HTTP/2 connection. */
import type { Answer } from "./answer.ts";
import type { Gathered } from "./gathered.ts";
import type { AnswerHeaders } from "./hpack.ts";
import type { Asking } from "./http2_asking.ts";
import type { StreamedBody } from "./streamed_body.ts";

/** What is known of it on our side. */
export interface Stream {
  readonly id: number;
  readonly asking: Asking;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
  readonly onAbort: () => void;
  head: AnswerHeaders | undefined;
  /** Number of informational (1xx) answers that came before it. */
  informational: number;
  /** Of an answer that comes whole. */
  whole: Gathered | undefined;
  /** Of one that is read as it comes. */
  body: StreamedBody | undefined;
  /** What is left of the request's body. */
  unsent: Uint8Array | undefined;
  /** How much of it the server takes. */
  window: number;
  /** How much the server may still send. */
  room: number;
  /** What came and was read, and is not yet given back to the server's window. */
  taken: number;
}
