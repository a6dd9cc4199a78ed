/** A program whose webhooks run in threads, and what must hold of it: from source, and compiled. */
import assert from "node:assert/strict";
import { createApiserver, kubeconfigFor, localCertificate, serveApiserver } from "@op/sdk/testing";
import { eventually } from "./eventually.ts";
import { conversionReview, PATH, review } from "./runtime/_reviews.ts";

/** How many threads there are. */
export const THREADS = 3;

/** Where it serves its metrics: the ports between belong to the webhooks. */
const healthPort = (port: number): number => port + 10;

/** The program. Its functions say in which thread they run. */
export const program = (port: number, folder: string): string => `
import { access, deny, operator, webhook } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { Note, notes } from "repository/tests/runtime/_reviews.ts";
const thread = crypto.randomUUID();
const noteRules = webhook(Note, {
  uses: [access(ConfigMap, "get")],
  async validate({ spec }, { audit, get }) {
    audit("thread", thread);
    if (spec.text === "asking") await get(ConfigMap, "words");
    if (spec.text === "careless") Promise.reject(new Error("nobody waits for it"));
    if (spec.text === "broken") throw new TypeError("it is broken");
    if (spec.text === "forbidden") throw deny("nobody may say that");
    while (spec.text === "endless") { /* it never comes back */ }
  },
});
const op = operator({
  name: "notes",
  parts: { noteRules, notes },
  leaderElection: false,
  health: { hostname: "127.0.0.1", port: ${healthPort(port)} },
  sandbox: { net: ["127.0.0.1"], env: ["LOG_TOKENS", "LOG_STREAM"], read: [${JSON.stringify(folder)}] },
  webhooks: { hostname: "127.0.0.1", port: ${port}, workers: ${THREADS} },
});
export default op;
if (import.meta.main) await op.main();
`;

/** Files that the program is told of: a kubeconfig and a certificate. */
export async function surroundings(folder: string) {
  const stack = new AsyncDisposableStack();
  const { certificate, key, caCert } = await localCertificate();
  const apiserver = stack.use(createApiserver());
  const served = stack.use(serveApiserver(apiserver));
  const files = { "tls.crt": certificate, "tls.key": key, kubeconfig: kubeconfigFor(served) };
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${folder}/${name}`, text);
  const args = ["start", `--kubeconfig=${folder}/kubeconfig`, "--log-format=json"];
  return {
    caCert,
    args: [...args, `--webhook-certificate=${folder}/tls.crt`, `--webhook-key=${folder}/tls.key`],
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/**
 * Starts the program and looks at what its threads do.
 *
 * @param command The program and its arguments.
 * @param port Where it serves.
 * @param caCert By which authority it is known.
 */
export async function checkThreads(command: readonly string[], port: number, caCert: string): Promise<void> {
  using client = Deno.createHttpClient({ caCerts: [caCert] });
  const [file, ...args] = command;
  const process = new Deno.Command(file!, { args, stdin: "null", stdout: "null", stderr: "piped" }).spawn();
  const written = new Response(process.stderr).text();
  const post = async (path: string, body: unknown, timeout: number) => {
    const response = await fetch(`https://127.0.0.1:${port}${path}?timeout=${timeout}s`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      client,
    });
    const text = await response.text();
    return { status: response.status, ...(response.ok ? JSON.parse(text).response : {}) };
  };
  const ask = (text: string, timeout = 30) => post(PATH, review(text), timeout);
  const metrics = async () => await (await fetch(`http://127.0.0.1:${healthPort(port)}/metrics`)).text();
  const threadsOf = async (count: number): Promise<Set<string>> => {
    const answers = await Promise.all(Array.from({ length: count }, () => ask("hello")));
    assert(answers.every(({ allowed }) => allowed === true), JSON.stringify(answers));
    return new Set(answers.map(({ auditAnnotations }) => auditAnnotations.thread));
  };
  /** The threads, once so many reviews were answered that each of them has answered one. */
  const allThreads = async (): Promise<Set<string>> => {
    const seen = new Set<string>();
    await eventually(async () => {
      for (const thread of await threadsOf(30)) seen.add(thread);
      assert.equal(seen.size, THREADS);
    });
    return seen;
  };
  try {
    // Each takes what comes as soon as it is up, and no connection is accepted before.
    const before = await allThreads();
    assert.equal((await ask("forbidden")).allowed, false);
    assert.equal((await ask("broken")).status, 500);
    assert.deepEqual(await allThreads(), before, "one that throws ends no thread");

    // What a thread counts is told by the program.
    const { result } = await post("/convert", conversionReview("broken"), 30);
    assert.deepEqual([result.status, (await ask("careless")).allowed], ["Failure", true]);
    assert.equal((await ask("asking")).allowed, true);
    await eventually(async () => {
      const told = await metrics();
      assert.match(told, /^op_stray_errors_total 1$/m);
      assert.match(told, /^controller_runtime_conversion_webhook_panics_total 1$/m);
      assert.match(told, /^controller_runtime_webhook_panics_total\{webhook="\/validate\/note-rules"\} 1$/m);
      assert.match(told, /^rest_client_requests_total\{code="404",method="GET",host="[^"]+"\} 1$/m);
    });

    // All but one hang: what waits behind them is answered all the same, late ones by others.
    const endless = Array.from({ length: THREADS - 1 }, () => ask("endless", 1));
    const others = Array.from({ length: 30 }, () => ask("hello"));
    assert.deepEqual((await Promise.all(endless)).map(({ status }) => status), endless.map(() => 504));
    assert((await Promise.all(others)).every(({ allowed }) => allowed === true));
    const after = await allThreads();
    assert.equal([...after].filter((thread) => before.has(thread)).length, 1);
  } finally {
    process.kill("SIGTERM");
    const { code } = await process.status;
    const log = await written;
    assert.equal(code, 0, log);
    assert.equal(log.match(/Webhook thread ended/g)?.length, THREADS - 1, log);
    assert.equal(log.match(/"Webhook failed"/g)?.length, 1, log);
  }
}
