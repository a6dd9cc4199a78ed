import assert from "node:assert/strict";
import { stringify } from "yaml";
import { VirtualClock } from "../base/virtual_clock.ts";
import { connect, type ConnectOptions } from "./connect.ts";
import type { Machine } from "./machine.ts";

const AUTHORITY = `-----BEGIN CERTIFICATE-----
MIIBdTCCARugAwIBAgIUAjGz4eqOFIA2Gv/T/JvW7bmjdr4wCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjEwOTI5MzZaGA8yMTI2MTAyODA5Mjkz
NlowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABK8c
r0EXVhu1KH7/rDhjfw3CchyboBumxMm6Ly/yPTpT524cLkAx/fwptc7Ci+LrvVqN
ig33cp8XgLtSTzXHEXWjUzBRMB0GA1UdDgQWBBSVuJo0IMOlAxFEuUlUqRF/pkWX
0zAfBgNVHSMEGDAWgBSVuJo0IMOlAxFEuUlUqRF/pkWX0zAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0gAMEUCIAG6rcqB8qNAzmhrGRlZiZfq+Xk0i4B6l8jm
GwVTkDe6AiEAhWH357dA+AO4cVP5y6WnyY3DxZUYmYSiP7w7LOLYqZc=
-----END CERTIFICATE-----
`;
const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";
const POD_FILES = { [`${ACCOUNT}/ca.crt`]: AUTHORITY, [`${ACCOUNT}/token`]: "t", [`${ACCOUNT}/namespace`]: "team\n" };

const CASES: readonly {
  name: string;
  env?: Record<string, string>;
  files: Record<string, string>;
  options?: ConnectOptions;
  url: string;
  namespace?: string;
}[] = [
  {
    name: "the kubeconfig option before everything else",
    env: { KUBECONFIG: "/b", KUBERNETES_SERVICE_PORT: "443", HOME: "/home/me" },
    files: { "/a": kubeconfig("a"), "/b": kubeconfig("b"), ...POD_FILES },
    options: { kubeconfig: "/a" },
    url: "https://a:6443",
  },
  {
    name: "KUBECONFIG before the pod",
    env: { KUBECONFIG: "/b", KUBERNETES_SERVICE_PORT: "443" },
    files: { "/b": kubeconfig("b"), ...POD_FILES },
    url: "https://b:6443",
  },
  {
    name: "the existing files of KUBECONFIG, as kubectl does",
    env: { KUBECONFIG: "/missing:/b" },
    files: { "/b": kubeconfig("b") },
    url: "https://b:6443",
  },
  {
    name: "the pod before the default kubeconfig, by name and with the port of the environment",
    env: { KUBECONFIG: "", KUBERNETES_SERVICE_PORT: "8443", HOME: "/home/me" },
    files: { "/home/me/.kube/config": kubeconfig("home"), ...POD_FILES },
    url: "https://kubernetes.default.svc:8443",
    namespace: "team",
  },
  {
    name: "the default kubeconfig last",
    env: { HOME: "/home/me" },
    files: { "/home/me/.kube/config": kubeconfig("home") },
    url: "https://home:6443",
  },
  {
    name: "a context that is not the current one",
    env: { HOME: "/home/me" },
    files: { "/home/me/.kube/config": kubeconfig("home") },
    options: { context: "other" },
    url: "https://other:6443",
    namespace: "stage",
  },
];

for (const { name, env = {}, files, options, url, namespace } of CASES) {
  Deno.test(`connect uses ${name}`, async () => {
    const connection = await connect(machine(env, files), new VirtualClock(), options);
    connection.close();
    assert.equal(connection.url, url);
    assert.equal(connection.namespace, namespace);
  });
}

Deno.test("connect uses the service account if the sandbox denies access to KUBECONFIG and HOME", async () => {
  const denied = (env: Record<string, string>, files: Record<string, string>) => ({
    ...machine(env, files),
    env(name: string) {
      if (name === "KUBECONFIG" || name === "HOME") {
        throw new Deno.errors.NotCapable(`Requires env access to "${name}"`);
      }
      return env[name];
    },
  });
  const connection = await connect(denied({ KUBERNETES_SERVICE_PORT: "443" }, POD_FILES), new VirtualClock());
  connection.close();
  assert.equal(connection.url, "https://kubernetes.default.svc:443");
  await assert.rejects(connect(denied({}, {}), new VirtualClock()), { code: "NoCluster" });
});

Deno.test("connect sends the token of the kubeconfig", async () => {
  const tokens: (string | null)[] = [];
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    tokens.push(request.headers.get("authorization"));
    return new Response("ok");
  });
  const text = kubeconfig("x").replace("https://x:6443", `http://127.0.0.1:${server.addr.port}/`);
  const connection = await connect(machine({ KUBECONFIG: "/a" }, { "/a": text }), new VirtualClock());
  const response = await connection.fetch(new Request(`${connection.url}/version`));
  assert.equal(await response.text(), "ok");
  connection.close();
  assert.deepEqual(tokens, ["Bearer secret"]);
  assert.equal(connection.url.endsWith("/"), false);
});

function machine(env: Record<string, string>, files: Record<string, string>): Machine {
  return {
    env: (name) => env[name],
    readText: (path) => {
      const text = files[path];
      return text === undefined ? Promise.reject(new Deno.errors.NotFound("no such file")) : Promise.resolve(text);
    },
  };
}

/** Returns a kubeconfig whose current context has the server `https://NAME:6443`. */
function kubeconfig(name: string): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    contexts: [
      { name, context: { cluster: name, user: "me" } },
      { name: "other", context: { cluster: "other", user: "me", namespace: "stage" } },
    ],
    clusters: [name, "other"].map((cluster) => ({ name: cluster, cluster: { server: `https://${cluster}:6443` } })),
    users: [{ name: "me", user: { token: "secret" } }],
  });
}
