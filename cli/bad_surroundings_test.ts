/**
 * What goes wrong around `op`: no git, no network, a disk without room, Ctrl-C halfway. Each time
 * it says what to do, and leaves nothing that is half.
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

/** Whether there are namespaces to be had, in which there is no network, or another disk. */
async function hasNamespaces(): Promise<boolean> {
  const command = new Deno.Command("unshare", { args: [...AS_ROOT, "--mount", "--net", "true"], stderr: "null" });
  return await command.output().then(({ success }) => success, () => false);
}

const IN_NAMESPACES = { ignore: Deno.build.os !== "linux" || !(await hasNamespaces()) };

/** What a command came to. */
interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function ended(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<Ended> {
  const options = { args: [...args], cwd, env: { NO_COLOR: "1", ...env }, stdin: "null" };
  const { code, stdout, stderr } = await new Deno.Command(program, options as Deno.CommandOptions).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

const op = (...args: string[]): string[] => [Deno.execPath(), "run", "-A", "--cached-only", MAIN, ...args];

/** Runs `op` where there is no network, not even to itself. */
function withoutNetwork(cwd: string, ...args: string[]): Promise<Ended> {
  return ended("unshare", [...AS_ROOT, "--net", ...op(...args)], cwd);
}

async function inFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/main.ts`, OPERATOR);
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function entries(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

/** Earlier ones refuse to bundle, whatever there is to be had. */
const BUNDLES = !Deno.version.deno.startsWith("2.4.");

Deno.test("op generate fails without git if the image tag needs the commit, and writes no file", async () => {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/operator.toml`, '[build.image]\ntag = "$TAG_OR_SHORT_COMMIT_SHA"\n');
    const [program, ...args] = op("generate", "manifests");
    const { code, stderr } = await ended(program!, args, folder, { PATH: "/nowhere" });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^Cannot name the image: "operator\.toml" uses "\$TAG_OR_SHORT_COMMIT_SHA", but git is not installed\. Use --image, or another tag\.$/m,
    );
    assert.deepEqual(entries(folder), ["main.ts", "operator.toml"]);
  });
});

const CLUSTERS = {
  named: ["https://cluster.example.com:6443", /: its name cannot be resolved\. Check the address and DNS$/m],
  far: [
    "https://192.0.2.1:6443",
    /: there is no route to it\. Check the address and the network$/m,
  ],
} as const;

Deno.test({
  name: "op reports that a cluster cannot be reached, and creates projects and manifests without a network",
  ...IN_NAMESPACES,
  async fn() {
    await inFolder(async (folder) => {
      const clusters = Object.entries(CLUSTERS).map(([name, [server]]) => ({ name, cluster: { server } }));
      const contexts = clusters.map(({ name }) => ({ name, context: { cluster: name, user: "me" } }));
      const users = [{ name: "me", user: { token: "secret" } }];
      const kubeconfig = { apiVersion: "v1", kind: "Config", clusters, contexts, users };
      await Deno.writeTextFile(`${folder}/kubeconfig`, JSON.stringify(kubeconfig));

      assert.equal((await withoutNetwork(folder, "new", "operator", "shop")).code, 0);
      const made = await withoutNetwork(folder, "generate", "manifests");
      assert.equal(made.code, 0, made.stderr);
      for (const [context, [server, why]] of Object.entries(CLUSTERS)) {
        const where = ["--kubeconfig", "kubeconfig", "--context", context];
        const { code, stdout, stderr } = await withoutNetwork(folder, "deploy", "config/base", ...where);
        assert.equal(code, 1, stdout + stderr);
        assert(stderr.includes(`no response from "${server}"`), stderr);
        assert.match(stderr, why);
        assert.equal(stderr.trim().split("\n").length, 1);
      }
    });
  },
});

Deno.test({
  name: "op reports a module that it cannot fetch without a network, and what to do",
  ...IN_NAMESPACES,
  async fn() {
    await inFolder(async (folder) => {
      await Deno.writeTextFile(
        `${folder}/deno.json`,
        JSON.stringify({ imports: { "@op/sdk": "jsr:@op/sdk@^99.0.0" } }),
      );
      for (const command of BUNDLES ? [["crd", "print"], ["build"]] : [["crd", "print"]]) {
        const { code, stderr } = await withoutNetwork(folder, ...command);
        assert.equal(code, 1);
        assert.match(
          stderr,
          /^Cannot reach "jsr\.io", .*\. Connect to a network, /m,
        );
        assert.doesNotMatch(stderr, /Stack backtrace/);
      }
      assert.deepEqual(entries(folder), ["deno.json", "main.ts"]);
    });
  },
});

Deno.test({
  name: "op generate changes no file if the disk is full",
  ...IN_NAMESPACES,
  async fn() {
    await inFolder(async (folder) => {
      const small =
        `mount -t tmpfs -o size=32k tmpfs "$0" && cp "$1/main.ts" "$0" && cd "$0" && shift && "$@"; code=$?; find . -mindepth 1; exit $code`;
      const place = `${folder}/small`;
      await Deno.mkdir(place);
      const { code, stdout, stderr } = await ended(
        "unshare",
        [...AS_ROOT, "--mount", "sh", "-c", small, place, folder, ...op("generate", "manifests")],
        folder,
      );
      assert.equal(code, 1, stderr);
      assert.match(stderr, /^Cannot write ".*": no space left on the disk\. No file was changed\.$/m);
      assert.equal(stdout, "./main.ts\n");
    });
  },
});

// Loading takes longer than the test, so that it can be interrupted.
const SLOW = `await new Promise((go) => setTimeout(go, 60_000));\n${OPERATOR}`;

const INTERRUPTED = [
  ...(BUNDLES ? [{ args: ["build"], while: "op-build-" }] : []),
  { args: ["crd", "print"], while: "op-project-" },
  { args: ["new", "operator", "shop", "--kind", "Cache"], while: ".shop-" },
  { args: ["rbac", "unused", "main.ts", "--", "sleep", "60"], while: "op-rbac-" },
];

for (const { args: given, while: prefix } of INTERRUPTED) {
  Deno.test({
    name: `op ${given.slice(0, 2).join(" ")} leaves nothing behind where Ctrl-C comes halfway`,
    ignore: Deno.build.os === "windows",
    async fn() {
      await inFolder(async (folder) => {
        if (given[0] !== "rbac") await Deno.writeTextFile(`${folder}/main.ts`, SLOW);
        const { code, temporary } = await interrupted(folder, given, prefix);
        assert.equal(code, 130);
        assert.deepEqual(entries(temporary).filter((name) => name.startsWith("op-")), []);
        assert.deepEqual(entries(folder), ["main.ts", "temporary"]);
      });
    },
  });
}

/**
 * Interrupts `op` when something with a prefix is there. A busy machine may look too late for what
 * is soon done: then it is done again.
 */
async function interrupted(folder: string, given: readonly string[], prefix: string) {
  const temporary = `${folder}/temporary`;
  await Deno.mkdir(temporary);
  const [program, ...args] = op(...given);
  for (let attempt = 0; attempt < 10; attempt++) {
    // A group of its own, which a terminal interrupts as a whole.
    const process = new Deno.Command("setsid", {
      args: [program!, ...args],
      cwd: folder,
      env: { TMPDIR: temporary },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    let isOver = false;
    process.status.then(() => isOver = true);
    const isHalfway = () => [...entries(temporary), ...entries(folder)].some((name) => name.startsWith(prefix));
    while (!isOver && !isHalfway()) await new Promise((go) => setTimeout(go, 5));
    if (!isOver && interrupt(process.pid)) return { code: (await process.status).code, temporary };
    await process.status;
    for (const name of entries(folder)) {
      if (!["main.ts", "temporary"].includes(name)) await Deno.remove(`${folder}/${name}`, { recursive: true });
    }
  }
  throw new Error(`"op ${given.join(" ")}" was over each time before anybody saw "${prefix}"`);
}

/** Interrupts a group of processes. @returns Whether it was there still. */
function interrupt(group: number): boolean {
  try {
    Deno.kill(-group, "SIGINT");
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
