/**
 * The test command: `deno task test` runs every lane, `deno task test unit real` only those, `deno
 * task test --list` lists them. A failed lane does not stop the next. The last line is `N passed, N
 * failed, N skipped`; the exit code is 1 if anything failed, 2 if the command was wrong.
 */
import { testCommand } from "./test/command.ts";
import { LANES } from "./test/lanes.ts";

if (import.meta.main) Deno.exit(await testCommand(Deno.args, LANES, (line) => console.log(line)));
