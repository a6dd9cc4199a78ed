/**
 * Answers reviews in worker threads: TLS and HTTP stay in the main thread, while the webhooks'
 * functions use more cores. A thread is a Worker that loads the whole program and runs only the
 * operator's webhooks (`serveReviews`). A thread whose function hangs is terminated, and its other
 * reviews are given to another thread.
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../logger.ts";
import { reviewTrace, type SpanContext } from "../tracing.ts";
import type { ReviewTimeout } from "./review_timeout.ts";
import type { Counted } from "./thread_metrics.ts";

/** Options of {@linkcode ReviewThreads}. */
export interface ReviewThreadsOptions {
  /** URL of the program's main module. */
  readonly url: string;
  /** Number of threads. */
  readonly threads: number;
  /** Data for the start of a thread. It is copied by structured cloning. */
  readonly start: unknown;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called with each metric that a thread counts. */
  readonly onCount: (counted: Counted) => void;
}

/** The response of a review. */
export interface ReviewAnswer {
  readonly status: number;
  readonly text: string;
}

/** A message from a thread. */
type ThreadMessage =
  | { readonly isLoaded: true }
  | { readonly isReady: true }
  | { readonly isAlive: true }
  | { readonly counted: Counted }
  | ({ readonly id: number } & ReviewAnswer);

/** A review for a thread. */
interface ThreadRequest {
  readonly id: number;
  readonly url: string;
  readonly body: string;
  /** The review's span in the main thread, which is the parent of the thread's spans. */
  readonly trace: SpanContext | undefined;
}

/** Answers the reviews of a thread. */
export type ThreadAnswer = (request: Request, trace: SpanContext | undefined) => Promise<Response>;

interface Waiting {
  readonly request: ThreadRequest;
  readonly resolve: (answer: ReviewAnswer) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<number, Waiting>;
  isReady: boolean;
  /** Timer that terminates it unless it reports that it is alive. */
  doubt: Disposable | undefined;
}

const NAME = "op-webhooks";
// How long a thread may compute after the deadline of its review, in milliseconds, before it counts
// as hanging.
const GRACE = 1000;
// Delay before a thread that failed to start is started again, in milliseconds.
const RESTART = 1000;

/** Returns whether this thread answers reviews for the main thread. */
export function isReviewThread(): boolean {
  return (globalThis as { readonly name?: string }).name === NAME;
}

/** Threads that answer reviews. */
export class ReviewThreads implements Disposable {
  readonly #options: ReviewThreadsOptions;
  readonly #threads = new Set<Thread>();
  /** Reviews that wait for a thread. */
  readonly #queue = new Map<number, Waiting>();
  #serial = 0;
  #isOver = false;

  /**
   * Starts the threads.
   *
   * @param options The program, and the number of threads.
   */
  constructor(options: ReviewThreadsOptions) {
    this.#options = options;
    for (let i = 0; i < options.threads; i++) this.#start();
  }

  /** Number of threads that are ready. */
  get ready(): number {
    return [...this.#threads].filter(({ isReady }) => isReady).length;
  }

  /**
   * Gives a review to the thread with the fewest.
   *
   * @param url URL of the request.
   * @param body Body of the request.
   * @param reviewTimeout Ends when the API server no longer waits for the answer.
   */
  ask(url: string, body: string, reviewTimeout: ReviewTimeout): Promise<ReviewAnswer> {
    return new Promise((resolve) => {
      const request = { id: this.#serial++, url, body, trace: reviewTrace() };
      this.#give({ request, resolve });
      reviewTimeout.signal.addEventListener("abort", () => this.#late(request.id), { once: true });
    });
  }

  #give(waiting: Waiting): void {
    let idlest: Thread | undefined;
    for (const thread of this.#threads) {
      if (!thread.isReady || thread.doubt !== undefined) continue;
      if (idlest === undefined || thread.waiting.size < idlest.waiting.size) idlest = thread;
    }
    if (idlest === undefined) return void this.#queue.set(waiting.request.id, waiting);
    idlest.waiting.set(waiting.request.id, waiting);
    idlest.worker.postMessage(waiting.request);
  }

  /** Drops a review after its deadline, and checks whether its thread still responds. */
  #late(id: number): void {
    this.#queue.delete(id);
    for (const thread of this.#threads) {
      if (!thread.waiting.delete(id) || thread.doubt !== undefined) continue;
      thread.worker.postMessage({ isAlive: true });
      thread.doubt = this.#options.clock.after(GRACE, () => this.#end(thread, "its function did not return"));
    }
  }

  #start(): void {
    if (this.#isOver) return;
    const { url, start } = this.#options;
    const worker = new Worker(url, { type: "module", name: NAME });
    const thread: Thread = { worker, waiting: new Map(), isReady: false, doubt: undefined };
    this.#threads.add(thread);
    worker.addEventListener("message", ({ data }: MessageEvent<ThreadMessage>) => {
      // Messages that are sent before its module listens are lost.
      if ("isLoaded" in data) return worker.postMessage({ start });
      // A hanging function may still count, so this is no sign of life.
      if ("counted" in data) return this.#options.onCount(data.counted);
      this.#receive(thread, data);
    });
    worker.addEventListener("error", (event) => {
      // Otherwise the main thread would fail.
      event.preventDefault();
      this.#end(thread, event.message);
    });
  }

  #receive(
    thread: Thread,
    message: Exclude<ThreadMessage, { readonly isLoaded: true } | { readonly counted: Counted }>,
  ): void {
    thread.doubt?.[Symbol.dispose]();
    thread.doubt = undefined;
    if ("id" in message) {
      thread.waiting.get(message.id)?.resolve(message);
      thread.waiting.delete(message.id);
      return;
    }
    if ("isReady" in message) thread.isReady = true;
    const queued = [...this.#queue.values()];
    this.#queue.clear();
    for (const waiting of queued) this.#give(waiting);
  }

  /** Terminates a thread and starts another. Its reviews are given to the other threads. */
  #end(thread: Thread, reason: string): void {
    if (!this.#threads.delete(thread)) return;
    thread.doubt?.[Symbol.dispose]();
    thread.worker.terminate();
    if (this.#isOver) return;
    this.#options.log.error("Webhook thread ended", { error: reason, pendingReviews: thread.waiting.size });
    // A thread that fails at its start must not be restarted in a loop.
    if (thread.isReady) this.#start();
    else this.#options.clock.after(RESTART, () => this.#start());
    for (const waiting of thread.waiting.values()) this.#give(waiting);
  }

  /** Terminates all threads. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    for (const thread of this.#threads) this.#end(thread, "");
  }
}

/**
 * Answers reviews for the main thread. Called in a thread.
 *
 * @param begin Starts the webhooks with the data of {@linkcode ReviewThreadsOptions.start}.
 */
export function serveReviews(
  begin: (start: unknown, count: (counted: Counted) => void) => Promise<ThreadAnswer>,
): void {
  const thread = globalThis as unknown as {
    addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
    postMessage(message: ThreadMessage): void;
  };
  let answer: ThreadAnswer | undefined;
  thread.addEventListener("message", async ({ data }) => {
    if ("start" in data) {
      answer = await begin(data.start, (counted) => thread.postMessage({ counted }));
      return thread.postMessage({ isReady: true });
    }
    if ("isAlive" in data) return thread.postMessage({ isAlive: true });
    const { id, url, body, trace } = data as ThreadRequest;
    const headers = { "content-type": "application/json", "content-length": String(body.length) };
    const response = await answer!(new Request(url, { method: "POST", headers, body }), trace);
    thread.postMessage({ id, status: response.status, text: await response.text() });
  });
  thread.postMessage({ isLoaded: true });
}
