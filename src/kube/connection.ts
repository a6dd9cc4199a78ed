/**
 * The interfaces between a client and the transport that sends its requests.
 */
import type { WireResponse } from "./response.ts";

/**
 * A request as plain values. Creating a `Request` instead would take a tenth of an operator's CPU
 * time.
 */
export interface WireRequest {
  readonly method: string;
  /** Headers. A connection may add credentials to them. */
  readonly headers: Record<string, string>;
  readonly body: string | null;
  readonly signal: AbortSignal | null;
  /**
   * Which of several connections to use. Watches that exceed the limit of the first connection use
   * further ones. @default {0}
   */
  readonly connectionIndex?: number;
  /** Whether the caller reads the body while it arrives, as for a watch. @default {false} */
  readonly streams?: boolean;
  /** Whether the request is sent before queued requests that are not urgent. @default {false} */
  readonly isUrgent?: boolean;
  /**
   * Called right before the request is sent, which may be after a wait. If it throws, the request
   * is not sent and fails with a {@linkcode FencedError}.
   */
  readonly fence?: (() => void) | undefined;
}

/** A request was not sent because its fence threw an error, which is the cause. */
export class FencedError extends Error {
  override name = "FencedError";
  /** Always `Fenced`. */
  readonly code = "Fenced";

  constructor(cause: unknown) {
    super("the request was not sent, because its fence threw an error", { cause });
  }
}

/** Sends requests without adding credentials. */
export interface Transport {
  /** Sends a request, as the global `fetch` does. */
  fetch(request: Request): Promise<Response>;
  /** Sends a request that is given as plain values. */
  send(url: string, request: WireRequest): Promise<WireResponse>;
  /** Closes all connections. Pending requests fail, and the next request opens a new connection. */
  reset(): void;
  /** Closes all connections for good. */
  close(): void;
}

/** Access to an API server. */
export interface Connection {
  /** URL of the server without a trailing slash, such as `https://10.0.0.1:6443`. */
  readonly url: string;
  /** Sends a request with credentials. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Sends a request that is given as plain values. The client prefers it to `fetch`. */
  readonly send?: (url: string, request: WireRequest) => Promise<WireResponse>;
  /**
   * Reads the credentials again, after a request failed with 401.
   *
   * @param rejected The `authorization` header of that request.
   * @returns Whether the credentials have changed, so that the request should be sent again.
   */
  renew?(rejected: string | undefined): Promise<boolean>;
  /** Certificate of the authority that signed the server's certificate, as PEM. */
  readonly ca?: string;
  /** Returns the current bearer token, if requests are sent with one. */
  token?(): Promise<string>;
  /** The namespace of the credentials: that of the pod, or of the kubeconfig context. */
  readonly namespace?: string;
  /** Whether this process runs in a pod of the cluster. */
  readonly isInPod?: boolean;
  /** Closes a dead connection, so that the next request opens a new one. */
  reset?(): void;
  /** Closes the connection. */
  close(): void;
}
