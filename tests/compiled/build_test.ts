/** `op build` with the oldest Deno we run on, whose runtime comes from npm: what it makes, and what it refuses. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RecordedIo } from "../../cli/_recorded_io.ts";
import { cli } from "../../cli/cli.ts";
import { FLOOR, toolchain } from "../../tools/toolchain.ts";

const SDK = fileURLToPath(new URL("../../", import.meta.url));
const { deno, denort } = await toolchain();
const COMPILER = { DENO_COMPILER: deno, DENORT_BIN: denort };

/** What a scaffolded operator may do, and no more. */
const PERMISSIONS = `--no-prompt
--deny-import
--allow-net=kubernetes.default.svc,0.0.0.0:8081
--allow-read=/var/run/secrets/kubernetes.io/serviceaccount,/etc/op
--allow-env=OP_CONFIG,OP_NAMESPACES,OP_ALL_NAMESPACES,OP_SELECTOR,OP_LOG_LEVEL,OP_LOG_FORMAT,OP_PAUSED,OP_STOP_WITHIN,OP_HEALTH_PORT,OP_HEALTH_HOSTNAME,OP_LEADER_ELECTION,OP_LEADER_ELECTION_ID,OP_LEADER_ELECTION_NAMESPACE,OP_LEADER_ELECTION_LEASE_DURATION,OP_LEADER_ELECTION_RENEW_DEADLINE,OP_LEADER_ELECTION_RETRY_PERIOD,KUBERNETES_SERVICE_PORT,KUBERNETES_SERVICE_PORT_HTTPS,KUBECONFIG,HOME,HOSTNAME
`;

async function inProject(test: (project: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const io = new RecordedIo(folder);
    assert.equal(await cli(["new", "operator", "shop", "--sdk", SDK], io), 0, io.stderr);
    await test(join(folder, "shop"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function output(program: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(program, { args, env, clearEnv: true }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

async function build(
  cwd: string,
  args: string[],
  variables: Record<string, string> = COMPILER,
): Promise<RecordedIo & { code: number }> {
  const io = new RecordedIo(cwd, variables);
  return Object.assign(io, { code: await cli(["build", ...args], io) });
}

Deno.test("op build makes an executable that knows itself and may do what is declared", async () => {
  await inProject(async (project) => {
    const built = await build(project, ["-o", "dist/shop"]);
    assert.equal(built.code, 0, built.stderr);
    assert.match(built.stdout, /^Made dist\/shop \(\d+ MB\) of operator "shop"/);

    const executable = join(project, "dist/shop");
    assert.equal(await output(executable, ["version"]), `shop 0.1.0 (deno ${FLOOR})\n`);
    assert.equal(await output(executable, ["permissions"]), PERMISSIONS);
    const crds = JSON.parse(await output(executable, ["crds"]));
    assert.deepEqual(crds.items.map((crd: { metadata: { name: string } }) => crd.metadata.name), [
      "websites.demo.example.com",
    ]);
  });
});

Deno.test("op build makes equal bytes of equal code in another folder", async () => {
  const executables: Uint8Array[] = [];
  for (let i = 0; i < 2; i++) {
    await inProject(async (project) => {
      const built = await build(project, ["-o", "shop"]);
      assert.equal(built.code, 0, built.stderr);
      executables.push(await Deno.readFile(join(project, "shop")));
    });
  }
  const [first, second] = executables;
  assert(Buffer.compare(first!, second!) === 0, "the two executables differ");
});

Deno.test("op build replaces its own executable, no other file, unless it is forced", async () => {
  await inProject(async (project) => {
    const path = join(project, "shop");
    await Deno.writeTextFile(path, "a letter to my mother");
    const refused = await build(project, ["-o", "shop"]);
    assert.equal(refused.code, 1);
    assert.equal(
      refused.stderr,
      'Cannot write "shop": there is a file that op did not make; name another one, or say --force\n',
    );
    assert.equal(await Deno.readTextFile(path), "a letter to my mother");

    assert.equal((await build(project, ["-o", "shop", "--force"])).code, 0);
    assert.equal((await build(project, ["-o", "shop"])).code, 0);
    assert.match(await output(path, ["version"]), /^shop /);
  });
});

Deno.test("op build refuses a runtime for another machine and leaves no executable", async () => {
  await inProject(async (project) => {
    const other = Deno.build.arch === "x86_64" ? "aarch64" : "x86_64";
    const built = await build(project, ["-o", "shop", "--target", `${other}-unknown-linux-gnu`]);
    assert.equal(built.code, 1);
    assert.match(built.stderr, new RegExp(`for ${Deno.build.arch}; ".*denort" in DENORT_BIN is for another one\n$`));
    await assert.rejects(Deno.stat(join(project, "shop")), Deno.errors.NotFound);
  });
});

const REFUSED = [
  {
    name: "a file without an operator",
    code: "export default 1;\n",
    says: /^Cannot find an operator in "other.ts": its default export is none; write "export default operator/,
  },
  {
    name: "a file that does not run its operator",
    code: 'import { operator } from "@op/sdk";\nexport default operator({ name: "idle", parts: {} });\n',
    says: /^Cannot build "other.ts": started as a program it does not run its operator; end the file with "if \(import/,
  },
  {
    name: "a file that throws",
    code: 'throw new Error("out of milk");\n',
    says: /^Cannot load "other.ts":\n[^]*out of milk/,
  },
  {
    name: "a file with a wrong type",
    code: 'export const n: number = "";\n',
    says: /^Cannot bundle "other.ts":\n[^]*TS2322/,
  },
  {
    name: "an import that is not there",
    code: 'import "./gone.ts";\n',
    says: /^Cannot bundle "other.ts":\n[^]*gone\.ts/,
  },
];

Deno.test("op build refuses what it cannot build, says why and leaves nothing", async (t) => {
  await inProject(async (project) => {
    for (const { name, code, says } of REFUSED) {
      await t.step(name, async () => {
        await Deno.writeTextFile(join(project, "other.ts"), code);
        const built = await build(project, ["other.ts", "-o", "other"]);
        assert.equal(built.code, 1);
        assert.match(built.stderr, says);
        await assert.rejects(Deno.stat(join(project, "other")), Deno.errors.NotFound);
      });
    }
    await t.step("a compiler that is not there", async () => {
      const built = await build(project, ["-o", "other", "--compiler", "no-such-deno"]);
      assert.equal(built.code, 1);
      assert.equal(built.stderr, 'Cannot run "no-such-deno": there is no such program\n');
    });
  });
});
