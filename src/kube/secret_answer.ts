/** Answers to requests about Secrets, as errors may quote them. */
import { maskSecretMessage } from "../base/mask_secrets.ts";

const SECRETS = /^\/api\/v1\/(?:namespaces\/[^/]+\/)?secrets(?:[/?]|$)/;

/**
 * Returns the answer of a failed request without the values of a Secret. When an API server cannot decode a patched Secret, its `Status` quotes the stored
 * object, and errors end up in logs, conditions and Events.
 *
 * @param path Path and query of the request.
 * @param answer The answer: a `Status` as JSON, or any other text.
 * @param sent The body of the request.
 */
export function quotableAnswer(path: string, answer: string, sent: unknown): string {
  if (!SECRETS.test(path)) return answer;
  try {
    return JSON.stringify(
      JSON.parse(answer),
      (key, value) => key === "message" && typeof value === "string" ? maskSecretMessage(value, sent) : value,
    );
  } catch {
    return maskSecretMessage(answer, sent);
  }
}
