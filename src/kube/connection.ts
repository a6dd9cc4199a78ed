/** How requests reach an API server. Everything a client sends goes through one function of a request. */

/** Sends a request and answers the response, as `fetch` does. */
export type Transport = (request: Request) => Promise<Response>;

/** A way to an API server. */
export interface Connection {
  /** The server's address, without a slash at the end: `https://10.0.0.1:6443`. */
  readonly url: string;
  /** Sends a request. Credentials are added here, and nowhere else. */
  readonly fetch: Transport;
  /**
   * Reads credentials anew after a request was refused with 401.
   *
   * @param refused The request, as it was sent.
   * @returns Whether there are others now, so that it is worth sending again.
   */
  renew?(refused: Request): Promise<boolean>;
  /** The namespace that belongs to the credentials: the pod's, or the kubeconfig context's. */
  readonly namespace?: string;
  /** Whether this process runs in a pod of the cluster. */
  readonly isInPod?: boolean;
  /** Gives sockets back. */
  close(): void;
}
