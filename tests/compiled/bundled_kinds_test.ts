/** A bundle contains only those parts of `@op/sdk/kinds` and `@op/sdk/schemas` that it uses. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import * as core from "../../src/kinds/schemas/core_v1.gen.ts";
import * as meta from "../../src/kinds/schemas/meta_v1.gen.ts";
import * as scalars from "../../src/kinds/schemas/scalars.ts";
import type { JsonSchema } from "../../src/schema/json_schema.ts";

const ROOT = new URL("../../", import.meta.url);
const NAMES = new Map<JsonSchema, string>(
  [core, meta, scalars].flatMap((module) => Object.entries(module)).map(([name, schema]) => [schema, name]),
);

/** A bundle's modules by path. */
type Modules = ReadonlyMap<string, string>;

/** Returns the lines of a bundle that come from src/kinds. */
async function bundledKinds(text: string): Promise<string> {
  const modules = [...await modulesOf(text)].filter(([path]) => path.includes("src/kinds/"));
  return modules.map(([, code]) => code).join("");
}

/** Bundles a program, and returns its modules. */
async function modulesOf(text: string): Promise<Modules> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/main.ts`, text.replaceAll("@op/sdk", `${ROOT.href}src`));
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "bundle",
        "--quiet",
        `--config=${fileURLToPath(new URL("deno.json", ROOT))}`,
        `--output=${folder}/main.js`,
        `${folder}/main.ts`,
      ],
    }).output();
    assert(success, new TextDecoder().decode(stderr));
    // Each module starts with its path relative to the folder of the bundle.
    const modules = (await Deno.readTextFile(`${folder}/main.js`)).split(/^(?=\/\/ \S+\.[a-z]+$)/m);
    return new Map(modules.map((code) => [/^\/\/ (\S+)/.exec(code)?.[1] ?? "", code]));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Returns the names of a schema and of all schemas that it refers to. */
function closureOf(schema: JsonSchema): Set<string> {
  const found = new Set<string>();
  function visit(node: JsonSchema): void {
    const name = NAMES.get(node);
    if (name !== undefined) found.add(name);
    if (node.items) visit(node.items);
    if (typeof node.additionalProperties === "object") visit(node.additionalProperties);
    Object.values(node.properties ?? {}).forEach(visit);
  }
  visit(schema);
  return found;
}

Deno.test("a bundle contains only the imported schema and the schemas that it refers to", async () => {
  for (const name of ["ResourceRequirements", "PodSpec", "NodeStatus"] as const) {
    const text = await bundledKinds(`import { ${name} } from "@op/sdk/kinds/schemas/mod.ts";\nconsole.log(${name});\n`);
    const bundled = [...text.matchAll(/^var (\w+?)\d* = (?:\/\* @__PURE__ \*\/ )?builtin\(/gm)].map(([, name]) =>
      name!
    );
    assert.deepEqual(bundled.sort(), [...closureOf(core[name])].sort(), name);
    assert(!text.includes("description"), `${name} has descriptions`);
  }
});

Deno.test("a bundle with a PodSpec has less than 40 KB of schemas, and only imported descriptions", async () => {
  const pod = (folder: string) =>
    bundledKinds(`import { PodSpec } from "@op/sdk/kinds/schemas/${folder}mod.ts";\nconsole.log(PodSpec);\n`);
  const [plain, short, full] = [await pod(""), await pod("short/"), await pod("full/")].map(({ length }) => length);
  assert(plain! < 40_000, `${plain} bytes`);
  assert(short! > plain! + 20_000 && short! < 110_000, `${short} bytes with short descriptions`);
  assert(full! > short! + 50_000 && full! < 230_000, `${full} bytes with full descriptions`);
});

Deno.test("a bundle contains only the imported kind", async () => {
  const text = await bundledKinds(`import { ConfigMap } from "@op/sdk/kinds/mod.ts";\nconsole.log(ConfigMap);\n`);
  assert.deepEqual([...text.matchAll(/kind: "(\w+)"/g)].map(([, kind]) => kind), ["ConfigMap"]);
  assert(text.length < 400, `${text.length} bytes`);
});

Deno.test("a bundle with a schema or a kind contains no schema validator, RE2 or CEL", async () => {
  const modulesWith = async (entryPoint: string, name: string) => {
    const modules = await modulesOf(
      `import { ${name} } from "@op/sdk/kinds/${entryPoint}mod.ts";\nconsole.log(${name});\n`,
    );
    const paths = [...modules.keys()].filter((path) => path !== "" && !path.endsWith("main.ts"));
    return paths.map((path) => path.replace(/^.*?src\//, "")).filter((path) => !path.startsWith("kinds/schemas/"));
  };

  for (const entryPoint of ["schemas/", "schemas/short/", "schemas/full/"]) {
    assert.deepEqual(await modulesWith(entryPoint, "PodSpec"), ["schema/_marks.ts"], entryPoint);
  }
  assert.deepEqual(await modulesWith("", "ConfigMap"), ["kinds/core_v1.gen.ts"]);
  assert.deepEqual(await modulesWith("", "Deployment"), ["kinds/apps_v1.gen.ts"]);
});
