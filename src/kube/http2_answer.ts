/** Answers of an HTTP/2 connection: those that came whole, and those that are read as they come. */
import type { Answer } from "./answer.ts";
import type { AnswerHeaders } from "./hpack.ts";
import type { StreamedBody } from "./streamed_body.ts";

/** An answer whose body came whole. */
export function wholeAnswer(head: AnswerHeaders, text: string): Answer {
  return {
    ...partsOf(head),
    body: null,
    json: () => new Promise((resolve) => resolve(JSON.parse(text))),
    text: () => Promise.resolve(text),
  };
}

/** An answer that is read as it comes. */
export function streamedAnswer(head: AnswerHeaders, body: StreamedBody): Answer {
  return {
    ...partsOf(head),
    body,
    json: async () => JSON.parse(await body.text()),
    text: () => body.text(),
  };
}

function partsOf({ status, retryAfter }: AnswerHeaders): Pick<Answer, "ok" | "status" | "headers"> {
  return {
    ok: status >= 200 && status < 300,
    status,
    headers: { get: (name) => name === "retry-after" ? retryAfter : null },
  };
}
