/** The command line of `op build`. */
import { Command } from "@commander-js/extra-typings";
import { CONFIG, examples, SINGLE_FILE } from "../command_options.ts";
import type { Io } from "../io.ts";

/** Returns the command `op build`. */
export function buildCommand(io: Io) {
  return new Command("build")
    .description("Compile an operator into one executable that has only the sandbox permissions it needs")
    .argument("[file]", SINGLE_FILE, "main.ts")
    .option("-o, --output <file>", "executable to write (default: dist/NAME)")
    .option(
      "--image",
      "also build the container image, as [build.builder] and [build.image] of operator.toml configure",
    )
    .option(
      "--compiler <deno>",
      "Deno that compiles (default: DENO_COMPILER, otherwise the one that runs op); set DENORT_BIN if its runtime " +
        "cannot be downloaded",
    )
    .option(...CONFIG)
    .option("--target <machine>", "x86_64, aarch64 or a target of deno compile (default: this machine)")
    .option(
      "--telemetry",
      "export OpenTelemetry traces to OTEL_EXPORTER_OTLP_ENDPOINT (default: build.telemetry of operator.toml)",
    )
    .option("--force", "overwrite the output even if op did not build it")
    .addHelpText("after", examples("op build", "op build --image", "op build --target aarch64", "op build notes.ts"))
    .action(async (file, options) => (await import("./build.ts")).build(file, options, io));
}
