import assert from "node:assert/strict";
import { join } from "node:path";
import { RecordedIo } from "../_recorded_io.ts";
import { cli } from "../cli.ts";

// Maps line 2, from column 5 on, to website/controller.ts 10:5.
const MAP = { version: 3, sources: ["main.ts", "website/controller.ts"], names: [], mappings: ";AAAA,ICSI" };

async function runTrace(files: Record<string, string>, ...args: string[]) {
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(join(folder, name), text);
    const io = new RecordedIo(folder);
    return Object.assign(io, { code: await cli(["trace", ...args], io) });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

// Maps line 1 of a file that is loaded on demand to certificate.ts 5:1.
const CHUNK = { version: 3, sources: ["certificate.ts"], names: [], mappings: "AAIA" };

const LOGS = [
  {
    name: "a stack trace",
    log:
      "Error: out of milk\n    at a (file:///tmp/deno-compile-shop/operator.js:2:9)\n    at ext:core/01_core.js:2:9\n",
    expected: "Error: out of milk\n    at a (website/controller.ts:10:5)\n    at ext:core/01_core.js:2:9\n",
  },
  {
    name: "a line of JSON, which remains JSON",
    log: '{"stack":"Error: x\\n    at file:///tmp/deno-compile-shop/operator.js:2:1\\n"}',
    expected: '{"stack":"Error: x\\n    at main.ts:1:1\\n"}',
  },
  {
    name: "an error in colors, which are removed",
    log:
      "    at \x1b[1ma\x1b[22m (\x1b[36mfile:///tmp/deno-compile-shop/operator.js\x1b[39m:\x1b[33m2\x1b[39m:\x1b[33m9\x1b[39m)\n",
    expected: "    at a (website/controller.ts:10:5)\n",
  },
  {
    name: "positions without a source, which are unchanged",
    log: "at file:///tmp/deno-compile-shop/operator.js:1:1 and operator.json:2:1\n",
    expected: "at file:///tmp/deno-compile-shop/operator.js:1:1 and operator.json:2:1\n",
  },
  {
    name: "a position in a file that is loaded on demand",
    log:
      "at file:///tmp/deno-compile-shop/x509-0123abcd.js:1:1 and file:///tmp/deno-compile-shop/gone-0123abcd.js:1:1\n",
    expected: "at certificate.ts:5:1 and file:///tmp/deno-compile-shop/gone-0123abcd.js:1:1\n",
  },
  { name: "an empty log", log: "", expected: "" },
];

Deno.test("op trace replaces positions in the bundle with positions in the source", async (t) => {
  for (const { name, log, expected } of LOGS) {
    await t.step(name, async () => {
      const map = { ...MAP, x_chunks: { "x509-0123abcd.js": CHUNK } };
      const io = await runTrace({ "shop.map": JSON.stringify(map), log }, "shop", "log");
      assert.equal(io.code, 0, io.stderr);
      assert.equal(io.stdout, expected);
    });
  }
});

Deno.test("op trace reports a missing file and an invalid map", async () => {
  const missing = await runTrace({}, "shop", "log");
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /^Cannot read "shop\.map": the source map does not exist\./);
  const other = await runTrace({ "shop.map": '{"version":2}' }, "shop.map", "log");
  assert.match(other.stderr, /^Cannot read "shop\.map": it is not a source map\./);
  const noLog = await runTrace({ "shop.map": JSON.stringify(MAP) }, "shop", "log");
  assert.match(noLog.stderr, /^Cannot read "log": the file does not exist\./);
});
