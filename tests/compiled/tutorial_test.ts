/**
 * Runs the commands of the tutorial, from an empty folder to an operator that reconciles. The
 * cluster is a real API server that enforces RBAC. The test acts as the kubelet, and runs the image
 * as the pod's container.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Deployment, Lease } from "../../src/kinds/mod.ts";
import type { Client } from "../../src/kube/client.ts";
import { findKind } from "../../src/kube/discovery.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { toolchain } from "../../tools/toolchain.ts";
import { adminClient, watched } from "../fixtures/watched.ts";
import { eventually } from "../eventually.ts";
import { freePort } from "../fixtures/build_operator.ts";
import { podOf, runContainer } from "./_container.ts";
import type { OperatorProcess } from "../fixtures/followed_process.ts";
import { imageTools, NEEDS_ROOT, type UnpackedImage } from "./_image_tools.ts";

const ROOT = new URL("../../", import.meta.url);
const NAMESPACE = "shop-system";

Deno.test(
  "the tutorial's commands lead from an empty folder to a container that holds the Lease, reconciles and stops on SIGTERM",
  NEEDS_ROOT,
  async (t) => {
    const folder = await Deno.makeTempDir();
    await using resources = new AsyncDisposableStack();
    resources.defer(() => Deno.remove(folder, { recursive: true }));
    const tools = resources.use(await imageTools());
    const cluster = resources.use(await realCluster());
    const client = adminClient(cluster);
    const project = join(folder, "shop");
    const port = freePort();
    const { deno, denort } = await toolchain();
    await Deno.writeTextFile(join(folder, "kubeconfig"), cluster.admin.kubeconfig);
    const env = {
      PATH: `${dirname(Deno.execPath())}:${Deno.env.get("PATH") ?? ""}`,
      DENO_COMPILER: deno,
      DENORT_BIN: denort,
      KUBECONFIG: join(folder, "kubeconfig"),
      NO_COLOR: "1",
    };
    let cwd = fileURLToPath(ROOT);
    let operator: OperatorProcess | undefined;

    /** Actions of the user between commands, and of the cluster while a command runs. */
    const STEPS: readonly {
      readonly command: RegExp;
      readonly before?: () => Promise<unknown>;
      readonly during?: () => Promise<unknown>;
      readonly after?: (output: string) => Promise<unknown>;
    }[] = [
      {
        command: / new controller /,
        async after() {
          await edit(
            project,
            "operator.toml",
            (text) => `${text.replace("[operator]\n", `[operator]\nhealth = { port = ${port} }\n`)}\n${tools.toml}`,
          );
          await editPages(project);
        },
      },
      {
        command: / build --image$/,
        after: (output) => {
          assert.match(output, / dist\/shop \(\d+ MB\)[^]* image shop:0\.1\.0\n$/);
          return Promise.resolve();
        },
      },
      {
        command: / deploy staging$/,
        async during() {
          operator = resources.use(await runDeployment(client, await tools.unpack("shop:0.1.0")));
        },
      },
    ];

    /**
     * Acts as kubelet and Deployment controller: runs the pod, and sets the status when it is
     * ready.
     */
    async function runDeployment(client: Client, image: UnpackedImage): Promise<OperatorProcess> {
      assert.deepEqual([image.user, image.entrypoint], ["65532:65532", ["/operator"]]);
      await using deployments = await watched(client, Deployment);
      await deployments.until((all) => all.some(({ metadata }) => metadata.name === "shop"));
      const process = await runContainer({ cluster, image, pod: await podOf(client, "shop", NAMESPACE) });
      await process.logged(({ msg, controller }) => msg === "Controller started" && controller === "pages");
      const status = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
      await client.patch(Deployment, "shop", { status }, { namespace: NAMESPACE, subresource: "status" });
      return process;
    }

    for (const command of await commandsOfTutorial()) {
      const passed = await t.step(command, async () => {
        const step = STEPS.find((step) => step.command.test(command));
        const line = command.replaceAll("../shop", project);
        if (line.startsWith("cd ")) return void (cwd = line.slice(3));
        const [output] = await Promise.all([run(line, cwd, env), step?.during?.()]);
        await step?.after?.(output);
      });
      if (!passed) return;
    }
    const running = operator;
    assert(running);

    await t.step("the Dockerfile of this repository builds the same image from an existing executable", async () => {
      const file = fileURLToPath(new URL("Dockerfile", ROOT));
      const args = ["--file", file, "--target", "executable", "--build-arg", "EXECUTABLE=dist/shop"];
      await tools.build("again:1", project, ...args);
      const [one, other] = [await tools.unpack("shop:0.1.0"), await tools.unpack("again:1")];
      assert.deepEqual({ ...other, root: "" }, { ...one, root: "" });
      const files = [one, other].map(({ root }) => Deno.readFile(join(root, "operator")));
      assert(Buffer.compare(...await Promise.all(files) as [Uint8Array, Uint8Array]) === 0);
    });

    await t.step("the container runs as the image's user on a read-only root", async () => {
      const status = await Deno.readTextFile(`/proc/${running.pid}/status`);
      assert.match(status, /^Uid:(\t65532){4}$/m);
      assert.match(status, /^Gid:(\t65532){4}$/m);
      assert.match(status, /^CapEff:\t0{16}$/m);
      assert.match(status, /^NoNewPrivs:\t1$/m);
      assert.match(status, /^NSpid:\t\d+\t1$/m);
      assert.match(await Deno.readTextFile(`/proc/${running.pid}/mountinfo`), /^(\S+ ){4}\/ ro,/m);
    });

    await t.step("the operator holds its Lease", async () => {
      const lease = await client.get(Lease, "shop", { namespace: NAMESPACE });
      assert.match(lease.spec?.holderIdentity ?? "", /^shop-0/);
    });

    await t.step("the operator reconciles the samples of both kinds", async () => {
      await using deployments = await watched(client, Deployment);
      await using pages = await watched(client, await findKind(client, "pages.demo.example.com"));
      await deployments.until((all) => all.some(({ metadata }) => metadata.namespace === "default"));
      await pages.until((all) => all.some((page) => (page as { status?: { words?: number } }).status?.words === 1));
    });

    await t.step("the operator serves health and metrics", async () => {
      await eventually(async () => {
        const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
        assert.deepEqual([ready.status, (await ready.text()).match(/^\[\+\]controller \w+: running$/gm)], [200, [
          "[+]controller websites: running",
          "[+]controller pages: running",
        ]]);
      });
      // A reconcile is counted after its status was written.
      await eventually(async () => {
        const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
        assert.match(metrics, /^leader_election_master_status\{name="shop"\} 1$/m);
        assert.match(metrics, /^controller_runtime_reconcile_total\{controller="pages",result="success"\} [1-9]\d*$/m);
      });
    });

    await t.step("SIGTERM releases the Lease and exits with 0", async () => {
      assert.equal(await running.stop("SIGTERM"), 0);
      assert(running.log.some(({ msg, isClean }) => msg === "Operator stopped" && isClean === true));
      const lease = await client.get(Lease, "shop", { namespace: NAMESPACE });
      assert.equal(lease.spec?.holderIdentity ?? "", "");
    });

    await t.step("no request was forbidden", async () => {
      const events = await cluster.auditLog();
      const forbidden = events.filter(({ user, responseStatus }) =>
        user.username === `system:serviceaccount:${NAMESPACE}:shop` && responseStatus?.code === 403
      );
      assert.deepEqual(forbidden.map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}`), []);
    });
  },
);

/**
 * Returns the commands of the tutorial, in order. Blocks marked `console` show commands that do not
 * end.
 */
async function commandsOfTutorial(): Promise<string[]> {
  const tutorial = await Deno.readTextFile(new URL("docs/guides/tutorial.md", ROOT));
  const commands = [...tutorial.matchAll(/^```sh\n([^`]*)^```$/gm)].flatMap(([, block = ""]) =>
    block.trim().split("\n")
  );
  assert(commands.length > 5 && commands.length < 12, `${commands.length} commands`);
  return commands;
}

async function run(line: string, cwd: string, env: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command("sh", { args: ["-c", line], cwd, env, stdin: "null" })
    .output();
  const decoder = new TextDecoder();
  assert.equal(code, 0, `${line} ended with ${code}:\n${decoder.decode(stdout)}${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}

/** Edits the new kind like a user: the status has the number of words instead of the length. */
async function editPages(project: string): Promise<void> {
  await edit(project, "page/v1.ts", (file) => file.replace("length:", "words:").replace(".length", ".words"));
  await edit(
    project,
    "page/controller.ts",
    (file) => file.replace("{ length: text.length }", '{ words: text.split(" ").length }'),
  );
  await edit(project, "page/controller_test.ts", (file) => file.replace("status?.length, 2", "status?.words, 1"));
}

async function edit(project: string, file: string, change: (text: string) => string): Promise<void> {
  const before = await Deno.readTextFile(join(project, file));
  const after = change(before);
  assert.notEqual(after, before, `${file} does not have the expected content`);
  await Deno.writeTextFile(join(project, file), after);
}
