import assert from "node:assert/strict";
import { ClusterConfigError } from "../kube/cluster_config_error.ts";
import { CredentialError } from "../kube/http.ts";
import { refusedConnectionAdvice, sandboxAdvice } from "./sandbox_advice.ts";

/** What Deno 2.4 and 2.9 print for denied operations, and the setting that allows each. */
const DENIALS: readonly { denial: string; setting: string }[] = [
  { denial: 'net access to "api.example.com:443"', setting: 'net: ["api.example.com"]' },
  { denial: 'net access to "127.0.0.1:4555"', setting: 'net: ["127.0.0.1:4555"]' },
  { denial: 'read access to "/etc/passwd"', setting: 'read: ["/etc/passwd"]' },
  { denial: 'write access to "/data/x"', setting: 'write: ["/data/x"]' },
  { denial: "write access to <TMP>", setting: 'write: ["/tmp"]' },
  { denial: 'env access to "TOKEN"', setting: 'env: ["TOKEN"]' },
  { denial: "env access", setting: 'env: ["NAME", ...]' },
  { denial: 'run access to "git"', setting: 'run: ["git"]' },
  { denial: 'ffi access to "/lib/libc.so.6"', setting: 'ffi: ["/lib/libc.so.6"]' },
  { denial: "ffi access", setting: 'ffi: ["/path/of/library.so"]' },
  { denial: 'sys access to "hostname"', setting: 'sys: ["hostname"]' },
];

for (const { denial, setting } of DENIALS) {
  Deno.test(`sandboxAdvice names the setting for ${denial}`, () => {
    const error = new Deno.errors.NotCapable(`Requires ${denial}, run again with the --allow flag`);
    const advice = sandboxAdvice(new Error("outer", { cause: error }), 'controller "a"');
    assert(advice?.endsWith(`Add sandbox: { ${setting} } to controller "a" and build again`), advice);
  });
}

Deno.test("sandboxAdvice returns undefined if no setting is missing", () => {
  const code = new TypeError('Requires import access to "example.com:443", run again with the --allow-import flag');
  assert.match(
    sandboxAdvice(code, "x") ?? "",
    /^Cannot use import "example\.com:443": executables do not load modules/,
  );
  assert.match(
    sandboxAdvice(new Deno.errors.NotCapable('Requires all access to "/proc/1/mem", run again'), "x") ?? "",
    /^Cannot use all "\/proc\/1\/mem": no declaration allows it$/,
  );
  assert.equal(sandboxAdvice(new TypeError("Requires net access to"), "x"), undefined);
  assert.equal(sandboxAdvice("boom", "x"), undefined);
});

Deno.test("sandboxAdvice returns undefined for errors whose message already has the advice", () => {
  const cause = new Deno.errors.NotCapable('Requires read access to "/config", run again');
  for (
    const error of [new ClusterConfigError("InvalidKubeconfig", "x", { cause }), new CredentialError("x", { cause })]
  ) {
    assert.equal(sandboxAdvice(new Error("outer", { cause: error }), "x"), undefined);
  }
});

Deno.test("sandboxAdvice names the host that a Node library was not allowed to look up", () => {
  const error = Object.assign(new Error("getaddrinfo EPERM api.example.com"), {
    code: "EPERM",
    syscall: "getaddrinfo",
    hostname: "api.example.com",
  });
  assert.equal(
    sandboxAdvice(error, 'controller "a"'),
    'Cannot use net "api.example.com": it is not declared. ' +
      'Add sandbox: { net: ["api.example.com"] } to controller "a" and build again',
  );
  assert.equal(sandboxAdvice(Object.assign(error, { code: "ENOTFOUND" }), "x"), undefined);
});

Deno.test("refusedConnectionAdvice names both causes of a refused connection to an undeclared address", () => {
  const error = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:9"), {
    code: "ECONNREFUSED",
    syscall: "connect",
    address: "127.0.0.1",
    port: 9,
  });
  const advice = refusedConnectionAdvice(new Error("outer", { cause: error }), 'controller "a"', () => false);
  assert.equal(
    advice,
    'connect ECONNREFUSED 127.0.0.1:9: no process listens there, or net "127.0.0.1:9" is not declared. ' +
      'Add sandbox: { net: ["127.0.0.1:9"] } to controller "a" and build again',
  );
  assert.match(refusedConnectionAdvice(Object.assign(error, { address: "::1" }), "x", () => false)!, /"\[::1\]:9"/);
  assert.equal(refusedConnectionAdvice(error, "x", () => true), undefined);
  assert.equal(refusedConnectionAdvice(new Error("boom"), "x", () => false), undefined);
});
