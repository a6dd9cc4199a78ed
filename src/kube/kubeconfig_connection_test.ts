import assert from "node:assert/strict";
import { stringify } from "yaml";
import { VirtualClock } from "../base/virtual_clock.ts";
import { kubeconfigConnection } from "./kubeconfig_connection.ts";
import type { Machine } from "./machine.ts";

Deno.test("kubeconfigConnection resolves tokenFile relative to the kubeconfig, and reads it again after a minute", async () => {
  const seen: (string | null)[] = [];
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    seen.push(request.headers.get("authorization"));
    return new Response("ok");
  });
  const clock = new VirtualClock();
  const files: Record<string, string> = {
    "/k/config": kubeconfig({ server: `http://127.0.0.1:${server.addr.port}` }, {
      tokenFile: "tokens/me",
      token: "old",
    }),
    "/k/tokens/me": "one\n",
  };
  const connection = await kubeconfigConnection(["/k/config"], machine(files), clock);
  const ask = async () => await (await connection.fetch(new Request(connection.url))).text();
  await ask();
  files["/k/tokens/me"] = "two\n";
  await ask();
  clock.step(clock.now() + 60_000);
  await ask();
  connection.close();
  assert.deepEqual(seen, ["Bearer one", "Bearer one", "Bearer two"]);
});

function machine(files: Record<string, string>): Machine {
  return {
    env: () => undefined,
    readText: (path) => {
      const text = files[path];
      return text === undefined ? Promise.reject(new Deno.errors.NotFound(`no file "${path}"`)) : Promise.resolve(text);
    },
  };
}

function kubeconfig(cluster: Record<string, unknown> = {}, user: Record<string, unknown> = {}): string {
  return stringify({
    kind: "Config",
    "current-context": "dev",
    contexts: [{ name: "dev", context: { cluster: "dev", user: "me" } }],
    clusters: [{ name: "dev", cluster: { server: "https://dev:6443", ...cluster } }],
    users: [{ name: "me", user }],
  });
}
