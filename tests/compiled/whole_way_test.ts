/** The whole way of a user: a project, a second kind, its test, manifests, executable, image; then in a container, on a real API server with roles enforced. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RecordedIo } from "../../cli/_recorded_io.ts";
import { cli } from "../../cli/cli.ts";
import { Deployment, Lease } from "../../src/kinds/mod.ts";
import { findKind } from "../../src/kube/discovery.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { toolchain } from "../../tools/toolchain.ts";
import { adminClient, watched } from "../_watched.ts";
import { freePort } from "./_build.ts";
import { podOf, runContainer } from "./_container.ts";
import { imageTools } from "./_image_tools.ts";

const SDK = fileURLToPath(new URL("../../", import.meta.url));
const NAMESPACE = "shop-system";

Deno.test("from op new to a container that leads, reconciles, tells metrics and stops when asked", async (t) => {
  const folder = await Deno.makeTempDir();
  await using tools = await imageTools();
  const { deno, denort } = await toolchain();
  const project = join(folder, "shop");
  const op = async (cwd: string, ...args: string[]) => {
    const io = new RecordedIo(cwd, { PATH: Deno.env.get("PATH") ?? "", DENO_COMPILER: deno, DENORT_BIN: denort });
    const code = await cli(args, io);
    assert.equal(code, 0, `op ${args.join(" ")} ended with ${code}:\n${io.stdout}${io.stderr}`);
    return io;
  };
  const port = freePort();
  try {
    await t.step("a project with two kinds passes its own tests", async () => {
      await op(folder, "new", "operator", "shop", "--sdk", SDK);
      await addPages(project);
      await edit(project, "operator.toml", (text) => `${text}\n${tools.toml}`);
      await edit(
        project,
        "operator.toml",
        (text) => text.replace("[operator]\n", `[operator]\nhealth = { port = ${port} }\n`),
      );
      await op(project, "generate", "manifests", "--force");
      const tests = new Deno.Command(Deno.execPath(), { args: ["test", "--allow-all", "--quiet"], cwd: project });
      const { success, stdout, stderr } = await tests.output();
      assert(success, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
    });

    await t.step("op generate overlay and op build --image make what a cluster needs", async () => {
      await Deno.remove(join(project, "config/overlays/prod"), { recursive: true });
      await op(project, "generate", "overlay", "prod");
      const { stdout } = await op(project, "build", "--image");
      assert.match(stdout, /^Made dist\/shop \(\d+ MB\) of operator "shop"[^]*\nMade image shop:0\.1\.0\n$/);
    });

    const image = await tools.unpack("shop:0.1.0");
    await t.step("the image has the executable and its base, and starts it as nobody in particular", async () => {
      assert.deepEqual([image.user, image.entrypoint], ["65532:65532", ["/operator"]]);
      assert.equal((await Deno.stat(join(image.root, "operator"))).mode! & 0o777, 0o755);
      const top = [...Deno.readDirSync(image.root)].map(({ name }) => name).sort();
      assert.deepEqual(top.filter((name) => !["etc", "lib", "lib64", "usr"].includes(name)), ["operator"]);
    });

    await using cluster = await realCluster();
    const client = adminClient(cluster);
    await t.step("op deploy puts it in, with strict validation", async () => {
      await Deno.writeTextFile(join(folder, "kubeconfig"), cluster.admin.kubeconfig);
      const { stdout } = await op(project, "deploy", "prod", "--no-wait", "--kubeconfig", join(folder, "kubeconfig"));
      assert.match(stdout, /^ {2}created {4}Deployment shop-system\/shop$/m);
    });

    await using operator = await runContainer({ cluster, image, pod: await podOf(client, "shop", NAMESPACE) });
    await t.step("it runs as the image's user on a root that it cannot write to", async () => {
      await operator.logged(({ msg, controller }) => msg === "Controller started" && controller === "pages");
      const status = await Deno.readTextFile(`/proc/${operator.pid}/status`);
      assert.match(status, /^Uid:(\t65532){4}$/m);
      assert.match(status, /^Gid:(\t65532){4}$/m);
      assert.match(status, /^CapEff:\t0{16}$/m);
      assert.match(status, /^NoNewPrivs:\t1$/m);
      assert.match(status, /^NSpid:\t\d+\t1$/m);
      const mounts = await Deno.readTextFile(`/proc/${operator.pid}/mountinfo`);
      assert.match(mounts, /^(\S+ ){4}\/ ro,/m);
    });

    await t.step("it leads", async () => {
      const lease = await client.get(Lease, "shop", { namespace: NAMESPACE });
      assert.match(lease.spec?.holderIdentity ?? "", /^shop-0/);
    });

    await t.step("it reconciles both kinds", async () => {
      const Website = await findKind(client, "websites.demo.example.com");
      const Page = await findKind(client, "pages.demo.example.com");
      await using deployments = await watched(client, Deployment);
      await using pages = await watched(client, Page);
      await client.create(Website, {
        metadata: { name: "blog", namespace: "default" },
        spec: { host: "blog.example.com", replicas: 2 },
      });
      await client.create(Page, { metadata: { name: "home", namespace: "default" }, spec: { text: "hello" } });
      await deployments.until((all) =>
        all.some(({ metadata, spec }) => metadata.name === "blog" && spec.replicas === 2)
      );
      await pages.until((all) => all.some((page) => (page as { status?: { words?: number } }).status?.words === 1));
    });

    await t.step("it tells its health and its metrics", async () => {
      const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
      assert.deepEqual([ready.status, (await ready.text()).match(/^\[\+\]controller \w+: running$/gm)], [200, [
        "[+]controller websites: running",
        "[+]controller pages: running",
      ]]);
      const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      assert.match(metrics, /^leader_election_master_status\{name="shop"\} 1$/m);
      assert.match(metrics, /^controller_runtime_reconcile_total\{controller="pages",result="success"\} [1-9]\d*$/m);
    });

    await t.step("SIGTERM ends it: it gives its lead back and exits with 0", async () => {
      assert.equal(await operator.stop("SIGTERM"), 0);
      assert(operator.log.some(({ msg, isClean }) => msg === "Operator stopped" && isClean === true));
      const lease = await client.get(Lease, "shop", { namespace: NAMESPACE });
      assert.equal(lease.spec?.holderIdentity ?? "", "");
    });

    await t.step("it was refused nothing", async () => {
      const events = await cluster.auditLog();
      const refused = events.filter(({ user, responseStatus }) =>
        user.username === `system:serviceaccount:${NAMESPACE}:shop` && responseStatus?.code === 403
      );
      assert.deepEqual(refused.map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}`), []);
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** A second kind with its controller and its test. */
async function addPages(project: string): Promise<void> {
  await Deno.mkdir(join(project, "page"));
  for (const [file, text] of Object.entries(PAGE)) await Deno.writeTextFile(join(project, "page", file), text);
  await edit(
    project,
    "main.ts",
    (text) =>
      text.replace(`import { websites }`, `import { pages } from "./page/controller.ts";\nimport { websites }`)
        .replace("parts: { websites }", "parts: { websites, pages }"),
  );
}

async function edit(project: string, file: string, change: (text: string) => string): Promise<void> {
  const before = await Deno.readTextFile(join(project, file));
  const after = change(before);
  assert.notEqual(after, before, `${file} is not as it is expected`);
  await Deno.writeTextFile(join(project, file), after);
}

const PAGE = {
  "v1.ts": `import { type Infer, resource, s } from "@op/sdk";

export const Page = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Page",
  spec: s.object({ text: s.string() }),
  status: s.object({ words: s.optional(s.integer()) }),
});
export type Page = Infer<typeof Page>;
`,
  "controller.ts": `import { controller } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { Page } from "./v1.ts";

export const pages = controller(Page, {
  owns: [ConfigMap],
  async reconcile(page, { apply, status }) {
    await apply(ConfigMap, { metadata: { name: page.metadata.name }, data: { text: page.spec.text } });
    status({ words: page.spec.text.split(" ").length });
  },
});
`,
  "controller_test.ts": `import assert from "node:assert/strict";
import { memoryCluster } from "@op/sdk/testing";
import { pages } from "./controller.ts";
import { Page } from "./v1.ts";

Deno.test("pages counts words", async () => {
  await using cluster = await memoryCluster({ parts: { pages } });
  await cluster.create(Page, "home", { spec: { text: "two words" } });
  await cluster.settle();
  assert.equal((await cluster.get(Page, "home")).status?.words, 2);
});
`,
};
