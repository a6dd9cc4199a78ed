/**
 * The verify command: `deno task verify` runs all checks that are too slow for the test command,
 * `deno task verify NAME...` runs some of them, and `deno task verify --list` lists them. Its
 * output and its exit code are those of `tools/test.ts`.
 */
import { testCommand } from "./test/command.ts";
import { VERIFICATIONS } from "./verify/verifications.ts";

if (import.meta.main) Deno.exit(await testCommand(Deno.args, VERIFICATIONS, (line) => console.log(line)));
