/**
 * Whether everything behind the public doors is told in a sentence, and every function and class shown in an example. What is there is for `deno doc` to say:
 * `--lint` names what has no documentation, and the types that a public signature mentions and no door leads to.
 */
import { stripVTControlCharacters } from "node:util";
import { ROOT } from "./run.ts";

/** Types that nobody has to name: TypeScript finds them out. By why that is so, and by the names that they have in the code. */
const UNNAMED: Readonly<Record<string, readonly string[]>> = {
  "holds the types of a value and is nothing itself": ["needs", "SchemaTypes", "types"],
  "says which kinds a part may touch, or how it is to be declared": [
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
  "is an object that a webhook is handed or answers, as ReviewedObject, MutableObject and MutateResult have it": [
    "Draft",
    "Returned",
    "Subject",
    "Wanted",
  ],
  "is what resource() makes of its options, or says what is wrong with them": [
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
  "is what a builder of s makes of its arguments, or says what is wrong with them": [
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
  "passes between parts of the SDK: who makes a connection leaves `send` out, who runs an operator its threads and metrics":
    [
      "Answer",
      "Outgoing",
      "Pulse",
      "RateLimit",
    ],
  "is `any`": ["Unchecked"],
};

/** A namespace that a door exports is not looked into: its file is a door then. */
const NAMESPACES = ["src/schema/builders.ts"];

/** What generators write has the documentation of Kubernetes, or none. */
const GENERATED = /\.gen\.ts$/;

/** Something that `deno doc --lint` found. */
export interface Remark {
  /** Such as `missing-jsdoc`. */
  readonly code: string;
  readonly message: string;
  /** From the root of the repository, with the line: `src/base/json.ts:12`. */
  readonly place: string;
}

/**
 * What is not told behind the doors of both packages.
 *
 * @returns A line for each; none when all is told.
 */
export async function untold(): Promise<string[]> {
  const doors = [
    ...await doorsOf(ROOT),
    ...NAMESPACES,
    ...(await doorsOf(new URL("cli/", ROOT))).map((it) => `cli/${it}`),
  ];
  const [lint, described] = await Promise.all([
    denoDoc(["--lint", ...doors]),
    denoDoc(["--json", ...doors.filter((door) => !door.startsWith("src/kinds/"))]),
  ]);
  const remarks = remarksIn(lint.stderr + lint.stdout, ROOT);
  if (!lint.success && remarks.length === 0) throw new Error(lint.stderr);
  if (!described.success) throw new Error(described.stderr);
  return [...faultsOf(remarks), ...withoutExample(JSON.parse(described.stdout), ROOT)];
}

/**
 * Reads what `deno doc --lint` prints.
 *
 * @param text All that it printed.
 * @param root The folder that places are told from, with a slash at its end.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const text = "error[missing-jsdoc]: exported symbol is missing JSDoc documentation\n  --> /home/me/sdk/mod.ts:3:8\n   |\n";
 * assert.deepEqual(remarksIn(text, new URL("file:///home/me/sdk/")), [
 *   { code: "missing-jsdoc", message: "exported symbol is missing JSDoc documentation", place: "mod.ts:3" },
 * ]);
 * ```
 */
export function remarksIn(text: string, root: URL): Remark[] {
  const folder = decodeURIComponent(root.pathname);
  const found = stripVTControlCharacters(text).matchAll(/^error\[([\w-]+)\]: (.*)\n *--> (.+):(\d+):\d+$/gm);
  return [...found].map(([, code = "", message = "", path = "", line = ""]) => ({
    code,
    message,
    place: `${path.startsWith(folder) ? path.slice(folder.length) : path}:${line}`,
  }));
}

/**
 * What of it has to be mended: all but generated files and the types that nobody has to name; and names of those that are not met any more.
 *
 * @param remarks What was found.
 * @param unnamed Types that nobody has to name, by why.
 * @returns A line for each.
 */
export function faultsOf(
  remarks: readonly Remark[],
  unnamed: Readonly<Record<string, readonly string[]>> = UNNAMED,
): string[] {
  const names = Object.values(unnamed).flat();
  const met = new Set<string>();
  const faults = remarks.filter(({ code, message, place }) => {
    if (GENERATED.test(place.replace(/:\d+$/, ""))) return false;
    const [, name = ""] = code === "private-type-ref" ? /references private type '(.+)'/.exec(message) ?? [] : [];
    met.add(name);
    return !names.includes(name);
  });
  return [
    ...faults.map(({ message, place }) => `${place}: ${message}`),
    ...names.filter((name) => !met.has(name)).map((name) =>
      `${name} is no private type of a public signature any more: take it out of tools/test/documented.ts`
    ),
  ];
}

/** What `deno doc --json` tells, as far as it is looked at. */
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
 * The functions, classes and values that no example shows as a user of the package has them: those of the SDK taken from one of its doors.
 *
 * @param documentation What `deno doc --json` of Deno 2.9 tells.
 * @param root The folder that places are told from, with a slash at its end.
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
    if (examples.length === 0) return [`${place}: no example shows ${name}`];
    const isImported = place.startsWith("cli/") || examples.some(({ doc }) => doc?.includes('from "@op/sdk'));
    return isImported
      ? []
      : [`${place}: no example of ${name} imports it as a user does, from "@op/sdk" or what is below`];
  });
  return [...new Set(lines)];
}

async function doorsOf(folder: URL): Promise<string[]> {
  const { exports } = JSON.parse(await Deno.readTextFile(new URL("deno.json", folder)));
  return Object.values(exports as Record<string, string>).map((file) => file.replace(/^\.\//, ""));
}

async function denoDoc(args: readonly string[]): Promise<{ success: boolean; stdout: string; stderr: string }> {
  // A backtrace of Deno's own behind its last line would tell nothing.
  const env = { NO_COLOR: "1", RUST_BACKTRACE: "0" };
  const command = new Deno.Command(Deno.execPath(), { args: ["doc", ...args], cwd: ROOT, env });
  const { success, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { success, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
