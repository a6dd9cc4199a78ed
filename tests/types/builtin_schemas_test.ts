/**
 * The types of `@op/sdk/schemas` are generated separately from the schemas. This test writes a type
 * for each schema, and the compiler compares both.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import * as schemas from "../../src/kinds/schemas/mod.ts";
import type { JsonSchema } from "../../src/schema/json_schema.ts";

const ROOT = new URL("../../", import.meta.url);
const NAMES = new Map<JsonSchema, string>(Object.entries(schemas).map(([name, schema]) => [schema, name]));

/** Returns the type of a node. Exported types are referred to by name. */
function typeOf(node: JsonSchema): string {
  const name = NAMES.get(node);
  return name === undefined ? structureOf(node) : `schemas.${name}`;
}

function structureOf(node: JsonSchema): string {
  if (node.enum) return node.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (node["x-kubernetes-int-or-string"]) return "number | string";
  switch (node.type) {
    case "string":
    case "number":
    case "boolean":
      return node.type;
    case "integer":
      return "number";
    case "array":
      return `readonly (${typeOf(node.items!)})[]`;
    case "object":
      return node.properties ? propertiesOf(node) : mapOf(node);
    default:
      return "unknown";
  }
}

function mapOf({ additionalProperties }: JsonSchema): string {
  return `{ readonly [key: string]: ${
    typeof additionalProperties === "object" ? typeOf(additionalProperties) : "unknown"
  } }`;
}

function propertiesOf(node: JsonSchema): string {
  const { properties = {}, required = [] } = node;
  // The SDK writes conditions, and omits fields that it does not know.
  const optional = NAMES.get(node) === "Condition" ? "" : " | undefined";
  const lines = Object.entries(properties).map(([name, property]) => {
    const type = typeOf(property);
    return required.includes(name)
      ? `readonly ${JSON.stringify(name)}: ${type}`
      : `readonly ${JSON.stringify(name)}?: ${type}${optional}`;
  });
  return `{ ${lines.join("; ")} }`;
}

Deno.test("every schema of @op/sdk/schemas matches its generated type", async () => {
  const lines = Object.entries(schemas).map(([name, schema]) =>
    // Both types are assignable to each other at every depth, and have the same optional
    // properties.
    `both<schemas.${name}, ${structureOf(schema)}>(true);`
  );
  const text = `
import type * as schemas from "${new URL("src/kinds/schemas/mod.ts", ROOT).href}";
type Both<A, B> = [A] extends [B] ? [B] extends [A] ? Keys<A, B> : "narrower" : "wider";
type Keys<A, B> = A extends string | number | readonly unknown[] ? true
  : [keyof A, keyof B] extends [keyof B, keyof A] ? true : "other properties";
declare function both<A, B>(yes: Both<A, B>): void;
${lines.join("\n")}
`;
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/compare.ts`, text);
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", "--quiet", `--config=${fileURLToPath(new URL("deno.json", ROOT))}`, `${folder}/compare.ts`],
      env: { NO_COLOR: "1" },
    }).output();
    assert(success, new TextDecoder().decode(stderr).slice(0, 4000));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
