/**
 * The interface between the webhook server and its handler. The server provides the connection of a
 * request, and the handler reports the request's progress. With it, the server chooses the
 * connection to close when it needs room. It never closes one whose review is being handled.
 */

/** The connection of a request. */
export interface Caller {
  /** Address of the client. Each address gets a fair share of connections and memory. */
  readonly address: string;
  /** Reports that the head of a request has arrived. */
  began(): Exchange;
}

/** A request and its response. */
export interface Exchange {
  /** Reports that the body is about to be read, so the client may send all of it. */
  bodyBegan(): void;
  /** Reports that the body was read, or that reading failed. */
  bodyEnded(): void;
  /** Reports that the review is being handled. The connection stays open until that has ended. */
  handlingBegan(): void;
  /**
   * Reports that the response is about to be sent.
   *
   * @param length Length of its body, in bytes.
   */
  ended(length: number): void;
}

const LOCAL_EXCHANGE: Exchange = { bodyBegan() {}, bodyEnded() {}, handlingBegan() {}, ended() {} };

/** A caller in the same process. It has no connection. */
export const LOCAL_CALLER: Caller = { address: "local", began: () => LOCAL_EXCHANGE };
