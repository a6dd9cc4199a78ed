/**
 * The sandbox of a compiled operator, which allows the declared permissions of each class. Other
 * accesses fail with an error that names the declaration to add. The program needs each of the
 * compiled permissions.
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
import { patchableCopy, type PodOptions, startAsPod } from "../fixtures/operator_pod.ts";
import { Use, usesOperator } from "../fixtures/operators/sandbox_uses.ts";

const IN_DEFAULT = { namespace: "default" };
const ADMIN = { name: "admin", groups: ["system:masters"] };

/**
 * Undeclared accesses that objects request, and their errors. The runtime does not search for
 * modules that are not in the executable.
 */
const UNDECLARED: readonly { access: string; target: string; error: string }[] = [
  {
    access: "net",
    target: "kubernetes.default.svc:2379",
    error: 'sandbox: { net: ["kubernetes.default.svc:2379"] }',
  },
  { access: "net", target: "127.0.0.1:9", error: 'sandbox: { net: ["127.0.0.1:9"] }' },
  { access: "nodeNet", target: "api.example.com", error: 'sandbox: { net: ["api.example.com"] }' },
  { access: "nodeNet", target: "127.0.0.1:9", error: 'sandbox: { net: ["127.0.0.1:9"] }' },
  { access: "listen", target: "0.0.0.0:9999", error: 'sandbox: { net: ["0.0.0.0:9999"] }' },
  { access: "read", target: "/proc/1/environ", error: 'sandbox: { read: ["/proc/1/environ"] }' },
  { access: "write", target: "/var/tmp/not-declared", error: 'sandbox: { write: ["/var/tmp/not-declared"] }' },
  { access: "tempFile", target: "any", error: 'sandbox: { write: ["/tmp"] }' },
  { access: "env", target: "SECRET", error: 'sandbox: { env: ["SECRET"] }' },
  { access: "run", target: "/bin/sh", error: 'sandbox: { run: ["/bin/sh"] }' },
  { access: "ffi", target: "/nowhere/libm.so", error: 'sandbox: { ffi: ["/nowhere/libm.so"] }' },
  { access: "sys", target: "osRelease", error: 'sandbox: { sys: ["osRelease"] }' },
  { access: "import", target: "https://example.com/code.js", error: "Module not found" },
];

Deno.test("the sandbox of a compiled operator allows exactly the declared permissions of each class", async (t) => {
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
    import { usesOperator } from "repository/tests/fixtures/operators/sandbox_uses.ts";
    const op = usesOperator(${JSON.stringify(declared)});
    export default op;
    if (import.meta.main) await op.main();
  `,
    settings,
  );
  const op = usesOperator(declared).withSettings(settings);

  const certificate = await localCertificate(["kubernetes.default.svc", "127.0.0.1"]);
  await using server = createApiserver({ clock: systemClock, rbac: true });
  await using served = serveApiserver(server, { certificate });
  const fetchAsAdmin = (request: Request) => server.fetch(request, { user: ADMIN });
  const client = new Client({ url: served.url, fetch: fetchAsAdmin, close() {} }, { userAgent: "test" });
  for (const crd of op.crds()) await client.create(CustomResourceDefinition, crd as never);
  await createAccess(client, op.manifests({ namespace: "default" }).rbac);
  const token = await tokenOf(
    { fetch: (path, init) => fetchAsAdmin(new Request(new URL(String(path), served.url), init)) },
    "default",
    op.name,
  );
  await using uses = await watched(client, Use);
  const environment: Environment = {
    client,
    uses,
    declared,
    pod: {
      cluster: { caCert: certificate.caCert, port: Number(new URL(served.url).port) },
      token,
      env: { GREETING: "hello", OP_CONFIG: "/etc/op/operator.toml", HOSTNAME: "uses-0" },
      settings,
    },
  };

  await t.step("declared accesses succeed, and others fail with an error that names the declaration", async () => {
    await using operator = await startAsPod(built.path, environment.pod);
    assert.equal(await outcome(operator, environment), ALLOWED);
    for (const [index, { access, target }] of UNDECLARED.entries()) {
      await client.create(Use, { metadata: { name: `undeclared-${index}` }, spec: { access, target } }, IN_DEFAULT);
    }
    await uses.until((all) => all.filter(isDenied).length === UNDECLARED.length);
    for (const [index, { access, error }] of UNDECLARED.entries()) {
      const denied = uses.values().find(({ metadata }) => metadata.name === `undeclared-${index}`);
      const message = readyOf(denied!)?.message;
      assert(message?.includes(error), `${access}: ${message}`);
    }
    await Promise.all(UNDECLARED.map((_, index) => client.delete(Use, `undeclared-${index}`, IN_DEFAULT)));
    assert.equal(await operator.stop("SIGTERM"), 0);
  });

  await t.step("OP_HTTP_CLIENT=fetch works within the same sandbox", async () => {
    const env = { ...environment.pod.env, OP_HTTP_CLIENT: "fetch" };
    await using operator = await startAsPod(built.path, { ...environment.pod, env });
    assert.equal(await outcome(operator, environment), ALLOWED);
    assert.equal(await operator.stop("SIGTERM"), 0);
  });

  await t.step(
    "settings that link to a file outside their folder are rejected, and the file is not read",
    async () => {
      await using operator = await startAsPod(built.path, {
        ...environment.pod,
        settings: { link: "/proc/self/environ" },
      });
      const error = await operator.logged(() => false).catch(({ message }: Error) => message);
      assert.match(String(error), /is a symbolic link to .*\/proc\/\d+\/environ.*, which is outside .*\/etc\/op/);
      assert.doesNotMatch(String(error), /GREETING/);
    },
  );

  const restricted = await patchableCopy(built.path, `${folder}/restricted`);
  for (const { permission, target } of op.sandbox()) {
    // The operator reads these variables only outside a pod.
    if (target === "HOME" || target === "KUBECONFIG") continue;
    await t.step(`the operator fails without ${permission} "${target}"`, async () => {
      await restricted.replacePermission(`allow_${permission}`, target, otherThan(target));
      await using operator = await startAsPod(restricted.path, environment.pod);
      const result = await outcome(operator, environment);
      assert(result !== ALLOWED && result.includes(target), result);
    });
  }

  await t.step('outside a pod, the operator fails without env "HOME"', async () => {
    const env = { HOME: folder, OP_HEALTH_HOSTNAME: "127.0.0.1", OP_HEALTH_PORT: String(port) };
    const start = async (executable: string) => {
      const { stderr } = await new Deno.Command(executable, { args: ["start"], clearEnv: true, env }).output();
      return new TextDecoder().decode(stderr);
    };
    assert.match(
      await start(built.path),
      /No cluster found: KUBECONFIG is unset, ".*\/\.kube\/config" needs a sandbox permission/,
    );
    await restricted.replacePermission("allow_env", "HOME", "HOMF");
    assert.match(await start(restricted.path), /Cannot use env "HOME": it is not declared/);
    await restricted.replacePermission("allow_env", "KUBECONFIG", "KUBECONFIH");
    assert.match(
      await start(restricted.path),
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

interface Environment {
  readonly client: Client;
  readonly uses: Watched<typeof Use>;
  readonly declared: SandboxPermissions;
  readonly pod: PodOptions;
}

/** Number of objects created so far, for unique names. */
let count = 0;

/** The outcome if all accesses succeed. */
const ALLOWED = "all accesses succeeded";

/** Requests an access of each declared kind. Returns {@linkcode ALLOWED}, or the error. */
async function outcome(operator: OperatorProcess, { client, uses, declared }: Environment): Promise<string> {
  const requested = Object.entries(declared).map(([access, [target]]) => ({
    name: `${access}-${count++}`,
    spec: { access, target: target! },
  }));
  // A killed operator holds the Lease for 15 s.
  await client.delete(Lease, "uses", IN_DEFAULT).catch(() => {});
  for (const { name, spec } of requested) await client.create(Use, { metadata: { name }, spec }, IN_DEFAULT);
  const mine = (all: Use[]) => all.filter(({ metadata }) => requested.some(({ name }) => name === metadata.name));
  const done = uses.until((all) => {
    const created = mine(all);
    return created.some(isDenied) ||
      created.filter(({ status }) => status?.did !== undefined).length === requested.length;
  }).then(() => {
    const denied = mine(uses.values()).find(isDenied);
    return denied === undefined ? ALLOWED : readyOf(denied)?.message ?? "denied";
  });
  const failed = operator.logged(({ level, msg }) => level === "error" || msg === "Watch interrupted").then(
    (line) => JSON.stringify(line),
    (error: Error) => error.message,
  );
  try {
    return await Promise.race([done, failed]);
  } finally {
    for (const { name } of requested) await client.delete(Use, name, IN_DEFAULT);
  }
}

function readyOf({ status }: Use) {
  return status?.conditions?.find(({ type }) => type === "Ready");
}

function isDenied(use: Use): boolean {
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
  assert(found, "the C library is not among the mapped files of the process");
  return found;
}

/** Accepts each connection, and closes it. */
async function acceptAll(listener: Deno.Listener): Promise<void> {
  try {
    for await (const connection of listener) connection.close();
  } catch { /* the listener is closed */ }
}
