/** `op rbac unused`: finds RBAC permissions that an operator declares and no test uses. */
import type { RbacRule } from "@op/sdk/operator";
import { run, runningDeno, sourceFile } from "../deno.ts";
import { counted } from "../plural.ts";
import { Failure } from "../exit_code.ts";
import { factsOf, NO_IMAGE } from "../generate/generate.ts";
import { USAGE_FOLDER } from "../inspect.ts";
import type { Io } from "../io.ts";
import { temporaryFolder } from "../temporary_folder.ts";
import type { ProjectOptions } from "../project_file.ts";
import { permissionText } from "./verify.ts";
import { step } from "../progress.ts";

/** Options for {@linkcode unusedRules}. */
export interface UnusedOptions extends ProjectOptions {
  readonly output?: string | undefined;
}

/** The result, as `-o json` prints it. */
export interface Usage {
  readonly rules: readonly (RbacRule & { readonly used: boolean })[];
  /** The number of test clusters. */
  readonly clusters: number;
}

/**
 * Runs the tests and prints the permissions that no test used.
 *
 * @param file The file whose default export is the operator.
 * @param command The command that runs the tests, in the operator's folder.
 *   @default {`deno test --allow-all`}
 * @param options The settings file and the output format.
 * @param io The terminal and the shell.
 * @throws {Failure} If no test uses one of the permissions, the tests fail, or they start no
 *   cluster.
 */
export async function unusedRules(
  file: string,
  command: readonly string[],
  options: UnusedOptions,
  io: Io,
): Promise<void> {
  const facts = await factsOf(file, { config: options.config, image: NO_IMAGE }, io);
  const { folder } = await sourceFile(file, io);
  step("Running the tests", io);
  const clusters = await runTests(command.length > 0 ? command : [runningDeno(), "test", "--allow-all"], folder, io);
  const usage: Usage = {
    rules: facts.rbac.map((rule) => ({
      ...rule,
      used: clusters.some((rules) => rules.some((other) => other.used && isSame(rule, other))),
    })),
    clusters: clusters.length,
  };
  io.out(options.output === "json" ? `${JSON.stringify(usage, null, 2)}\n` : report(usage));
  const unused = usage.rules.filter(isReported);
  if (unused.length === 0) return;
  throw new Failure(
    `${unused.length} of ${
      counted(usage.rules.length, "permission is", "permissions are")
    } declared, but no test uses them. Remove the declarations, or add tests.`,
  );
}

async function runTests(command: readonly string[], cwd: string, io: Io): Promise<Usage["rules"][]> {
  using temporary = temporaryFolder("op-rbac-", io);
  const { path: folder } = temporary;
  const [program = "", ...args] = command;
  const { success, stdout, stderr } = await run(program, args, { cwd, env: { [USAGE_FOLDER]: folder } });
  if (!success) {
    io.err(`${stdout}${stderr}`);
    throw new Failure(`Cannot find unused permissions: "${command.join(" ")}" failed.`);
  }
  const files = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => `${folder}/${name}`);
  if (files.length === 0) {
    throw new Failure(
      `Cannot find unused permissions: "${
        command.join(" ")
      }" started no cluster. Run the operator in tests with memoryCluster.`,
    );
  }
  return await Promise.all(files.map(async (path) => JSON.parse(await Deno.readTextFile(path))));
}

/**
 * Compares permissions without their part, because a request does not name the part that sent it.
 */
function isSame(one: RbacRule, other: RbacRule): boolean {
  return one.verb === other.verb && one.group === other.group && one.resource === other.resource;
}

/**
 * Returns whether a permission is reported as unused. The operator's own permissions, and those
 * that only some clusters need, are not reported.
 */
function isReported({ used, part, optional }: Usage["rules"][number]): boolean {
  return !used && part !== undefined && optional !== true;
}

function report({ rules, clusters }: Usage): string {
  const reported = rules.filter(isReported);
  const other = rules.filter((rule) => !rule.used && !isReported(rule));
  const used = rules.filter(({ used }) => used).length;
  const lines = [
    `${used} of ${counted(rules.length, "permission is", "permissions are")} used, in ${
      counted(clusters, "test cluster")
    }`,
    ...[...Map.groupBy(reported, ({ part }) => part)].flatMap(([part, group]) => [
      `part "${part}"`,
      ...group.map((rule) => `  UNUSED  ${permissionText(rule)}: ${rule.reason}`),
    ]),
    ...(other.length === 0 ? [] : [
      "needed only by some clusters or at certain times",
      ...other.map((rule) => `  unused  ${permissionText(rule)}: ${rule.part ?? "the operator"} ${rule.reason}`),
    ]),
  ];
  return `${lines.join("\n")}\n`;
}
