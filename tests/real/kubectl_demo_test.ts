/**
 * Runs kubectl against the demo as a new user does: the demo keeps running on a terminal, and
 * prints which kubeconfig to use.
 */
import assert from "node:assert/strict";
import { type CommandResult, kubectlPath } from "./_kubectl.ts";

const DEMO = new URL("../../examples/01_website/demo.ts", import.meta.url);

const SITE = JSON.stringify({
  apiVersion: "demo.example.com/v1",
  kind: "Website",
  metadata: { name: "club", namespace: "default" },
  spec: { host: "club.example.com" },
});

Deno.test("kubectl gets, watches, applies and deletes on the demo's server, and Ctrl-C ends the demo with exit code 0", async (t) => {
  await using demo = await startOnTerminal();
  const kubectl = await kubectlWith(demo.kubeconfig);

  await t.step("get shows the columns of the kind", async () => {
    const { stdout } = await kubectl(["get", "websites"]);
    const [head, ...rows] = stdout.trim().split("\n").map((line) => line.split(/\s{2,}/));
    assert.deepEqual(head, ["NAME", "HOST", "THEME", "URL"]);
    assert.deepEqual(rows, [["shop", "shop.example.com", "dark", "https://shop.example.com"]]);
    assert.match((await kubectl(["get", "web", "shop", "-o", "yaml"])).stdout, /theme: dark/);
  });

  await t.step("apply --server-side creates a website, and get -w shows it become ready", async () => {
    await using watch = await kubectlWatch(demo.kubeconfig, ["get", "websites", "-w"]);
    assert.match(await watch.line(/shop/), /https:\/\/shop\.example\.com/);
    assert.match(
      (await kubectl(["apply", "--server-side", "-f", "-"], SITE)).stdout,
      /website.*club serverside-applied/,
    );
    await watch.line(/^club .*https:\/\/club\.example\.com/);
    assert.match((await kubectl(["apply", "--server-side", "-f", "-"], SITE)).stdout, /club serverside-applied/);
  });

  await t.step("apply prints the server's rejection", async () => {
    const { stderr, code } = await kubectl(
      ["apply", "--server-side", "-f", "-"],
      SITE.replace("club.example.com", "no host"),
      1,
    );
    assert.equal(code, 1);
    assert.match(stderr, /spec\.host: Invalid value: "no host"/);
  });

  await t.step("delete waits until cleanup has run", async () => {
    assert.match((await kubectl(["delete", "website", "club"])).stdout, /"club" deleted/);
    assert.match((await kubectl(["get", "configmap", "default.club", "-n", "dns"], undefined, 1)).stderr, /NotFound/);
    assert.match(
      (await kubectl(["get", "website", "club"], undefined, 1)).stderr,
      /websites\.demo\.example\.com "club" not found/,
    );
  });

  await t.step("Ctrl-C ends the demo", async () => assert.equal(await demo.interrupt(), 0));
});

/**
 * Starts the demo on a pseudo-terminal that the program `script` creates, and waits for its
 * complete output.
 */
async function startOnTerminal(): Promise<AsyncDisposable & { kubeconfig: string; interrupt(): Promise<number> }> {
  // Without exec, the shell would receive the Ctrl-C too, and exit with 130.
  const command = `exec ${Deno.execPath()} run -A ${DEMO.pathname}`;
  const process = new Deno.Command("script", {
    args: ["--quiet", "--return", "--command", command, "/dev/null"],
    env: { SHELL: "/bin/sh" },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const stdin = process.stdin.getWriter();
  const reader = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("kubectl edit")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The demo ended by itself:\n${text}`);
    text += value;
  }
  const kubeconfig = /KUBECONFIG=(\S+)/.exec(text)?.[1];
  assert(kubeconfig, text);
  return {
    kubeconfig,
    async interrupt() {
      await stdin.write(new Uint8Array([3])); // Ctrl-C, as the terminal reads it
      return (await process.status).code;
    },
    async [Symbol.asyncDispose]() {
      try {
        process.kill("SIGTERM");
      } catch { /* already ended */ }
      await process.status;
      await stdin.close().catch(() => undefined);
      await reader.cancel();
    },
  };
}

/**
 * Returns a function that runs kubectl with a kubeconfig, and asserts its exit code, which is 0 by
 * default.
 */
async function kubectlWith(
  kubeconfig: string,
): Promise<(args: string[], input?: string, code?: number) => Promise<CommandResult>> {
  const path = await kubectlPath();
  const home = kubeconfig.slice(0, kubeconfig.lastIndexOf("/")); // for its caches
  return async (args, input = "", expected = 0) => {
    const process = new Deno.Command(path, {
      args,
      clearEnv: true,
      env: { KUBECONFIG: kubeconfig, HOME: home },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const writer = process.stdin.getWriter();
    await writer.write(new TextEncoder().encode(input)).catch(() => undefined);
    await writer.close().catch(() => undefined);
    const { code, stdout, stderr } = await process.output();
    const result = { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
    assert.equal(code, expected, `kubectl ${args.join(" ")}:\n${result.stdout}${result.stderr}`);
    return result;
  };
}

/** Starts a kubectl command that does not end, and returns its lines of output as they arrive. */
async function kubectlWatch(
  kubeconfig: string,
  args: string[],
): Promise<AsyncDisposable & { line(pattern: RegExp): Promise<string> }> {
  const process = new Deno.Command(await kubectlPath(), {
    args,
    clearEnv: true,
    env: { KUBECONFIG: kubeconfig, HOME: kubeconfig.slice(0, kubeconfig.lastIndexOf("/")) },
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    async line(pattern) {
      for (;;) {
        // The text after the last line end is incomplete.
        const found = text.split("\n").slice(0, -1).find((line) => pattern.test(line));
        if (found !== undefined) return found;
        const { value, done } = await reader.read();
        if (done) throw new Error(`kubectl ended before it showed ${pattern}:\n${text}`);
        text += value;
      }
    },
    async [Symbol.asyncDispose]() {
      try {
        process.kill("SIGKILL");
      } catch { /* already ended */ }
      await reader.cancel();
      await process.status;
    },
  };
}
