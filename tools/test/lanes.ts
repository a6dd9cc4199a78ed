/** The lanes of the test command. The fast ones are first. */
import { dirname } from "node:path";
import { controlPlane } from "../control_plane.ts";
import { check, EMPTY_RESULT, type Result, total } from "./report.ts";
import { documentedFiles, withDocConfig } from "./docs.ts";
import { undocumented } from "./documented.ts";
import { publishedFiles, reachedFiles, wrongFiles } from "./published.ts";
import { exists, ROOT, runCheck, runs, runTests, skip } from "./run.ts";
import { FLOOR, NoToolchain, toolchain } from "../toolchain.ts";
import { upstream } from "../upstream.ts";
import { withReadmeProject } from "../readme_examples.ts";

/** A part of the test command that can be run alone. */
export interface Lane {
  readonly name: string;
  /** What it checks, in a few words. */
  readonly title: string;
  /**
   * Runs the lane.
   *
   * @param passed The lanes that have passed in the same command.
   */
  run(passed: ReadonlySet<string>): Promise<Result>;
}

/** Tests that start the real control plane. */
const REAL = [
  "tests/real/",
  "tests/schemas/",
  "tests/upstream/",
  "tests/contract/contract_test.ts",
  "tests/contract/walks_test.ts",
  "src/testing/real_cluster_test.ts",
];

/**
 * Tests that run other projects' clients on the in-process server and the real one. They need Go
 * and Python.
 */
const CLIENTS = ["tests/clients/"];

/** Tests that compile an operator and run it. */
const COMPILED = ["tests/compiled/"];

/** The test in {@linkcode COMPILED} that measures time. */
const TIMED = "tests/compiled/idle_memory_test.ts";

/** Tests of compiler messages. They run the compilers of both versions of Deno. */
const TYPES = ["tests/types/"];

/** A test of the verify command, which records kopf again. */
const VERIFIED = ["tests/kopf/recorded_again_test.ts"];

// Deno treats a file named test.ts as a test.
const NOT_IN_PROCESS = `--ignore=${
  ["tools/test.ts", ...REAL, ...CLIENTS, ...COMPILED, ...TYPES, ...VERIFIED].join(",")
}`;

/** Every lane, in the order in which they run. */
export const LANES: readonly Lane[] = [
  { name: "fmt", title: "formatting", run: () => runCheck("fmt", ["fmt", "--check"]) },
  { name: "lint", title: "lint, with the import table of the packages", run: () => runCheck("lint", ["lint"]) },
  { name: "check", title: "types of all files", run: () => runCheck("check", ["check", "."]) },
  { name: "docs", title: "documentation of the public API, and its examples", run: docs },
  {
    name: "unit",
    title: "unit tests and in-process tests",
    run: (passed) => runTests("unit", ["--parallel", ...typesOf(passed), NOT_IN_PROCESS]),
  },
  { name: "types", title: "compiler messages of wrong declarations", run: types },
  { name: "publish", title: "published files, and a dry run of publishing", run: publish },
  { name: "floor", title: `unit tests and in-process tests on Deno ${FLOOR}`, run: floor },
  { name: "control-plane", title: "the real control plane, built if it is missing", run: built },
  {
    name: "readme",
    title: "code in README.md and in the guides, one of which needs the real control plane",
    run: readme,
  },
  { name: "real", title: "tests on the real control plane", run: real },
  {
    name: "clients",
    title: "client-go, controller-runtime and kopf on the in-process API server and the real one",
    run: clients,
  },
  { name: "compiled", title: `an operator compiled with Deno ${FLOOR}, on the real control plane`, run: compiled },
];

const NO_CONTROL_PLANE =
  "the real control plane cannot be built, because Go is not installed. Install Go or set KUBEBUILDER_ASSETS";

/** Skips type checks if the lane `check` has passed: they take as long as some of the tests. */
function typesOf(passed: ReadonlySet<string>): string[] {
  return passed.has("check") ? ["--no-check"] : [];
}

async function docs(): Promise<Result> {
  const lines = await undocumented();
  for (const line of lines) console.log(line);
  const examples = await withDocConfig((config) =>
    runTests("docs", ["--doc", "--parallel", `--config=${config}`, "--no-lock", ...documentedFiles()])
  );
  return total([check("documentation", lines.length === 0, lines.join("\n")), examples]);
}

async function readme(): Promise<Result> {
  const programs = await controlPlane();
  const env = programs === undefined ? {} : { KUBEBUILDER_ASSETS: dirname(programs.etcd) };
  return await withReadmeProject((cwd) => runTests("readme", ["--parallel", "--no-lock", "."], { cwd, env }));
}

/** A dry run sends no request to the registry. Slow types are errors in it. */
async function publish(): Promise<Result> {
  const cli = new URL("cli/", ROOT);
  return total([await published("@op/sdk", ROOT, [cli]), await published("@op/cli", cli, [])]);
}

async function published(name: string, folder: URL, others: readonly URL[]): Promise<Result> {
  try {
    const files = await publishedFiles(folder);
    const wrong = wrongFiles(files, await reachedFiles(folder, others));
    console.log(`${name}: ${files.length} files`);
    return check(`publish ${name}`, wrong.length === 0, wrong.join("\n"));
  } catch (error) {
    return check(`publish ${name}`, false, (error as Error).message);
  }
}

async function floor(): Promise<Result> {
  let deno: string;
  try {
    ({ deno } = await toolchain());
  } catch (error) {
    if (error instanceof NoToolchain) return skip("floor", error.message);
    throw error;
  }
  // By default this version trusts only its own certificate authorities; a private registry may
  // need those of the machine.
  const env = { DENO_TLS_CA_STORE: Deno.env.get("DENO_TLS_CA_STORE") ?? "mozilla,system" };
  return await runTests("floor", ["--parallel", "--no-lock", NOT_IN_PROCESS], { deno, env });
}

async function types(passed: ReadonlySet<string>): Promise<Result> {
  try {
    await toolchain();
  } catch (error) {
    if (error instanceof NoToolchain) return skip("types", error.message);
    throw error;
  }
  return await runTests("types", [...typesOf(passed), ...TYPES.filter((path) => exists(new URL(path, ROOT)))]);
}

async function built(): Promise<Result> {
  const programs = await controlPlane({ print: console.log });
  return programs === undefined ? skip("control-plane", NO_CONTROL_PLANE) : check("control-plane", true, "");
}

async function real(passed: ReadonlySet<string>): Promise<Result> {
  if (await controlPlane() === undefined) return skip("real", NO_CONTROL_PLANE);
  const { missing, reason } = await upstream({ print: console.log });
  return total([
    missing.length > 0 ? skip("real: kinds of other projects", reason) : EMPTY_RESULT,
    await runTests("real", ["--parallel", ...typesOf(passed), ...REAL.filter((path) => exists(new URL(path, ROOT)))]),
  ]);
}

async function clients(passed: ReadonlySet<string>): Promise<Result> {
  if (await controlPlane() === undefined) return skip("clients", NO_CONTROL_PLANE);
  for (const [command, args, name] of [["go", ["version"], "Go"], ["python3", ["--version"], "Python 3"]] as const) {
    if (!await runs(command, args)) return skip("clients", `"${command}" is not installed. Install ${name}`);
  }
  return await runTests("clients", ["--parallel", ...typesOf(passed), ...CLIENTS]);
}

async function compiled(passed: ReadonlySet<string>): Promise<Result> {
  if (await controlPlane() === undefined) return skip("compiled", NO_CONTROL_PLANE);
  try {
    await toolchain();
  } catch (error) {
    if (error instanceof NoToolchain) return skip("compiled", error.message);
    throw error;
  }
  // The test that measures time runs alone.
  return total([
    await runTests("compiled", ["--parallel", ...typesOf(passed), `--ignore=${TIMED}`, ...COMPILED]),
    await runTests("compiled", [...typesOf(passed), TIMED]),
  ]);
}
