import assert from "node:assert/strict";
import { parseJsonPath } from "./json_path.ts";

const OBJECT = {
  spec: {
    host: "a.example",
    none: null,
    ports: [{ name: "web", number: 80, open: true }, { name: "a)b", number: 8080 }, { name: "", number: 1.5 }],
    labels: { "app.kubernetes.io/name": "x", b: "y" },
    list: [1, 2, 3, 4],
  },
};

const MATCHES: readonly { name: string; path: string; expected: unknown[] }[] = [
  { name: "a field", path: ".spec.host", expected: ["a.example"] },
  { name: "a field that does not exist", path: ".spec.hots.deeper", expected: [] },
  { name: "a field of a string", path: ".spec.host.name", expected: [] },
  { name: "null", path: ".spec.none", expected: [null] },
  { name: "no match below null", path: ".spec.none.deeper", expected: [] },
  { name: "a dot in a name", path: ".spec.labels.app\\.kubernetes\\.io/name", expected: ["x"] },
  {
    name: "a quoted name with escaped dots",
    path: ".spec.labels['app\\.kubernetes\\.io/name']",
    expected: ["x"],
  },
  { name: "an index", path: ".spec.ports[1].number", expected: [8080] },
  { name: "an index from the end", path: ".spec.list[-1]", expected: [4] },
  { name: "a slice", path: ".spec.list[1:3]", expected: [2, 3] },
  { name: "a slice with a step", path: ".spec.list[0:4:2]", expected: [1, 3] },
  { name: "a slice without bounds", path: ".spec.list[:]", expected: [1, 2, 3, 4] },
  { name: "all items", path: ".spec.ports[*].name", expected: ["web", "a)b", ""] },
  { name: "all values", path: ".spec.labels.*", expected: ["x", "y"] },
  { name: "some items", path: ".spec.list[0,2]", expected: [1, 3] },
  { name: "some keys", path: ".spec['host','none']", expected: ["a.example", null] },
  { name: "any depth", path: "..name", expected: ["web", "a)b", ""] },
  { name: "a filter on a string", path: '.spec.ports[?(@.name=="web")].number', expected: [80] },
  { name: "a filter in single quotes with spaces", path: ".spec.ports[?(@.name == 'web')].number", expected: [80] },
  { name: "a filter with a parenthesis in a string", path: '.spec.ports[?(@.name=="a)b")].number', expected: [8080] },
  { name: "a filter by inequality", path: '.spec.ports[?(@.name!="web")].number', expected: [8080, 1.5] },
  { name: "a filter on a boolean", path: ".spec.ports[?(@.open==true)].name", expected: ["web"] },
  { name: "a filter for existence", path: ".spec.ports[?(@.open)].name", expected: ["web"] },
  { name: "a filter on items themselves", path: ".spec.list[?(@>2)]", expected: [3, 4] },
  { name: "bounds", path: ".spec.list[?(@<=2)]", expected: [1, 2] },
  { name: "the root", path: "$.spec.host", expected: ["a.example"] },
  { name: "an empty slice", path: ".spec.list[2:2]", expected: [] },
  { name: "no match for a final dot", path: ".spec.host.", expected: [] },
];
for (const { name, path, expected } of MATCHES) {
  Deno.test(`parseJsonPath finds ${name}`, () => assert.deepEqual(parseJsonPath(path).find(OBJECT), [expected]));
}

const REJECTED: readonly { path: string; expected: string }[] = [
  { path: ".a[", expected: "unterminated array" },
  { path: ".a[x]", expected: "invalid array index x" },
  { path: ".a[?(@.b", expected: "unterminated filter" },
  { path: ".a[?(@.b)", expected: "unclosed array expect ]" },
  { path: "....a", expected: "invalid multiple recursive descent" },
  { path: ".a[?(@.b=='\\q')]", expected: "unquote string '\\q' error invalid syntax" },
  { path: ".a #", expected: "unrecognized character in action: U+0023 '#'" },
];
for (const { path, expected } of REJECTED) {
  Deno.test(`parseJsonPath of ${path} throws "${expected}"`, () => {
    assert.throws(() => parseJsonPath(path), { name: "SyntaxError", message: expected });
  });
}

const MISMATCHED: readonly { name: string; path: string }[] = [
  { name: "an index beyond the end", path: ".spec.list[9]" },
  { name: "an index of a string", path: ".spec.host[0]" },
  { name: "a filter of a string", path: ".spec.host[?(@.a)]" },
  { name: "a string compared with a number", path: ".spec.ports[?(@.name==1)]" },
  { name: "an integer compared with a fraction", path: ".spec.list[?(@<1.5)]" },
  { name: "a word", path: ".spec.list[?(@==web)]" },
];
for (const { name, path } of MISMATCHED) {
  Deno.test(`JsonPath.find throws for ${name}`, () => assert.throws(() => parseJsonPath(path).find(OBJECT), TypeError));
}
