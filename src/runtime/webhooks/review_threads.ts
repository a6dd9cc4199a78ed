/**
 * Handles reviews in worker threads: TLS and HTTP stay in the main thread, while the webhooks'
 * functions use more cores. A thread is a Worker that loads the whole program and runs only the
 * operator's webhooks (`serveReviews`). A thread whose function hangs is terminated, and its other
 * reviews are assigned to another thread.
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../logger.ts";
import { reviewTrace, type SpanContext } from "../tracing.ts";
import type { ReviewTimeout } from "./review_timeout.ts";
import type { MetricCall } from "./thread_metrics.ts";

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
  readonly onMetric: (call: MetricCall) => void;
}

/** The response of a review. */
export interface ReviewResponse {
  readonly status: number;
  readonly text: string;
}

/** A message from a thread. */
type ThreadMessage =
  | { readonly isLoaded: true }
  | { readonly isReady: true }
  | { readonly isAlive: true }
  | { readonly metric: MetricCall }
  | ({ readonly id: number } & ReviewResponse);

/** A review for a thread. */
interface ThreadRequest {
  readonly id: number;
  readonly url: string;
  readonly body: string;
  /** The review's span in the main thread, which is the parent of the thread's spans. */
  readonly trace: SpanContext | undefined;
}

/** Handles the reviews of a thread. */
export type ReviewHandler = (request: Request, trace: SpanContext | undefined) => Promise<Response>;

interface PendingReview {
  readonly request: ThreadRequest;
  readonly resolve: (response: ReviewResponse) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<number, PendingReview>;
  isReady: boolean;
  /** Timer that terminates the thread unless it reports that it is alive. */
  hangTimer: Disposable | undefined;
}

const NAME = "op-webhooks";
// How long a thread may take to respond after the deadline of one of its reviews, in milliseconds,
// before it is terminated.
const GRACE = 1000;
// Delay before a thread that failed to start is started again, in milliseconds.
const RESTART = 1000;

/** Returns whether this thread handles reviews for the main thread. */
export function isReviewThread(): boolean {
  return (globalThis as { readonly name?: string }).name === NAME;
}

/** Threads that handle reviews. */
export class ReviewThreads implements Disposable {
  readonly #options: ReviewThreadsOptions;
  readonly #threads = new Set<Thread>();
  /** Reviews that wait for a thread. */
  readonly #queue = new Map<number, PendingReview>();
  #serial = 0;
  #isDisposed = false;

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
   * Assigns a review to the thread with the fewest pending reviews.
   *
   * @param url URL of the request.
   * @param body Body of the request.
   * @param reviewTimeout Ends when the API server no longer waits for the response.
   */
  handle(url: string, body: string, reviewTimeout: ReviewTimeout): Promise<ReviewResponse> {
    return new Promise((resolve) => {
      const request = { id: this.#serial++, url, body, trace: reviewTrace() };
      this.#assign({ request, resolve });
      reviewTimeout.signal.addEventListener("abort", () => this.#onLate(request.id), { once: true });
    });
  }

  #assign(waiting: PendingReview): void {
    let leastBusy: Thread | undefined;
    for (const thread of this.#threads) {
      if (!thread.isReady || thread.hangTimer !== undefined) continue;
      if (leastBusy === undefined || thread.waiting.size < leastBusy.waiting.size) leastBusy = thread;
    }
    if (leastBusy === undefined) return void this.#queue.set(waiting.request.id, waiting);
    leastBusy.waiting.set(waiting.request.id, waiting);
    leastBusy.worker.postMessage(waiting.request);
  }

  /** Drops a review after its deadline, and checks whether its thread still responds. */
  #onLate(id: number): void {
    this.#queue.delete(id);
    for (const thread of this.#threads) {
      if (!thread.waiting.delete(id) || thread.hangTimer !== undefined) continue;
      thread.worker.postMessage({ isAlive: true });
      thread.hangTimer = this.#options.clock.after(GRACE, () => this.#end(thread, "its function did not return"));
    }
  }

  #start(): void {
    if (this.#isDisposed) return;
    const { url, start } = this.#options;
    const worker = new Worker(url, { type: "module", name: NAME });
    const thread: Thread = { worker, waiting: new Map(), isReady: false, hangTimer: undefined };
    this.#threads.add(thread);
    worker.addEventListener("message", ({ data }: MessageEvent<ThreadMessage>) => {
      // Wait until the module listens, because earlier messages would be lost.
      if ("isLoaded" in data) return worker.postMessage({ start });
      // A hanging function may still count metrics, so this does not prove that the thread
      // responds.
      if ("metric" in data) return this.#options.onMetric(data.metric);
      this.#receive(thread, data);
    });
    worker.addEventListener("error", (event) => {
      // Without this, the error would also end the main thread.
      event.preventDefault();
      this.#end(thread, event.message);
    });
  }

  #receive(
    thread: Thread,
    message: Exclude<ThreadMessage, { readonly isLoaded: true } | { readonly metric: MetricCall }>,
  ): void {
    thread.hangTimer?.[Symbol.dispose]();
    thread.hangTimer = undefined;
    if ("id" in message) {
      thread.waiting.get(message.id)?.resolve(message);
      thread.waiting.delete(message.id);
      return;
    }
    if ("isReady" in message) thread.isReady = true;
    const queued = [...this.#queue.values()];
    this.#queue.clear();
    for (const waiting of queued) this.#assign(waiting);
  }

  /** Terminates a thread and starts another. Its reviews are assigned to other threads. */
  #end(thread: Thread, reason: string): void {
    if (!this.#threads.delete(thread)) return;
    thread.hangTimer?.[Symbol.dispose]();
    thread.worker.terminate();
    if (this.#isDisposed) return;
    this.#options.log.error("Webhook thread ended", { error: reason, pendingReviews: thread.waiting.size });
    // A thread that fails at its start must not be restarted in a loop.
    if (thread.isReady) this.#start();
    else this.#options.clock.after(RESTART, () => this.#start());
    for (const waiting of thread.waiting.values()) this.#assign(waiting);
  }

  /** Terminates all threads. */
  [Symbol.dispose](): void {
    this.#isDisposed = true;
    for (const thread of this.#threads) this.#end(thread, "");
  }
}

/**
 * Handles reviews for the main thread. Called in a thread.
 *
 * @param begin Starts the webhooks with the data of {@linkcode ReviewThreadsOptions.start}.
 */
export function serveReviews(
  begin: (start: unknown, count: (call: MetricCall) => void) => Promise<ReviewHandler>,
): void {
  const thread = globalThis as unknown as {
    addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
    postMessage(message: ThreadMessage): void;
  };
  let handle: ReviewHandler | undefined;
  thread.addEventListener("message", async ({ data }) => {
    if ("start" in data) {
      handle = await begin(data.start, (metric) => thread.postMessage({ metric }));
      return thread.postMessage({ isReady: true });
    }
    if ("isAlive" in data) return thread.postMessage({ isAlive: true });
    const { id, url, body, trace } = data as ThreadRequest;
    const headers = { "content-type": "application/json", "content-length": String(body.length) };
    const response = await handle!(new Request(url, { method: "POST", headers, body }), trace);
    thread.postMessage({ id, status: response.status, text: await response.text() });
  });
  thread.postMessage({ isLoaded: true });
}
