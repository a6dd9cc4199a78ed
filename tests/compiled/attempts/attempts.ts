/**
 * Accesses that an attacker in an operator's program might try. Each needs a sandbox permission or
 * an RBAC permission that the operator does not declare. So each fails in the operator, and
 * succeeds without a sandbox as an administrator.
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { get as getByNode } from "node:http";
import { Client, connect } from "@op/sdk/client";
import {
  ClusterRoleBinding,
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Lease,
  Node,
  Pod,
  Role,
  Secret,
} from "@op/sdk/kinds";
import { Attempt } from "./attempt.ts";

/** The targets of an attempt. */
export interface Targets {
  /** A server of the test, with a slash at the end. */
  readonly url: string;
  /** The namespace of the attempts. */
  readonly namespace: string;
  /** A unique name for objects and files that the attempt creates. */
  readonly name: string;
}

/** The namespace that the operator runs in. */
const OPERATOR_NAMESPACE = "probe-system";

/** The loader of libc, the only program in the image besides the operator. */
const PROGRAM = "/lib64/ld-linux-x86-64.so.2";

/** The attempts by name. Each resolves if it succeeds. */
export const ATTEMPTS: Readonly<Record<string, (targets: Targets) => unknown>> = {
  "read an undeclared file": () => Deno.readTextFile("/etc/hosts"),
  "read an undeclared file through Node": () => readFile("/etc/hosts"),
  "read the environment of the process": () => Deno.readTextFile("/proc/self/environ"),
  "list the root folder": () => Array.fromAsync(Deno.readDir("/")),
  "write a file": ({ name }) => Deno.writeTextFile(`/tmp/${name}`, "x"),
  "call an undeclared host": async ({ url }) => await (await fetch(url)).text(),
  "call an undeclared host through Node": ({ url }) =>
    new Promise((resolve, reject) => getByNode(url, resolve).on("error", reject)),
  "connect to an undeclared port": async ({ url }) => {
    const { hostname, port } = new URL(url);
    (await Deno.connect({ hostname, port: Number(port) })).close();
  },
  "read an undeclared variable": () => Deno.env.get("PATH"),
  "read all variables": () => Deno.env.toObject(),
  "listen on a port": () => Deno.listen({ hostname: "127.0.0.1", port: 0 }).close(),
  "start a program": () => new Deno.Command(PROGRAM, { args: ["--version"] }).output(),
  "start a program through Node": () =>
    new Promise((resolve, reject) =>
      execFile(PROGRAM, ["--version"], (error) => error === null ? resolve(undefined) : reject(error))
    ),
  "signal a process": () => Deno.kill(Deno.pid, "SIGCONT"),
  "load a library": () => Deno.dlopen("libc.so.6", { getpid: { parameters: [], result: "i32" } }).symbols.getpid(),
  "read the hostname": () => Deno.hostname(),
  "delete an object of its kind": async ({ namespace, name }) =>
    await (await client()).delete(Attempt, `victim-${name}`, { namespace }),
  "list another kind": async ({ namespace }) => await (await client()).list(Pod, { namespace }),
  "list the owned kind in another namespace": async () =>
    await (await client()).list(ConfigMap, { namespace: "kube-system" }),
  "list the owned kind in all namespaces": async () => await (await client()).list(ConfigMap),
  "list a cluster-scoped kind": async () => await (await client()).list(Node),
  "read a Secret in the namespace of its objects": async ({ namespace }) =>
    await (await client()).get(Secret, "password", { namespace }),
  "read another Lease": async () => await (await client()).get(Lease, "other", { namespace: OPERATOR_NAMESPACE }),
  "change its own Deployment": async ({ name }) =>
    await (await client()).patch(Deployment, "probe", { metadata: { labels: { name } } }, {
      namespace: OPERATOR_NAMESPACE,
    }),
  "add permissions to its own role": async ({ namespace }) =>
    await (await client()).patch(Role, "probe", { rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }] }, {
      namespace,
    }),
  "bind itself to cluster-admin": async ({ name }) =>
    await (await client()).create(ClusterRoleBinding, {
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ kind: "ServiceAccount", name: "probe", namespace: OPERATOR_NAMESPACE }],
    }),
  "change its CustomResourceDefinition": async ({ name }) =>
    await (await client()).patch(CustomResourceDefinition, "attempts.probe.example.com", {
      metadata: { labels: { name } },
    }),
  "create a token of another account": () =>
    call("POST", `/api/v1/namespaces/${OPERATOR_NAMESPACE}/serviceaccounts/default/token`, {}, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: {},
    }),
  "impersonate another user": () => call("GET", "/api/v1/nodes", { "impersonate-user": "system:kube-scheduler" }),
};

/** Returns a client as a library would create it: its types allow undeclared calls. */
async function client(): Promise<Client> {
  return new Client(await connect());
}

async function call(method: string, path: string, headers: Record<string, string>, body?: object): Promise<void> {
  const connection = await connect();
  const response = await connection.fetch(
    new Request(`${connection.url}${path}`, {
      method,
      headers: { ...headers, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );
  const { reason } = await response.json();
  if (!response.ok) throw new Error(`the apiserver answered ${response.status} ${reason}`);
}
