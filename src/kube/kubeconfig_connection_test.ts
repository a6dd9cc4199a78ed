import assert from "node:assert/strict";
import { stringify } from "yaml";
import { VirtualClock } from "../base/virtual_clock.ts";
import { kubeconfigConnection } from "./kubeconfig_connection.ts";
import type { Machine } from "./machine.ts";

const BROKEN: readonly {
  name: string;
  text?: string;
  cluster?: Record<string, unknown>;
  user?: Record<string, unknown>;
  message: RegExp;
}[] = [
  {
    name: "a file that is not YAML, without quoting it",
    text: "users: [{token: 'SECRET\n",
    message: /^Cannot read kubeconfig "\/k\/config": it is not YAML at line \d+, column \d+$/,
  },
  { name: "an empty file", text: "", message: /^Cannot read kubeconfig "\/k\/config": it is not an object of kind/ },
  {
    name: "a server that is not a URL",
    cluster: { server: "dev:6443" },
    message: /^Cannot use context "dev" of "\/k\/config": its server "dev:6443" is not an http or https address$/,
  },
  {
    name: "insecure-skip-tls-verify",
    cluster: { "insecure-skip-tls-verify": true },
    message: /insecure-skip-tls-verify is not supported\. Set certificate-authority-data$/,
  },
  {
    name: "tls-server-name",
    cluster: { "tls-server-name": "other" },
    message: /tls-server-name is not supported\. Use a server address that is in its certificate$/,
  },
  {
    name: "a user name and password",
    user: { username: "me", password: "SECRET" },
    message: /Kubernetes 1\.19 removed logins by user name and password\. Use a token or a certificate$/,
  },
  {
    name: "a certificate without its key",
    user: { "client-certificate-data": btoa("x") },
    message:
      /^Cannot use context "dev" of "\/k\/config": it has only one of client-certificate and client-key\. Set both$/,
  },
  {
    name: "data that is not base64, without quoting it",
    user: { "client-certificate-data": btoa("x"), "client-key-data": "SECRET!" },
    message: /^Cannot read kubeconfig "\/k\/config": client-key-data is not base64$/,
  },
  {
    name: "invalid certificates, without quoting them",
    user: { "client-certificate-data": btoa("SECRET"), "client-key-data": btoa("SECRET") },
    message:
      /^Cannot use context "dev" of "\/k\/config": its client-certificate and client-key are invalid\. They must be PEM, /,
  },
  {
    name: "an invalid certificate authority",
    cluster: { "certificate-authority-data": btoa("SECRET") },
    message: /^Cannot use context "dev" of "\/k\/config": its certificate-authority is not a PEM certificate$/,
  },
  {
    name: "a missing file of a certificate authority",
    cluster: { "certificate-authority": "ca/missing.pem" },
    message: /^Cannot read kubeconfig "\/k\/config": its certificate-authority "ca\/missing\.pem" does not exist$/,
  },
];

for (const { name, text, cluster, user, message } of BROKEN) {
  Deno.test(`kubeconfigConnection rejects ${name}`, async () => {
    const files = { "/k/config": text ?? kubeconfig(cluster, user) };
    await assert.rejects(kubeconfigConnection(["/k/config"], machine(files), new VirtualClock()), (error: Error) => {
      assert.match(error.message, message);
      for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
        assert(!`${cause.message}${cause.stack}`.includes("SECRET"), "a secret is in the error");
      }
      return true;
    });
  });
}

Deno.test("kubeconfigConnection resolves tokenFile relative to the kubeconfig, and reads it again after a minute", async () => {
  const seen: (string | null)[] = [];
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    seen.push(request.headers.get("authorization"));
    return new Response("ok");
  });
  const clock = new VirtualClock();
  const files: Record<string, string> = {
    "/k/config": kubeconfig({ server: `http://127.0.0.1:${server.addr.port}` }, {
      tokenFile: "tokens/me",
      token: "old",
    }),
    "/k/tokens/me": "one\n",
  };
  const connection = await kubeconfigConnection(["/k/config"], machine(files), clock);
  const ask = async () => await (await connection.fetch(new Request(connection.url))).text();
  await ask();
  files["/k/tokens/me"] = "two\n";
  await ask();
  clock.step(clock.now() + 60_000);
  await ask();
  connection.close();
  assert.deepEqual(seen, ["Bearer one", "Bearer one", "Bearer two"]);
});

function machine(files: Record<string, string>): Machine {
  return {
    env: () => undefined,
    readText: (path) => {
      const text = files[path];
      return text === undefined ? Promise.reject(new Deno.errors.NotFound(`no file "${path}"`)) : Promise.resolve(text);
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
