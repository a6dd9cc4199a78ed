import assert from "node:assert/strict";
import { denoErrors, isRuntimeMissing, isUnsettledAwait, run, runningDeno } from "./deno.ts";

Deno.test("denoErrors removes the backtrace and the summary of Deno from the errors of a program", () => {
  const errors = "TS2322 [ERROR]: Type 'number' is not assignable to type 'string'.\n    at file:///main.ts:1:14";
  const backtrace = [
    "Stack backtrace:",
    "   0: <unknown>",
    "   1: __libc_start_call_main",
    "             at ./csu/../sysdeps/nptl/libc_start_call_main.h:58:16",
    "   2: <unknown>",
  ].join("\n");
  assert.equal(denoErrors(`${errors}\n`), errors);
  assert.equal(denoErrors(`${errors}\n\n${backtrace}\n`), errors);
  assert.equal(denoErrors(`${errors}\n\nerror: bundling failed\n\n${backtrace}\n`), errors);
});

/** Returns what the running Deno prints for a program. */
async function stderrOf(program: string): Promise<string> {
  const url = `data:application/typescript,${encodeURIComponent(program)}`;
  const { success, stderr } = await run(runningDeno(), ["run", "--quiet", "--no-config", "--allow-import", url], {
    env: { NO_COLOR: "1" },
  });
  assert.equal(success, false);
  return stderr;
}

Deno.test("isUnsettledAwait recognizes the error of a promise that never settles", async () => {
  assert.equal(isUnsettledAwait(await stderrOf("await new Promise(() => {});")), true);
  assert.equal(isUnsettledAwait(await stderrOf("throw new Error('failed');")), false);
});

Deno.test("denoErrors names the host of a module that cannot be fetched", async () => {
  const errors = denoErrors(await stderrOf("import 'https://no-such-host.invalid/mod.ts';"));
  assert.match(errors, /\nCannot reach "no-such-host\.invalid", and the module is not in the cache of this machine\./);
});

Deno.test("isRuntimeMissing recognizes that deno compile cannot download its runtime", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/main.js`, "");
    // No process listens on the port of the proxy.
    const proxy = "http://127.0.0.1:9";
    const { success, stderr } = await run(runningDeno(), ["compile", "--no-config", "--output=main", "main.js"], {
      cwd: folder,
      env: { DENO_DIR: folder, HTTPS_PROXY: proxy, HTTP_PROXY: proxy, NO_PROXY: "" },
    });
    assert.equal(success, false);
    assert.equal(isRuntimeMissing(stderr), true, stderr);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
