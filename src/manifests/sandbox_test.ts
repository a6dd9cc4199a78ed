import assert from "node:assert/strict";
import { ConfigMap } from "../kinds/mod.ts";
import { controller } from "../parts/controller.ts";
import type { SandboxPermissions } from "../parts/sandbox.ts";
import { sandboxFlags, sandboxRulesOf } from "./sandbox.ts";

const HEALTH = { hostname: "0.0.0.0", port: 8081 };

Deno.test("sandboxRulesOf returns the permissions of every operator and of its parts, each once and with its reason", () => {
  const permissions = sandboxRulesOf({
    a: part({ net: ["api.example.com", "db:5432"], read: ["/etc/x"], env: ["TOKEN"] }),
    b: part({ net: ["api.example.com"], env: ["HOME"], write: ["/data"], run: ["/usr/bin/git"], ffi: ["/lib/x.so"] }),
  }, { health: HEALTH, sandbox: { sys: ["hostname"] } });
  const lines = permissions.map(({ permission, target, reason }) => `${permission} ${target}: ${reason}`);
  assert.equal(
    new Set(permissions.map(({ permission, target }) => `${permission} ${target}`)).size,
    permissions.length,
  );
  for (
    const expected of [
      "net kubernetes.default.svc:443: connects to the API server",
      "net 0.0.0.0:8081: serves health",
      "read /var/run/secrets/kubernetes.io/serviceaccount: reads the service account's token and CA",
      'net api.example.com: declared by controller "a"',
      'net db:5432: declared by controller "a"',
      'read /etc/x: declared by controller "a"',
      'env TOKEN: declared by controller "a"',
      'write /data: declared by controller "b"',
      'run /usr/bin/git: declared by controller "b"',
      'ffi /lib/x.so: declared by controller "b"',
      "sys hostname: declared by the operator",
    ]
  ) assert(lines.includes(expected), `${expected} is not in\n${lines.join("\n")}`);
  assert(permissions.every(({ reason }) => reason !== ""));
});

Deno.test("sandboxRulesOf includes the port of the API server", () => {
  const netTargets = (options: { readonly apiserverPort?: number }) =>
    sandboxRulesOf({}, { health: undefined, ...options }).filter(({ permission }) => permission === "net").map((it) =>
      it.target
    );
  assert.deepEqual(netTargets({}), ["kubernetes.default.svc:443"]);
  assert.deepEqual(netTargets({ apiserverPort: 6443 }), ["kubernetes.default.svc:6443"]);
});

Deno.test("sandboxRulesOf permits the variables of kubeconfigs only if files may be read", () => {
  const variables = (permissions: SandboxPermissions, ownSandbox: SandboxPermissions = {}) =>
    sandboxRulesOf({ a: part(permissions) }, { health: undefined, sandbox: ownSandbox })
      .filter(({ permission, target }) => permission === "env" && ["KUBECONFIG", "HOME"].includes(target))
      .map(({ target }) => target);
  assert.deepEqual(variables({}), []);
  assert.deepEqual(variables({ net: ["a"], write: ["/data"] }), []);
  assert.deepEqual(variables({ read: ["/home/me/.kube/config"] }), ["KUBECONFIG", "HOME"]);
  assert.deepEqual(variables({}, { read: ["/home/me/.kube/config"] }), ["KUBECONFIG", "HOME"]);
});

Deno.test("sandboxRulesOf returns the same rules for the same parts", () => {
  const parts = { a: part({ net: ["x", "y"] }), b: part({ read: ["/z"] }) };
  assert.deepEqual(sandboxRulesOf(parts, { health: HEALTH }), sandboxRulesOf(parts, { health: HEALTH }));
});

Deno.test("sandboxFlags never grants a whole kind of permission", () => {
  const flags = sandboxFlags(sandboxRulesOf({ a: part({}) }, { health: undefined }));
  assert.deepEqual(flags.slice(0, 2), ["--no-prompt", "--deny-import"]);
  assert(flags.slice(2).every((flag) => /^--allow-(net|read|env)=[^,]+(,[^,]+)*$/.test(flag)), flags.join(" "));
  assert.deepEqual(sandboxFlags([]), ["--no-prompt", "--deny-import"]);
});

Deno.test("sandboxFlags joins the targets of one kind of permission in order", () => {
  assert.deepEqual(
    sandboxFlags([
      { permission: "env", target: "A", reason: "x" },
      { permission: "net", target: "a:1", reason: "x" },
      { permission: "env", target: "B", reason: "x" },
    ]),
    ["--no-prompt", "--deny-import", "--allow-net=a:1", "--allow-env=A,B"],
  );
});

const INVALID: readonly { name: string; sandbox: SandboxPermissions; message: RegExp }[] = [
  {
    name: "an empty host",
    sandbox: { net: [""] },
    message: /^Sandbox of controller "a": "" in "net" is invalid\. Write a host such as "api\.example\.com"/,
  },
  {
    name: "an address instead of a host",
    sandbox: { net: ["https://api.example.com"] },
    message: /^Sandbox of controller "a": "https:\/\/api\.example\.com" in "net" is invalid/,
  },
  { name: "a host with a path", sandbox: { net: ["api.example.com/v1"] }, message: /in "net" is invalid/ },
  { name: "two hosts in one string", sandbox: { net: ["a,b"] }, message: /"a,b" in "net" is invalid/ },
  { name: "every host", sandbox: { net: ["*"] }, message: /"\*" in "net" is invalid/ },
  {
    name: "an empty path",
    sandbox: { read: [""] },
    message: /"" in "read" is invalid\. Write the path of a file or folder, without a comma/,
  },
  { name: "two variables in one string", sandbox: { env: ["A,B"] }, message: /"A,B" in "env" is invalid/ },
  {
    name: "every program",
    sandbox: { run: ["*"] },
    message: /^Sandbox of controller "a": "\*" in "run" is invalid\. Write a program/,
  },
  { name: "the root folder", sandbox: { write: ["/"] }, message: /"\/" in "write" is invalid/ },
  { name: "all system information", sandbox: { sys: ["*"] }, message: /"\*" in "sys" is invalid.*such as "hostname"/ },
  { name: "a library without a name", sandbox: { ffi: [" "] }, message: /" " in "ffi" is invalid/ },
  { name: "every variable", sandbox: { env: ["*"] }, message: /"\*" in "env" is invalid/ },
];

for (const { name, sandbox, message } of INVALID) {
  Deno.test(`sandboxRulesOf rejects ${name}`, () => {
    assert.throws(() => sandboxRulesOf({ a: part(sandbox) }, { health: HEALTH }), { name: "TypeError", message });
  });
}

function part(sandbox: SandboxPermissions) {
  return controller(ConfigMap, { sandbox, reconcile() {} });
}
