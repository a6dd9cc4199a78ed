/**
 * `op`, the command line of the SDK: creates operators, builds them and generates their manifests.
 * `op --help` lists the commands.
 *
 * @module
 */
import { cli } from "./cli.ts";
import { systemIo } from "./io.ts";

export { cli } from "./cli.ts";
export { EXIT } from "./exit_code.ts";
export type { Io } from "./io.ts";

if (import.meta.main) Deno.exit(await cli(Deno.args, systemIo));
