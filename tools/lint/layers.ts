/** The lint plugin that holds the import table: which room of the SDK may import which. `deno lint` runs it, see `lint.plugins` of deno.json. */
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

/** A room of src, by the name of its folder. */
export type Room = keyof typeof DIRECT;

/** What each room imports directly, besides itself. An absence is a promise: what is not listed is not known there. */
const DIRECT = {
  base: [],
  openapi: [],
  cel: ["base"],
  queue: ["base"],
  schema: ["cel", "openapi", "base"],
  resource: ["schema", "cel", "openapi", "base"],
  kinds: ["resource", "schema", "openapi"],
  parts: ["resource", "base"],
  manifests: ["parts", "kinds", "resource", "schema", "base"],
  kube: ["resource", "base"],
  watch: ["kube", "resource", "base"],
  runtime: ["watch", "queue", "kube", "parts", "kinds", "resource", "schema", "cel", "base"],
  operator: ["runtime", "manifests"],
  apiserver: ["base", "schema", "cel", "openapi"],
  provision: ["kube", "manifests"],
  testing: [],
} as const;

const ROOMS = Object.keys(DIRECT) as Room[];

/** Rooms that may also import whatever their direct imports may. */
const INHERITING: readonly Room[] = ["operator", "provision"];

/**
 * The import table: for each room the rooms it may import, besides itself, in alphabetical order.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(TABLE.queue, ["base"]);
 * ```
 */
export const TABLE: { readonly [room in Room]: readonly Room[] } = Object.fromEntries(
  ROOMS.map((room) => [room, allowed(room)]),
) as Record<Room, Room[]>;

/**
 * The same for the rooms inside the API server: what each imports of the others. The files beside them put the rooms together.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(SERVER_TABLE.objects, ["wire"]);
 * ```
 */
export const SERVER_TABLE: { readonly [room: string]: readonly string[] } = {
  wire: [],
  objects: ["wire"],
  tables: ["objects"],
  apply: ["objects", "wire"],
  access: ["objects", "wire"],
  webhooks: ["access", "objects", "wire"],
  builtin: ["access", "objects", "webhooks", "wire"],
  core: ["access", "apply", "objects", "webhooks", "wire"],
  admission: ["access", "core", "objects", "webhooks", "wire"],
  definitions: ["apply", "core", "objects", "tables", "webhooks", "wire"],
  discovery: ["core", "definitions", "objects", "wire"],
  verbs: ["access", "admission", "apply", "builtin", "core", "objects", "webhooks", "wire"],
  subresources: ["access", "admission", "apply", "core", "objects", "verbs", "wire"],
  controllers: ["access", "apply", "core", "objects", "verbs"],
};

/** The front door gathers what users see; what stands in for a cluster has a door of its own. */
const FRONT_DOOR: readonly Room[] = ROOMS.filter((room) => room !== "testing" && room !== "apiserver");

/** The doors of the published package, by the name under which users import them. */
const DOORS: { readonly [specifier: string]: string } = {
  "@op/sdk": "mod.ts",
  "@op/sdk/kinds": "src/kinds/mod.ts",
  "@op/sdk/client": "entry_points/client.ts",
  "@op/sdk/controller": "entry_points/controller.ts",
  "@op/sdk/operator": "entry_points/operator.ts",
  "@op/sdk/resource": "entry_points/resource.ts",
  "@op/sdk/webhook": "entry_points/webhook.ts",
  "@op/sdk/schemas": "src/kinds/schemas/mod.ts",
  "@op/sdk/schemas/full": "src/kinds/schemas/full/mod.ts",
  "@op/sdk/schemas/short": "src/kinds/schemas/short/mod.ts",
  "@op/sdk/testing": "src/testing/mod.ts",
  "@op/sdk/validation": "src/resource/validation.ts",
};

const ADVICE = "move what both need down, or hand it in from above";

/** Tests and benchmarks may import anything, wherever they lie. */
const FREE_FILE = /_(test|bench)\.tsx?$/;

/** The repository: two folders above this file. */
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The plugin, as `deno lint` takes it. */
const plugin: Deno.lint.Plugin = {
  name: "op",
  rules: {
    "layers": {
      create(context: Deno.lint.RuleContext): Deno.lint.LintVisitor {
        const file = context.filename.startsWith(ROOT) ? context.filename.slice(ROOT.length) : context.filename;
        function check(node: Deno.lint.Node, source: Deno.lint.Node | null): void {
          if (source?.type !== "Literal" || typeof source.value !== "string") return;
          const message = complaint(file, source.value);
          if (message !== undefined) context.report({ node, message });
        }
        return {
          ImportDeclaration: (node) => check(node, node.source),
          ExportAllDeclaration: (node) => check(node, node.source),
          ExportNamedDeclaration: (node) => check(node, node.source),
          ImportExpression: (node) => check(node, node.source),
          TSImportType: (node) => check(node, node.argument.type === "TSLiteralType" ? node.argument.literal : null),
        };
      },
    },
  },
};
export default plugin;

/**
 * What is wrong with an import, if anything.
 *
 * @param file The file that imports, from the root of the repository.
 * @param specifier What it imports, as written.
 * @returns A sentence naming both sides and what is allowed, or nothing when all is well.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(complaint("src/queue/queue.ts", "../base/clock.ts"), undefined);
 * assert.match(complaint("src/queue/queue.ts", "../kube/client.ts") ?? "", /"queue" may import only "base"/);
 * ```
 */
export function complaint(file: string, specifier: string): string | undefined {
  const target = targetOf(file, specifier);
  if (target === undefined || FREE_FILE.test(file)) return undefined;
  if (/^(examples|templates)\/[^/]+\//.test(file)) return userComplaint(file, specifier, target);
  if (file.startsWith("cli/")) return cliComplaint(file, specifier, target);
  if (file === "mod.ts" || file === "src/internal.ts" || file.startsWith("entry_points/")) {
    return roomComplaint("the front door", FRONT_DOOR, file, target);
  }
  if (!file.startsWith("src/")) return undefined;
  const room = roomOf(file);
  if (room === undefined) {
    return `Cannot tell the room of "${file}": it must lie in one of the folders of src that the import table lists (${
      quoted(ROOMS)
    })`;
  }
  const rooms = room === "testing" ? ROOMS : [room, ...TABLE[room]];
  return roomComplaint(`"${room}"`, rooms, file, target) ?? serverComplaint(file, target);
}

/** The file an import leads to, from the root of the repository; nothing for packages and builtins. */
function targetOf(file: string, specifier: string): string | undefined {
  if (/^\.{1,2}\//.test(specifier)) return posix.join(posix.dirname(file), specifier);
  return DOORS[specifier];
}

function roomComplaint(name: string, rooms: readonly Room[], file: string, target: string): string | undefined {
  const room = roomOf(target);
  if (room !== undefined && rooms.includes(room)) return undefined;
  // The version of the package stands there and nowhere else.
  if (target === "deno.json") return undefined;
  const others = rooms.filter((other) => other !== roomOf(file));
  const list = others.length > 0 ? `only ${quoted(others)}` : "no other room";
  const what = room === undefined ? `"${target}", which lies outside the rooms` : `"${room}"`;
  return `Cannot import ${what} from ${name}: ${name} may import ${list}; ${ADVICE}`;
}

/** The same between the rooms inside the API server. The files that lie beside them may import them all, and are imported by none. */
function serverComplaint(file: string, target: string): string | undefined {
  const room = serverRoomOf(file);
  if (room === undefined || !target.startsWith("src/apiserver/")) return undefined;
  const rooms = SERVER_TABLE[room];
  if (rooms === undefined) {
    return `Cannot tell the room of "${file}": it must lie in one of the folders of src/apiserver that the import table lists (${
      quoted(Object.keys(SERVER_TABLE))
    })`;
  }
  const other = serverRoomOf(target);
  if (other === room || (other !== undefined && rooms.includes(other))) return undefined;
  const what = other === undefined ? `"${target}", which puts the rooms together` : `"apiserver/${other}"`;
  const list = rooms.length > 0 ? `only ${quoted(rooms)}` : "no other room";
  return `Cannot import ${what} from "apiserver/${room}": of the API server's rooms it may import ${list}; ${ADVICE}`;
}

function serverRoomOf(file: string): string | undefined {
  return /^src\/apiserver\/([^/]+)\//.exec(file)?.[1];
}

/** Examples and templates stand for users' projects: they see what a user sees. */
function userComplaint(file: string, specifier: string, target: string): string | undefined {
  const project = file.split("/", 2).join("/") + "/";
  if (target.startsWith(project) || specifier in DOORS) return undefined;
  return `Cannot import "${specifier}" from "${project}": a project may import only ${
    quoted(Object.keys(DOORS))
  }, packages and its own files`;
}

/** The command line is a package of its own: a relative path out of it would not survive publishing. */
function cliComplaint(file: string, specifier: string, target: string): string | undefined {
  if (target.startsWith("cli/") || specifier in DOORS) return undefined;
  return `Cannot import "${specifier}" from "${file}": cli may import only ${
    quoted(Object.keys(DOORS))
  }, packages and its own files`;
}

function roomOf(file: string): Room | undefined {
  const name = /^src\/([^/]+)\//.exec(file)?.[1];
  return ROOMS.find((room) => room === name);
}

function allowed(room: Room): Room[] {
  if (room === "testing") return ROOMS.filter((other) => other !== "testing").sort();
  const direct: readonly Room[] = DIRECT[room];
  const inherited = INHERITING.includes(room) ? direct.flatMap((other) => allowed(other)) : [];
  return [...new Set([...direct, ...inherited])].sort();
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ");
}
