import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { eventually } from "../../tests/eventually.ts";
import { RecordedIo } from "../_recorded_io.ts";
import { TypeChecks } from "./type_check.ts";

/** A project of one file, and checks of it. */
async function project(text: string) {
  const path = await Deno.makeTempDir();
  const folder = `${path}/temporary`;
  await Deno.mkdir(folder);
  // Deno says of an excluded file that it found none, and calls that a success.
  await Deno.writeTextFile(`${path}/deno.json`, JSON.stringify({ exclude: ["main.ts"] }));
  const write = (text: string) => Deno.writeTextFile(`${path}/main.ts`, text);
  await write(text);
  const io = new RecordedIo(path);
  const file = `${path}/main.ts`;
  const source = { path: file, shown: "main.ts", url: pathToFileURL(file), folder: path };
  const checks = new TypeChecks(source, folder, io);
  return {
    io,
    checks,
    write,
    async [Symbol.asyncDispose]() {
      await checks[Symbol.asyncDispose]();
      await Deno.remove(path, { recursive: true });
    },
  };
}

const WRONG = "export const size: string = 1;\n";
const RIGHT = "export const size: string = '1';\n";

Deno.test("a type check reports errors with their position in the project, and when they are fixed", async () => {
  await using one = await project(WRONG);
  one.checks.start();
  await eventually(() => assert.match(one.io.stderr, /Type check failed; the operator keeps running\n$/));
  assert.match(one.io.stderr, /^TS2322 \[ERROR\]: Type 'number' is not assignable to type 'string'\./);
  assert.match(one.io.stderr, /at main\.ts:1:14$/m);
  assert.doesNotMatch(one.io.stderr, /Stack backtrace|Type checking failed/);

  await one.write(RIGHT);
  one.checks.start();
  await eventually(() => assert.equal(one.io.stdout, "Types are correct again\n"));
});

Deno.test("a type check reports no result after a newer change", async () => {
  await using one = await project(WRONG);
  one.checks.start();
  await one.write(`${RIGHT}export const late: string = 2;\n`);
  one.checks.start();
  await eventually(() => assert.match(one.io.stderr, /Type check failed/));
  assert.match(one.io.stderr, /main\.ts:2:14/);
  assert.equal(one.io.stderr.match(/Type check failed/g)?.length, 1);
});

Deno.test("disposing of type checks ends a running check without a report", async () => {
  const one = await project(WRONG);
  one.checks.start();
  await one.checks[Symbol.asyncDispose]();
  assert.deepEqual([one.io.stderr, one.io.stdout], ["", ""]);
  await one[Symbol.asyncDispose]();
});
