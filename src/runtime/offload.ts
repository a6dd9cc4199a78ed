/**
 * Runs long computations in worker threads, so that other reconciles, lease renewals and probes
 * keep the event loop.
 *
 * A thread is a Worker that loads the module with the declaration of the tasks. In an executable
 * this is the whole program, because it is bundled in one file. In the Worker, the declaration
 * listens for calls, so it must be at the top level of its module.
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

/** A message to a thread: the call of a task. */
interface Call {
  readonly tasks: string;
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
}
/** A message from a thread. */
type ThreadMessage =
  | { readonly tasks: string; readonly isReady: true }
  | { readonly tasks: string; readonly id: number; readonly value: unknown }
  | { readonly tasks: string; readonly id: number; readonly error: Failure }
  | { readonly tasks: string; readonly crash: string };

/** An error as it is passed between threads, which do not preserve classes. */
interface Failure {
  /** Set for `PermanentError` and `TemporaryError`, which decide about retries. */
  readonly outcome: "permanent" | "temporary" | undefined;
  readonly name: string;
  /** The code of the error, if it has one that is a string. */
  readonly code: string | undefined;
  readonly message: string;
  readonly stack: string | undefined;
  readonly after: number | undefined;
}

/** A call that has not settled. */
interface PendingCall {
  readonly call: Call;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  isOver: boolean;
}

/** A worker thread. */
interface Thread {
  readonly worker: Worker;
  isReady: boolean;
  /** The call that the thread runs or will run; `undefined` if it is idle. */
  task: PendingCall | undefined;
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
  const { threads: maxThreads = 1 } = options;
  if (!Number.isInteger(maxThreads) || maxThreads < 1) {
    throw new RangeError(`offload(): threads must be a positive integer, got ${maxThreads}`);
  }
  // Several declarations in one file are distinguished by the names of their tasks.
  const key = Object.keys(tasks).sort().join();
  if (isThread()) runTasks(key, tasks);
  const pool = new Pool(url, key, maxThreads);
  const calls = Object.keys(tasks).map((name) => [
    name,
    (input: unknown, { signal }: { readonly signal?: AbortSignal } = {}) => pool.call(name, input, signal),
  ]);
  return { ...Object.fromEntries(calls), [Symbol.dispose]: () => pool.close() } as Offloaded<T>;
}

/** Returns whether this code runs in a worker thread. */
export function isThread(): boolean {
  const { WorkerGlobalScope: scope } = globalThis as { readonly WorkerGlobalScope?: abstract new () => unknown };
  return scope !== undefined && globalThis instanceof scope;
}

/** Listens for calls from the main thread and runs the tasks. Called in a worker thread. */
function runTasks(key: string, tasks: Tasks): void {
  const thread = globalThis as unknown as {
    addEventListener(type: "message", listener: (event: MessageEvent<Call>) => void): void;
    postMessage(message: ThreadMessage): void;
  };
  thread.addEventListener("message", async ({ data: { tasks: wanted, id, name, input } }) => {
    if (wanted !== key) return;
    try {
      thread.postMessage({ tasks: key, id, value: await tasks[name]!(input) });
    } catch (error) {
      thread.postMessage({ tasks: key, id, error: failureOf(error) });
    }
  });
  // An uncaught error would end the program on some Deno versions and be lost on others, so it is
  // reported to the main thread.
  const crash = (event: Event & { readonly error?: unknown; readonly reason?: unknown }): void => {
    event.preventDefault();
    thread.postMessage({ tasks: key, crash: failureOf(event.error ?? event.reason).message });
  };
  for (const type of ["error", "unhandledrejection"]) globalThis.addEventListener(type, crash);
  thread.postMessage({ tasks: key, isReady: true });
}

/** The worker threads of one declaration, and the calls that wait for a thread. */
class Pool {
  readonly #url: string;
  readonly #key: string;
  readonly #maxThreads: number;
  readonly #threads = new Set<Thread>();
  readonly #queue: PendingCall[] = [];
  #serial = 0;

  constructor(url: string, key: string, maxThreads: number) {
    this.#url = url;
    this.#key = key;
    this.#maxThreads = maxThreads;
  }

  call(name: string, input: unknown, signal: AbortSignal | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const call = { tasks: this.#key, id: this.#serial++, name, input };
      const pending: PendingCall = { call, resolve: settle(resolve), reject: settle(reject), isOver: false };
      const stop = (): void => this.#cancel(pending, signal!.reason);
      signal?.addEventListener("abort", stop, { once: true });
      this.#queue.push(pending);
      this.#pump();

      function settle<V>(how: (value: V) => void): (value: V) => void {
        return (value) => {
          pending.isOver = true;
          signal?.removeEventListener("abort", stop);
          how(value);
        };
      }
    });
  }

  close(): void {
    for (const thread of this.#threads) {
      this.#terminate(thread, new Error("The task was cancelled: its threads were disposed of"));
    }
    for (const { reject } of this.#queue.splice(0)) {
      reject(new Error("The task was not started: its threads were disposed of"));
    }
  }

  #pump(): void {
    while (this.#queue.length > 0) {
      const thread = [...this.#threads].find(({ task }) => task === undefined) ?? this.#start();
      if (thread === undefined) return;
      const pending = this.#queue.shift()!;
      if (pending.isOver) continue;
      thread.task = pending;
      // Not sent before the module listens, because the message would be lost.
      if (thread.isReady) this.#send(thread);
    }
  }

  #start(): Thread | undefined {
    if (this.#threads.size >= this.#maxThreads) return undefined;
    const worker = new Worker(this.#url, { type: "module" });
    const thread: Thread = { worker, isReady: false, task: undefined };
    this.#threads.add(thread);
    worker.addEventListener("message", ({ data }: MessageEvent<ThreadMessage>) => this.#onMessage(thread, data));
    worker.addEventListener("error", (event) => {
      // Otherwise the error would also be thrown in the main thread.
      event.preventDefault();
      this.#onCrash(thread, event.message);
    });
    return thread;
  }

  #onCrash(thread: Thread, reason: string): void {
    this.#terminate(thread, new Error(`The thread of the task ended: ${reason}`));
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

  #onMessage(thread: Thread, message: ThreadMessage): void {
    if (message.tasks !== this.#key) return;
    if ("isReady" in message) {
      thread.isReady = true;
      return this.#send(thread);
    }
    if ("crash" in message) return this.#onCrash(thread, message.crash);
    const { task } = thread;
    if (task === undefined || task.call.id !== message.id) return;
    this.#settle(task, () => "error" in message ? task.reject(errorOf(message.error)) : task.resolve(message.value));
  }

  #settle(task: PendingCall, settle: () => void): void {
    for (const thread of this.#threads) if (thread.task === task) thread.task = undefined;
    settle();
    this.#pump();
  }

  /**
   * Cancels a call. A running task cannot be interrupted, so its thread is terminated.
   */
  #cancel(pending: PendingCall, reason: unknown): void {
    pending.reject(reason);
    const thread = [...this.#threads].find(({ task }) => task === pending);
    if (thread !== undefined) this.#terminate(thread, reason);
    this.#pump();
  }

  #terminate(thread: Thread, reason: unknown): void {
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
