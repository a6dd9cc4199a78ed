/**
 * The errors of `connect`. Their messages are in tests/golden/connection_errors.txt;
 * `deno test -A tests/connection_errors_test.ts -- --update` writes intended changes down.
 */
import assert from "node:assert/strict";
import { stringify } from "yaml";
import { VirtualClock } from "../src/base/virtual_clock.ts";
import { ClusterConfigError, type ClusterConfigErrorCode } from "../src/kube/cluster_config_error.ts";
import { connect, type ConnectOptions } from "../src/kube/connect.ts";
import type { Machine } from "../src/kube/machine.ts";
import { assertGolden } from "./fixtures/golden.ts";

const SECRET = btoa("SECRET");

const STAGE = stringify({
  "current-context": "stage",
  contexts: [
    { name: "stage", context: { cluster: "stage", user: "me" } },
    { name: "no-cluster", context: { cluster: "missing", user: "me" } },
    { name: "no-user", context: { cluster: "stage", user: "missing" } },
  ],
  clusters: [{ name: "stage", cluster: { server: "https://stage:6443" } }],
  users: [{ name: "me", user: { token: "t" } }],
});

/** What a machine has, and what `connect` rejects it with. */
interface Case {
  readonly name: string;
  readonly code?: ClusterConfigErrorCode;
  /** @default {{ KUBECONFIG: "/k/config" }} */
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly options?: ConnectOptions;
}

const REJECTED: readonly Case[] = [
  { name: "no cluster is configured", code: "NoCluster", env: { HOME: "/home/me" } },
  { name: "HOME is unset", code: "NoCluster", env: {} },
  { name: "the sandbox forbids the default kubeconfig", code: "NoCluster", env: { HOME: "/forbidden" } },
  {
    name: "the pod has no service account",
    code: "InvalidServiceAccount",
    env: { KUBERNETES_SERVICE_PORT: "443", HOME: "/home/me" },
  },
  { name: "the file of KUBECONFIG is missing", env: { KUBECONFIG: "/missing" } },
  { name: "the file of KUBECONFIG is an empty file", files: { "/k/config": "" } },
  { name: "the file is not YAML", files: { "/k/config": "users: [{token: 'SECRET\n" } },
  { name: "the file has another object", files: { "/k/config": stringify({ kind: "Pod" }) } },
  { name: "the file has a string", files: { "/k/config": "hello" } },
  {
    name: "current-context is not set",
    files: { "/k/config": stringify({ contexts: [{ name: "a", context: {} }] }) },
  },
  {
    name: "the context does not exist",
    env: { KUBECONFIG: "/k/config:/stage" },
    files: { "/k/config": kubeconfig(), "/stage": STAGE },
    options: { context: "prod" },
  },
  {
    name: "the context is misspelled",
    env: { KUBECONFIG: "/k/config:/stage" },
    files: { "/k/config": kubeconfig(), "/stage": STAGE },
    options: { context: "stgae" },
  },
  { name: "the cluster does not exist", files: { "/k/config": STAGE }, options: { context: "no-cluster" } },
  { name: "the user does not exist", files: { "/k/config": STAGE }, options: { context: "no-user" } },
  { name: "the server is not a URL", files: { "/k/config": kubeconfig({ server: "dev:6443" }) } },
  {
    name: "the context has insecure-skip-tls-verify",
    files: { "/k/config": kubeconfig({ "insecure-skip-tls-verify": true }) },
  },
  { name: "the context has tls-server-name", files: { "/k/config": kubeconfig({ "tls-server-name": "other" }) } },
  {
    name: "the user has a name and a password",
    files: { "/k/config": kubeconfig({}, { username: "me", password: "SECRET" }) },
  },
  {
    name: "a client certificate has no key",
    files: { "/k/config": kubeconfig({}, { "client-certificate-data": SECRET }) },
  },
  {
    name: "a client key is not base64",
    files: { "/k/config": kubeconfig({}, { "client-certificate-data": SECRET, "client-key-data": "SECRET!" }) },
  },
  {
    name: "a client certificate is invalid",
    files: { "/k/config": kubeconfig({}, { "client-certificate-data": SECRET, "client-key-data": SECRET }) },
  },
  {
    name: "the certificate authority is invalid",
    files: { "/k/config": kubeconfig({ "certificate-authority-data": SECRET }) },
  },
  {
    name: "the file of the certificate authority is missing",
    files: { "/k/config": kubeconfig({ "certificate-authority": "ca/missing.pem" }) },
  },
];

const messages: string[] = [];

for (const { name, code = "InvalidKubeconfig", env = { KUBECONFIG: "/k/config" }, files = {}, options } of REJECTED) {
  Deno.test(`connect fails and quotes no secret if ${name}`, async () => {
    const error = await connect(machine(env, files), new VirtualClock(), options).catch((error) => error);
    assert(error instanceof ClusterConfigError, Deno.inspect(error));
    assert.equal(error.code, code);
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
      assert(!`${cause.message}${cause.stack}`.includes("SECRET"), "a secret is in the error");
    }
    messages.push(`${name} (${error.code})\n  ${error.message}\n`);
  });
}

Deno.test("the messages of connect are those of tests/golden/connection_errors.txt", async () => {
  assert.equal(messages.length, REJECTED.length, "this test needs the results of the tests above");
  await assertGolden("connection_errors.txt", messages.join("\n"));
});

function machine(env: Readonly<Record<string, string>>, files: Readonly<Record<string, string>>): Machine {
  return {
    env: (name) => env[name],
    readText: (path) => {
      if (path.startsWith("/forbidden")) return Promise.reject(new Deno.errors.NotCapable("Requires read access"));
      const text = files[path];
      return text === undefined ? Promise.reject(new Deno.errors.NotFound("no such file")) : Promise.resolve(text);
    },
  };
}

function kubeconfig(cluster: Record<string, unknown> = {}, user: Record<string, unknown> = {}): string {
  return stringify({
    kind: "Config",
    "current-context": "dev",
    contexts: [{ name: "dev", context: { cluster: "dev", user: "me" } }],
    clusters: [{ name: "dev", cluster: { server: "https://dev:6443", ...cluster } }],
    users: [{ name: "me", user }],
  });
}
