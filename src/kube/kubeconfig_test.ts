import assert from "node:assert/strict";
import { type KubeconfigFile, selectContext } from "./kubeconfig.ts";

const DEV = {
  path: "/home/me/dev.yaml",
  content: {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "dev",
    contexts: [
      { name: "dev", context: { cluster: "dev", user: "me", namespace: "shop" } },
      { name: "anonymous", context: { cluster: "dev", user: "" } },
      { name: "no-cluster", context: { cluster: "missing", user: "me" } },
      { name: "no-user", context: { cluster: "dev", user: "missing" } },
      { name: "elsewhere", context: { cluster: "stage", user: "stage" } },
    ],
    clusters: [{ name: "dev", cluster: { server: "https://dev:6443" } }, { name: "empty", cluster: { server: "" } }],
    users: [{ name: "me", user: { token: "t" } }],
  },
} satisfies KubeconfigFile;

const STAGE = {
  path: "/home/me/stage.yaml",
  content: {
    "current-context": "stage",
    contexts: [
      { name: "stage", context: { cluster: "stage", user: "stage" } },
      { name: "dev", context: { cluster: "stage", user: "stage" } },
    ],
    clusters: [{ name: "stage", cluster: { server: "https://stage:6443" } }, {
      name: "dev",
      cluster: { server: "https://other:6443" },
    }],
    users: [{ name: "stage", user: { token: "s" } }],
  },
} satisfies KubeconfigFile;

Deno.test("selectContext returns the current context, and the files of its cluster and its user", () => {
  assert.deepEqual(selectContext([DEV]), {
    name: "dev",
    namespace: "shop",
    cluster: { server: "https://dev:6443" },
    clusterFile: DEV.path,
    user: { token: "t" },
    userFile: DEV.path,
  });
});

const CHOSEN: readonly { name: string; files: KubeconfigFile[]; wanted?: string; server: string; user: unknown }[] = [
  { name: "first file's current context", files: [STAGE, DEV], server: "https://stage:6443", user: { token: "s" } },
  {
    name: "first file that has a current context",
    files: [{ path: "/empty", content: { "current-context": "" } }, DEV],
    server: "https://dev:6443",
    user: { token: "t" },
  },
  {
    name: "first of two contexts with the same name",
    files: [DEV, STAGE],
    server: "https://dev:6443",
    user: { token: "t" },
  },
  {
    name: "cluster and user from other files",
    files: [DEV, STAGE],
    wanted: "elsewhere",
    server: "https://stage:6443",
    user: { token: "s" },
  },
  { name: "requested context", files: [STAGE, DEV], wanted: "anonymous", server: "https://other:6443", user: {} },
];

for (const { name, files, wanted, server, user } of CHOSEN) {
  Deno.test(`selectContext returns the ${name}`, () => {
    const chosen = selectContext(files, wanted);
    assert.equal(chosen.cluster.server, server);
    assert.deepEqual(chosen.user, user);
  });
}

const BROKEN: readonly { name: string; files: KubeconfigFile[]; wanted?: string; message: string }[] = [
  {
    name: "a file that is not a kubeconfig",
    files: [DEV, { path: "/pod.yaml", content: { kind: "Pod" } }],
    message: 'Cannot read kubeconfig "/pod.yaml": it is not an object of kind "Config"',
  },
  {
    name: "a file with a string",
    files: [{ path: "/x", content: "hello" }],
    message: 'Cannot read kubeconfig "/x": it is not an object of kind "Config"',
  },
  {
    name: "no current context",
    files: [{ path: "/x", content: { contexts: [{ name: "a", context: {} }] } }],
    message: 'Cannot read kubeconfig "/x": current-context is not set. Set --context (contexts: a)',
  },
  {
    name: "a context that does not exist",
    files: [DEV, STAGE],
    wanted: "prod",
    message:
      'Cannot read kubeconfig "/home/me/dev.yaml", "/home/me/stage.yaml": context "prod" does not exist (contexts: dev, anonymous, no-cluster, no-user, elsewhere, stage, dev)',
  },
  {
    name: "a misspelled context",
    files: [DEV, STAGE],
    wanted: "stgae",
    message:
      'Cannot read kubeconfig "/home/me/dev.yaml", "/home/me/stage.yaml": context "stgae" does not exist. Did you mean "stage"? (contexts: dev, anonymous, no-cluster, no-user, elsewhere, stage, dev)',
  },
  {
    name: "a cluster that does not exist",
    files: [DEV],
    wanted: "no-cluster",
    message:
      'Cannot read kubeconfig "/home/me/dev.yaml": cluster "missing" of context "no-cluster" does not exist or has no server',
  },
  {
    name: "a user that does not exist",
    files: [DEV],
    wanted: "no-user",
    message: 'Cannot read kubeconfig "/home/me/dev.yaml": user "missing" of context "no-user" does not exist',
  },
];

for (const { name, files, wanted, message } of BROKEN) {
  Deno.test(`selectContext rejects ${name}`, () => {
    assert.throws(() => selectContext(files, wanted), { code: "InvalidKubeconfig", message });
  });
}
