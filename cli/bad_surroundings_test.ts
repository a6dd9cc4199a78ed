/**
 * Tests `op` without git, without a network, on a full disk, and with Ctrl-C during a command. `op`
 * reports what to do, and leaves no incomplete files.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));
const OPERATOR = `import { controller, operator } from "@op/sdk";
import { Namespace } from "@op/sdk/kinds";
const op = operator({ name: "spaces", parts: { namespaces: controller(Namespace, { reconcile() {} }) } });
export default op;
if (import.meta.main) await op.main();
`;
const AS_ROOT = Deno.uid() === 0 ? [] : ["--user", "--map-root-user"];

/**
 * Returns whether this process can create Linux namespaces. Tests use them to remove the network or
 * to add a small disk.
 */
async function hasNamespaces(): Promise<boolean> {
  const command = new Deno.Command("unshare", { args: [...AS_ROOT, "--mount", "--net", "true"], stderr: "null" });
  return await command.output().then(({ success }) => success, () => false);
}

const NEEDS_NAMESPACES = { ignore: Deno.build.os !== "linux" || !(await hasNamespaces()) };

/** Exit code and output of a command. */
interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<CommandResult> {
  const options = { args: [...args], cwd, env: { NO_COLOR: "1", ...env }, stdin: "null" };
  const { code, stdout, stderr } = await new Deno.Command(program, options as Deno.CommandOptions).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

const op = (...args: string[]): string[] => [Deno.execPath(), "run", "-A", "--cached-only", MAIN, ...args];

/** Runs `op` without a network, not even loopback. */
function withoutNetwork(cwd: string, ...args: string[]): Promise<CommandResult> {
  return run("unshare", [...AS_ROOT, "--net", ...op(...args)], cwd);
}

/** Runs a test in a folder with an operator. */
async function inFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/main.ts`, OPERATOR);
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function entriesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

/** Whether this Deno has `deno bundle`, which `op build` needs. */
const CAN_BUNDLE = !Deno.version.deno.startsWith("2.4.");

Deno.test("op generate fails without git if the image tag needs the commit, and writes no file", async () => {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/operator.toml`, '[build.image]\ntag = "$TAG_OR_SHORT_COMMIT_SHA"\n');
    const [program, ...args] = op("generate", "manifests");
    const { code, stderr } = await run(program!, args, folder, { PATH: "/nowhere" });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^Cannot name the image: "operator\.toml" uses "\$TAG_OR_SHORT_COMMIT_SHA", but git is not installed\. Use --image, or another tag\.$/m,
    );
    assert.deepEqual(entriesIn(folder), ["main.ts", "operator.toml"]);
  });
});

const CLUSTERS = {
  unresolvable: ["https://cluster.example.com:6443", /: its name cannot be resolved\. Check the address and DNS$/m],
  unroutable: [
    "https://192.0.2.1:6443",
    /: there is no route to it\. Check the address and the network$/m,
  ],
} as const;

Deno.test({
  name: "op reports that a cluster cannot be reached, and creates projects and manifests without a network",
  ...NEEDS_NAMESPACES,
  async fn() {
    await inFolder(async (folder) => {
      const clusters = Object.entries(CLUSTERS).map(([name, [server]]) => ({ name, cluster: { server } }));
      const contexts = clusters.map(({ name }) => ({ name, context: { cluster: name, user: "me" } }));
      const users = [{ name: "me", user: { token: "secret" } }];
      const kubeconfig = { apiVersion: "v1", kind: "Config", clusters, contexts, users };
      await Deno.writeTextFile(`${folder}/kubeconfig`, JSON.stringify(kubeconfig));

      assert.equal((await withoutNetwork(folder, "new", "operator", "shop")).code, 0);
      const generated = await withoutNetwork(folder, "generate", "manifests");
      assert.equal(generated.code, 0, generated.stderr);
      for (const [context, [server, reason]] of Object.entries(CLUSTERS)) {
        const flags = ["--kubeconfig", "kubeconfig", "--context", context];
        const { code, stdout, stderr } = await withoutNetwork(folder, "deploy", "config/base", ...flags);
        assert.equal(code, 1, stdout + stderr);
        assert(stderr.includes(`no response from "${server}"`), stderr);
        assert.match(stderr, reason);
        assert.equal(stderr.trim().split("\n").length, 1);
      }
    });
  },
});

Deno.test({
  name: "op reports a module that it cannot fetch without a network, and what to do",
  ...NEEDS_NAMESPACES,
  async fn() {
    await inFolder(async (folder) => {
      await Deno.writeTextFile(
        `${folder}/deno.json`,
        JSON.stringify({ imports: { "@op/sdk": "jsr:@op/sdk@^99.0.0" } }),
      );
      for (const command of CAN_BUNDLE ? [["crd", "print"], ["build"]] : [["crd", "print"]]) {
        const { code, stderr } = await withoutNetwork(folder, ...command);
        assert.equal(code, 1);
        assert.match(
          stderr,
          /^Cannot reach "jsr\.io", .*\. Connect to a network, /m,
        );
        assert.doesNotMatch(stderr, /Stack backtrace/);
      }
      assert.deepEqual(entriesIn(folder), ["deno.json", "main.ts"]);
    });
  },
});

Deno.test({
  name: "op generate writes no file if the disk is full",
  ...NEEDS_NAMESPACES,
  async fn() {
    await inFolder(async (folder) => {
      const script =
        `mount -t tmpfs -o size=32k tmpfs "$0" && cp "$1/main.ts" "$0" && cd "$0" && shift && "$@"; code=$?; find . -mindepth 1; exit $code`;
      const disk = `${folder}/small`;
      await Deno.mkdir(disk);
      const { code, stdout, stderr } = await run(
        "unshare",
        [...AS_ROOT, "--mount", "sh", "-c", script, disk, folder, ...op("generate", "manifests")],
        folder,
      );
      assert.equal(code, 1, stderr);
      assert.match(stderr, /^Cannot write ".*": no space left on the disk\. No file was changed\.$/m);
      assert.equal(stdout, "./main.ts\n");
    });
  },
});

// An operator that takes a minute to load, so that the test can interrupt `op` meanwhile.
const SLOW = `await new Promise((resolve) => setTimeout(resolve, 60_000));\n${OPERATOR}`;

/** Commands, and the prefix of the file or folder whose creation shows that they have started. */
const INTERRUPTED = [
  ...(CAN_BUNDLE ? [{ args: ["build"], prefix: "op-build-" }] : []),
  { args: ["crd", "print"], prefix: "op-project-" },
  { args: ["new", "operator", "shop", "--kind", "Cache"], prefix: ".shop-" },
  { args: ["rbac", "unused", "main.ts", "--", "sleep", "60"], prefix: "op-rbac-" },
];

for (const { args: commandLine, prefix } of INTERRUPTED) {
  Deno.test({
    name: `op ${commandLine.slice(0, 2).join(" ")} removes its temporary files when Ctrl-C interrupts it`,
    ignore: Deno.build.os === "windows",
    async fn() {
      await inFolder(async (folder) => {
        if (commandLine[0] !== "rbac") await Deno.writeTextFile(`${folder}/main.ts`, SLOW);
        const { code, temporary } = await interruptedAt(folder, commandLine, prefix);
        assert.equal(code, 130);
        assert.deepEqual(entriesIn(temporary).filter((name) => name.startsWith("op-")), []);
        assert.deepEqual(entriesIn(folder), ["main.ts", "temporary"]);
      });
    },
  });
}

/**
 * Runs `op`, and interrupts it when a file or folder with a prefix exists. If the command ends
 * before the test sees the file, which happens on a busy machine, the command runs again.
 */
async function interruptedAt(folder: string, commandLine: readonly string[], prefix: string) {
  const temporary = `${folder}/temporary`;
  await Deno.mkdir(temporary);
  const [program, ...args] = op(...commandLine);
  for (let attempt = 0; attempt < 10; attempt++) {
    // Starts its own process group, because a terminal interrupts a whole group.
    const process = new Deno.Command("setsid", {
      args: [program!, ...args],
      cwd: folder,
      env: { TMPDIR: temporary },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    let hasEnded = false;
    process.status.then(() => hasEnded = true);
    const hasStarted = () => [...entriesIn(temporary), ...entriesIn(folder)].some((name) => name.startsWith(prefix));
    while (!hasEnded && !hasStarted()) await new Promise((resolve) => setTimeout(resolve, 5));
    if (!hasEnded && interrupt(process.pid)) return { code: (await process.status).code, temporary };
    await process.status;
    for (const name of entriesIn(folder)) {
      if (!["main.ts", "temporary"].includes(name)) await Deno.remove(`${folder}/${name}`, { recursive: true });
    }
  }
  throw new Error(`"op ${commandLine.join(" ")}" ended ten times before "${prefix}" was seen`);
}

/** Interrupts a process group. Returns whether it still existed. */
function interrupt(group: number): boolean {
  try {
    Deno.kill(-group, "SIGINT");
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
