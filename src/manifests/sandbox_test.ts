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
  const told = permissions.map(({ access, target, reason }) => `${access} ${target}: ${reason}`);
  assert.equal(new Set(permissions.map(({ access, target }) => `${access} ${target}`)).size, permissions.length);
  for (
    const expected of [
      "net kubernetes.default.svc:443: the API server",
      "net 0.0.0.0:8081: health is served there",
      "read /var/run/secrets/kubernetes.io/serviceaccount: the service account's token and authority",
      'net api.example.com: controller "a" declares it',
      'net db:5432: controller "a" declares it',
      'read /etc/x: controller "a" declares it',
      'env TOKEN: controller "a" declares it',
      'write /data: controller "b" declares it',
      'run /usr/bin/git: controller "b" declares it',
      'ffi /lib/x.so: controller "b" declares it',
      "sys hostname: the operator declares it",
    ]
  ) assert(told.includes(expected), `${expected} is not in\n${told.join("\n")}`);
  assert(permissions.every(({ reason }) => reason !== ""));
});

Deno.test("sandboxRulesOf includes the port of the API server", () => {
  const nets = (options: { readonly apiserverPort?: number }) =>
    sandboxRulesOf({}, { health: undefined, ...options }).filter(({ access }) => access === "net").map((it) =>
      it.target
    );
  assert.deepEqual(nets({}), ["kubernetes.default.svc:443"]);
  assert.deepEqual(nets({ apiserverPort: 6443 }), ["kubernetes.default.svc:6443"]);
});

Deno.test("sandboxRulesOf permits the variables of kubeconfigs only if files may be read", () => {
  const variables = (permissions: SandboxPermissions, ownSandbox: SandboxPermissions = {}) =>
    sandboxRulesOf({ a: part(permissions) }, { health: undefined, sandbox: ownSandbox })
      .filter(({ access, target }) => access === "env" && ["KUBECONFIG", "HOME"].includes(target))
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
      { access: "env", target: "A", reason: "x" },
      { access: "net", target: "a:1", reason: "x" },
      { access: "env", target: "B", reason: "x" },
    ]),
    ["--no-prompt", "--deny-import", "--allow-net=a:1", "--allow-env=A,B"],
  );
});

const REFUSED: readonly { name: string; sandbox: SandboxPermissions; message: RegExp }[] = [
  {
    name: "an empty host, which would allow all",
    sandbox: { net: [""] },
    message: /^Cannot allow net "" to controller "a": write a host such as "api\.example\.com"/,
  },
  {
    name: "an address in place of a host",
    sandbox: { net: ["https://api.example.com"] },
    message: /^Cannot allow net "https:\/\/api\.example\.com" to controller "a"/,
  },
  { name: "a host with a path", sandbox: { net: ["api.example.com/v1"] }, message: /^Cannot allow net / },
  { name: "two hosts in one", sandbox: { net: ["a,b"] }, message: /^Cannot allow net "a,b"/ },
  { name: "every host", sandbox: { net: ["*"] }, message: /^Cannot allow net "\*"/ },
  {
    name: "an empty path",
    sandbox: { read: [""] },
    message: /^Cannot allow read "".*a file or a folder, without a comma/,
  },
  { name: "two variables in one", sandbox: { env: ["A,B"] }, message: /^Cannot allow env "A,B"/ },
  {
    name: "every program",
    sandbox: { run: ["*"] },
    message: /^Cannot allow run "\*" to controller "a": write a program/,
  },
  { name: "the whole disk", sandbox: { write: ["/"] }, message: /^Cannot allow write "\/"/ },
  { name: "all of the machine", sandbox: { sys: ["*"] }, message: /^Cannot allow sys "\*".*one of "hostname"/ },
  { name: "a library without a name", sandbox: { ffi: [" "] }, message: /^Cannot allow ffi " "/ },
  { name: "every variable", sandbox: { env: ["*"] }, message: /^Cannot allow env "\*"/ },
];

for (const { name, sandbox, message } of REFUSED) {
  Deno.test(`sandboxRulesOf rejects ${name}`, () => {
    assert.throws(() => sandboxRulesOf({ a: part(sandbox) }, { health: HEALTH }), { name: "TypeError", message });
  });
}

function part(sandbox: SandboxPermissions) {
  return controller(ConfigMap, { sandbox, reconcile() {} });
}
