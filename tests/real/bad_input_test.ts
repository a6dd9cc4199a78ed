/**
 * Bad input to an operator's program: it reports each problem in one line with its fix, without
 * secrets, before it contacts a cluster.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { freePort } from "../fixtures/build_operator.ts";
import { runOperator } from "../fixtures/operator_process.ts";
import { temporaryFolder } from "../fixtures/kubeconfig_clients.ts";

const HINT = 'Run "website-operator --help" for commands and options.\n';

/** Values that no output may contain, encoded as in the file and decoded. */
const SECRET = "c2VjcmV0LW9mLWFsaWNl";
const SECRETS = [SECRET, atob(SECRET)];

const USAGE_ERRORS: readonly {
  name: string;
  args: string[];
  env?: Record<string, string>;
  file?: string;
  message: string;
}[] = [
  {
    name: "an unknown command",
    args: ["strat"],
    message: 'Unknown command "strat". Available commands: start, manifests, crds, rbac, sandbox, version.',
  },
  {
    name: "a command with an unexpected argument",
    args: ["start", "twice"],
    message: 'Command "start" takes no arguments, got "twice".',
  },
  {
    name: "an unknown flag",
    args: ["--log-levle", "debug"],
    message: 'Unknown option "--log-levle".',
  },
  {
    name: "a flag without its value",
    args: ["start", "--kubeconfig"],
    message: 'Option "--kubeconfig" needs a value.',
  },
  {
    name: "an unknown log level",
    args: ["--log-level", "loud"],
    message: 'Invalid setting --log-level: must be one of debug, info, warn, error, got "loud".',
  },
  {
    name: "an unknown log format",
    args: ["--log-format=xml"],
    message: 'Invalid setting --log-format: must be one of json, text, got "xml".',
  },
  {
    name: "an empty namespace",
    args: ["--namespace="],
    message: 'Invalid setting --namespace: must be a list of non-empty names, got [""].',
  },
  {
    name: "a variable with an invalid value",
    args: [],
    env: { OP_PAUSED: "perhaps" },
    message: 'Invalid setting OP_PAUSED: must be true or false, got "perhaps".',
  },
  {
    name: "a settings file with an unknown controller",
    args: ["--config", "operator.toml"],
    file: "[operator.controllers.website]\nconcurrency = 2\n",
    message: 'Cannot read "operator.toml": the operator has no controller "website". Did you mean "websites"?',
  },
  {
    name: "a settings file that does not exist",
    args: [],
    env: { OP_CONFIG: "nowhere.toml" },
    message:
      'Cannot read settings "nowhere.toml": the file does not exist. Set --config or OP_CONFIG to an existing file.',
  },
];

for (const { name, args, env = {}, file, message } of USAGE_ERRORS) {
  Deno.test(`an operator that gets ${name} reports it with a hint to --help, and exits with 2`, async () => {
    await using home = await temporaryFolder();
    if (file !== undefined) await home.write({ "operator.toml": file });
    const ended = await runOperator({ home: home.path, args, env });
    assert.deepEqual(ended, { code: 2, stdout: "", stderr: `website-operator: ${message}\n${HINT}` });
  });
}

// The health server starts before the operator looks for a cluster.
const anyHealthPort = () => ({ OP_HEALTH_PORT: String(freePort()) });

const NO_CLUSTER: readonly {
  name: string;
  env?: Record<string, string>;
  args?: string[];
  message: (home: string) => string;
}[] = [
  {
    name: "no kubeconfig and no pod",
    message: (home) =>
      `No cluster found: KUBECONFIG is unset, "${home}/.kube/config" does not exist, and this is not a pod. Set KUBECONFIG or --kubeconfig`,
  },
  {
    name: "a kubeconfig that does not exist",
    args: ["start", "--kubeconfig", "nowhere"],
    message: () => 'Cannot read kubeconfig "nowhere": it does not exist',
  },
  {
    name: "a KUBECONFIG that does not exist",
    env: { KUBECONFIG: "/nowhere/config" },
    message: () => 'Cannot read kubeconfig "/nowhere/config": it does not exist',
  },
  {
    name: "a kubeconfig that is a folder",
    args: ["--kubeconfig", "."],
    message: () => 'Cannot read kubeconfig ".": it is a directory',
  },
  {
    name: "a pod without a service account",
    env: { KUBERNETES_SERVICE_PORT: "443" },
    message: () =>
      'Cannot connect from inside the pod: "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt" cannot be read. Set automountServiceAccountToken to true',
  },
];

for (const { name, env = {}, args = [], message } of NO_CLUSTER) {
  Deno.test(`an operator that finds ${name} reports the paths and variables it read, and exits with 1`, async () => {
    await using home = await temporaryFolder();
    const ended = await runOperator({ home: home.path, args, env: { ...anyHealthPort(), ...env } });
    assert.deepEqual(ended, { code: 1, stdout: "", stderr: `website-operator: ${message(home.path)}\n` });
  });
}

const INVALID_KUBECONFIGS: readonly { name: string; text: string; message: (file: string) => string }[] = [
  {
    name: "is not YAML",
    text: `users: [{user: {token: ${SECRET}}}\nkind: Config\n`,
    message: (file) => `Cannot read kubeconfig "${file}": it is not YAML at line 2, column 1`,
  },
  {
    name: "is empty",
    text: "",
    message: (file) => `Cannot read kubeconfig "${file}": it is not an object of kind "Config"`,
  },
  {
    name: "is a plain string",
    text: `token ${SECRET}\n`,
    message: (file) => `Cannot read kubeconfig "${file}": it is not an object of kind "Config"`,
  },
  {
    name: "is a Secret",
    text: stringify({ kind: "Secret", data: { token: SECRET } }),
    message: (file) => `Cannot read kubeconfig "${file}": it is not an object of kind "Config"`,
  },
  {
    name: "has no current-context",
    text: kubeconfig({ "current-context": "" }),
    message: (file) => `Cannot read kubeconfig "${file}": current-context is not set. Set --context (contexts: dev)`,
  },
  {
    name: "lacks its current context",
    text: kubeconfig({ "current-context": "stage" }),
    message: (file) => `Cannot read kubeconfig "${file}": context "stage" does not exist (contexts: dev)`,
  },
  {
    name: "has a cluster without a server",
    text: kubeconfig({ clusters: [{ name: "dev", cluster: {} }] }),
    message: (file) =>
      `Cannot read kubeconfig "${file}": cluster "dev" of context "dev" does not exist or has no server`,
  },
  {
    name: "has a server that is not a URL",
    text: kubeconfig({ clusters: [{ name: "dev", cluster: { server: "dev.example.com:6443" } }] }),
    message: (file) =>
      `Cannot use context "dev" of "${file}": its server "dev.example.com:6443" is not an http or https address`,
  },
  {
    name: "lacks the user of its context",
    text: kubeconfig({ users: [{ name: "alice", user: { token: SECRET } }] }),
    message: (file) => `Cannot read kubeconfig "${file}": user "me" of context "dev" does not exist`,
  },
  {
    name: "has a key that is not base64",
    text: kubeconfig({
      users: [{ name: "me", user: { "client-certificate-data": btoa("x"), "client-key-data": `${SECRET}!` } }],
    }),
    message: (file) => `Cannot read kubeconfig "${file}": client-key-data is not base64`,
  },
  {
    name: "has a certificate that is not PEM",
    text: kubeconfig({
      users: [{ name: "me", user: { "client-certificate-data": SECRET, "client-key-data": SECRET } }],
    }),
    message: (file) =>
      `Cannot use context "dev" of "${file}": its client-certificate and client-key are invalid. They must be PEM, an X.509 v3 certificate, and belong to each other`,
  },
  {
    name: "has an authority that is not PEM",
    text: kubeconfig({
      clusters: [{ name: "dev", cluster: { server: "https://127.0.0.1:1", "certificate-authority-data": SECRET } }],
    }),
    message: (file) => `Cannot use context "dev" of "${file}": its certificate-authority is not a PEM certificate`,
  },
  {
    name: "names a certificate that does not exist",
    text: kubeconfig({
      users: [{ name: "me", user: { "client-certificate": "pki/me.crt", "client-key-data": SECRET } }],
    }),
    message: (file) => `Cannot read kubeconfig "${file}": its client-certificate "pki/me.crt" does not exist`,
  },
];

for (const { name, text, message } of INVALID_KUBECONFIGS) {
  Deno.test(`an operator whose kubeconfig ${name} reports it, and exits with 1`, async () => {
    await using home = await temporaryFolder();
    await home.write({ ".kube/config": text });
    const { code, stdout, stderr } = await runOperator({ home: home.path, env: anyHealthPort() });
    for (const secret of SECRETS) assert(!stderr.includes(secret), "a secret is in the output");
    assert.equal(stderr, `website-operator: ${message(`${home.path}/.kube/config`)}\n`);
    assert.deepEqual({ code, stdout }, { code: 1, stdout: "" });
  });
}

Deno.test("an operator with a context that is not in the kubeconfig lists the existing contexts", async () => {
  await using home = await temporaryFolder();
  await home.write({ config: kubeconfig({}) });
  const args = ["start", "--kubeconfig=config", "--context=prod"];
  const ended = await runOperator({ home: home.path, args, env: anyHealthPort() });
  assert.equal(
    ended.stderr,
    'website-operator: Cannot read kubeconfig "config": context "prod" does not exist (contexts: dev)\n',
  );
});

Deno.test("a sandboxed operator that may not read the kubeconfig reports the setting that allows it", async () => {
  await using home = await temporaryFolder();
  await home.write({ config: kubeconfig({}) });
  const sandbox = await runOperator({ home: home.path, args: ["sandbox"] });
  const permissions = sandbox.stdout.trim().split("\n");
  const ended = await runOperator({ home: home.path, permissions, args: ["--kubeconfig", `${home.path}/config`] });
  assert.deepEqual(ended, {
    code: 1,
    stdout: "",
    stderr:
      `website-operator: Cannot read kubeconfig "${home.path}/config": it needs a sandbox permission of this executable. Run the operator from source, or declare sandbox: { read: ["${home.path}/config"] } and build it again\n`,
  });
});

// Found by search: with these keys the hashes of the finalizers are equal, and so are their
// prefixes.
const LONG_NAME = "website-operator-of-a-team-whose-name-is-long-and-winding-too";
const COLLIDING = ["small-south-dark-shops", "closed-slow-dark-forums"] as const;

const BAD_PARTS: readonly { name: string; operator?: string; parts: string; message: string }[] = [
  {
    name: "one part under two keys",
    parts: "{ websites, sites: websites }",
    message: 'one part has the keys "websites" and "sites". Remove one, or create a second part.',
  },
  {
    name: "finalizers that collide after truncation",
    operator: LONG_NAME,
    parts: `{ "${COLLIDING[0]}": websites, "${COLLIDING[1]}": controller(Website, websites) }`,
    message: `parts "${COLLIDING[0]}" and "${COLLIDING[1]}" would both add the finalizer ` +
      `"demo.example.com/website-operator-of-a-team-whose-name-is-long-and-wind-bfc3e31e" to Website. Rename one, or set its option "finalizer".`,
  },
  {
    name: "a part key that is not a valid name",
    parts: `{ "web sites": websites }`,
    message:
      'the key "web sites" of a part is invalid. Use letters, digits, "-", "_" and ".", starting with a letter and ending with a letter or digit.',
  },
  {
    name: "an invalid name",
    operator: "Shop",
    parts: "{ websites }",
    message:
      "the name is not a DNS label. Use at most 63 lowercase letters, digits and dashes, starting with a letter.",
  },
];

for (const { name, operator = "shop", parts, message } of BAD_PARTS) {
  Deno.test(`an operator with ${name} reports what to change, and does not start`, async () => {
    await using home = await temporaryFolder();
    await home.write({ "main.ts": operatorOf(operator, parts) });
    const { code, stderr } = await runOperator({ home: home.path, main: `${home.path}/main.ts`, args: ["version"] });
    assert.equal(code, 1);
    assert.equal(
      stderr.split("\n")[0],
      `error: Uncaught (in promise) TypeError: Operator "${operator}": ${message}`,
    );
  });
}

/** Returns the source of an operator's main module. */
function operatorOf(name: string, parts: string): string {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  return `
    import { controller, operator } from "${root}mod.ts";
    import { websites } from "${root}examples/01_website/controller.ts";
    import { Website } from "${root}examples/01_website/website.ts";
    const op = operator({ name: "${name}", parts: ${parts} });
    await op.main();
  `;
}

function kubeconfig(parts: Record<string, unknown>): string {
  return stringify({
    kind: "Config",
    clusters: [{ name: "dev", cluster: { server: "https://127.0.0.1:1" } }],
    users: [{ name: "me", user: { token: SECRET } }],
    contexts: [{ name: "dev", context: { cluster: "dev", user: "me" } }],
    "current-context": "dev",
    ...parts,
  });
}
