/** Messages of Go's parser for YAML that is malformed, where the library `yaml` has its own. */
import assert from "node:assert/strict";
import { readYaml } from "./yaml.ts";

const MALFORMED: readonly { name: string; yaml: string; message: string }[] = [
  { name: "a tab as indentation", yaml: "a:\n\tb: 1", message: "line 2: found character that cannot start any token" },
  { name: "a mapping within a value", yaml: "a: b: c", message: "mapping values are not allowed in this context" },
  { name: "a map that is not closed", yaml: "a: {b: 1", message: "line 1: did not find expected ',' or '}'" },
  { name: "a list that is not closed", yaml: "a: [1", message: "line 1: did not find expected ',' or ']'" },
  { name: "a list that ends after a comma", yaml: "a: [1,", message: "line 1: did not find expected node content" },
  { name: "an alias without an anchor", yaml: "a: *b", message: "unknown anchor 'b' referenced" },
  {
    name: "an alias before its anchor",
    yaml: "a: *b\nc: &b 1",
    message: "unknown anchor 'b' referenced",
  },
  {
    name: "aliases of aliases that expand to millions of values",
    yaml: "a: &a [1,1,1,1,1,1,1,1,1,1]\n" + [..."bcdefg"].map((name, i) => {
      const alias = `*${"abcdef"[i]}`;
      return `${name}: &${name} [${Array(10).fill(alias).join(",")}]\n`;
    }).join(""),
    message: "document contains excessive aliasing",
  },
];

for (const { name, yaml, message } of MALFORMED) {
  Deno.test(`readYaml rejects ${name}`, async () => {
    await assert.rejects(readYaml(yaml), { name: "SyntaxError", message });
  });
}
