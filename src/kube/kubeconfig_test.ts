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
