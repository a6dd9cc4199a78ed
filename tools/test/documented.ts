/**
 * Checks that all public declarations are documented, and that every function and class has an
 * example. `deno doc --lint` reports missing documentation, and types of public signatures that no
 * entry point exports.
 */
import { stripVTControlCharacters } from "node:util";
import { ROOT } from "./run.ts";

/**
 * Types that users need not name, because TypeScript infers them. A key describes the types in its
 * list.
 */
const UNNAMED: Readonly<Record<string, readonly string[]>> = {
  "carries the types of a value and has no value itself": ["needs", "SchemaTypes", "types"],
  "determines which kinds a part may use, or how it is declared": [
    "Child",
    "ChildrenOf",
    "Declared",
    "Deletable",
    "KindsOf",
    "Owned",
    "Readable",
    "Reported",
    "SdkStatus",
    "StatusKind",
    "Used",
    "Writable",
  ],
  "is the object of ReviewedObject, MutableObject or MutateResult of a webhook": [
    "Draft",
    "MutatedObject",
    "Returned",
    "Subject",
  ],
  "is inferred from the options of resource(), or is the message for invalid ones": [
    "AnyColumns",
    "CheckedColumns",
    "CheckedFields",
    "CheckedNames",
    "KindName",
    "ObjectOnly",
    "OnlyOptions",
    "OtherVersion",
    "ReplicasPath",
    "ResourceInput",
    "ResourceMeta",
    "ResourceObject",
    "RootSchema",
    "SelectorPath",
    "StatusSchema",
  ],
  "is inferred from the arguments of a builder of s, or is the message for invalid ones": [
    "AlwaysThere",
    "Anything",
    "AtLeastOne",
    "AtMostOne",
    "Embedded",
    "ExactlyOne",
    "Flatten",
    "MapKey",
    "ObjectSchema",
    "Open",
    "OptionalName",
    "PartialRead",
    "PartialWritten",
    "ReadObject",
    "WhenDefaulted",
    "Without",
    "WithoutDefault",
    "WrittenObject",
  ],
  "is used only inside the SDK: a connection of a user has no `send`, and run options no threads and metrics": [
    "WireResponse",
    "WireRequest",
    "ConnectionProbe",
    "RateLimit",
  ],
  "is `any`": ["Unchecked"],
};

/**
 * Namespaces of entry points. `deno doc` does not check them, so their files are checked as entry
 * points.
 */
const NAMESPACES = ["src/schema/builders.ts"];

/** Generated files have the documentation of Kubernetes, or none. */
const GENERATED = /\.gen\.ts$/;

/** A finding of `deno doc --lint`. */
export interface Finding {
  /** The rule, such as `missing-jsdoc`. */
  readonly code: string;
  readonly message: string;
  /** File and line, from the root of the repository: `src/base/json.ts:12`. */
  readonly place: string;
}

/**
 * Returns the missing documentation of both packages, one line each.
 */
export async function undocumented(): Promise<string[]> {
  const entryPoints = [
    ...await entryPointsOf(ROOT),
    ...NAMESPACES,
    ...(await entryPointsOf(new URL("cli/", ROOT))).map((it) => `cli/${it}`),
  ];
  const [lint, described] = await Promise.all([
    denoDoc(["--lint", ...entryPoints]),
    denoDoc(["--json", ...entryPoints.filter((file) => !file.startsWith("src/kinds/"))]),
  ]);
  const findings = parseFindings(lint.stderr + lint.stdout, ROOT);
  if (!lint.success && findings.length === 0) throw new Error(lint.stderr);
  if (!described.success) throw new Error(described.stderr);
  return [...errorsOf(findings), ...withoutExample(JSON.parse(described.stdout), ROOT)];
}

/**
 * Parses the output of `deno doc --lint`.
 *
 * @param text The output.
 * @param root The folder to which places are relative, with a trailing slash.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const text = "error[missing-jsdoc]: exported symbol is missing JSDoc documentation\n" +
 *   "  --> /home/me/sdk/mod.ts:3:8\n   |\n";
 * assert.deepEqual(parseFindings(text, new URL("file:///home/me/sdk/")), [
 *   {
 *     code: "missing-jsdoc",
 *     message: "exported symbol is missing JSDoc documentation",
 *     place: "mod.ts:3",
 *   },
 * ]);
 * ```
 */
export function parseFindings(text: string, root: URL): Finding[] {
  const folder = decodeURIComponent(root.pathname);
  const found = stripVTControlCharacters(text).matchAll(/^error\[([\w-]+)\]: (.*)\n *--> (.+):(\d+):\d+$/gm);
  return [...found].map(([, code = "", message = "", path = "", line = ""]) => ({
    code,
    message,
    place: `${path.startsWith(folder) ? path.slice(folder.length) : path}:${line}`,
  }));
}

/**
 * Returns the findings to fix. Findings in generated files, and about types that users need not
 * name, are left out. Names in `unnamed` that no longer exist are included.
 *
 * @param findings The findings.
 * @param unnamed Types that users need not name, by a description.
 * @returns A line for each.
 */
export function errorsOf(
  findings: readonly Finding[],
  unnamed: Readonly<Record<string, readonly string[]>> = UNNAMED,
): string[] {
  const names = Object.values(unnamed).flat();
  const found = new Set<string>();
  const errors = findings.filter(({ code, message, place }) => {
    if (GENERATED.test(place.replace(/:\d+$/, ""))) return false;
    const [, name = ""] = code === "private-type-ref" ? /references private type '(.+)'/.exec(message) ?? [] : [];
    found.add(name);
    return !names.includes(name);
  });
  return [
    ...errors.map(({ message, place }) => `${place}: ${message}`),
    ...names.filter((name) => !found.has(name)).map((name) =>
      `${name} is no longer a private type of a public signature. Remove it from tools/test/documented.ts`
    ),
  ];
}

/** The part of the output of `deno doc --json` that is used. */
export interface Documentation {
  readonly nodes: Readonly<Record<string, { readonly symbols?: readonly Described[] }>>;
}

interface Described {
  readonly name: string;
  readonly declarations?: readonly {
    readonly kind: string;
    readonly location: { readonly filename: string; readonly line: number };
    readonly jsDoc?: { readonly tags?: readonly { readonly kind: string; readonly doc?: string }[] };
  }[];
}

/**
 * Returns the functions, classes and values without an example that imports them as a user does,
 * from an entry point.
 *
 * @param documentation Output of `deno doc --json` of Deno 2.9.
 * @param root The folder to which places are relative, with a trailing slash.
 * @returns A line for each.
 */
export function withoutExample({ nodes }: Documentation, root: URL): string[] {
  const symbols = Object.values(nodes).flatMap(({ symbols = [] }) => symbols);
  const lines = symbols.flatMap(({ name, declarations = [] }) => {
    const values = declarations.filter(({ kind }) => kind === "function" || kind === "class" || kind === "variable");
    const [first] = values;
    if (first === undefined) return [];
    const place = `${first.location.filename.replace(root.href, "")}:${first.location.line + 1}`;
    const examples = values.flatMap(({ jsDoc }) => jsDoc?.tags?.filter(({ kind }) => kind === "example") ?? []);
    if (examples.length === 0) return [`${place}: ${name} has no example`];
    const isImported = place.startsWith("cli/") || examples.some(({ doc }) => doc?.includes('from "@op/sdk'));
    return isImported ? [] : [`${place}: no example of ${name} imports it from an entry point of "@op/sdk"`];
  });
  return [...new Set(lines)];
}

async function entryPointsOf(folder: URL): Promise<string[]> {
  const { exports } = JSON.parse(await Deno.readTextFile(new URL("deno.json", folder)));
  return Object.values(exports as Record<string, string>).map((file) => file.replace(/^\.\//, ""));
}

async function denoDoc(args: readonly string[]): Promise<{ success: boolean; stdout: string; stderr: string }> {
  // Turns off Deno's own backtrace after the last line.
  const env = { NO_COLOR: "1", RUST_BACKTRACE: "0" };
  const command = new Deno.Command(Deno.execPath(), { args: ["doc", ...args], cwd: ROOT, env });
  const { success, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { success, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
