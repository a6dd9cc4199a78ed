/**
 * The measured webhook servers: ours (compiled, and run by this Deno), and those of
 * controller-runtime and kopf. All receive the same review.
 */
import { fileURLToPath } from "node:url";
import { bundle } from "../cli/build/bundle.ts";
import { CustomResourceDefinition } from "../src/kinds/mod.ts";
import { Client } from "../src/kube/client.ts";
import { createApiserver, kubeconfigFor, localCertificate, serveApiserver } from "../src/testing/mod.ts";
import { buildOperator, freePort } from "../tests/fixtures/build_operator.ts";
import { Note } from "../tests/fixtures/reviews.ts";
import { type Candidate, kopfEnvironment, type Program, size, sources } from "./_programs.ts";

/** A webhook server. */
export interface ReviewProgram extends Program {
  readonly port: number;
  /** The certificate authority that clients trust, in PEM. */
  readonly authority: string;
}

const REVIEWS = ["reviews"] as const;

/** All webhook servers, with the same names as in the other workloads. */
export const REVIEW_CANDIDATES: readonly Candidate[] = [
  { name: "ours", workloads: REVIEWS, build: compiled },
  // Benchmarks compile with the oldest supported Deno, whose HTTP server needs twice the CPU time.
  // Users compile with the Deno that they have installed.
  { name: `ours, run by Deno ${Deno.version.deno}`, workloads: REVIEWS, build: bundled },
  { name: "controller-runtime", workloads: REVIEWS, build: controllerRuntime },
  { name: "kopf", workloads: REVIEWS, build: kopf },
];

/** A folder with a certificate, and an API server that an operator finds through a kubeconfig. */
interface ReviewSetup extends AsyncDisposable {
  readonly folder: string;
  readonly authority: string;
  readonly kubeconfig: string;
  readonly client: Client;
}

async function createSetup(): Promise<ReviewSetup> {
  await using stack = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "reviews-" });
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const { certificate, key, caCert } = await localCertificate();
  await Deno.writeTextFile(`${folder}/tls.crt`, certificate);
  await Deno.writeTextFile(`${folder}/tls.key`, key);
  const apiserver = stack.use(createApiserver());
  const served = stack.use(serveApiserver(apiserver));
  const kubeconfig = `${folder}/kubeconfig`;
  await Deno.writeTextFile(kubeconfig, kubeconfigFor(served));
  const client = new Client({ url: served.url, fetch: (request) => apiserver.fetch(request), close() {} });
  const owned = stack.move();
  return { folder, authority: caCert, kubeconfig, client, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function operatorFile(port: number, { folder }: ReviewSetup): string {
  return `
    import { operator } from "@op/sdk";
    import { noteRules } from "repository/tests/fixtures/reviews.ts";
    const op = operator({
      name: "notes",
      parts: { noteRules },
      health: false,
      sandbox: { net: ["127.0.0.1"], read: [${JSON.stringify(folder)}] },
      webhooks: { hostname: "127.0.0.1", port: ${port} },
    });
    export default op;
    if (import.meta.main) await op.main();
  `;
}

function argumentsOf({ folder, kubeconfig }: ReviewSetup): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--webhook-certificate=${folder}/tls.crt`,
    `--webhook-key=${folder}/tls.key`,
  ];
}

async function compiled(): Promise<ReviewProgram> {
  await using stack = new AsyncDisposableStack();
  const setup = stack.use(await createSetup());
  const port = freePort();
  const built = stack.use(await buildOperator(operatorFile(port, setup)));
  const owned = stack.move();
  return {
    name: "ours",
    settings: "as compiled by op build with Deno 2.4.2: Lease, metrics, info logs",
    command: [built.path, ...argumentsOf(setup)],
    env: {},
    megabytes: await size(built.path),
    port,
    authority: setup.authority,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/**
 * Runs the same bundle with the same sandbox in this Deno, because its runtime for executables may
 * not be available.
 */
async function bundled(): Promise<ReviewProgram> {
  await using stack = new AsyncDisposableStack();
  const setup = stack.use(await createSetup());
  const port = freePort();
  const root = new URL("../", import.meta.url);
  const builds = fileURLToPath(new URL(".cache/builds/", root));
  await Deno.mkdir(builds, { recursive: true });
  // The folder is inside the repository, so that its import map applies.
  const folder = await Deno.makeTempDir({ dir: builds });
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const path = `${folder}/main.ts`;
  await Deno.writeTextFile(path, operatorFile(port, setup).replaceAll('"repository/', `"${root.href}`));
  const out = `${folder}/out`;
  await Deno.mkdir(out);
  const output = await bundle({ path, url: new URL(`file://${path}`), folder }, out, "main.ts");
  const run = [Deno.execPath(), "run", "--quiet", "--no-config", "--no-lock", "--no-check"] as const;
  const [program, ...rest] = run;
  const { stdout } = await new Deno.Command(program, { args: [...rest, "-A", output.path, "sandbox"] }).output();
  const flags = new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "");
  const owned = stack.move();
  return {
    name: `ours, run by Deno ${Deno.version.deno}`,
    settings: "the bundle of op build in its sandbox, not compiled",
    command: [...run, "--v8-flags=--max-semi-space-size=2", ...flags, output.path, ...argumentsOf(setup)],
    env: {},
    megabytes: await size(output.path),
    port,
    authority: setup.authority,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function controllerRuntime(): Promise<ReviewProgram> {
  await using stack = new AsyncDisposableStack();
  const setup = stack.use(await createSetup());
  const output = `${setup.folder}/webhook`;
  const args = ["build", "-ldflags=-s -w", "-o", output, "./webhook"];
  const { success, stderr } = await new Deno.Command("go", { args, cwd: sources("controller_runtime") }).output();
  if (!success) throw new Error(`Benchmark: "go build" failed: ${new TextDecoder().decode(stderr)}`);
  const port = freePort();
  const owned = stack.move();
  return {
    name: "controller-runtime",
    settings: "v0.25.2; its webhook server only",
    command: [output, String(port), setup.folder],
    env: {},
    megabytes: await size(output),
    port,
    authority: setup.authority,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** kopf looks up its kind on an API server before it answers reviews. */
async function kopf(): Promise<ReviewProgram> {
  await using stack = new AsyncDisposableStack();
  const setup = stack.use(await createSetup());
  const environment = await kopfEnvironment();
  await setup.client.create(CustomResourceDefinition, Note.crd as never);
  const port = freePort();
  const owned = stack.move();
  return {
    name: "kopf",
    settings: "1.45.2; its webhook server",
    command: [
      `${environment}/venv/bin/python`,
      ...["-m", "kopf", "run", "--all-namespaces", "--standalone", "--quiet", `${sources("kopf")}/webhook.py`],
    ],
    env: { PORT: String(port), FOLDER: setup.folder, KUBECONFIG: setup.kubeconfig },
    megabytes: 0,
    port,
    authority: setup.authority,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
