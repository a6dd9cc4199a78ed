/**
 * The sandbox of a compiled operator: it may use the declared permissions of each class. Other
 * accesses fail with the declaration to add, and without any one of the compiled permissions the
 * program fails.
 */
import assert from "node:assert/strict";
import { systemClock } from "../../src/base/clock.ts";
import { CustomResourceDefinition, Lease } from "../../src/kinds/mod.ts";
import { createApiserver } from "../../src/apiserver/mod.ts";
import { serveApiserver } from "../../src/apiserver/serve.ts";
import { Client } from "../../src/kube/client.ts";
import type { SandboxPermissions } from "../../src/parts/sandbox.ts";
import { localCertificate } from "../../src/testing/local_certificate.ts";
import { createAccess, tokenOf } from "../fixtures/service_account.ts";
import { type Watched, watched } from "../fixtures/watched.ts";
import { buildOperator, freePort } from "../fixtures/build_operator.ts";
import type { OperatorProcess } from "../fixtures/followed_process.ts";
import { changeable, type PodOptions, startAsPod } from "../fixtures/operator_pod.ts";
import { reaching, Use } from "../fixtures/operators/reaching.ts";

const IN_DEFAULT = { namespace: "default" };
const ADMIN = { name: "admin", groups: ["system:masters"] };

/**
 * Undeclared accesses as objects name them, and their errors. Code that was not compiled in is not
 * searched for at all.
 */
const UNDECLARED: readonly { access: string; target: string; says: string }[] = [
  {
    access: "net",
    target: "kubernetes.default.svc:2379",
    says: 'sandbox: { net: ["kubernetes.default.svc:2379"] }',
  },
  { access: "net", target: "127.0.0.1:9", says: 'sandbox: { net: ["127.0.0.1:9"] }' },
  { access: "nodeNet", target: "api.example.com", says: 'sandbox: { net: ["api.example.com"] }' },
  { access: "nodeNet", target: "127.0.0.1:9", says: 'sandbox: { net: ["127.0.0.1:9"] }' },
  { access: "listen", target: "0.0.0.0:9999", says: 'sandbox: { net: ["0.0.0.0:9999"] }' },
  { access: "read", target: "/proc/1/environ", says: 'sandbox: { read: ["/proc/1/environ"] }' },
  { access: "write", target: "/var/tmp/not-declared", says: 'sandbox: { write: ["/var/tmp/not-declared"] }' },
  { access: "tempFile", target: "any", says: 'sandbox: { write: ["/tmp"] }' },
  { access: "env", target: "SECRET", says: 'sandbox: { env: ["SECRET"] }' },
  { access: "run", target: "/bin/sh", says: 'sandbox: { run: ["/bin/sh"] }' },
  { access: "ffi", target: "/nowhere/libm.so", says: 'sandbox: { ffi: ["/nowhere/libm.so"] }' },
  { access: "sys", target: "osRelease", says: 'sandbox: { sys: ["osRelease"] }' },
  { access: "import", target: "https://example.com/code.js", says: "Module not found" },
];

Deno.test("a compiled operator may use what is declared in each class, and nothing else", async (t) => {
  const folder = await Deno.makeTempDir();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepting = acceptAll(listener);
  const declared = {
    net: [`127.0.0.1:${listener.addr.port}`],
    read: [`${folder}/read`],
    write: [`${folder}/write`],
    env: ["GREETING"],
    run: ["/bin/true"],
    ffi: [await libc()],
    sys: ["hostname"],
  } satisfies SandboxPermissions;
  await Deno.writeTextFile(`${folder}/read`, "");
  const port = freePort();
  const settings = `[operator.health]\nhostname = "127.0.0.1"\nport = ${port}\n`;
  await using built = await buildOperator(
    `
    import { reaching } from "repository/tests/fixtures/operators/reaching.ts";
    const op = reaching(${JSON.stringify(declared)});
    export default op;
    if (import.meta.main) await op.main();
  `,
    settings,
  );
  const op = reaching(declared).configured(settings);

  const certificate = await localCertificate(["kubernetes.default.svc", "127.0.0.1"]);
  await using server = createApiserver({ clock: systemClock, rbac: true });
  await using served = serveApiserver(server, { certificate });
  const ask = (request: Request) => server.fetch(request, { user: ADMIN });
  const client = new Client({ url: served.url, fetch: ask, close() {} }, { userAgent: "test" });
  for (const crd of op.crds()) await client.create(CustomResourceDefinition, crd as never);
  await createAccess(client, op.manifests({ namespace: "default" }).rbac);
  const token = await tokenOf(
    { fetch: (path, init) => ask(new Request(new URL(String(path), served.url), init)) },
    "default",
    op.name,
  );
  await using uses = await watched(client, Use);
  const world: World = {
    client,
    uses,
    declared,
    pod: {
      cluster: { caCert: certificate.caCert, port: Number(new URL(served.url).port) },
      token,
      env: { GREETING: "hello", OP_CONFIG: "/etc/op/operator.toml", HOSTNAME: "reaching-0" },
      settings,
    },
  };

  await t.step("declared accesses succeed, and others fail with an error that names the declaration", async () => {
    await using operator = await startAsPod(built.path, world.pod);
    assert.equal(await outcome(operator, world), "all used");
    for (const [index, { access, target }] of UNDECLARED.entries()) {
      await client.create(Use, { metadata: { name: `undeclared-${index}` }, spec: { access, target } }, IN_DEFAULT);
    }
    await uses.until((all) => all.filter(isRefused).length === UNDECLARED.length);
    for (const [index, { access, says }] of UNDECLARED.entries()) {
      const refused = uses.values().find(({ metadata }) => metadata.name === `undeclared-${index}`);
      const message = readyOf(refused!)?.message;
      assert(message?.includes(says), `${access}: ${message}`);
    }
    await Promise.all(UNDECLARED.map((_, index) => client.delete(Use, `undeclared-${index}`, IN_DEFAULT)));
    assert.equal(await operator.stop("SIGTERM"), 0);
  });

  await t.step("OP_HTTP_CLIENT=fetch works within the same sandbox", async () => {
    const env = { ...world.pod.env, OP_HTTP_CLIENT: "fetch" };
    await using operator = await startAsPod(built.path, { ...world.pod, env });
    assert.equal(await outcome(operator, world), "all used");
    assert.equal(await operator.stop("SIGTERM"), 0);
  });

  await t.step(
    "settings that link to a file outside their folder are rejected, and the file is not read",
    async () => {
      await using operator = await startAsPod(built.path, { ...world.pod, settings: { link: "/proc/self/environ" } });
      const error = await operator.logged(() => false).catch(({ message }: Error) => message);
      assert.match(String(error), /is a symbolic link to .*\/proc\/\d+\/environ.*, which is outside .*\/etc\/op/);
      assert.doesNotMatch(String(error), /GREETING/);
    },
  );

  const less = await changeable(built.path, `${folder}/less`);
  for (const { access, target } of op.sandbox()) {
    // They are read only outside a pod, where they name kubeconfigs.
    if (target === "HOME" || target === "KUBECONFIG") continue;
    await t.step(`without ${access} "${target}" it fails`, async () => {
      await less.exchange(`allow_${access}`, target, otherThan(target));
      await using operator = await startAsPod(less.path, world.pod);
      const told = await outcome(operator, world);
      assert(told !== "all used" && told.includes(target), told);
    });
  }

  await t.step('without env "HOME" it fails outside a pod, where it reads it', async () => {
    const env = { HOME: folder };
    const start = async (executable: string) => {
      const { stderr } = await new Deno.Command(executable, { args: ["start"], clearEnv: true, env }).output();
      return new TextDecoder().decode(stderr);
    };
    assert.match(
      await start(built.path),
      /No cluster found: KUBECONFIG is unset, ".*\/\.kube\/config" needs a sandbox permission/,
    );
    await less.exchange("allow_env", "HOME", "HOMF");
    assert.match(await start(less.path), /Cannot use env "HOME": it is not declared/);
    await less.exchange("allow_env", "KUBECONFIG", "KUBECONFIH");
    assert.match(
      await start(less.path),
      /No cluster found: this is not a pod, and the executable has no sandbox permission to read a kubeconfig/,
    );
  });

  await t.step(
    "an invalid setting is rejected with the usage exit code before a cluster is contacted",
    async () => {
      const { code, stderr } = await new Deno.Command(built.path, {
        args: ["start"],
        clearEnv: true,
        env: { HOME: folder, OP_SELECTOR: "app===web" },
      }).output();
      assert.match(
        new TextDecoder().decode(stderr),
        /: Invalid setting OP_SELECTOR: must be a label/,
      );
      assert.equal(code, 2);
    },
  );
  listener.close();
  await accepting;
  await Deno.remove(folder, { recursive: true });
});

interface World {
  readonly client: Client;
  readonly uses: Watched<typeof Use>;
  readonly declared: SandboxPermissions;
  readonly pod: PodOptions;
}

let count = 0;

/** Requests an access of each declared kind. Returns `all used`, or the error. */
async function outcome(operator: OperatorProcess, { client, uses, declared }: World): Promise<string> {
  const wanted = Object.entries(declared).map(([access, [target]]) => ({
    name: `${access}-${count++}`,
    spec: { access, target: target! },
  }));
  // A killed operator holds the Lease for 15 s.
  await client.delete(Lease, "reaching", IN_DEFAULT).catch(() => {});
  for (const { name, spec } of wanted) await client.create(Use, { metadata: { name }, spec }, IN_DEFAULT);
  const mine = (all: Use[]) => all.filter(({ metadata }) => wanted.some(({ name }) => name === metadata.name));
  const done = uses.until((all) => {
    const some = mine(all);
    return some.some(isRefused) || some.filter(({ status }) => status?.did !== undefined).length === wanted.length;
  }).then(() => {
    const refused = mine(uses.values()).find(isRefused);
    return refused === undefined ? "all used" : readyOf(refused)?.message ?? "refused";
  });
  const failed = operator.logged(({ level, msg }) => level === "error" || msg === "Watch interrupted").then(
    (line) => JSON.stringify(line),
    (error: Error) => error.message,
  );
  try {
    return await Promise.race([done, failed]);
  } finally {
    for (const { name } of wanted) await client.delete(Use, name, IN_DEFAULT);
  }
}

function readyOf({ status }: Use) {
  return status?.conditions?.find(({ type }) => type === "Ready");
}

function isRefused(use: Use): boolean {
  return readyOf(use)?.status === "False";
}

/** Returns an unused value of the same class and length. */
function otherThan(target: string): string {
  if (target === "hostname") return "osUptime";
  const [first = "", second = ""] = target;
  return first === "/"
    ? `/${second === "x" ? "y" : "x"}${target.slice(2)}`
    : `${first === "x" ? "y" : "x"}${target.slice(1)}`;
}

/** Returns the path of the C library, which every process loads. */
async function libc(): Promise<string> {
  const found = /\/\S*\/libc[.-]\S*/.exec(await Deno.readTextFile("/proc/self/maps"))?.[0];
  assert(found, "a process has a C library");
  return found;
}

/** Accepts each connection, and closes it. */
async function acceptAll(listener: Deno.Listener): Promise<void> {
  try {
    for await (const connection of listener) connection.close();
  } catch { /* it is closed */ }
}
