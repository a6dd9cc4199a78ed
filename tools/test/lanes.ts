/** The lanes of the test command, cheap ones first. */
import { dirname } from "node:path";
import { controlPlane } from "../control_plane.ts";
import { check, NOTHING, type Result, total } from "./report.ts";
import { documentedFiles, withDocConfig } from "./docs.ts";
import { untold } from "./documented.ts";
import { publishedFiles, reachedFiles, wrongFiles } from "./published.ts";
import { exists, ROOT, runCheck, runs, runTests, skip } from "./run.ts";
import { FLOOR, NoToolchain, toolchain } from "../toolchain.ts";
import { upstream } from "../upstream.ts";
import { withReadmeProject } from "../readme_examples.ts";

/** A part of the test command that can be run alone. */
export interface Lane {
  readonly name: string;
  /** What it shows, in a few words. */
  readonly title: string;
  /**
   * Runs it.
   *
   * @param passed The lanes that have passed in the same command.
   */
  run(passed: ReadonlySet<string>): Promise<Result>;
}

/** Tests that start the real control plane, wherever they lie. */
const REAL = [
  "tests/real/",
  "tests/schemas/",
  "tests/upstream/",
  "tests/contract/contract_test.ts",
  "tests/contract/walks_test.ts",
  "src/testing/real_cluster_test.ts",
];

/** Tests of clients that are not ours on the server in the process and on the real one; what they are written in must be there. */
const CLIENTS = ["tests/clients/"];

/** Tests that compile an operator and run it. */
const COMPILED = ["tests/compiled/"];

/** The one of them that takes the time of a program. */
const TIMED = "tests/compiled/start_test.ts";

/** Tests of what the compiler says; they run the compilers of both Denos themselves. */
const TYPES = ["tests/types/"];

// Deno takes a file named test.ts for a test.
const NOT_IN_PROCESS = `--ignore=${["tools/test.ts", ...REAL, ...CLIENTS, ...COMPILED, ...TYPES].join(",")}`;

/** Every lane, in the order in which they run. */
export const LANES: readonly Lane[] = [
  { name: "fmt", title: "formatting", run: () => runCheck("fmt", ["fmt", "--check"]) },
  { name: "lint", title: "lint, with the import table of the rooms", run: () => runCheck("lint", ["lint"]) },
  { name: "check", title: "types of everything", run: () => runCheck("check", ["check", "."]) },
  { name: "docs", title: "documentation of all that is public, and its examples", run: docs },
  {
    name: "unit",
    title: "unit tests and tests in the process",
    run: (passed) => runTests("unit", ["--parallel", ...typesOf(passed), NOT_IN_PROCESS]),
  },
  { name: "types", title: "what the compiler says of wrong declarations", run: types },
  { name: "publish", title: "what would be published, and that it could be", run: publish },
  { name: "floor", title: `unit tests and tests in the process on Deno ${FLOOR}`, run: floor },
  { name: "control-plane", title: "the real control plane, built when it is not there", run: built },
  {
    name: "readme",
    title: "code in README.md and in the guides, one of which wants the real control plane",
    run: readme,
  },
  { name: "real", title: "tests on the real control plane", run: real },
  { name: "clients", title: "client-go, controller-runtime and kopf on our API server and the real one", run: clients },
  { name: "compiled", title: `an operator compiled with Deno ${FLOOR}, on the real control plane`, run: compiled },
];

const NO_CONTROL_PLANE =
  "the real control plane cannot be built, as there is no Go here; install Go or set KUBEBUILDER_ASSETS";

/** The types of everything are not looked at again where the lane that does has passed: it takes as long as many a test. */
function typesOf(passed: ReadonlySet<string>): string[] {
  return passed.has("check") ? ["--no-check"] : [];
}

async function docs(): Promise<Result> {
  const lines = await untold();
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

/** Nothing is asked of the registry in a dry run. Slow types are errors in it. */
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
  // Unlike later ones, this Deno trusts only its own list of authorities unless told; a private registry may need the machine's.
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
    missing.length > 0 ? skip("real: kinds of other projects", reason) : NOTHING,
    await runTests("real", ["--parallel", ...typesOf(passed), ...REAL.filter((path) => exists(new URL(path, ROOT)))]),
  ]);
}

async function clients(passed: ReadonlySet<string>): Promise<Result> {
  if (await controlPlane() === undefined) return skip("clients", NO_CONTROL_PLANE);
  for (const [command, args, name] of [["go", ["version"], "Go"], ["python3", ["--version"], "Python 3"]] as const) {
    if (!await runs(command, args)) return skip("clients", `"${command}" is not here; install ${name}`);
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
  // What takes the time of a program wants the machine for itself.
  return total([
    await runTests("compiled", ["--parallel", ...typesOf(passed), `--ignore=${TIMED}`, ...COMPILED]),
    await runTests("compiled", [...typesOf(passed), TIMED]),
  ]);
}
