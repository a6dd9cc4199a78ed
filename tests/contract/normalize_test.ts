import assert from "node:assert/strict";
import { normalizeSteps } from "./normalize.ts";
import type { Step } from "./recorder.ts";

const ONE = "11111111-1111-1111-1111-111111111111";
const TWO = "22222222-2222-2222-2222-222222222222";

/** Returns the normalized bodies of steps. */
function bodies(...given: unknown[]): unknown[] {
  const steps = given.map((body): Step => ({ call: "GET /x", status: 200, contentType: "application/json", body }));
  return normalizeSteps(steps).map((step) => (step as Step).body);
}

const cases: { name: string; given: unknown[]; expected: unknown[] }[] = [
  {
    name: "keeps which uids are equal, in values, keys and texts",
    given: [{ metadata: { uid: TWO } }, { [`k:{"uid":"${TWO}"}`]: {}, message: `UID: ${ONE}, not ${TWO}` }],
    expected: [{ metadata: { uid: "<uid 1>" } }, { 'k:{"uid":"<uid 1>"}': {}, message: "UID: <uid 2>, not <uid 1>" }],
  },
  {
    name: "preserves the order and equality of numeric versions",
    given: [9, 100, 9].map((version) => ({ metadata: { resourceVersion: String(version) } })),
    expected: [1, 2, 1].map((rank) => ({ metadata: { resourceVersion: `<version ${rank}>` } })),
  },
  {
    name: "reports whether a list is older than its items",
    given: ["10", "9"].map((resourceVersion) => ({
      items: [{ metadata: { resourceVersion: "10" } }],
      metadata: { resourceVersion },
    })),
    expected: ["<not older>", "<older>"].map((resourceVersion) => ({
      items: [{ metadata: { resourceVersion: "<version 1>" } }],
      metadata: { resourceVersion },
    })),
  },
  {
    name: "recognizes an empty list of metadata, which has no items",
    given: [{ kind: "PartialObjectMetadataList", metadata: { resourceVersion: "10" } }],
    expected: [{ kind: "PartialObjectMetadataList", metadata: { resourceVersion: "<not older>" } }],
  },
  {
    name: "reports whether a bookmark is older than the events before it",
    given: [[
      { type: "ADDED", object: { metadata: { resourceVersion: "10" } } },
      { type: "BOOKMARK", object: { kind: "X", metadata: { resourceVersion: "12" } } },
      { type: "BOOKMARK", object: { kind: "X", metadata: { resourceVersion: "11" } } },
    ]],
    expected: [[
      { type: "ADDED", object: { metadata: { resourceVersion: "<version 1>" } } },
      { type: "BOOKMARK", object: { kind: "X", metadata: { resourceVersion: "<not older>" } } },
      { type: "BOOKMARK", object: { kind: "X", metadata: { resourceVersion: "<older>" } } },
    ]],
  },
  {
    name: "preserves the precision of times",
    given: [{ a: "2026-01-01T00:00:00Z", b: "2026-01-01T00:00:00.123456Z", c: "2026-01-01" }],
    expected: [{ a: "<time>", b: "<micro time>", c: "2026-01-01" }],
  },
  {
    name: "replaces generated names only if their suffix has the right form",
    given: [{ generateName: "a-", name: "a-x2b4c" }, { generateName: "a-", name: "a-aeiou" }, {
      message: '"a-x2b4c" not found',
    }],
    expected: [
      { generateName: "a-", name: "a-<generated 1>" },
      { generateName: "a-", name: "a-aeiou" },
      { message: '"a-<generated 1>" not found' },
    ],
  },
  {
    name: "replaces ages in tables that depend on the day of the run",
    given: [{ rows: [{ cells: ["a", "7s", "6y327d", "8y", "3d", 7, "2 (6y327d ago)", "1 (3d ago)"] }] }],
    expected: [{
      rows: [{
        cells: ["a", "<age>", "<age in years>", "<age in years>", "3d", 7, "2 (<age in years> ago)", "1 (3d ago)"],
      }],
    }],
  },
  {
    name: "preserves whether a list has a next page",
    given: ["", "abc"].map((token) => ({ items: [], metadata: { continue: token } })),
    expected: ["", "<continue>"].map((token) => ({ items: [], metadata: { continue: token } })),
  },
  {
    name: "sorts the causes of a failure, and in its message",
    given: [{
      kind: "Status",
      message: "it is invalid: [b: wrong, a: bad]",
      details: { causes: [{ field: "b", message: "wrong" }, { field: "a", message: "bad" }] },
    }],
    expected: [{
      kind: "Status",
      message: "it is invalid: a: bad; b: wrong",
      details: { causes: [{ field: "a", message: "bad" }, { field: "b", message: "wrong" }] },
    }],
  },
  {
    name: "sorts managers by name and operation",
    given: [{
      managedFields: [{ manager: "b" }, { manager: "a", operation: "Update" }, { manager: "a", operation: "Apply" }],
    }],
    expected: [{
      managedFields: [{ manager: "a", operation: "Apply" }, { manager: "a", operation: "Update" }, { manager: "b" }],
    }],
  },
  {
    name: "leaves a message that does not list its causes",
    given: [{ kind: "Status", message: "it is invalid", details: { causes: [{ field: "b", message: "wrong" }] } }],
    expected: [{ kind: "Status", message: "it is invalid", details: { causes: [{ field: "b", message: "wrong" }] } }],
  },
];

for (const { name, given, expected } of cases) {
  Deno.test(`normalizeSteps ${name}`, () => assert.deepEqual(bodies(...given), expected));
}

Deno.test("normalizeSteps replaces versions in the paths of requests", () => {
  const [step] = normalizeSteps([{
    call: "GET /x?watch=1&resourceVersion=17",
    status: 200,
    contentType: null,
    body: [],
  }]);

  assert.equal((step as Step).call, "GET /x?watch=1&resourceVersion=<version>");
});
