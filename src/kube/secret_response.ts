/** Removes the values of Secrets from error responses. */
import { maskSecretMessage } from "../base/mask_secrets.ts";

const SECRETS_PATH = /^\/api\/v1\/(?:namespaces\/[^/]+\/)?secrets(?:[/?]|$)/;

/**
 * Returns the body of an error response without the values of a Secret. When an API server cannot
 * decode a patched Secret, its `Status` quotes the stored object, and errors are copied to logs,
 * conditions and Events.
 *
 * @param path Path and query of the request.
 * @param response Body of the response: a `Status` as JSON, or any other string.
 * @param sent The body of the request.
 */
export function withoutSecretValues(path: string, response: string, sent: unknown): string {
  if (!SECRETS_PATH.test(path)) return response;
  try {
    return JSON.stringify(
      JSON.parse(response),
      (key, value) => key === "message" && typeof value === "string" ? maskSecretMessage(value, sent) : value,
    );
  } catch {
    return maskSecretMessage(response, sent);
  }
}
