/**
 * Runs long computations in worker threads, so that other reconciles, lease renewals and probes
 * keep the event loop.
 *
 * A thread is a Worker that loads the module that declares the tasks. In an executable that is the
 * whole program, because it is bundled in one file. A declaration must therefore be at the top
 * level of its module. In a Worker, it listens for tasks.
 */
import { PermanentError, TemporaryError } from "../parts/outcome.ts";

/**
 * Tasks by name. Each takes one value and returns one. Values are copied by structured cloning, so
 * they cannot contain functions.
 */
// deno-lint-ignore no-explicit-any -- one record has tasks of different inputs
export type Tasks = { readonly [name: string]: (input: any) => unknown };

/** Callable tasks. Disposing of it terminates its threads, and pending calls fail. */
export type Offloaded<T extends Tasks> =
  & {
    readonly [Name in keyof T]: (
      input: Parameters<T[Name]>[0],
      options?: { readonly signal?: AbortSignal },
    ) => Promise<Awaited<ReturnType<T[Name]>>>;
  }
  & Disposable;

/** Options of {@linkcode offload}. */
export interface OffloadOptions {
  /**
   * Maximum number of threads. Each loads the module, which takes about 10 MB.
   * @default {1}
   */
  readonly threads?: number;
}

/** Messages to and from a thread. */
interface Call {
  readonly tasks: string;
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
}
type Answer =
  | { readonly tasks: string; readonly isReady: true }
  | { readonly tasks: string; readonly id: number; readonly value: unknown }
  | { readonly tasks: string; readonly id: number; readonly error: Failure }
  | { readonly tasks: string; readonly crash: string };

/** An error as it is passed between threads, which do not preserve classes. */
interface Failure {
  /** The class, if it is one of the SDK that decides about retries. */
  readonly outcome: "permanent" | "temporary" | undefined;
  readonly name: string;
  /** The code of the error, if it has one that is a string. */
  readonly code: string | undefined;
  readonly message: string;
  readonly stack: string | undefined;
  readonly after: number | undefined;
}

interface Waiting {
  readonly call: Call;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  isOver: boolean;
}

/** A thread. */
interface Thread {
  readonly worker: Worker;
  isReady: boolean;
  /** The call that it computes. */
  task: Waiting | undefined;
}

/**
 * Declares tasks that run in worker threads. Threads are started by the first calls.
 *
 * @param url URL of the module that declares them: `import.meta.url`. The declaration must be at
 * its top level.
 * @param tasks The tasks. If one throws, the call rejects. `PermanentError` and `TemporaryError`
 * keep their classes, and all errors their name, code and stack.
 * @param options Maximum number of threads.
 * @returns The tasks. Call them with an input and optionally a signal. Aborting it terminates the
 * thread of the call.
 * @throws {RangeError} If `threads` is not a positive integer.
 *
 * @example In a file of an operator
 * ```ts
 * import { controller, offload, resource, s } from "@op/sdk";
 *
 * const Site = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Site",
 *   spec: s.object({ text: s.string() }),
 *   status: s.object({ words: s.optional(s.integer()) }),
 * });
 *
 * const work = offload(import.meta.url, { words: (text: string) => text.split(/\s+/).length });
 *
 * const sites = controller(Site, {
 *   async reconcile(site, { status, signal }) {
 *     status({ words: await work.words(site.spec.text, { signal }) });
 *   },
 * });
 * ```
 */
export function offload<const T extends Tasks>(url: string, tasks: T, options: OffloadOptions = {}): Offloaded<T> {
  const { threads: most = 1 } = options;
  if (!Number.isInteger(most) || most < 1) {
    throw new RangeError(`offload(): threads must be a positive integer, got ${most}`);
  }
  // Several declarations in one file are distinguished by the names of their tasks.
  const key = Object.keys(tasks).sort().join();
  if (isThread()) serve(key, tasks);
  const pool = new Pool(url, key, most);
  const calls = Object.keys(tasks).map((name) => [
    name,
    (input: unknown, { signal }: { readonly signal?: AbortSignal } = {}) => pool.call(name, input, signal),
  ]);
  return { ...Object.fromEntries(calls), [Symbol.dispose]: () => pool.close() } as Offloaded<T>;
}

/** Returns whether this is a thread for tasks. */
export function isThread(): boolean {
  const { WorkerGlobalScope: scope } = globalThis as { readonly WorkerGlobalScope?: abstract new () => unknown };
  return scope !== undefined && globalThis instanceof scope;
}

/** Runs tasks for the main thread. Called in a thread. */
function serve(key: string, tasks: Tasks): void {
  const thread = globalThis as unknown as {
    addEventListener(type: "message", listener: (event: MessageEvent<Call>) => void): void;
    postMessage(answer: Answer): void;
  };
  thread.addEventListener("message", async ({ data: { tasks: wanted, id, name, input } }) => {
    if (wanted !== key) return;
    try {
      thread.postMessage({ tasks: key, id, value: await tasks[name]!(input) });
    } catch (error) {
      thread.postMessage({ tasks: key, id, error: failureOf(error) });
    }
  });
  // An uncaught error would end the program on some Deno versions, and be lost on others.
  const crash = (event: Event & { readonly error?: unknown; readonly reason?: unknown }): void => {
    event.preventDefault();
    thread.postMessage({ tasks: key, crash: failureOf(event.error ?? event.reason).message });
  };
  for (const type of ["error", "unhandledrejection"]) globalThis.addEventListener(type, crash);
  thread.postMessage({ tasks: key, isReady: true });
}

/** Threads, and the calls that wait for one. */
class Pool {
  readonly #url: string;
  readonly #key: string;
  readonly #most: number;
  readonly #threads = new Set<Thread>();
  readonly #line: Waiting[] = [];
  #serial = 0;

  constructor(url: string, key: string, most: number) {
    this.#url = url;
    this.#key = key;
    this.#most = most;
  }

  call(name: string, input: unknown, signal: AbortSignal | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const call = { tasks: this.#key, id: this.#serial++, name, input };
      const waiting: Waiting = { call, resolve: settle(resolve), reject: settle(reject), isOver: false };
      const stop = (): void => this.#drop(waiting, signal!.reason);
      signal?.addEventListener("abort", stop, { once: true });
      this.#line.push(waiting);
      this.#pump();

      function settle<V>(how: (value: V) => void): (value: V) => void {
        return (value) => {
          waiting.isOver = true;
          signal?.removeEventListener("abort", stop);
          how(value);
        };
      }
    });
  }

  close(): void {
    for (const thread of this.#threads) {
      this.#end(thread, new Error("The task was cancelled: its threads were disposed of"));
    }
    for (const { reject } of this.#line.splice(0)) {
      reject(new Error("The task was not started: its threads were disposed of"));
    }
  }

  #pump(): void {
    while (this.#line.length > 0) {
      const thread = [...this.#threads].find(({ task }) => task === undefined) ?? this.#start();
      if (thread === undefined) return;
      const waiting = this.#line.shift()!;
      if (waiting.isOver) continue;
      thread.task = waiting;
      // Messages that are sent before the module listens are lost.
      if (thread.isReady) this.#send(thread);
    }
  }

  #start(): Thread | undefined {
    if (this.#threads.size >= this.#most) return undefined;
    const worker = new Worker(this.#url, { type: "module" });
    const thread: Thread = { worker, isReady: false, task: undefined };
    this.#threads.add(thread);
    worker.addEventListener("message", ({ data }: MessageEvent<Answer>) => this.#hear(thread, data));
    worker.addEventListener("error", (event) => {
      // Otherwise the main thread would fail.
      event.preventDefault();
      this.#crashed(thread, event.message);
    });
    return thread;
  }

  #crashed(thread: Thread, why: string): void {
    this.#end(thread, new Error(`The thread of the task ended: ${why}`));
    this.#pump();
  }

  #send({ worker, task }: Thread): void {
    if (task === undefined) return;
    try {
      worker.postMessage(task.call);
    } catch (error) {
      this.#settle(task, () => task.reject(error));
    }
  }

  #hear(thread: Thread, answer: Answer): void {
    if (answer.tasks !== this.#key) return;
    if ("isReady" in answer) {
      thread.isReady = true;
      return this.#send(thread);
    }
    if ("crash" in answer) return this.#crashed(thread, answer.crash);
    const { task } = thread;
    if (task === undefined || task.call.id !== answer.id) return;
    this.#settle(task, () => "error" in answer ? task.reject(errorOf(answer.error)) : task.resolve(answer.value));
  }

  #settle(task: Waiting, how: () => void): void {
    for (const thread of this.#threads) if (thread.task === task) thread.task = undefined;
    how();
    this.#pump();
  }

  /**
   * Cancels a call. A running task cannot be interrupted, so its thread is terminated.
   */
  #drop(waiting: Waiting, reason: unknown): void {
    waiting.reject(reason);
    const thread = [...this.#threads].find(({ task }) => task === waiting);
    if (thread !== undefined) this.#end(thread, reason);
    this.#pump();
  }

  #end(thread: Thread, reason: unknown): void {
    this.#threads.delete(thread);
    thread.worker.terminate();
    if (thread.task?.isOver === false) thread.task.reject(reason);
    thread.task = undefined;
  }
}

function failureOf(error: unknown): Failure {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return {
    outcome: error instanceof PermanentError ? "permanent" : error instanceof TemporaryError ? "temporary" : undefined,
    name,
    code: typeof code === "string" ? code : undefined,
    message,
    stack,
    after: error instanceof TemporaryError ? error.after : undefined,
  };
}

function errorOf({ outcome, name, code, message, stack, after }: Failure): Error {
  const error = outcome === "permanent"
    ? new PermanentError(message)
    : outcome === "temporary"
    ? new TemporaryError(message, after === undefined ? {} : { retry: `${after}ms` })
    : new Error(message);
  error.name = name;
  if (code !== undefined) Object.assign(error, { code });
  if (stack !== undefined) error.stack = stack;
  return error;
}
