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

const FORBIDDEN: { file: string; code: string; message: RegExp }[] = [
  {
    file: "src/queue/queue.ts",
    code: `import { Client } from "../kube/client.ts";`,
    message: /^Cannot import "kube" from "queue": "queue" may import only "base"\. /,
  },
  {
    file: "src/base/clock.ts",
    code: `export * from "../queue/queue.ts";`,
    message: /^Cannot import "queue" from "base": "base" may import no other package\. /,
  },
  {
    file: "src/apiserver/server.ts",
    code: `export { Client } from "../kube/client.ts";`,
    message: /"kube" from "apiserver"/,
  },
  {
    file: "src/apiserver/core/persist.ts",
    code: `import { create } from "../verbs/writes.ts";`,
    message:
      /^Cannot import "apiserver\/verbs" from "apiserver\/core": of the API server's packages it may import only "access", /,
  },
  {
    file: "src/apiserver/wire/protobuf/decode.ts",
    code: `import type { Store } from "../../objects/store.ts";`,
    message: /"apiserver\/objects" from "apiserver\/wire": .* no other package\. /,
  },
  {
    file: "src/apiserver/core/persist.ts",
    code: `import "../mod.ts";`,
    message: /"src\/apiserver\/mod.ts", which combines the packages/,
  },
  {
    file: "src/apiserver/attic/old.ts",
    code: `import "../wire/body.ts";`,
    message: /"src\/apiserver\/attic\/old.ts" is in no package/,
  },
  { file: "src/kube/client.ts", code: `await import("../watch/watch.ts");`, message: /"watch" from "kube"/ },
  {
    file: "src/kube/client.ts",
    code: `type Watch = import("../watch/watch.ts").Watch;`,
    message: /"watch" from "kube"/,
  },
  {
    file: "src/kube/client.ts",
    code: `import type { Watch } from "../watch/watch.ts";`,
    message: /"watch" from "kube"/,
  },
  { file: "src/runtime/loop.ts", code: `import "../testing/mod.ts";`, message: /"testing" from "runtime"/ },
  { file: "src/runtime/loop.ts", code: `import "@op/sdk/testing";`, message: /"testing" from "runtime"/ },
  { file: "src/operator/operator.ts", code: `import "@op/sdk/testing";`, message: /"testing" from "operator"/ },
  { file: "src/runtime/loop.ts", code: `import "@op/sdk";`, message: /"mod.ts", which is in no package/ },
  {
    file: "src/runtime/loop.ts",
    code: `import "../../tools/x.ts";`,
    message: /"tools\/x.ts", which is in no package/,
  },
  {
    file: "src/attic/old.ts",
    code: `import "../base/clock.ts";`,
    message: /"src\/attic\/old.ts" is in no package/,
  },
  { file: "mod.ts", code: `export * from "./src/testing/mod.ts";`, message: /"testing" from an entry point/ },
  {
    file: "cli/main.ts",
    code: `import "../src/kube/client.ts";`,
    message: /^Cannot import "..\/src\/kube\/client.ts" from "cli\/main.ts"/,
  },
  { file: "examples/01_website/main.ts", code: `import "../../mod.ts";`, message: /from "examples\/01_website\/"/ },
  { file: "templates/operator/main.ts", code: `import "../other/main.ts";`, message: /from "templates\/operator\/"/ },
];

Deno.test("layers allows the imports of the table", () => {
  for (const { file, code } of ALLOWED) assert.deepEqual(lint(file, code), [], `${file}: ${code}`);
});

Deno.test("layers reports each other import once, with both packages", () => {
  for (const { file, code, message } of FORBIDDEN) {
    const messages = lint(file, code);
    assert.equal(messages.length, 1, `${file}: ${code}`);
    assert.match(messages[0] ?? "", message);
  }
});

Deno.test("layers finds the package of a file by its path in the repository", () => {
  const file = new URL("../../src/queue/queue.ts", import.meta.url).pathname;
  assert.equal(lint(file, `import "../kube/client.ts";`).length, 1);
});

Deno.test("TABLE allows operator and provision what their imports may import", () => {
  assert.deepEqual(TABLE.provision, ["base", "kinds", "kube", "manifests", "parts", "resource", "schema"]);
  assert(TABLE.operator.includes("queue") && !TABLE.operator.includes("apiserver"));
});

for (const [name, table] of [["TABLE", TABLE], ["SERVER_TABLE", SERVER_TABLE]] as const) {
  const rows = new Map<string, readonly string[]>(Object.entries(table));

  Deno.test(`${name} has no cycle`, () => {
    function reach(name: string, seen = new Set<string>()): Set<string> {
      for (const next of rows.get(name) ?? []) if (!seen.has(next)) reach(next, seen.add(next));
      return seen;
    }
    for (const name of rows.keys()) assert(!reach(name).has(name), name);
  });
}

Deno.test("SERVER_TABLE lists exactly the folders of the API server", async () => {
  const folders: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(new URL("../../src/apiserver", import.meta.url))) {
    if (isDirectory) folders.push(name);
  }
  assert.deepEqual(folders.sort(), Object.keys(SERVER_TABLE).sort());
});
