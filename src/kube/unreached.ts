/** Why a server did not answer, in words. */
import { LongAnswerError } from "./answer.ts";
import type { RequestInfo } from "./api_error.ts";
import { HandshakeError } from "./handshake.ts";
import { CredentialError } from "./http.ts";

/**
 * The error of a request that was not answered.
 *
 * @param asked What was asked.
 * @param url The server's address.
 * @param cause What `fetch` threw.
 */
export function unreached({ verb, what }: RequestInfo, url: string, cause: unknown): Error {
  if (cause instanceof CredentialError) {
    return new Error(`Cannot ${verb} ${what}: ${cause.message.replace(/^Cannot/, "cannot")}`, { cause });
  }
  if (cause instanceof LongAnswerError) return new Error(`Cannot ${verb} ${what}: ${cause.message}`, { cause });
  return new Error(`Cannot ${verb} ${what}: no answer from "${url}": ${whyUnreached(cause)}`, { cause });
}

/** Deno hides why in the innermost cause. The usual ones are told with the way out. */
function whyUnreached(error: unknown): string {
  let inner = error;
  while (!(inner instanceof HandshakeError) && inner instanceof Error && inner.cause instanceof Error) {
    inner = inner.cause;
  }
  const told = inner instanceof Error ? inner.message : String(inner);
  if (/connection refused/i.test(told)) {
    return "connection refused: is the API server running, and is the address right?";
  }
  if (/UnknownIssuer/.test(told)) {
    return "the server's certificate is not signed by the authority of the kubeconfig (UnknownIssuer): set certificate-authority-data";
  }
  if (/network is unreachable|no route to host/i.test(told)) {
    return "there is no way to it over the network: is the address right, and is there a network?";
  }
  if (/dns error|failed to lookup/i.test(told)) return "the name cannot be resolved";
  return told;
}
