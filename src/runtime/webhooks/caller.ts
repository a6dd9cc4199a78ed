/**
 * What the webhook server knows about the connection that a request came by, and what the handler reports about the request. The server thus tells a
 * connection that is idle or slow from one whose review is being answered: only the former are closed to make room for others.
 */

/** The connection of a request. */
export interface Caller {
  /** Address of the client. Clients with different addresses get fair shares of what the server has. */
  readonly address: string;
  /** The head of a request has arrived. */
  began(): Exchange;
}

/** A request and its response. */
export interface Exchange {
  /** The body is about to be read: from now on the connection may send as much as it likes. */
  bodyBegan(): void;
  /** The body was read, or given up. */
  bodyEnded(): void;
  /** The review is being answered: the connection stays open until that is done. */
  answerBegan(): void;
  /**
   * The response is about to be sent.
   *
   * @param length Length of its body.
   */
  ended(length: number): void;
}

const LOCAL_EXCHANGE: Exchange = { bodyBegan() {}, bodyEnded() {}, answerBegan() {}, ended() {} };

/** A caller in the same process: it has no connection that could be closed. */
export const LOCAL_CALLER: Caller = { address: "local", began: () => LOCAL_EXCHANGE };
