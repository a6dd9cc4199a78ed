/**
 * Measures the CPU of a webhook server for 1,000 reviews over TLS, from clients that reuse their
 * connections.
 */
import { PATH, review } from "../tests/fixtures/reviews.ts";
import { cpuSeconds, memory } from "./_proc.ts";
import type { ReviewProgram } from "./_review_programs.ts";

/** Options for {@linkcode measureReviews}. */
export interface ReviewLoad {
  readonly connections: number;
  /** Whether to use HTTP/2. An API server calls webhooks over HTTP/1.1. @default {false} */
  readonly http2?: boolean;
}

/** Result of {@linkcode measureReviews}. */
export interface ReviewFigures {
  /** Milliseconds of CPU for 1,000 reviews. */
  readonly cpu: number;
  /** Reviews per second. */
  readonly rate: number;
  /** Resident memory, in MB. */
  readonly rss: number;
}

// Warms up the just-in-time compiler, which would otherwise count as the cost of reviews.
const WARMUP_REVIEWS = 8000;
const MEASURED_REVIEWS = 4000;
const BODY = JSON.stringify(review("hello", "one-uid"));

/**
 * Measures a server. Each figure needs a server of its own.
 *
 * @param program The server.
 * @param reviewLoad Number of connections, and the protocol.
 */
export async function measureReviews(program: ReviewProgram, reviewLoad: ReviewLoad): Promise<ReviewFigures> {
  const { connections, http2 = false } = reviewLoad;
  const [executable, ...args] = program.command;
  const std = { stdin: "null", stdout: "null", stderr: Deno.env.has("VERBOSE") ? "inherit" : "null" } as const;
  const process = new Deno.Command(executable, { args, env: program.env, ...std }).spawn();
  try {
    using stack = new DisposableStack();
    const clients = Array.from({ length: connections }, () =>
      stack.adopt(
        Deno.createHttpClient({ caCerts: [program.authority], http1: !http2, http2, poolMaxIdlePerHost: 1 }),
        (client) => client.close(),
      ));
    await waitUntilReady(program, clients[0]!);
    await load(program, clients, WARMUP_REVIEWS);
    const [cpu, began] = [cpuSeconds(process.pid), performance.now()];
    await load(program, clients, MEASURED_REVIEWS);
    const seconds = (performance.now() - began) / 1000;
    return {
      cpu: (cpuSeconds(process.pid) - cpu) / MEASURED_REVIEWS * 1e6,
      rate: MEASURED_REVIEWS / seconds,
      rss: memory(process.pid).rss,
    };
  } finally {
    process.kill("SIGKILL");
    await process.status;
  }
}

async function waitUntilReady(program: ReviewProgram, client: Deno.HttpClient): Promise<void> {
  let problem: unknown;
  for (let tries = 0; tries < 400; tries++) {
    if (await sendReview(program, client).catch((error) => void (problem = error))) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Benchmark of reviews: ${program.name} does not answer`, { cause: problem });
}

async function load(program: ReviewProgram, clients: readonly Deno.HttpClient[], count: number): Promise<void> {
  let left = count;
  await Promise.all(clients.map(async (client) => {
    while (left-- > 0) {
      if (!await sendReview(program, client)) throw new Error("Benchmark of reviews: a review was not allowed");
    }
  }));
}

async function sendReview({ port }: ReviewProgram, client: Deno.HttpClient): Promise<boolean> {
  const response = await fetch(`https://127.0.0.1:${port}${PATH}?timeout=10s`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: BODY,
    client,
  });
  return (await response.json()).response.allowed;
}
