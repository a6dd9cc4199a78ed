/**
 * The first request of a client goes alone. Requests that are sent before a connection is there each open one of their own, with its handshake, though all of
 * them but the first will never be used again: over HTTP/2 everything goes over one. An operator begins with a dozen requests at once.
 */
import { aborted } from "../base/abort.ts";

/** Lets requests through. */
export type Gate = (send: () => Promise<Response>, signal: AbortSignal | null) => Promise<Response>;

/**
 * A gate for the requests of one client: those that come while the first is under way wait for its answer, whatever it is, and go then.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const gate = aloneFirst();
 * const sent: string[] = [];
 * const send = (name: string) => () => (sent.push(name), Promise.resolve(new Response(name)));
 * const answers = [gate(send("first"), null), gate(send("second"), null)];
 * assert.deepEqual(sent, ["first"]);
 * await Promise.all(answers);
 * assert.deepEqual(sent, ["first", "second"]);
 * ```
 */
export function aloneFirst(): Gate {
  let isOpen = false;
  let first: Promise<unknown> | undefined;
  return async (send, signal) => {
    if (isOpen) return await send();
    if (first === undefined) {
      const answer = send();
      first = answer.catch(() => undefined).then(() => isOpen = true);
      return await answer;
    }
    // A request that is given up meanwhile is sent as well: it fails as it would have.
    await (signal === null ? first : Promise.race([first, aborted(signal)]));
    return await send();
  };
}
