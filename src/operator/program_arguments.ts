/** The command line of an operator's program: commands, flags and help. */
import { parseArgs } from "node:util";
import { CERTIFICATE_SOURCES } from "../manifests/install.ts";
import type { OperatorDefinition } from "./operator_definition.ts";
import { SETTINGS } from "./setting_list.ts";
import { DEFAULT_FILE } from "./settings_source.ts";

/** The commands. */
export const COMMANDS: readonly string[] = ["start", "manifests", "crds", "rbac", "sandbox", "version"];

/** Flags that are not settings: where the cluster and the settings file are. */
const OWN_FLAGS = {
  kubeconfig: { type: "string" },
  context: { type: "string" },
  config: { type: "string" },
  into: { type: "string" },
  image: { type: "string" },
  certificates: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

type OwnFlag = Exclude<keyof typeof OWN_FLAGS, "help">;

/** The values of the flags. */
export type Values = Readonly<Record<string, unknown>> & { readonly [name in OwnFlag]?: string };

/** Invalid arguments. The program prints the message with a hint and exits with code 2. */
export class UsageError extends Error {}

/**
 * Parses the arguments of a program.
 *
 * @param args The arguments.
 * @throws {UsageError} If an option is unknown, has an unexpected value, or lacks its value.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const { values, positionals } = parseArguments(["crds", "--config=operator.toml"]);
 * assert.deepEqual([positionals, values.config], [["crds"], "operator.toml"]);
 * ```
 */
export function parseArguments(args: readonly string[]): { values: Values; positionals: string[] } {
  const options = flags();
  // In strict mode, parseArgs names the option only in the error message. checkToken() replaces it.
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind === "option") checkToken(token, options[token.name]?.type);
  }
  return { values: values as Values, positionals };
}

function checkToken({ rawName, value, inlineValue }: OptionToken, type: "string" | "boolean" | undefined): void {
  if (type === undefined) throw new UsageError(`Unknown option "${rawName}".`);
  if (type === "boolean" && value !== undefined) throw new UsageError(`Option "${rawName}" takes no value.`);
  if (type === "boolean") return;
  // Otherwise another option after a forgotten value would become the value.
  const isOption = !inlineValue && value !== undefined && value.length > 1 && value.startsWith("-");
  if (value === undefined || isOption) throw new UsageError(`Option "${rawName}" needs a value.`);
}

/** An option that `parseArgs` parsed. */
interface OptionToken {
  /** The option as the user wrote it: `--config`, `-n`. */
  readonly rawName: string;
  readonly value: string | undefined;
  /** Whether the value is part of the same argument: `--config=file`. */
  readonly inlineValue: boolean | undefined;
}

interface Flag {
  readonly type: "string" | "boolean";
  readonly short?: string;
  readonly multiple?: boolean;
}

function flags(): Record<string, Flag> {
  const settings = SETTINGS.flatMap(({ flag, short, type }): (readonly [string, Flag])[] => {
    if (flag === undefined) return [];
    const named = short === undefined ? {} : { short };
    if (type !== "boolean") {
      return [[flag, { type: "string", multiple: type === "list" || type === "namespaces", ...named }]];
    }
    return [[flag, { type: "boolean", ...named }], [`no-${flag}`, { type: "boolean" }]];
  });
  return { ...Object.fromEntries(settings), ...OWN_FLAGS };
}

/**
 * Returns the help of a program.
 *
 * @param operator Its operator.
 */
export function helpOf({ name, version }: Pick<OperatorDefinition, "name" | "version">): string {
  const own = [
    ["    --kubeconfig FILE", "kubeconfig (default: KUBECONFIG, the pod's service account, ~/.kube/config)"],
    ["    --context NAME", "context of the kubeconfig"],
    [
      "    --config FILE",
      `settings file (default: ${DEFAULT_FILE} if it exists); with manifests, "-" is standard input`,
    ],
    ["    --into NAME", `with manifests and rbac: namespace that the operator runs in (default: ${name}-system)`],
    ["    --image IMAGE", `with manifests: image of this program (default: ${name}:${version})`],
    [
      "    --certificates SOURCE",
      `with manifests and rbac: source of the webhook certificate: ${CERTIFICATE_SOURCES.join(", ")}`,
    ],
  ] as const;
  const settings = SETTINGS.flatMap(({ flag, short, type, help }) => {
    if (flag === undefined) return [];
    const value =
      { boolean: "", number: " N", duration: " TIME", list: " NAME", namespaces: " NAME" }[type as string] ?? " TEXT";
    return [[`${short === undefined ? "   " : `-${short},`} --${flag}${value}`, help] as const];
  });
  const lines = [...own, ...settings, ["-h, --help", "print this help"] as const];
  const width = Math.max(...lines.map(([left]) => left.length)) + 2;
  return `Usage: ${name} [command] [options]

Commands:
  start      run the operator (default)
  manifests  print everything that a cluster needs to run it, for "kubectl apply -f -"
  crds       print only the CustomResourceDefinitions
  rbac       print only the service account and roles
  sandbox    print the sandbox permissions as Deno flags
  version    print the version

Options:
${lines.map(([left, right]) => `  ${left.padEnd(width)}${right}`).join("\n")}

Each setting has a flag (--log-level), an environment variable (OP_LOG_LEVEL) and a key in the table
[operator] of the file (log_level). Flags take precedence over variables, variables over the file, and
the file over the code. Boolean flags can be negated, for example --no-leader-election.
`;
}
