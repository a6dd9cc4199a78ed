/**
 * What a review costs a webhook's server: CPU for 1,000 of them at 1, 16 and 128 connections over TLS, ours as `op build` makes it,
 * controller-runtime's and kopf's, with one body and one verdict, in turns. A server is measured after it answered some thousand: what a language's
 * compiler does at first is not what a review costs.
 *
 *     deno task bench:webhooks --turns 5 --only ours,controller-runtime --connections 1,16
 *
 * `HTTP2=1` speaks it, as an API server does. A peer that cannot be built here is left out, and that is told.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildOperator, freePort } from "../tests/compiled/_build.ts";
import { createApiserver, kubeconfigFor, localCertificate, serveApiserver } from "../src/testing/mod.ts";
import { Note, PATH, review } from "../tests/runtime/_reviews.ts";
import { CustomResourceDefinition } from "../src/kinds/mod.ts";
import { Client } from "../src/kube/client.ts";
import { median } from "./_figures.ts";
import { kopfEnvironment } from "./_programs.ts";
import { cpuSeconds, memory } from "./_proc.ts";

const { values } = parseArgs({
  options: {
    connections: { type: "string", default: "1,16,128" },
    turns: { type: "string", default: "3" },
    reviews: { type: "string", default: "4000" },
    warm: { type: "string", default: "8000" },
    only: { type: "string" },
  },
});
const CONNECTIONS = values.connections.split(",").map(Number);
const [REVIEWS, WARM, TURNS] = [values.reviews, values.warm, values.turns].map(Number) as [number, number, number];
const IS_HTTP2 = Deno.env.has("HTTP2");
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
const only = values.only?.split(",");
const builders: Record<string, () => Promise<Candidate>> = {
  ours: () =>
    Promise.resolve({
      name: "ours",
      port,
      command: [ours.path, `--kubeconfig=${folder.path}/kubeconfig`, ...files],
      env: {},
    }),
  "controller-runtime": controllerRuntime,
  kopf,
};
const candidates: Candidate[] = [];
for (const [name, build] of Object.entries(builders)) {
  if (only !== undefined && !only.includes(name)) continue;
  try {
    candidates.push(await build());
  } catch (error) {
    console.log(`${name} is left out: ${(error as Error).message}`);
  }
}

console.log(
  `CPU ms for 1,000 reviews of ${BODY.length} bytes over HTTP/${
    IS_HTTP2 ? 2 : 1.1
  }, the median of ${TURNS} turns; in brackets ours as a share of it`,
);
for (const connections of CONNECTIONS) {
  const figures = new Map<string, { cpu: number; wall: number; rss: number }[]>();
  for (let turn = 0; turn < TURNS; turn++) {
    for (const candidate of candidates) {
      const measured = await measure(candidate, connections);
      figures.set(candidate.name, [...figures.get(candidate.name) ?? [], measured]);
    }
  }
  const of = (name: string, key: "cpu" | "wall" | "rss") => median((figures.get(name) ?? []).map((one) => one[key]));
  for (const name of figures.keys()) {
    const share = name === "ours" || !figures.has("ours")
      ? ""
      : ` (${(of("ours", "cpu") / of(name, "cpu")).toFixed(2)})`;
    const cpu = (of(name, "cpu") / REVIEWS * 1e6).toFixed(0);
    const rate = (REVIEWS / of(name, "wall")).toFixed(0);
    console.log(
      `${String(connections).padStart(4)} connections  ${name.padEnd(20)} ${cpu.padStart(5)}${share} ms CPU, ${
        rate.padStart(6)
      }/s, ${of(name, "rss").toFixed(0)} MB`,
    );
  }
}
Deno.exit(0);

interface Candidate {
  readonly name: string;
  readonly port: number;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A server of its own for each figure. */
async function measure({ port, command, env }: Candidate, connections: number) {
  const [program, ...args] = command;
  const process = new Deno.Command(program!, {
    args: [...args],
    env,
    stdin: "null",
    stdout: "null",
    stderr: Deno.env.has("VERBOSE") ? "inherit" : "null",
  })
    .spawn();
  try {
    const ways = Array.from(
      { length: connections },
      () =>
        Deno.createHttpClient({
          caCerts: [certificate.caCert],
          http1: !IS_HTTP2,
          http2: IS_HTTP2,
          poolMaxIdlePerHost: 1,
        }),
    );
    let problem: unknown;
    const isAnswered = () => ask(port, ways[0]!).catch((error) => void (problem = error));
    for (let tries = 0; !await isAnswered(); tries++) {
      if (tries === 200) throw new Error(`Cannot measure: ${program} does not answer`, { cause: problem });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await load(port, ways, WARM);
    const [cpu, began] = [cpuSeconds(process.pid), performance.now()];
    await load(port, ways, REVIEWS);
    const wall = (performance.now() - began) / 1000;
    const used = cpuSeconds(process.pid) - cpu;
    for (const way of ways) way.close();
    return { cpu: used, wall, rss: memory(process.pid).rss };
  } finally {
    process.kill("SIGKILL");
    await process.status;
  }
}

async function load(port: number, ways: readonly Deno.HttpClient[], count: number): Promise<void> {
  let left = count;
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

async function controllerRuntime(): Promise<Candidate> {
  const cwd = fileURLToPath(new URL("peers/controller_runtime", import.meta.url));
  const output = `${folder.path}/controller-runtime-webhook`;
  const build = new Deno.Command("go", { args: ["build", "-ldflags=-s -w", "-o", output, "./webhook"], cwd });
  const { success, stderr } = await build.output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  const port = freePort();
  return { name: "controller-runtime", port, command: [output, String(port), folder.path], env: {} };
}

/** It looks for its kind on an API server before it answers. */
async function kopf(): Promise<Candidate> {
  const environment = await kopfEnvironment();
  const client = new Client({ url: served.url, fetch: (request) => apiserver.fetch(request), close() {} });
  await client.create(CustomResourceDefinition, Note.crd as never);
  const port = freePort();
  const program = fileURLToPath(new URL("peers/kopf/webhook.py", import.meta.url));
  return {
    name: "kopf",
    port,
    command: [
      `${environment}/venv/bin/python`,
      "-m",
      "kopf",
      "run",
      "--all-namespaces",
      "--standalone",
      "--quiet",
      program,
    ],
    env: { PORT: String(port), FOLDER: folder.path, KUBECONFIG: `${folder.path}/kubeconfig` },
  };
}

async function temporary(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await Deno.makeTempDir({ prefix: "webhooks-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
