/**
 * Prints the messages in the code that users can see, by package, with file and line:
 * `deno task messages`, or `deno task messages --kind errors src/kube` for some of them.
 */
import { fileURLToPath } from "node:url";
import { KINDS, type MessageKind } from "./messages/plugin.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const PLUGIN = new URL("messages/plugin.ts", import.meta.url).href;

/** A message that users can see. */
export interface Message {
  /** The path from the root of the repository. */
  readonly file: string;
  readonly line: number;
  readonly kind: MessageKind;
  /** The text, with template expressions as `${...}`, or the expression that builds it. */
  readonly text: string;
}

/**
 * Returns the messages of source files, in the order of files and lines.
 *
 * @param files The paths from the root of the repository.
 */
export async function messagesIn(files: readonly string[]): Promise<Message[]> {
  const folder = await Deno.makeTempDir();
  try {
    const config = `${folder}/deno.json`;
    const rules = { tags: [], include: ["messages/list"] };
    await Deno.writeTextFile(config, JSON.stringify({ lint: { plugins: [PLUGIN], rules } }));
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["lint", "--json", "--config", config, ...files.map((file) => `${ROOT}${file}`)],
    }).output();
    const { diagnostics, errors } = parse(stdout) ?? { diagnostics: [], errors: [new TextDecoder().decode(stderr)] };
    if (errors.length > 0) throw new Error(`deno lint failed: ${JSON.stringify(errors)}`);
    return diagnostics.map(messageOf).sort((a, b) => a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Returns the package of a file: its folder in `src`, or its first folder.
 *
 * @param file The path from the root of the repository.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(packageOf("src/kube/http2/frames.ts"), "src/kube");
 * assert.equal(packageOf("cli/new/ask.ts"), "cli");
 * ```
 */
export function packageOf(file: string): string {
  return /^(src\/[^/]+|[^/]+)/.exec(file)![0];
}

/** The output of `deno lint --json`, as far as it is used. */
interface LintReport {
  readonly diagnostics: readonly {
    readonly filename: string;
    readonly range: { readonly start: { readonly line: number } };
    readonly message: string;
  }[];
  readonly errors: readonly unknown[];
}

/** Returns the report, or `undefined` if `deno lint` failed before it wrote one. */
function parse(stdout: Uint8Array): LintReport | undefined {
  return stdout.length === 0 ? undefined : JSON.parse(new TextDecoder().decode(stdout));
}

function messageOf({ filename, range, message }: LintReport["diagnostics"][number]): Message {
  const [kind] = message.split(": ", 1) as [MessageKind];
  return {
    file: fileURLToPath(filename).slice(ROOT.length),
    line: range.start.line,
    kind,
    text: message.slice(kind.length + 2),
  };
}

/** Returns the source files in folders, without tests and generated files. */
async function sources(folders: readonly string[]): Promise<string[]> {
  const { stdout } = await new Deno.Command("git", { args: ["ls-files", "--", ...folders], cwd: ROOT }).output();
  const files = new TextDecoder().decode(stdout).split("\n");
  return files.filter((file) => /\.ts$/.test(file) && !/(_test|\.gen|\.d)\.ts$/.test(file));
}

if (import.meta.main) {
  const folders: string[] = [];
  const kinds: string[] = [];
  for (let i = 0; i < Deno.args.length; i++) {
    if (Deno.args[i] === "--kind") kinds.push(...(Deno.args[++i] ?? "").split(","));
    else folders.push(Deno.args[i]!);
  }
  const unknown = kinds.find((kind) => !KINDS.some((known) => known === kind));
  if (unknown !== undefined) {
    console.error(`Unknown kind of message "${unknown}". Available kinds: ${KINDS.join(", ")}.`);
    Deno.exit(2);
  }
  const files = await sources(folders.length > 0 ? folders : ["src", "cli", "tools"]);
  if (files.length === 0) {
    console.error(`No source files in ${folders.join(", ")}. Name files or folders of the repository.`);
    Deno.exit(2);
  }
  const all = await messagesIn(files);
  const shown = all.filter(({ kind }) => kinds.length === 0 || kinds.includes(kind));
  for (const [name, messages] of Map.groupBy(shown, ({ file }) => packageOf(file))) {
    console.log(`${name}: ${messages.length} messages`);
    for (const { file, line, kind, text } of messages) console.log(`  ${file}:${line} ${kind}: ${text}`);
    console.log();
  }
}
