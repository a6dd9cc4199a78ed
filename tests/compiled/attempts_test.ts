/**
 * Undeclared accesses from inside an operator's container. All of them must fail. Each succeeds in
 * a twin: the same program, compiled with all permissions and run as an administrator. So only the
 * sandbox or the role can cause a failure.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RecordedIo } from "../../cli/_recorded_io.ts";
import { requireFor } from "../../cli/build/bundle.ts";
import { cli } from "../../cli/cli.ts";
import { ClusterRoleBinding, Lease, Namespace, Secret, ServiceAccount } from "../../src/kinds/mod.ts";
import type { Client } from "../../src/kube/client.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { toolchain } from "../../tools/toolchain.ts";
import { adminClient, watched } from "../fixtures/watched.ts";
import { Attempt } from "./attempts/attempt.ts";
import { ATTEMPTS } from "./attempts/attempts.ts";
import type { OperatorProcess } from "../fixtures/followed_process.ts";
import { freePort } from "../fixtures/build_operator.ts";
import { podOf, runContainer } from "./_container.ts";
import { imageTools, NEEDS_ROOT } from "./_image_tools.ts";

const SDK = fileURLToPath(new URL("../../", import.meta.url));
const OPERATOR_NAMESPACE = "probe-system";
const NAMESPACE = "probes";

const DENIED = /^NotCapable: |^\w+: .*the apiserver answered 403 Forbidden/;

/**
 * Errors of attempts that do not match {@linkcode DENIED}. Deno's node:http reports a denied
 * connection as ECONNREFUSED. A step below checks that the test server receives no request.
 */
const OTHER_DENIALS: Readonly<Record<string, RegExp>> = {
  "call an undeclared host through Node": /^Error: connect ECONNREFUSED /,
};

Deno.test(
  "undeclared accesses fail in an operator's container, and succeed in its twin without a sandbox",
  NEEDS_ROOT,
  async (t) => {
    const folder = await Deno.makeTempDir();
    await using tools = await imageTools();
    const { deno, denort } = await toolchain();
    const project = join(folder, "probe");
    const op = async (cwd: string, ...args: string[]) => {
      const io = new RecordedIo(cwd, { PATH: Deno.env.get("PATH") ?? "", DENO_COMPILER: deno, DENORT_BIN: denort });
      assert.equal(await cli(args, io), 0, `op ${args.join(" ")}:\n${io.stdout}${io.stderr}`);
    };
    let calls = 0;
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      () => new Response(`${++calls}`),
    );
    try {
      await op(folder, "new", "operator", "probe", "--sdk", SDK);
      await Deno.remove(join(project, "config"), { recursive: true });
      for (const { name } of Deno.readDirSync(new URL("attempts/", import.meta.url))) {
        await Deno.copyFile(new URL(`attempts/${name}`, import.meta.url), join(project, name));
      }
      const settings = `[operator]\nnamespaces = ["${NAMESPACE}"]\nhealth = { port = ${freePort()} }\n`;
      await Deno.writeTextFile(join(project, "operator.toml"), settings + tools.toml);
      await op(project, "generate", "manifests");
      await op(project, "generate", "overlay", "prod");
      await op(project, "build", "--image");
      const image = await tools.unpack("probe:0.1.0");
      const twin = await compileTwin(project, folder, { deno, denort });

      await using cluster = await realCluster();
      const client = adminClient(cluster);
      await Deno.writeTextFile(join(folder, "kubeconfig"), cluster.admin.kubeconfig);
      await client.create(Namespace, { metadata: { name: NAMESPACE } });
      await op(project, "deploy", "prod", "--no-wait", "--kubeconfig", join(folder, "kubeconfig"));
      await prepare(client);
      const pod = await podOf(client, "probe", OPERATOR_NAMESPACE);
      const url = `http://127.0.0.1:${server.addr.port}/`;

      const outcomes = new Map<string, Map<string, string>>();
      const callsAfter: number[] = [];
      for (const program of ["operator", "twin"]) {
        await using operator = await runContainer({
          cluster,
          image,
          ...(program === "operator" ? { pod } : { pod: { ...pod, account: "twin" }, executable: twin }),
        });
        outcomes.set(program, await attemptAll({ client, operator, program, url }));
        callsAfter.push(calls);
        assert.equal(await operator.stop("SIGTERM"), 0);
      }
      await t.step("only the twin reaches an undeclared host", () => {
        assert(callsAfter[0] === 0 && callsAfter[1]! > 0, `${callsAfter}`);
      });
      for (const attempt of Object.keys(ATTEMPTS)) {
        await t.step(`an operator cannot ${attempt}`, () => {
          assert.match(outcomes.get("operator")?.get(attempt) ?? "", OTHER_DENIALS[attempt] ?? DENIED);
          assert.equal(outcomes.get("twin")?.get(attempt), "succeeded");
        });
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);

/** Creates the targets of the attempts, and the account and role of the twin. */
async function prepare(client: Client): Promise<void> {
  await client.create(Secret, { metadata: { name: "password" }, stringData: { password: "1234" } }, {
    namespace: NAMESPACE,
  });
  await client.create(Lease, { metadata: { name: "other" } }, { namespace: OPERATOR_NAMESPACE });
  for (const name of ["twin", "default"]) {
    await client.apply(ServiceAccount, { metadata: { name, namespace: OPERATOR_NAMESPACE } }, { manager: "test" });
  }
  await client.create(ClusterRoleBinding, {
    metadata: { name: "twin" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", name: "twin", namespace: OPERATOR_NAMESPACE }],
  });
}

interface AttemptOptions {
  readonly client: Client;
  readonly operator: OperatorProcess;
  /** Distinguishes the objects of the program. */
  readonly program: string;
  /** A server that the attempts try to reach. */
  readonly url: string;
}

/** Makes each attempt once, and returns the outcomes. */
async function attemptAll({ client, operator, program, url }: AttemptOptions): Promise<Map<string, string>> {
  await using objects = await watched(client, Attempt);
  const names = new Map(
    Object.keys(ATTEMPTS).map((attempt) => [`${program}-${attempt.toLowerCase().replaceAll(" ", "-")}`, attempt]),
  );
  for (const [name, attempt] of names) {
    if (attempt.startsWith("delete")) await createAttempt(client, `victim-${name}`, "none", url);
    await createAttempt(client, name, attempt, url);
  }
  const outcomes = () =>
    objects.values().flatMap(({ metadata, status }) => {
      const attempt = names.get(metadata.name);
      return attempt === undefined || status?.outcome === undefined ? [] : [[attempt, status.outcome] as const];
    });
  // The log explains why an outcome is missing.
  await Promise.race([objects.until(() => outcomes().length === names.size), operator.logged(() => false)]);
  return new Map(outcomes());
}

async function createAttempt(client: Client, name: string, attempt: string, url: string): Promise<void> {
  await client.create(Attempt, { metadata: { name }, spec: { attempt, url } }, { namespace: NAMESPACE });
}

/** Compiles the same program with the same compiler and all permissions. */
async function compileTwin(project: string, folder: string, { deno, denort }: Record<string, string>): Promise<string> {
  const bundled = join(folder, "twin.js");
  const executable = join(folder, "twin");
  const bundle = ["bundle", "--quiet", "--minify", "--platform=deno", "--external=@kubernetes/client-node"];
  const compile = ["compile", "--quiet", "--allow-all", "--no-config", "--no-lock", "--no-check", "--no-code-cache"];
  await run(Deno.execPath(), [...bundle, `--output=${bundled}`, "main.ts"], project);
  const code = await Deno.readTextFile(bundled);
  await Deno.writeTextFile(bundled, [...requireFor(code), code].join("\n"));
  await run(deno ?? "", [...compile, `--output=${executable}`, bundled], folder, { DENORT_BIN: denort ?? "" });
  await Deno.chmod(folder, 0o755);
  return executable;
}

async function run(program: string, args: string[], cwd: string, env: Record<string, string> = {}): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args, cwd, env }).output();
  assert(success, new TextDecoder().decode(stderr));
}
