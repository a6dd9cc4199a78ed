/**
 * `op build` with the oldest supported Deno, whose runtime comes from npm: its executables, and the
 * code and options that it rejects.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RecordedIo } from "../../cli/_recorded_io.ts";
import { type Machine, machineOf } from "../../cli/build/elf.ts";
import type { Sbom } from "../../cli/build/sbom.ts";
import { cli } from "../../cli/cli.ts";
import { FLOOR, toolchain } from "../../tools/toolchain.ts";

const SDK = fileURLToPath(new URL("../../", import.meta.url));
const { deno, denort } = await toolchain();
const COMPILER = { DENO_COMPILER: deno, DENORT_BIN: denort };

/** The exact sandbox permissions of a scaffolded operator. */
const PERMISSIONS = `--no-prompt
--deny-import
--allow-net=kubernetes.default.svc:443,0.0.0.0:8081
--allow-read=/var/run/secrets/kubernetes.io/serviceaccount,/etc/op
--allow-env=OP_CONFIG,OP_NAMESPACES,OP_ALL_NAMESPACES,OP_SELECTOR,OP_LOG_LEVEL,OP_LOG_FORMAT,OP_PAUSED,OP_GRACEFUL_SHUTDOWN_TIMEOUT,OP_KUBE_API_QPS,OP_KUBE_API_BURST,OP_HTTP_CLIENT,OP_HEALTH_PORT,OP_HEALTH_HOSTNAME,OP_LEADER_ELECTION,OP_LEADER_ELECTION_TAKE_OVER,OP_LEADER_ELECTION_PRIORITY,OP_LEADER_ELECTION_ID,OP_LEADER_ELECTION_NAMESPACE,OP_LEADER_ELECTION_LEASE_DURATION,OP_LEADER_ELECTION_RENEW_DEADLINE,OP_LEADER_ELECTION_RETRY_PERIOD,KUBERNETES_SERVICE_PORT,KUBERNETES_SERVICE_PORT_HTTPS,HOSTNAME
`;

/** Runs a test in a scaffolded project. */
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

/** A program that throws an error in a second file if it is started with the argument "fail". */
const FAILING = {
  "price.ts": `/** Prices. */
export interface Price { readonly euros: number }

export function total(prices: readonly Price[]): number {
  if (prices.length === 0) throw new Error("no prices");
  return prices.reduce((sum, { euros }) => sum + euros, 0);
}
`,
  "failing.ts": `import { operator } from "@op/sdk";
import { total } from "./price.ts";
const op = operator({ name: "shop", parts: {} });
export default op;
function checkout(): void {
  console.log(total([]));
}
if (import.meta.main && Deno.args[0] === "fail") checkout();
if (import.meta.main) await op.main();
`,
};

Deno.test("op build writes a source map with which op trace maps a real stack trace to the source", async () => {
  await inProject(async (project) => {
    for (const [file, text] of Object.entries(FAILING)) await Deno.writeTextFile(join(project, file), text);
    const built = await build(project, ["failing.ts"]);
    assert.equal(built.code, 0, built.stderr);
    const process = new Deno.Command(join(project, "dist/shop"), {
      args: ["fail"],
      clearEnv: true,
      env: { NO_COLOR: "1" },
    });
    const { code, stderr } = await process.output();
    assert.equal(code, 1);
    const log = new TextDecoder().decode(stderr);
    assert.match(log, /no prices\n +at \S+ \(file:\/\/\S+\/operator\.js:\d+:\d+\)/);
    await Deno.writeTextFile(join(project, "log"), log);
    const io = new RecordedIo(project);
    assert.equal(await cli(["trace", "dist/shop", "log"], io), 0, io.stderr);
    assert.match(
      io.stdout,
      /no prices\n +at \S+ \(price\.ts:5:34\)\n +at \S+ \(failing\.ts:6:15\)\n +at failing\.ts:8:50\n/,
    );
  });
});

Deno.test("op build compiles a single file without a project, with the SDK of this op", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const code = 'import { operator } from "@op/sdk";\nconst op = operator({ name: "alone", parts: {} });\n' +
      "export default op;\nif (import.meta.main) await op.main();\n";
    await Deno.writeTextFile(join(folder, "alone.ts"), code);
    const built = await build(folder, ["alone.ts"]);
    assert.equal(built.code, 0, built.stderr);
    assert.match(await output(join(folder, "dist/alone"), ["version"]), /^alone /);
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name).sort(), ["alone.ts", "dist"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("op build compiles an executable that knows its own build and has the declared permissions", async () => {
  await inProject(async (project) => {
    const built = await build(project, []);
    assert.equal(built.code, 0, built.stderr);
    assert.match(built.stdout, /^Built dist\/shop \(\d+ MB\) from operator "shop"/);

    const executable = join(project, "dist/shop");
    const bill: Sbom = JSON.parse(await Deno.readTextFile(`${executable}.cdx.json`));
    const sha256 = createHash("sha256").update(await Deno.readFile(executable)).digest("hex");
    assert.deepEqual(bill.metadata.component.hashes, [{ alg: "SHA-256", content: sha256 }]);
    const required = bill.components.filter(({ scope }) => scope === "required").map(({ name }) => name);
    // The many variables for webhook certificates come from x509.
    const direct = ["deno", "sdk", "re2", "logtape", "x509", "js-yaml", "prom-client", "smol-toml"];
    assert.deepEqual(required.filter((name) => direct.includes(name)), direct);
    assert(required.includes("asn1-schema") && !required.includes("commander"), required.join(" "));
    assert(bill.components.some(({ name, scope }) => name === "client-node" && scope === "excluded"));
    assert.equal(await output(executable, ["version"]), `shop 0.1.0 (deno ${FLOOR})\n`);
    assert.equal(await output(executable, ["sandbox"]), PERMISSIONS);
    const crds = JSON.parse(await output(executable, ["crds"]));
    assert.deepEqual(crds.items.map((crd: { metadata: { name: string } }) => crd.metadata.name), [
      "websites.demo.example.com",
    ]);
  });
});

Deno.test("op build writes identical bytes for identical code in another folder and for another user", async () => {
  const builds: Uint8Array[][] = [];
  const read = async (project: string) => {
    const names = ["shop", "shop.map", "shop.cdx.json"];
    builds.push(await Promise.all(names.map((name) => Deno.readFile(join(project, name)))));
  };
  await inProject(async (project) => {
    const built = await build(project, ["-o", "shop"]);
    assert.equal(built.code, 0, built.stderr);
    await read(project);
  });
  await inProject(async (project) => {
    const home = join(project, "..", "home");
    await Deno.mkdir(home);
    const args = ["run", "--allow-all", join(SDK, "cli/main.ts"), "build", "-o", "shop"];
    const env = { ...COMPILER, HOME: home, DENO_DIR: join(home, "deno") };
    const { success, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: project, env }).output();
    assert(success, new TextDecoder().decode(stderr));
    await read(project);
  });
  const [first = [], second = []] = builds;
  ["executables", "source maps", "bills of materials"].forEach((kind, i) =>
    assert(Buffer.compare(first[i]!, second[i]!) === 0, `the two ${kind} differ`)
  );
});

Deno.test("op build replaces its own executable, but no other file unless forced", async () => {
  await inProject(async (project) => {
    const path = join(project, "shop");
    await Deno.writeTextFile(path, "a file of the user");
    const rejected = await build(project, ["-o", "shop"]);
    assert.equal(rejected.code, 1);
    assert.equal(
      rejected.stderr,
      'Cannot write "shop": op did not write the existing file. Name another file, or add --force.\n',
    );
    assert.equal(await Deno.readTextFile(path), "a file of the user");

    assert.equal((await build(project, ["-o", "shop", "--force"])).code, 0);
    assert.equal((await build(project, ["-o", "shop"])).code, 0);
    assert.match(await output(path, ["version"]), /^shop /);
  });
});

Deno.test("op build compiles an executable for another platform with that platform's runtime", async () => {
  await inProject(async (project) => {
    const other: Machine = Deno.build.arch === "x86_64" ? "aarch64" : "x86_64";
    // Only the header is checked, which names the platform, because the executable cannot run here.
    const runtime = await Deno.readFile(denort);
    new DataView(runtime.buffer).setUint16(18, other === "aarch64" ? 183 : 62, true);
    await Deno.writeFile(join(project, "denort"), runtime);
    const built = await build(project, ["--target", other], { ...COMPILER, DENORT_BIN: join(project, "denort") });
    assert.equal(built.code, 0, built.stderr);
    assert.equal(machineOf(await Deno.readFile(join(project, "dist/shop"))), other);
  });
});

Deno.test("op build reports what to do if the runtime cannot be downloaded", async () => {
  await inProject(async (project) => {
    const compiler = join(project, "deno");
    await Deno.writeTextFile(
      compiler,
      `#!/bin/sh
      [ "$1" = --version ] && echo "deno 2.4.2 (stable)" && exit
      echo "error: error sending request for url (https://deno.example.com/denort-x.zip)" >&2
      exit 1\n`,
    );
    await Deno.chmod(compiler, 0o755);
    const built = await build(project, ["--compiler", compiler], {});
    assert.equal(built.code, 1);
    assert.match(
      built.stderr,
      /^Cannot compile: the runtime "denort" of Deno 2\.4\.2 could not be downloaded\. Set DENORT_BIN to its file, or name another Deno with --compiler\.\nerror: error sending/,
    );
    await assert.rejects(Deno.stat(join(project, "dist")), Deno.errors.NotFound);
  });
});

Deno.test("op build rejects a runtime of another version than the compiler", async () => {
  await inProject(async (project) => {
    const compiler = join(project, "deno");
    await Deno.writeTextFile(compiler, `#!/bin/sh\necho "deno 2.0.99 (stable)"\n`);
    await Deno.chmod(compiler, 0o755);
    const built = await build(project, [], { ...COMPILER, DENO_COMPILER: compiler });
    assert.equal(built.code, 1);
    assert.match(
      built.stderr,
      /^Cannot compile with DENORT_BIN ".*": it is the runtime of Deno 2\.4\.2\d*, but Deno 2\.0\.99 compiles\. Set DENO_COMPILER/,
    );
  });
});

Deno.test("op build rejects a runtime for another platform, and leaves no executable", async () => {
  await inProject(async (project) => {
    const other = Deno.build.arch === "x86_64" ? "aarch64" : "x86_64";
    const built = await build(project, ["-o", "shop", "--target", `${other}-unknown-linux-gnu`]);
    assert.equal(built.code, 1);
    assert.match(
      built.stderr,
      new RegExp(`is for ${Deno.build.arch}\\. DENORT_BIN ".*denort" is for another machine\\.\n$`),
    );
    await assert.rejects(Deno.stat(join(project, "shop")), Deno.errors.NotFound);
  });
});

const INVALID = [
  {
    name: "a file without an operator",
    code: "export default 1;\n",
    error:
      /^Cannot find an operator in "other.ts": its default export is not the result of operator\(\)\. Add "export default operator/,
  },
  {
    name: "a file that does not run its operator",
    code: 'import { operator } from "@op/sdk";\nexport default operator({ name: "idle", parts: {} });\n',
    error: /^Cannot build "other.ts": it does not run its operator when it is started as a program\. Add "if \(import/,
  },
  {
    name: "a file that throws",
    code: 'throw new Error("no prices");\n',
    error: /^Cannot load "other.ts": no prices\n {4}at other.ts:1:7$/m,
  },
  {
    name: "a file with a wrong type",
    code: 'export const n: number = "";\n',
    error: /^Cannot bundle "other.ts":\n[^]*TS2322/,
  },
  {
    name: "an import that does not exist",
    code: 'import "./gone.ts";\n',
    error: /^Cannot bundle "other.ts":\n[^]*gone\.ts/,
  },
];

Deno.test("op build reports why it cannot build a file, and leaves no executable", async (t) => {
  await inProject(async (project) => {
    for (const { name, code, error } of INVALID) {
      await t.step(name, async () => {
        await Deno.writeTextFile(join(project, "other.ts"), code);
        const built = await build(project, ["other.ts", "-o", "other"]);
        assert.equal(built.code, 1);
        assert.match(built.stderr, error);
        await assert.rejects(Deno.stat(join(project, "other")), Deno.errors.NotFound);
      });
    }
    await t.step("a missing compiler", async () => {
      const built = await build(project, ["-o", "other", "--compiler", "no-such-deno"]);
      assert.equal(built.code, 1);
      assert.equal(built.stderr, 'Cannot run "no-such-deno": the program is not installed, or not on the PATH.\n');
    });
  });
});
