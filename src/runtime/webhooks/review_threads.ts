/**
 * Reviews answered in threads of the program: TLS and HTTP stay where they are, the functions get more cores. A thread is a Worker that loads the program
 * whole and runs the operator's webhooks, and nothing else of it (`serveReviews`). One whose function hangs is ended and takes nothing along: what else
 * waited for it is asked of another.
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../logger.ts";
import { reviewTrace, type SpanContext } from "../tracing.ts";
import type { Patience } from "./patience.ts";
import type { Counted } from "./thread_metrics.ts";

/** Options of {@linkcode ReviewThreads}. */
export interface ReviewThreadsOptions {
  /** The address of the program's module. */
  readonly url: string;
  /** How many. */
  readonly threads: number;
  /** What a thread is told at its start: what structured cloning copies. */
  readonly start: unknown;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told what the threads count. */
  readonly onCount: (counted: Counted) => void;
}

/** What a thread answers. */
export interface ReviewAnswer {
  readonly status: number;
  readonly text: string;
}

type Told =
  | { readonly isLoaded: true }
  | { readonly isReady: true }
  | { readonly isAlive: true }
  | { readonly counted: Counted }
  | ({ readonly id: number } & ReviewAnswer);

interface Asked {
  readonly id: number;
  readonly url: string;
  readonly body: string;
  /** The span of the review in the program: what the thread makes of spans are its children. */
  readonly trace: SpanContext | undefined;
}

/** What a thread answers reviews with. */
export type ThreadAnswer = (request: Request, trace: SpanContext | undefined) => Promise<Response>;

interface Waiting {
  readonly asked: Asked;
  readonly resolve: (answer: ReviewAnswer) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<number, Waiting>;
  isReady: boolean;
  /** Ends it, unless it says that it lives. */
  doubt: Disposable | undefined;
}

const NAME = "op-webhooks";
// A thread that computes for longer than its review may take, and that much more, does not come back.
const GRACE = 1000;
const AGAIN = 1000;

/** Whether this is a thread that answers reviews. */
export function isReviewThread(): boolean {
  return (globalThis as { readonly name?: string }).name === NAME;
}

/** Threads that answer reviews. */
export class ReviewThreads implements Disposable {
  readonly #options: ReviewThreadsOptions;
  readonly #threads = new Set<Thread>();
  /** What nobody could be asked yet. */
  readonly #line = new Map<number, Waiting>();
  #serial = 0;
  #isOver = false;

  constructor(options: ReviewThreadsOptions) {
    this.#options = options;
    for (let i = 0; i < options.threads; i++) this.#start();
  }

  /** How many answer. */
  get ready(): number {
    return [...this.#threads].filter(({ isReady }) => isReady).length;
  }

  /**
   * Has a review answered by the thread that has the least to do.
   *
   * @param url Where it was asked.
   * @param body What was asked.
   * @param patience For how long the answer is waited for.
   */
  ask(url: string, body: string, patience: Patience): Promise<ReviewAnswer> {
    return new Promise((resolve) => {
      const asked = { id: this.#serial++, url, body, trace: reviewTrace() };
      this.#give({ asked, resolve });
      patience.signal.addEventListener("abort", () => this.#late(asked.id), { once: true });
    });
  }

  #give(waiting: Waiting): void {
    let idlest: Thread | undefined;
    for (const thread of this.#threads) {
      if (!thread.isReady || thread.doubt !== undefined) continue;
      if (idlest === undefined || thread.waiting.size < idlest.waiting.size) idlest = thread;
    }
    if (idlest === undefined) return void this.#line.set(waiting.asked.id, waiting);
    idlest.waiting.set(waiting.asked.id, waiting);
    idlest.worker.postMessage(waiting.asked);
  }

  /** Nobody waits for it any longer. Does its thread still hear? */
  #late(id: number): void {
    this.#line.delete(id);
    for (const thread of this.#threads) {
      if (!thread.waiting.delete(id) || thread.doubt !== undefined) continue;
      thread.worker.postMessage({ isAlive: true });
      thread.doubt = this.#options.clock.after(GRACE, () => this.#end(thread, "its function did not come back"));
    }
  }

  #start(): void {
    if (this.#isOver) return;
    const { url, start } = this.#options;
    const worker = new Worker(url, { type: "module", name: NAME });
    const thread: Thread = { worker, waiting: new Map(), isReady: false, doubt: undefined };
    this.#threads.add(thread);
    worker.addEventListener("message", ({ data }: MessageEvent<Told>) => {
      // What is sent before its module listens is lost.
      if ("isLoaded" in data) return worker.postMessage({ start });
      // What computes for long may count meanwhile: that says nothing of whether it comes back.
      if ("counted" in data) return this.#options.onCount(data.counted);
      this.#hear(thread, data);
    });
    worker.addEventListener("error", (event) => {
      // Without this it would be an error of the program.
      event.preventDefault();
      this.#end(thread, event.message);
    });
  }

  #hear(thread: Thread, told: Exclude<Told, { readonly isLoaded: true } | { readonly counted: Counted }>): void {
    thread.doubt?.[Symbol.dispose]();
    thread.doubt = undefined;
    if ("id" in told) {
      thread.waiting.get(told.id)?.resolve(told);
      thread.waiting.delete(told.id);
      return;
    }
    if ("isReady" in told) thread.isReady = true;
    const line = [...this.#line.values()];
    this.#line.clear();
    for (const waiting of line) this.#give(waiting);
  }

  /** Ends a thread and starts another; what waited for it is asked of those that are left. */
  #end(thread: Thread, why: string): void {
    if (!this.#threads.delete(thread)) return;
    thread.doubt?.[Symbol.dispose]();
    thread.worker.terminate();
    if (this.#isOver) return;
    this.#options.log.error("Thread of webhooks ended", { error: why, asked: thread.waiting.size });
    // One that ends at once would be started over and over.
    if (thread.isReady) this.#start();
    else this.#options.clock.after(AGAIN, () => this.#start());
    for (const waiting of thread.waiting.values()) this.#give(waiting);
  }

  /** Ends them all. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    for (const thread of this.#threads) this.#end(thread, "");
  }
}

/**
 * In a thread: waits to be told how to start, then answers reviews.
 *
 * @param begin Starts what answers.
 */
export function serveReviews(
  begin: (start: unknown, count: (counted: Counted) => void) => Promise<ThreadAnswer>,
): void {
  const thread = globalThis as unknown as {
    addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
    postMessage(told: Told): void;
  };
  let answer: ThreadAnswer | undefined;
  thread.addEventListener("message", async ({ data }) => {
    if ("start" in data) {
      answer = await begin(data.start, (counted) => thread.postMessage({ counted }));
      return thread.postMessage({ isReady: true });
    }
    if ("isAlive" in data) return thread.postMessage({ isAlive: true });
    const { id, url, body, trace } = data as Asked;
    const headers = { "content-type": "application/json", "content-length": String(body.length) };
    const response = await answer!(new Request(url, { method: "POST", headers, body }), trace);
    thread.postMessage({ id, status: response.status, text: await response.text() });
  });
  thread.postMessage({ isLoaded: true });
}
