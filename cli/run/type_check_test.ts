import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { eventually } from "../../tests/eventually.ts";
import { RecordedIo } from "../_recorded_io.ts";
import { TypeChecks } from "./type_check.ts";

/** Creates a project with one file, and the type checks of that file. */
async function project(text: string) {
  const path = await Deno.makeTempDir();
  const folder = `${path}/temporary`;
  await Deno.mkdir(folder);
  // Excluded files must be checked too, although "deno check" skips them and succeeds.
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

const TYPE_ERROR = "export const size: string = 1;\n";
const CORRECTED = "export const size: string = '1';\n";

Deno.test("a type check reports errors with their position in the project, and when they are fixed", async () => {
  await using one = await project(TYPE_ERROR);
  one.checks.start();
  await eventually(() => assert.match(one.io.stderr, /Type check failed; the operator keeps running\n$/));
  assert.match(one.io.stderr, /^TS2322 \[ERROR\]: Type 'number' is not assignable to type 'string'\./);
  assert.match(one.io.stderr, /at main\.ts:1:14$/m);
  assert.doesNotMatch(one.io.stderr, /Stack backtrace|Type checking failed/);

  await one.write(CORRECTED);
  one.checks.start();
  await eventually(() => assert.equal(one.io.stdout, "Types are correct again\n"));
});

Deno.test("a type check does not report a result if the file has changed again", async () => {
  await using one = await project(TYPE_ERROR);
  one.checks.start();
  await one.write(`${CORRECTED}export const late: string = 2;\n`);
  one.checks.start();
  await eventually(() => assert.match(one.io.stderr, /Type check failed/));
  assert.match(one.io.stderr, /main\.ts:2:14/);
  assert.equal(one.io.stderr.match(/Type check failed/g)?.length, 1);
});

Deno.test("disposing of TypeChecks ends a running check without reporting its result", async () => {
  const one = await project(TYPE_ERROR);
  one.checks.start();
  await one.checks[Symbol.asyncDispose]();
  assert.deepEqual([one.io.stderr, one.io.stdout], ["", ""]);
  await one[Symbol.asyncDispose]();
});
