/** `op rbac unused`: the rights that an operator declares and that none of its tests uses. */
import type { RbacRule } from "@op/sdk/operator";
import { run, runningDeno, sourceFile } from "../deno.ts";
import { counted } from "../plural.ts";
import { Failure } from "../exit_code.ts";
import { factsOf, NO_IMAGE } from "../generate/generate.ts";
import type { Io } from "../io.ts";
import { temporaryFolder } from "../temporary_folder.ts";
import type { ProjectOptions } from "../project_file.ts";
import { line } from "./verify.ts";
import { step } from "../progress.ts";

/** Names the folder into which clusters of tests tell what they saw; the SDK's testing room reads it. */
const USED_RIGHTS = "OP_RBAC_USAGE";

/** Options for {@linkcode unusedRights}. */
export interface UnusedOptions extends ProjectOptions {
  readonly output?: string | undefined;
}

/** The findings, as `-o json` prints them. */
export interface Usage {
  readonly rights: readonly (RbacRule & { readonly used: boolean })[];
  /** How many clusters of tests told what they saw. */
  readonly clusters: number;
}

/**
 * Runs the tests, and tells what none of them used.
 *
 * @param file The file whose default export is the operator.
 * @param command What runs the tests, in the operator's folder. @default {`deno test --allow-all`}
 * @param options How it is told.
 * @param io The terminal and the shell.
 * @throws {Failure} If a declared right is used by no test, or the tests fail, or have no cluster.
 */
export async function unusedRights(
  file: string,
  command: readonly string[],
  options: UnusedOptions,
  io: Io,
): Promise<void> {
  const facts = await factsOf(file, { config: options.config, image: NO_IMAGE }, io);
  const { folder } = await sourceFile(file, io);
  step("Running the tests", io);
  const seen = await seenBy(command.length > 0 ? command : [runningDeno(), "test", "--allow-all"], folder, io);
  const usage: Usage = {
    rights: facts.rights.map((right) => ({
      ...right,
      used: seen.some((some) => some.some((other) => other.used && isSame(right, other))),
    })),
    clusters: seen.length,
  };
  io.out(options.output === "json" ? `${JSON.stringify(usage, null, 2)}\n` : told(usage));
  const unused = usage.rights.filter(isWrong);
  if (unused.length === 0) return;
  throw new Failure(
    `${unused.length} of ${
      counted(usage.rights.length, "right is", "rights are")
    } declared and no test uses them: take the declaration away, or write the test`,
  );
}

async function seenBy(command: readonly string[], cwd: string, io: Io): Promise<Usage["rights"][]> {
  using temporary = temporaryFolder("op-rights-", io);
  const { path: folder } = temporary;
  const [program = "", ...args] = command;
  const { success, stdout, stderr } = await run(program, args, { cwd, env: { [USED_RIGHTS]: folder } });
  if (!success) {
    io.err(`${stdout}${stderr}`);
    throw new Failure(`Cannot tell what the tests use: "${command.join(" ")}" failed`);
  }
  const files = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => `${folder}/${name}`);
  if (files.length === 0) {
    throw new Failure(
      `Cannot tell what the tests use: "${
        command.join(" ")
      }" made no cluster; let tests run the operator by memoryCluster`,
    );
  }
  return await Promise.all(files.map(async (path) => JSON.parse(await Deno.readTextFile(path))));
}

/** Whose part it is does not count: a request does not say which part sent it. */
function isSame(one: RbacRule, other: RbacRule): boolean {
  return one.verb === other.verb && one.group === other.group && one.resource === other.resource;
}

/** What the operator itself needs, and what only some clusters ask for, is nobody's mistake. */
function isWrong({ used, part, seldom }: Usage["rights"][number]): boolean {
  return !used && part !== undefined && seldom !== true;
}

function told({ rights, clusters }: Usage): string {
  const unused = rights.filter(isWrong);
  const other = rights.filter((right) => !right.used && !isWrong(right));
  const lines = [
    `${rights.filter(({ used }) => used).length} of ${counted(rights.length, "right is", "rights are")} used, in ${
      counted(clusters, "cluster")
    } of tests`,
    ...[...Map.groupBy(unused, ({ part }) => part)].flatMap(([part, some]) => [
      `controller "${part}"`,
      ...some.map((right) => `  UNUSED  ${line(right)}: ${right.reason}`),
    ]),
    ...(other.length === 0 ? [] : [
      "asked for by some clusters or at some times only",
      ...other.map((right) => `  unused  ${line(right)}: ${right.part ?? "the operator"} ${right.reason}`),
    ]),
  ];
  return `${lines.join("\n")}\n`;
}
