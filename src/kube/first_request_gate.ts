/**
 * Delays the other requests of a client until its first one has a response. Without this, each
 * request that is sent before a connection is open would open its own, with a TLS handshake,
 * although HTTP/2 then uses only one. An operator starts with a dozen requests at once.
 */
import { aborted } from "../base/abort.ts";

/** Calls `send`, after a wait if the first request is still pending. */
export type FirstRequestGate = (send: () => Promise<Response>, signal: AbortSignal | null) => Promise<Response>;

/**
 * Returns a gate for the requests of one client. Requests wait until the first one has succeeded or
 * failed.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const gate = firstRequestGate();
 * const sent: string[] = [];
 * const send = (name: string) => () => (sent.push(name), Promise.resolve(new Response(name)));
 * const responses = [gate(send("first"), null), gate(send("second"), null)];
 * assert.deepEqual(sent, ["first"]);
 * await Promise.all(responses);
 * assert.deepEqual(sent, ["first", "second"]);
 * ```
 */
export function firstRequestGate(): FirstRequestGate {
  let isOpen = false;
  let first: Promise<unknown> | undefined;
  return async (send, signal) => {
    if (isOpen) return await send();
    if (first === undefined) {
      const response = send();
      first = response.catch(() => undefined).then(() => isOpen = true);
      return await response;
    }
    // An aborted request is also sent, so that it fails as it would without the gate.
    await (signal === null ? first : Promise.race([first, aborted(signal)]));
    return await send();
  };
}
