/** How requests reach an API server. Everything a client sends goes through one function of a request. */

import type { Answer } from "./answer.ts";

/** Sends a request and answers the response, as `fetch` does. */
export type Transport = (request: Request) => Promise<Response>;

/** A request as plain values: to make a `Request` of them first costs an operator a tenth of its CPU time. */
export interface Outgoing {
  readonly method: string;
  /** Whoever sends it on may add to them: credentials. */
  readonly headers: Record<string, string>;
  readonly body: string | null;
  readonly signal: AbortSignal | null;
  /** Which of several connections it goes over. @default {0} */
  readonly lane?: number;
  /** Whether its answer is read as it comes, as a watch's is. @default {false} */
  readonly streams?: boolean;
  /** Whether it goes before others that wait for their turn. @default {false} */
  readonly isUrgent?: boolean;
  /** Called again right before it goes out, where it may have waited for that: what it throws ends it as a {@linkcode FencedError}. */
  readonly fence?: (() => void) | undefined;
}

/** A request was not sent, for its fence threw. What it threw is the cause. */
export class FencedError extends Error {
  override name = "FencedError";

  constructor(cause: unknown) {
    super("the request was held back", { cause });
  }
}

/** A way to an API server. */
export interface Connection {
  /** The server's address, without a slash at the end: `https://10.0.0.1:6443`. */
  readonly url: string;
  /** Sends a request. Credentials are added here, and nowhere else. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Sends what `fetch` would, from plain values: the client takes this way where there is one. */
  readonly send?: (url: string, outgoing: Outgoing) => Promise<Answer>;
  /**
   * Reads credentials anew after a request was refused with 401.
   *
   * @param refused The `authorization` that it was sent with.
   * @returns Whether there is another now, so that it is worth sending again.
   */
  renew?(refused: string | undefined): Promise<boolean>;
  /** The namespace that belongs to the credentials: the pod's, or the kubeconfig context's. */
  readonly namespace?: string;
  /** Whether this process runs in a pod of the cluster. */
  readonly isInPod?: boolean;
  /** Lets the next request open a connection anew, where one is held open: the one that is there is dead. */
  reset?(): void;
  /** Gives sockets back. */
  close(): void;
}
