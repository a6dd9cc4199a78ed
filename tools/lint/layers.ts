/**
 * The lint plugin that enforces the import table: which package of the SDK may import which. `deno
 * lint` runs it: see `lint.plugins` of deno.json.
 */
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

/** A package of `src`, by the name of its folder. */
export type Layer = keyof typeof DIRECT;

/** The packages that each package may import directly, in addition to itself. */
const DIRECT = {
  base: [],
  openapi: [],
  cel: ["base"],
  queue: ["base"],
  handlers: ["base"],
  schema: ["cel", "openapi", "base"],
  resource: ["schema", "cel", "openapi", "base"],
  kinds: ["resource", "schema", "openapi"],
  parts: ["resource", "handlers", "base"],
  manifests: ["parts", "kinds", "resource", "schema", "base"],
  kube: ["resource", "base"],
  watch: ["kube", "resource", "base"],
  runtime: ["watch", "queue", "handlers", "kube", "parts", "kinds", "resource", "schema", "cel", "openapi", "base"],
  operator: ["runtime", "manifests"],
  apiserver: ["base", "schema", "cel", "openapi"],
  provision: ["kube", "manifests"],
  testing: [],
} as const;

const LAYERS = Object.keys(DIRECT) as Layer[];

/** Packages that may also import what their direct imports may. */
const INHERITING: readonly Layer[] = ["operator", "provision"];

/**
 * The import table: the packages that each package may import, in addition to itself, in
 * alphabetical order.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(TABLE.queue, ["base"]);
 * ```
 */
export const TABLE: { readonly [layer in Layer]: readonly Layer[] } = Object.fromEntries(
  LAYERS.map((layer) => [layer, allowed(layer)]),
) as Record<Layer, Layer[]>;

/**
 * The import table of the packages inside the API server. The files next to them may import
 * all of them.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(SERVER_TABLE.objects, ["wire"]);
 * ```
 */
export const SERVER_TABLE: { readonly [layer: string]: readonly string[] } = {
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

/**
 * Packages that entry points may export. `testing` and `apiserver` have an entry point of their
 * own.
 */
const EXPORTED: readonly Layer[] = LAYERS.filter((layer) => layer !== "testing" && layer !== "apiserver");

/** The entry points of the published package, by their specifiers. */
const ENTRY_POINTS: { readonly [specifier: string]: string } = {
  "@op/sdk": "mod.ts",
  "@op/sdk/kinds": "src/kinds/mod.ts",
  "@op/sdk/client": "entry_points/client.ts",
  "@op/sdk/controller": "entry_points/controller.ts",
  "@op/sdk/handlers": "entry_points/handlers.ts",
  "@op/sdk/operator": "entry_points/operator.ts",
  "@op/sdk/resource": "entry_points/resource.ts",
  "@op/sdk/webhook": "entry_points/webhook.ts",
  "@op/sdk/schemas": "src/kinds/schemas/mod.ts",
  "@op/sdk/schemas/full": "src/kinds/schemas/full/mod.ts",
  "@op/sdk/schemas/short": "src/kinds/schemas/short/mod.ts",
  "@op/sdk/testing": "src/testing/mod.ts",
  "@op/sdk/validation": "src/resource/validation.ts",
};

const ADVICE = "Move what both need to a lower package, or pass it in";

/** Tests and benchmarks may import anything. */
const FREE_FILE = /_(test|bench)\.tsx?$/;

/** The root of the repository. */
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The plugin for `deno lint`. */
const plugin: Deno.lint.Plugin = {
  name: "op",
  rules: {
    "layers": {
      create(context: Deno.lint.RuleContext): Deno.lint.LintVisitor {
        const file = context.filename.startsWith(ROOT) ? context.filename.slice(ROOT.length) : context.filename;
        function check(node: Deno.lint.Node, source: Deno.lint.Node | null): void {
          if (source?.type !== "Literal" || typeof source.value !== "string") return;
          const message = violation(file, source.value);
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
 * Checks an import.
 *
 * @param file Path of the importing file, from the root of the repository.
 * @param specifier The specifier of the import.
 * @returns A message with both packages and the allowed ones; `undefined` if the import is allowed.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(violation("src/queue/queue.ts", "../base/clock.ts"), undefined);
 * const message = violation("src/queue/queue.ts", "../kube/client.ts");
 * assert.match(message ?? "", /"queue" may import only "base"/);
 * ```
 */
export function violation(file: string, specifier: string): string | undefined {
  const target = targetOf(file, specifier);
  if (target === undefined || FREE_FILE.test(file)) return undefined;
  if (/^(examples|templates)\/[^/]+\//.test(file)) return userViolation(file, specifier, target);
  if (file.startsWith("cli/")) return cliViolation(file, specifier, target);
  if (file === "mod.ts" || file === "src/internal.ts" || file.startsWith("entry_points/")) {
    return packageViolation("an entry point", EXPORTED, file, target);
  }
  if (!file.startsWith("src/")) return undefined;
  const layer = layerOf(file);
  if (layer === undefined) {
    return `"${file}" is in no package of the import table. Move it into one of the folders of src (${quoted(LAYERS)})`;
  }
  const layers = layer === "testing" ? LAYERS : [layer, ...TABLE[layer]];
  return packageViolation(`"${layer}"`, layers, file, target) ?? serverViolation(file, target);
}

/**
 * Returns the imported file, from the root of the repository; `undefined` for packages and
 * builtins.
 */
function targetOf(file: string, specifier: string): string | undefined {
  if (/^\.{1,2}\//.test(specifier)) return posix.join(posix.dirname(file), specifier);
  return ENTRY_POINTS[specifier];
}

function packageViolation(name: string, layers: readonly Layer[], file: string, target: string): string | undefined {
  const layer = layerOf(target);
  if (layer !== undefined && layers.includes(layer)) return undefined;
  // Code reads the version of the package from deno.json.
  if (target === "deno.json") return undefined;
  const others = layers.filter((other) => other !== layerOf(file));
  const list = others.length > 0 ? `only ${quoted(others)}` : "no other package";
  const imported = layer === undefined ? `"${target}", which is in no package,` : `"${layer}"`;
  return `Cannot import ${imported} from ${name}: ${name} may import ${list}. ${ADVICE}`;
}

/**
 * Checks imports inside the API server. The files next to its packages may import all packages, and
 * no package may import those files.
 */
function serverViolation(file: string, target: string): string | undefined {
  const layer = serverLayerOf(file);
  if (layer === undefined || !target.startsWith("src/apiserver/")) return undefined;
  const layers = SERVER_TABLE[layer];
  if (layers === undefined) {
    return `"${file}" is in no package of the import table. Move it into one of the folders of src/apiserver (${
      quoted(Object.keys(SERVER_TABLE))
    })`;
  }
  const other = serverLayerOf(target);
  if (other === layer || (other !== undefined && layers.includes(other))) return undefined;
  const imported = other === undefined ? `"${target}", which combines the packages,` : `"apiserver/${other}"`;
  const list = layers.length > 0 ? `only ${quoted(layers)}` : "no other package";
  return `Cannot import ${imported} from "apiserver/${layer}": of the API server's packages it may import ${list}. ${ADVICE}`;
}

function serverLayerOf(file: string): string | undefined {
  return /^src\/apiserver\/([^/]+)\//.exec(file)?.[1];
}

/** Examples and templates are projects of users, which can import only entry points. */
function userViolation(file: string, specifier: string, target: string): string | undefined {
  const project = file.split("/", 2).join("/") + "/";
  if (target.startsWith(project) || specifier in ENTRY_POINTS) return undefined;
  return `Cannot import "${specifier}" from "${project}": a project may import only ${
    quoted(Object.keys(ENTRY_POINTS))
  }, packages and its own files`;
}

/**
 * The command line is published separately, so it cannot import files of the SDK by relative paths.
 */
function cliViolation(file: string, specifier: string, target: string): string | undefined {
  if (target.startsWith("cli/") || specifier in ENTRY_POINTS) return undefined;
  return `Cannot import "${specifier}" from "${file}": cli may import only ${
    quoted(Object.keys(ENTRY_POINTS))
  }, packages and its own files`;
}

function layerOf(file: string): Layer | undefined {
  const name = /^src\/([^/]+)\//.exec(file)?.[1];
  return LAYERS.find((layer) => layer === name);
}

function allowed(layer: Layer): Layer[] {
  if (layer === "testing") return LAYERS.filter((other) => other !== "testing").sort();
  const direct: readonly Layer[] = DIRECT[layer];
  const inherited = INHERITING.includes(layer) ? direct.flatMap((other) => allowed(other)) : [];
  return [...new Set([...direct, ...inherited])].sort();
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ");
}
