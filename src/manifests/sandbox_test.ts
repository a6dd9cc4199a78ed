import assert from "node:assert/strict";
import { ConfigMap } from "../kinds/mod.ts";
import { controller } from "../parts/controller.ts";
import type { Permissions } from "../parts/permissions.ts";
import { permissionFlags, permissionsOf } from "./sandbox.ts";

const HEALTH = { hostname: "0.0.0.0", port: 8081 };

Deno.test("permissionsOf has what every operator needs and what its parts declare, each once and with its reason", () => {
  const permissions = permissionsOf({
    a: part({ net: ["api.example.com", "db:5432"], read: ["/etc/x"], env: ["TOKEN"] }),
    b: part({ net: ["api.example.com"], env: ["HOME"], write: ["/data"], run: ["/usr/bin/git"], ffi: ["/lib/x.so"] }),
  }, { health: HEALTH, reaches: { sys: ["hostname"] } });
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

Deno.test("permissionsOf names the port of the API server", () => {
  const nets = (options: { readonly apiserverPort?: number }) =>
    permissionsOf({}, { health: undefined, ...options }).filter(({ access }) => access === "net").map((it) =>
      it.target
    );
  assert.deepEqual(nets({}), ["kubernetes.default.svc:443"]);
  assert.deepEqual(nets({ apiserverPort: 6443 }), ["kubernetes.default.svc:6443"]);
});

Deno.test("permissionsOf grants the variables that name kubeconfigs only where files may be read", () => {
  const variables = (permissions: Permissions, reaches: Permissions = {}) =>
    permissionsOf({ a: part(permissions) }, { health: undefined, reaches })
      .filter(({ access, target }) => access === "env" && ["KUBECONFIG", "HOME"].includes(target))
      .map(({ target }) => target);
  assert.deepEqual(variables({}), []);
  assert.deepEqual(variables({ net: ["a"], write: ["/data"] }), []);
  assert.deepEqual(variables({ read: ["/home/me/.kube/config"] }), ["KUBECONFIG", "HOME"]);
  assert.deepEqual(variables({}, { read: ["/home/me/.kube/config"] }), ["KUBECONFIG", "HOME"]);
});

Deno.test("permissionsOf of the same parts is the same text each time", () => {
  const parts = { a: part({ net: ["x", "y"] }), b: part({ read: ["/z"] }) };
  assert.deepEqual(permissionsOf(parts, { health: HEALTH }), permissionsOf(parts, { health: HEALTH }));
});

Deno.test("permissionFlags never grants the whole of anything", () => {
  const flags = permissionFlags(permissionsOf({ a: part({}) }, { health: undefined }));
  assert.deepEqual(flags.slice(0, 2), ["--no-prompt", "--deny-import"]);
  assert(flags.slice(2).every((flag) => /^--allow-(net|read|env)=[^,]+(,[^,]+)*$/.test(flag)), flags.join(" "));
  assert.deepEqual(permissionFlags([]), ["--no-prompt", "--deny-import"]);
});

Deno.test("permissionFlags joins the targets of one access, in order", () => {
  assert.deepEqual(
    permissionFlags([
      { access: "env", target: "A", reason: "x" },
      { access: "net", target: "a:1", reason: "x" },
      { access: "env", target: "B", reason: "x" },
    ]),
    ["--no-prompt", "--deny-import", "--allow-net=a:1", "--allow-env=A,B"],
  );
});

const REFUSED: readonly { name: string; permissions: Permissions; message: RegExp }[] = [
  {
    name: "an empty host, which would allow all",
    permissions: { net: [""] },
    message: /^Cannot allow net "" to controller "a": write a host such as "api\.example\.com"/,
  },
  {
    name: "an address in place of a host",
    permissions: { net: ["https://api.example.com"] },
    message: /^Cannot allow net "https:\/\/api\.example\.com" to controller "a"/,
  },
  { name: "a host with a path", permissions: { net: ["api.example.com/v1"] }, message: /^Cannot allow net / },
  { name: "two hosts in one", permissions: { net: ["a,b"] }, message: /^Cannot allow net "a,b"/ },
  { name: "every host", permissions: { net: ["*"] }, message: /^Cannot allow net "\*"/ },
  {
    name: "an empty path",
    permissions: { read: [""] },
    message: /^Cannot allow read "".*a file or a folder, without a comma/,
  },
  { name: "two variables in one", permissions: { env: ["A,B"] }, message: /^Cannot allow env "A,B"/ },
  {
    name: "every program",
    permissions: { run: ["*"] },
    message: /^Cannot allow run "\*" to controller "a": write a program/,
  },
  { name: "the whole disk", permissions: { write: ["/"] }, message: /^Cannot allow write "\/"/ },
  { name: "all of the machine", permissions: { sys: ["*"] }, message: /^Cannot allow sys "\*".*one of "hostname"/ },
  { name: "a library without a name", permissions: { ffi: [" "] }, message: /^Cannot allow ffi " "/ },
  { name: "every variable", permissions: { env: ["*"] }, message: /^Cannot allow env "\*"/ },
];

for (const { name, permissions, message } of REFUSED) {
  Deno.test(`permissionsOf refuses ${name}`, () => {
    assert.throws(() => permissionsOf({ a: part(permissions) }, { health: HEALTH }), { name: "TypeError", message });
  });
}

function part(permissions: Permissions) {
  return controller(ConfigMap, { permissions, reconcile() {} });
}
