import assert from "node:assert/strict";
import { RunningIo } from "../../tests/fixtures/running_io.ts";
import { NOTES, operatorFolder } from "../_operator_folder.ts";
import { cli } from "../cli.ts";

Deno.test("op dev reports that the operator runs only after it has started", async () => {
  // Only the process that runs the operator may use the network, not the one that inspects it.
  const failing = `if (Deno.permissions.querySync({ name: "net" }).state === "granted") Deno.exit(3);\n`;
  await using folder = await operatorFolder(failing + NOTES);
  const io = new RunningIo(folder.path);
  const ended = cli(["dev", "--local", "--no-check"], io);
  await io.waitForOutput(/^The operator exited with code 3\. Save a file/, 1, ended);
  assert.doesNotMatch(io.stdout, /^Running as /m);
  await folder.write("main.ts", (await folder.read("main.ts")).replace(failing, ""));
  await io.waitForOutput(/^Running as system:serviceaccount:notes-system:notes\. Save a file/, 1, ended);
  io.end();
  assert.equal(await ended, 0, io.stderr);
});
