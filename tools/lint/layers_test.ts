import assert from "node:assert/strict";
import plugin, { SERVER_TABLE, TABLE } from "./layers.ts";

function lint(file: string, code: string): string[] {
  return Deno.lint.runPlugin(plugin, file, code).map((diagnostic) => diagnostic.message);
}

const ALLOWED: { file: string; code: string }[] = [
  { file: "src/base/backoff.ts", code: `import { equal } from "./json.ts";` },
  { file: "src/base/random.ts", code: `import { randomBytes } from "node:crypto";` },
  { file: "src/queue/queue.ts", code: `import type { Clock } from "../base/clock.ts";` },
  { file: "src/resource/kind.ts", code: `import type { JsonSchema } from "../schema/json_schema.ts";` },
  { file: "src/operator/operator.ts", code: `import { Client } from "../kube/client.ts";` },
  { file: "src/operator/version.ts", code: `import config from "../../deno.json" with { type: "json" };` },
  { file: "src/apiserver/server.ts", code: `import { Store } from "./objects/store.ts";` },
  { file: "src/apiserver/core/persist.ts", code: `import { Store } from "../objects/store.ts";` },
  {
    file: "src/apiserver/wire/protobuf/decode.ts",
    code: `import { own } from "../../../base/own.ts"; import "../body.ts";`,
  },
  { file: "src/testing/memory_cluster.ts", code: `import { createApiserver } from "../apiserver/server.ts";` },
  { file: "src/queue/queue_test.ts", code: `import { memoryCluster } from "../testing/mod.ts";` },
  { file: "mod.ts", code: `export { operator } from "./src/operator/operator.ts";` },
  { file: "cli/main.ts", code: `import { memoryCluster } from "@op/sdk/testing";` },
  { file: "examples/01_website/main.ts", code: `import { operator } from "@op/sdk"; import "./website/v1.ts";` },
  { file: "templates/operator/main.ts", code: `import { stringify } from "yaml";` },
  { file: "tests/e2e/start_test.ts", code: `import "../../src/testing/mod.ts";` },
  { file: "tools/kinds.ts", code: `import { Client } from "../src/kube/client.ts";` },
];

const FORBIDDEN: { file: string; code: string; says: RegExp }[] = [
  {
    file: "src/queue/queue.ts",
    code: `import { Client } from "../kube/client.ts";`,
    says: /^Cannot import "kube" from "queue": "queue" may import only "base"; /,
  },
  {
    file: "src/base/clock.ts",
    code: `export * from "../queue/queue.ts";`,
    says: /^Cannot import "queue" from "base": "base" may import no other room; /,
  },
  {
    file: "src/apiserver/server.ts",
    code: `export { Client } from "../kube/client.ts";`,
    says: /"kube" from "apiserver"/,
  },
  {
    file: "src/apiserver/core/persist.ts",
    code: `import { create } from "../verbs/writes.ts";`,
    says:
      /^Cannot import "apiserver\/verbs" from "apiserver\/core": of the API server's rooms it may import only "access", /,
  },
  {
    file: "src/apiserver/wire/protobuf/decode.ts",
    code: `import type { Store } from "../../objects/store.ts";`,
    says: /"apiserver\/objects" from "apiserver\/wire": .* no other room; /,
  },
  {
    file: "src/apiserver/core/persist.ts",
    code: `import "../mod.ts";`,
    says: /"src\/apiserver\/mod.ts", which puts the rooms together/,
  },
  {
    file: "src/apiserver/attic/old.ts",
    code: `import "../wire/body.ts";`,
    says: /^Cannot tell the room of "src\/apiserver\/attic\/old.ts"/,
  },
  { file: "src/kube/client.ts", code: `await import("../watch/watch.ts");`, says: /"watch" from "kube"/ },
  { file: "src/kube/client.ts", code: `type Watch = import("../watch/watch.ts").Watch;`, says: /"watch" from "kube"/ },
  { file: "src/kube/client.ts", code: `import type { Watch } from "../watch/watch.ts";`, says: /"watch" from "kube"/ },
  { file: "src/runtime/loop.ts", code: `import "../testing/mod.ts";`, says: /"testing" from "runtime"/ },
  { file: "src/runtime/loop.ts", code: `import "@op/sdk/testing";`, says: /"testing" from "runtime"/ },
  { file: "src/operator/operator.ts", code: `import "@op/sdk/testing";`, says: /"testing" from "operator"/ },
  { file: "src/runtime/loop.ts", code: `import "@op/sdk";`, says: /"mod.ts", which lies outside the rooms/ },
  {
    file: "src/runtime/loop.ts",
    code: `import "../../tools/x.ts";`,
    says: /"tools\/x.ts", which lies outside the rooms/,
  },
  {
    file: "src/attic/old.ts",
    code: `import "../base/clock.ts";`,
    says: /^Cannot tell the room of "src\/attic\/old.ts"/,
  },
  { file: "mod.ts", code: `export * from "./src/testing/mod.ts";`, says: /"testing" from the front door/ },
  {
    file: "cli/main.ts",
    code: `import "../src/kube/client.ts";`,
    says: /^Cannot import "..\/src\/kube\/client.ts" from "cli\/main.ts"/,
  },
  { file: "examples/01_website/main.ts", code: `import "../../mod.ts";`, says: /from "examples\/01_website\/"/ },
  { file: "templates/operator/main.ts", code: `import "../other/main.ts";`, says: /from "templates\/operator\/"/ },
];

Deno.test("layers lets through what the table allows", () => {
  for (const { file, code } of ALLOWED) assert.deepEqual(lint(file, code), [], `${file}: ${code}`);
});

Deno.test("layers reports what the table does not allow, once, naming both sides", () => {
  for (const { file, code, says } of FORBIDDEN) {
    const messages = lint(file, code);
    assert.equal(messages.length, 1, `${file}: ${code}`);
    assert.match(messages[0] ?? "", says);
  }
});

Deno.test("layers knows a file by its place in this repository, wherever that lies", () => {
  const file = new URL("../../src/queue/queue.ts", import.meta.url).pathname;
  assert.equal(lint(file, `import "../kube/client.ts";`).length, 1);
});

Deno.test("TABLE gives operator and provision what their imports may import", () => {
  assert.deepEqual(TABLE.provision, ["base", "kinds", "kube", "manifests", "parts", "resource", "schema"]);
  assert(TABLE.operator.includes("queue") && !TABLE.operator.includes("apiserver"));
});

for (const [name, table] of [["TABLE", TABLE], ["SERVER_TABLE", SERVER_TABLE]] as const) {
  const rows = new Map<string, readonly string[]>(Object.entries(table));

  Deno.test(`${name} has no circle: no room reaches itself`, () => {
    function reach(room: string, seen = new Set<string>()): Set<string> {
      for (const next of rows.get(room) ?? []) if (!seen.has(next)) reach(next, seen.add(next));
      return seen;
    }
    for (const room of rows.keys()) assert(!reach(room).has(room), room);
  });
}

Deno.test("SERVER_TABLE lists the folders of the API server, and nothing else", async () => {
  const rooms: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(new URL("../../src/apiserver", import.meta.url))) {
    if (isDirectory) rooms.push(name);
  }
  assert.deepEqual(rooms.sort(), Object.keys(SERVER_TABLE).sort());
});
