/** One request of a connection and its response. */
import type { WireResponse } from "../response.ts";
import type { PayloadBuffer } from "./frames.ts";
import type { ResponseHeaders } from "./hpack.ts";
import type { StreamedBody } from "./streamed_body.ts";

/** A request. */
export interface Http2Request {
  readonly method: string;
  readonly authority: string;
  readonly path: string;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal | null;
  /** Whether the caller reads the body while it arrives, as for a watch. */
  readonly streams: boolean;
  /** Whether the request is sent before queued requests that are not urgent. @default {false} */
  readonly isUrgent?: boolean;
  /**
   * Called right before the request is sent. If it throws, the request fails with a `FencedError`.
   */
  readonly fence?: (() => void) | undefined;
}

/** The state of a request that was sent. */
export interface Stream {
  readonly id: number;
  readonly request: Http2Request;
  readonly resolve: (response: WireResponse) => void;
  readonly reject: (error: unknown) => void;
  readonly onAbort: () => void;
  headers: ResponseHeaders | undefined;
  /** Number of informational (1xx) responses so far. */
  informational: number;
  /** The received part of a body that is not streamed. */
  whole: PayloadBuffer | undefined;
  /** The body of a response that is streamed. */
  body: StreamedBody | undefined;
  /** The part of the request's body that has not been sent yet. */
  unsent: Uint8Array | undefined;
  /** Number of bytes that the client may still send. */
  sendWindow: number;
  /** Number of bytes that the server may still send. */
  receiveWindow: number;
  /** Number of bytes that were read, but not yet added to the server's window again. */
  unreturned: number;
}

/** Returns a response whose body was received completely. */
export function wholeResponse(headers: ResponseHeaders, text: string): WireResponse {
  return {
    ...commonParts(headers),
    body: null,
    json: () => new Promise((resolve) => resolve(JSON.parse(text))),
    text: () => Promise.resolve(text),
  };
}

/** Returns a response whose body is read while it arrives. */
export function streamedResponse(headers: ResponseHeaders, body: StreamedBody): WireResponse {
  return {
    ...commonParts(headers),
    body,
    json: async () => JSON.parse(await body.text()),
    text: () => body.text(),
  };
}

function commonParts({ status, retryAfter }: ResponseHeaders): Pick<WireResponse, "ok" | "status" | "headers"> {
  return {
    ok: status >= 200 && status < 300,
    status,
    headers: { get: (name) => name === "retry-after" ? retryAfter : null },
  };
}
