import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { definitionsIn } from "../definitions/definition.ts";
import { pageOf } from "./page.ts";

const GOLDEN = new URL("../../tests/golden/", import.meta.url);

/** Returns a definition with a schema of its spec. */
function definition(spec: unknown, root: object = {}): unknown {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { kind: "Thing", plural: "things" },
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec }, ...root } },
      }],
    },
  };
}

Deno.test("pageOf writes the page in tests/golden/crd_docs.txt", async () => {
  const documents = parseAllDocuments(await Deno.readTextFile(new URL("crd_docs.yaml", GOLDEN)));
  const page = pageOf(definitionsIn(documents.map((document) => document.toJS())));
  assert.equal(page, await Deno.readTextFile(new URL("crd_docs.txt", GOLDEN)));
});

Deno.test("pageOf has exactly one anchor for every link", async () => {
  const documents = parseAllDocuments(await Deno.readTextFile(new URL("crd_docs.yaml", GOLDEN)));
  const page = pageOf(definitionsIn(documents.map((document) => document.toJS())));
  const anchors = [...page.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, anchor]) => anchor!);
  const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, link]) => link!);
  assert.equal(new Set(anchors.map((anchor) => anchor.toLowerCase())).size, anchors.length);
  assert.deepEqual(links.filter((link) => !anchors.includes(link)), []);
});

Deno.test("pageOf has a row for every field at any depth", () => {
  const levels = 60;
  let schema: unknown = { type: "string" };
  for (let i = levels; i > 0; i--) schema = { type: "object", properties: { [`level${i}`]: schema } };
  const page = pageOf(definitionsIn([definition(schema)]));
  for (let i = 1; i <= levels; i++) assert.match(page, new RegExp(`\`level${i}\``));
});

const HOSTILE = [
  { name: "HTML", given: "<img src=x onerror=alert(1)>", forbidden: /<img/ },
  { name: "a link to a script", given: "[a](javascript:alert(1))", forbidden: /[^\\]\]\(javascript/ },
  { name: "the end of a cell", given: "a | b\n| c", forbidden: /^\| c/m },
  { name: "the end of a table", given: "a\n\n# Heading\n\n| x |\n| --- |", forbidden: /^# Heading/m },
  { name: "the end of code", given: "```\ncode\n```", forbidden: /^```/m },
  { name: "characters that reverse the direction of text", given: "a\u202Eb", forbidden: /\u202E/ },
  { name: "an entity", given: "&lt;b&gt;", forbidden: /[^;]&lt;b/ },
];

Deno.test("pageOf escapes text that has a meaning in Markdown", async (t) => {
  for (const { name, given, forbidden } of HOSTILE) {
    await t.step(`pageOf escapes ${name}`, () => {
      const field = { type: "string", description: given, title: given, enum: [given], pattern: given };
      const rules = [{ rule: given, message: given }];
      const page = pageOf(definitionsIn([
        definition({ type: "object", description: given, properties: { field, [given]: field } }, {
          description: given,
          "x-kubernetes-validations": rules,
        }),
      ]));
      assert.doesNotMatch(page.replaceAll(/(`+)[^`].*?[^`]\1(?!`)/g, ""), forbidden);
      const cells = page.split("\n").filter((line) => line.startsWith("| ")).map((line) =>
        line.split(/(?<!\\)\|/).length
      );
      assert(cells.every((count) => [4, 6].includes(count)), `a row of ${cells}`);
    });
  }
});
