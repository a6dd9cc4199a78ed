import assert from "node:assert/strict";
import { outermost, parsePath, printPath, project, valueAt, withValueAt } from "./path.ts";

const parsed: { text: string; path: string[] }[] = [
  { text: "", path: [] },
  { text: ".spec.size", path: ["spec", "size"] },
  { text: '.metadata.annotations["example.com/size"]', path: ["metadata", "annotations", "example.com/size"] },
  { text: ".metadata.labels['a.b'].c", path: ["metadata", "labels", "a.b", "c"] },
  { text: String.raw`.metadata.labels.a\.b`, path: ["metadata", "labels", "a.b"] },
  { text: String.raw`.data["say \"hi\""]`, path: ["data", 'say "hi"'] },
];

for (const { text, path } of parsed) {
  Deno.test(`the path ${JSON.stringify(text)} has the names ${JSON.stringify(path)}`, () => {
    assert.deepEqual(parsePath(text), path);
    assert.deepEqual(parsePath(printPath(path)), path);
  });
}

for (const text of ["spec", ".", ".spec..size", ".spec[0]", '.spec["a', ".spec.a[b]"]) {
  Deno.test(`${JSON.stringify(text)} is rejected as a path`, () => {
    assert.throws(() => parsePath(text), { name: "SyntaxError" });
  });
}

Deno.test("a projection contains the values at its paths and omits fields that do not exist", () => {
  const object = { spec: { size: 1, host: "a" }, metadata: { labels: { "a.b": "c" } }, data: null };

  assert.deepEqual(project(object, [["spec", "size"], ["metadata", "labels", "a.b"], ["data"], ["spec", "none"]]), {
    spec: { size: 1 },
    metadata: { labels: { "a.b": "c" } },
    data: null,
  });
  assert.deepEqual(project(object, [[]]), object);
  assert.deepEqual(object.spec, { size: 1, host: "a" });
});

Deno.test("valueAt ignores inherited properties, and treats __proto__ as an ordinary field", () => {
  assert.equal(valueAt({}, ["constructor"]), undefined);
  const { spec } = project({ spec: { ["__proto__"]: 1 } }, [["spec", "__proto__"]]);
  assert.deepEqual(Object.entries(spec as object), [["__proto__", 1]]);
});

Deno.test("withValueAt copies the objects around the field, and returns the same object if the removed field does not exist", () => {
  const object = { spec: { size: 1 } };

  assert.deepEqual(withValueAt(object, ["spec", "size"], 2), { spec: { size: 2 } });
  assert.deepEqual(withValueAt(object, ["data", "a"], 2), { spec: { size: 1 }, data: { a: 2 } });
  assert.deepEqual(withValueAt(object, ["spec", "size"], undefined), { spec: {} });
  assert.equal(withValueAt(object, ["data", "a"], undefined), object);
  assert.deepEqual(object, { spec: { size: 1 } });
});

Deno.test("outermost removes paths that are within another path", () => {
  const paths = [".spec.size", ".spec", ".metadata.labels", ".spec.size", ".specs"].map(parsePath);

  assert.deepEqual(outermost(paths).map(printPath), [".spec", ".specs", ".metadata.labels"]);
});
