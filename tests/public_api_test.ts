/**
 * The public API. `deno test -A tests/public_api_test.ts -- --update` accepts an intended change,
 * which also needs a line in CHANGELOG.md.
 */
import assert from "node:assert/strict";
import { type ApiChange, apiChanges, publicApi } from "../tools/public_api.ts";

/** The entry points whose declarations are compared, and the files of their declarations. */
const TYPED: readonly { readonly entry: string; readonly module: string; readonly golden: string }[] = [
  { entry: "@op/sdk", module: "mod.ts", golden: "sdk.txt" },
  { entry: "s of @op/sdk", module: "src/schema/builders.ts", golden: "s.txt" },
  ...["client", "controller", "handlers", "operator", "resource", "webhook"].map((name) => ({
    entry: `@op/sdk/${name}`,
    module: `entry_points/${name}.ts`,
    golden: `${name}.txt`,
  })),
  { entry: "@op/sdk/testing", module: "src/testing/mod.ts", golden: "testing.txt" },
  { entry: "@op/sdk/validation", module: "src/resource/validation.ts", golden: "validation.txt" },
];

/**
 * The entry points that are generated from Kubernetes' own types. Only their names are compared.
 */
const NAMED: readonly { readonly entry: string; readonly module: string; readonly golden: string }[] = [
  { entry: "@op/sdk/kinds", module: "src/kinds/mod.ts", golden: "kinds.txt" },
  { entry: "@op/sdk/schemas", module: "src/kinds/schemas/mod.ts", golden: "schemas.txt" },
  { entry: "@op/sdk/schemas/short", module: "src/kinds/schemas/short/mod.ts", golden: "schemas.txt" },
  { entry: "@op/sdk/schemas/full", module: "src/kinds/schemas/full/mod.ts", golden: "schemas.txt" },
];

const GOLDEN = new URL("golden/", import.meta.url);
const ROOT = new URL("../", import.meta.url);
const UPDATES = Deno.args.includes("--update");

/** The largest number of names that `@op/sdk` may export. */
const MOST_NAMES = 60;

// Older versions of `deno doc` print some types differently.
if (Deno.version.deno.startsWith("2.9.")) {
  Deno.test("the public API has the declarations in tests/golden/api", async (t) => {
    const current = await publicApi(TYPED.map(({ module }) => module));
    for (const { entry, module, golden } of TYPED) {
      await t.step(entry, async () => {
        const file = new URL(`api/${golden}`, GOLDEN);
        if (UPDATES) await Deno.writeTextFile(file, current.get(module)!);
        const changes = apiChanges(await Deno.readTextFile(file), current.get(module)!);
        assert.equal(changes.length, 0, `${entry} changed:\n${changes.map(inWords).join("\n")}`);
      });
    }
  });
}

Deno.test("each public error class has a name and a code that is a string", async () => {
  const classes = new Map<string, string>();
  for (const { golden } of TYPED) {
    const text = await Deno.readTextFile(new URL(`api/${golden}`, GOLDEN));
    for (const [declaration, name] of text.matchAll(/^class (\w+) extends \w*Error\b.*\n(?: .*\n)*/gm)) {
      classes.set(name!, declaration);
    }
  }
  assert(classes.size >= 9, [...classes.keys()].join(" "));
  for (const [name, declaration] of classes) {
    assert.match(declaration, /^ {2}override name: string$/m, `${name} has no name of its own`);
    assert.match(declaration, /^ {2}readonly code: (string|\w+ErrorCode|"\w+"( \| "\w+")*)$/m, `${name} has no code`);
  }
});

Deno.test(`@op/sdk exports at most ${MOST_NAMES} names`, async () => {
  const names = await exportedNames("mod.ts");
  assert(names.length <= MOST_NAMES, `${names.length} names: ${names.join(" ")}`);
});

Deno.test("every entry point in deno.json is compared by tests/public_api_test.ts", async () => {
  const { exports } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  const modules = [...TYPED, ...NAMED].filter(({ entry }) => entry.startsWith("@")).map(({ module }) => `./${module}`);
  assert.deepEqual(Object.values<string>(exports).sort(), modules.sort());
});

for (const { entry, module, golden } of NAMED) {
  Deno.test(`${entry} exports the names in tests/golden/${golden}`, async () => {
    const listed = (await Deno.readTextFile(new URL(golden, GOLDEN))).split("\n").filter((name) => name !== "");
    assert.deepEqual(await exportedNames(module), listed.sort());
  });
}

function inWords({ kind, declaration, line }: ApiChange): string {
  return line === undefined ? `  ${kind}: ${declaration}` : `  ${kind}: ${declaration}: ${line}`;
}

/**
 * The format of `deno doc --json`: version 1, of Deno 2.4, has a list of names; version 2 has a
 * list for each file.
 */
type Documentation =
  | { readonly version: 1; readonly nodes: readonly { readonly name: string; readonly kind: string }[] }
  | {
    readonly version: 2;
    readonly nodes: Readonly<Record<string, { readonly symbols?: readonly { readonly name: string }[] }>>;
  };

/** Returns the values and types that a module exports, sorted, each once. */
async function exportedNames(module: string): Promise<string[]> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--json", module],
    cwd: ROOT,
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  const documentation: Documentation = JSON.parse(new TextDecoder().decode(stdout));
  const symbols = documentation.version === 1
    ? documentation.nodes.filter((node) => node.kind !== "moduleDoc" && node.kind !== "import")
    : Object.values(documentation.nodes).flatMap((node) => node.symbols ?? []);
  return [...new Set(symbols.map((symbol) => symbol.name))].sort();
}
