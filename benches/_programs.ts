/**
 * The measured programs: our operator, built by `op build`; a loop without a framework
 * (`workload/floor.ts`), built by the same compiler; operators in other frameworks, built by their
 * own tools.
 */
import { fileURLToPath } from "node:url";
import { buildOperator, freePort } from "../tests/fixtures/build_operator.ts";
import { toolchain } from "../tools/toolchain.ts";

/**
 * A program's job: write one status per object, also apply one owned ConfigMap per object, or
 * answer reviews.
 */
export type Workload = "status" | "configmap" | "reviews";

/** A built program. */
export interface Program extends AsyncDisposable {
  readonly name: string;
  /** Settings that differ from its defaults. */
  readonly settings: string;
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** Size of what users ship, in MB: the executable, or the packages of the interpreter. */
  readonly megabytes: number;
}

/** A program and the workloads that it supports. */
export interface Candidate {
  readonly name: string;
  readonly workloads: readonly Workload[];
  build(workload: Workload): Promise<Program>;
}

const BOTH: readonly Workload[] = ["status", "configmap"];
const CACHE = fileURLToPath(new URL("../.cache/peers/", import.meta.url));

/** All programs. The first is ours, the second is the lower bound. */
export const CANDIDATES: readonly Candidate[] = [
  { name: "ours", workloads: BOTH, build: buildOurs },
  { name: "bare Deno loop", workloads: ["status"], build: buildBareLoop },
  { name: "controller-runtime", workloads: BOTH, build: (workload) => controllerRuntime(workload, false) },
  {
    name: "controller-runtime, read-your-writes",
    workloads: BOTH,
    build: (workload) => controllerRuntime(workload, true),
  },
  { name: "kube-rs", workloads: BOTH, build: kubeRs },
  { name: "client-node informer", workloads: BOTH, build: clientNode },
  { name: "kopf", workloads: BOTH, build: (workload) => kopf(workload, undefined) },
  { name: "kopf, 16 workers", workloads: BOTH, build: (workload) => kopf(workload, 16) },
];

async function buildOurs(workload: Workload): Promise<Program> {
  const part = workload === "status" ? "items" : "itemsWithConfigMap";
  const ports = `{ hostname: "127.0.0.1", port: ${freePort()} }`;
  const built = await buildOperator(`
    import { operator } from "@op/sdk";
    import { ${part} as items } from "repository/benches/workload/item.ts";
    const op = operator({ name: "item-operator", parts: { items }, health: ${ports}, sandbox: { net: ["kubernetes.default.svc"] } });
    export default op;
    if (import.meta.main) await op.main();
  `);
  return {
    name: "ours",
    settings: "as compiled by op build with Deno 2.4.2: Lease, metrics, health, info logs; ten concurrent reconciles",
    command: [built.path, "start"],
    env: {},
    megabytes: await size(built.path),
    [Symbol.asyncDispose]: () => built[Symbol.asyncDispose](),
  };
}

async function buildBareLoop(): Promise<Program> {
  const { deno, denort } = await toolchain();
  const folder = await Deno.makeTempDir({ prefix: "floor-" });
  // Deno embeds files that it finds next to the program, so the folder has no others.
  await Deno.copyFile(fileURLToPath(new URL("workload/floor.ts", import.meta.url)), `${folder}/floor.ts`);
  await run(deno, {
    args: [
      ...["compile", "--quiet", "--no-config", "--no-lock", "--no-check", "--no-prompt", "--no-code-cache"],
      "--allow-net=kubernetes.default.svc",
      "--allow-read=/var/run/secrets/kubernetes.io/serviceaccount",
      "--allow-env=KUBERNETES_SERVICE_PORT",
      "--output=floor",
      "floor.ts",
    ],
    cwd: folder,
    env: { DENORT_BIN: denort },
  });
  return {
    name: "bare Deno loop",
    settings: "Deno 2.4.2; list and write, ten concurrent writes; no watch, no cache, no retry",
    command: [`${folder}/floor`],
    env: {},
    megabytes: await size(`${folder}/floor`),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

async function controllerRuntime(workload: Workload, readYourWrites: boolean): Promise<Program> {
  const output = `${await buildFolder("controller_runtime")}/operator`;
  await run("go", { args: ["build", "-ldflags=-s -w", "-o", output, "."], cwd: sources("controller_runtime") });
  return {
    name: `controller-runtime${readYourWrites ? ", read-your-writes" : ""}`,
    settings: `v0.25.2; Lease, metrics, health, JSON logs; MaxConcurrentReconciles 10${
      readYourWrites ? "; EnableReadYourWritesConsistency" : ""
    }`,
    command: [output],
    env: { WORKLOAD: workload, ...(readYourWrites && { READ_YOUR_WRITES: "1" }) },
    megabytes: await size(output),
    [Symbol.asyncDispose]: noCleanup,
  };
}

async function kubeRs(workload: Workload): Promise<Program> {
  const target = await buildFolder("kube_rs");
  await run("cargo", {
    args: ["build", "--release", "--quiet"],
    cwd: sources("kube_rs"),
    env: { CARGO_TARGET_DIR: target },
  });
  const output = `${target}/release/bench-kube-rs`;
  return {
    name: "kube-rs",
    settings: "5.0.0; release build; JSON logs; concurrency 10; no Lease, metrics or health (not supported)",
    command: [output],
    env: { WORKLOAD: workload },
    megabytes: await size(output),
    [Symbol.asyncDispose]: noCleanup,
  };
}

async function clientNode(workload: Workload): Promise<Program> {
  const folder = await buildFolder("client_node");
  for (const file of ["package.json", "package-lock.json", "operator.js"]) {
    await Deno.copyFile(`${sources("client_node")}/${file}`, `${folder}/${file}`);
  }
  await run("npm", { args: ["ci", "--silent", "--no-audit", "--no-fund"], cwd: folder });
  const node = await which("node");
  return {
    name: "client-node informer",
    settings: "1.4.0 on Node; ten concurrent reconciles; no Lease, metrics or health (not supported)",
    command: [node, `${folder}/operator.js`],
    env: { WORKLOAD: workload },
    megabytes: await folderSize(`${folder}/node_modules`) + await size(node),
    [Symbol.asyncDispose]: noCleanup,
  };
}

/** Installs kopf, and returns the folder with its Python. */
export async function kopfEnvironment(): Promise<string> {
  const folder = await buildFolder("kopf");
  const requirements = `${sources("kopf")}/requirements.txt`;
  await run("python3", { args: ["-m", "venv", `${folder}/venv`], cwd: folder });
  await run(`${folder}/venv/bin/pip`, {
    args: ["install", "--quiet", "--require-hashes", "-r", requirements],
    cwd: folder,
  });
  return folder;
}

async function kopf(workload: Workload, workers: number | undefined): Promise<Program> {
  const folder = await kopfEnvironment();
  return {
    name: `kopf${workers === undefined ? "" : `, ${workers} workers`}`,
    settings: `1.45.2; events off; ${
      workers === undefined ? "unlimited workers, the default" : `worker_limit ${workers}`
    }`,
    command: [
      `${folder}/venv/bin/python`,
      ...[
        "-m",
        "kopf",
        "run",
        "--all-namespaces",
        "--standalone",
        "--log-format=json",
        `${sources("kopf")}/operator.py`,
      ],
    ],
    // kopf's libraries look for a kubeconfig in HOME first. Its identity uses the user's name,
    // which a pod does not have.
    env: { HOME: folder, USER: "kopf", WORKLOAD: workload, ...(workers !== undefined && { WORKERS: String(workers) }) },
    megabytes: await folderSize(`${folder}/venv`),
    [Symbol.asyncDispose]: noCleanup,
  };
}

/** Returns the folder of a peer's source code. */
export function sources(name: string): string {
  return fileURLToPath(new URL(`peers/${name}`, import.meta.url));
}

/** Returns the output folder of a peer's build tool. The tool rebuilds only what changed. */
async function buildFolder(name: string): Promise<string> {
  const path = `${CACHE}${name}`;
  await Deno.mkdir(path, { recursive: true });
  return path;
}

async function run(command: string, options: Deno.CommandOptions): Promise<void> {
  const { success, stderr, stdout } = await new Deno.Command(command, { ...options, stdin: "null" }).output();
  if (success) return;
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  throw new Error(`Benchmark: "${command}" failed: ${text(stderr)}${text(stdout)}`);
}

async function which(program: string): Promise<string> {
  for (const folder of (Deno.env.get("PATH") ?? "").split(":")) {
    const info = await Deno.stat(`${folder}/${program}`).catch(() => undefined);
    if (info?.isFile) return `${folder}/${program}`;
  }
  throw new Error(`Benchmark: cannot find "${program}" in PATH. Install it.`);
}

/** Returns the size of a file, in MB. */
export async function size(path: string): Promise<number> {
  return (await Deno.stat(path)).size / 1e6;
}

async function folderSize(path: string): Promise<number> {
  let megabytes = 0;
  for await (const entry of Deno.readDir(path)) {
    if (entry.isDirectory) megabytes += await folderSize(`${path}/${entry.name}`);
    else if (entry.isFile) megabytes += await size(`${path}/${entry.name}`);
  }
  return megabytes;
}

async function noCleanup(): Promise<void> {}
