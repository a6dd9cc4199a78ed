/**
 * What a review costs a webhook's server: CPU for 1,000 of them at 1, 16 and 128 connections over TLS, ours as `op build` makes it and
 * controller-runtime's, with one body and one verdict, in turns.
 *
 * Usage: deno run -A benches/webhook_reviews.ts
 */
import { fileURLToPath } from "node:url";
import { buildOperator, freePort } from "../tests/compiled/_build.ts";
import { createApiserver, kubeconfigFor, localCertificate, serveApiserver } from "../src/testing/mod.ts";
import { PATH, review } from "../tests/runtime/_reviews.ts";
import { cpuSeconds, memory } from "./_proc.ts";

const CONNECTIONS = [1, 16, 128];
const REVIEWS = 4000;
const TURNS = 3;
const BODY = JSON.stringify(review("hello", "one-uid"));

const certificate = await localCertificate();
await using folder = await temporary();
await Deno.writeTextFile(`${folder.path}/tls.crt`, certificate.certificate);
await Deno.writeTextFile(`${folder.path}/tls.key`, certificate.key);
await using apiserver = createApiserver();
await using served = serveApiserver(apiserver);
await Deno.writeTextFile(`${folder.path}/kubeconfig`, kubeconfigFor(served.url));

const port = freePort();
await using ours = await buildOperator(`
  import { operator } from "@op/sdk";
  import { noteRules } from "repository/tests/runtime/_reviews.ts";
  const op = operator({
    name: "notes",
    parts: { noteRules },
    health: false,
    permissions: { net: ["127.0.0.1"], read: [${JSON.stringify(folder.path)}] },
    webhooks: { hostname: "127.0.0.1", port: ${port} },
  });
  export default op;
  if (import.meta.main) await op.main();
`);
const files = [`--webhook-certificate=${folder.path}/tls.crt`, `--webhook-key=${folder.path}/tls.key`];
const candidates = [
  { name: "ours", port, command: [ours.path, `--kubeconfig=${folder.path}/kubeconfig`, ...files] },
  ...await controllerRuntime(),
];

console.log(`CPU ms for 1,000 reviews of ${BODY.length} bytes, the median of ${TURNS} turns`);
for (const connections of CONNECTIONS) {
  const figures = new Map<string, { cpu: number; wall: number; rss: number }[]>();
  for (let turn = 0; turn < TURNS; turn++) {
    for (const candidate of candidates) {
      const measured = await measure(candidate, connections);
      figures.set(candidate.name, [...figures.get(candidate.name) ?? [], measured]);
    }
  }
  for (const [name, all] of figures) {
    const median = (key: "cpu" | "wall" | "rss") => all.map((one) => one[key]).sort((a, b) => a - b)[TURNS >> 1]!;
    const cpu = (median("cpu") / REVIEWS * 1e6).toFixed(0);
    const wall = (REVIEWS / median("wall")).toFixed(0);
    console.log(
      `${String(connections).padStart(4)} connections  ${name.padEnd(20)} ${cpu.padStart(5)} ms CPU, ${
        wall.padStart(6)
      }/s, ${median("rss").toFixed(0)} MB`,
    );
  }
}
Deno.exit(0);

interface Candidate {
  readonly name: string;
  readonly port: number;
  readonly command: readonly string[];
}

/** A server of its own for each figure, warmed up by as many reviews again. */
async function measure({ port, command }: Candidate, connections: number) {
  const [program, ...args] = command;
  const process = new Deno.Command(program!, {
    args: [...args],
    stdin: "null",
    stdout: "null",
    stderr: Deno.env.has("VERBOSE") ? "inherit" : "null",
  })
    .spawn();
  try {
    const ways = Array.from(
      { length: connections },
      () => Deno.createHttpClient({ caCerts: [certificate.caCert], http2: false, poolMaxIdlePerHost: 1 }),
    );
    let problem: unknown;
    const isAnswered = () => ask(port, ways[0]!).catch((error) => void (problem = error));
    for (let tries = 0; !await isAnswered(); tries++) {
      if (tries === 200) throw new Error(`Cannot measure: ${program} does not answer`, { cause: problem });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await load(port, ways);
    const [cpu, began] = [cpuSeconds(process.pid), performance.now()];
    await load(port, ways);
    const wall = (performance.now() - began) / 1000;
    const used = cpuSeconds(process.pid) - cpu;
    for (const way of ways) way.close();
    return { cpu: used, wall, rss: memory(process.pid).rss };
  } finally {
    process.kill("SIGKILL");
    await process.status;
  }
}

async function load(port: number, ways: readonly Deno.HttpClient[]): Promise<void> {
  let left = REVIEWS;
  await Promise.all(ways.map(async (way) => {
    while (left-- > 0) if (!await ask(port, way)) throw new Error("Cannot measure: a review was not allowed");
  }));
}

async function ask(port: number, client: Deno.HttpClient): Promise<boolean> {
  const response = await fetch(`https://127.0.0.1:${port}${PATH}?timeout=10s`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: BODY,
    client,
  });
  return (await response.json()).response.allowed;
}

async function controllerRuntime(): Promise<Candidate[]> {
  const cwd = fileURLToPath(new URL("peers/controller_runtime", import.meta.url));
  const output = `${folder.path}/controller-runtime-webhook`;
  const build = new Deno.Command("go", { args: ["build", "-ldflags=-s -w", "-o", output, "./webhook"], cwd });
  const { success, stderr } = await build.output();
  if (!success) {
    console.log(`controller-runtime is left out: ${new TextDecoder().decode(stderr)}`);
    return [];
  }
  const port = freePort();
  return [{ name: "controller-runtime", port, command: [output, String(port), folder.path] }];
}

async function temporary(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await Deno.makeTempDir({ prefix: "webhooks-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
