import assert from "node:assert/strict";
import { parseLabelSelector } from "../base/label_selector.ts";
import {
  absent,
  type ChangeFilter,
  type FilteredMetadata,
  matchesChange,
  type ObjectFilter,
  objectMatcher,
  present,
  selectorOf,
  type TextFilters,
} from "./filters.ts";

const textCases: {
  name: string;
  filters: TextFilters;
  match: (string | undefined)[];
  differ: (string | undefined)[];
}[] = [
  { name: "a value", filters: { tier: "gold" }, match: ["gold"], differ: ["free", "", undefined] },
  { name: "an empty value", filters: { tier: "" }, match: [""], differ: ["free", undefined] },
  { name: "a list", filters: { tier: ["gold", "free"] }, match: ["gold", "free"], differ: ["silver", undefined] },
  { name: "present", filters: { tier: present }, match: ["gold", ""], differ: [undefined] },
  { name: "absent", filters: { tier: absent }, match: [undefined], differ: ["gold", ""] },
  {
    name: "a function",
    filters: { tier: (value) => value?.startsWith("g") ?? true },
    match: ["gold", undefined],
    differ: ["free"],
  },
];

for (const { name, filters, match, differ } of textCases) {
  for (const option of ["labels", "annotations"] as const) {
    Deno.test(`${option} are filtered by ${name}`, () => {
      const matches = objectMatcher([{ [option]: filters }]);
      const withValue = (value: string | undefined): FilteredMetadata =>
        value === undefined ? {} : { [option]: { tier: value } };

      for (const value of match) assert(matches(withValue(value)), `${value}`);
      for (const value of differ) assert(!matches(withValue(value)), `${value}`);
    });
  }
}

Deno.test("a label filter does not read inherited properties", () => {
  const labels: TextFilters = Object.fromEntries([["constructor", absent]]);

  assert(objectMatcher([{ labels }])({ labels: {} }));
});

Deno.test("all filters of a handler and its shared filters must match", () => {
  const matches = objectMatcher([{ labels: { app: "web" }, annotations: { note: present } }, {
    labels: { app: ["web", "shop"], demo: absent },
    namespaces: ["shop-*"],
  }]);
  const object = { namespace: "shop-eu", labels: { app: "web" }, annotations: { note: "x" } };

  assert(matches(object));
  assert(!matches({ ...object, namespace: "blog" }));
  assert(!matches({ ...object, labels: { app: "shop" } }));
  assert(!matches({ ...object, labels: { app: "web", demo: "" } }));
  assert(!matches({ ...object, annotations: {} }));
});

Deno.test("an object matches if there are no filters", () => {
  assert(objectMatcher([])({}));
  assert(objectMatcher([{}])({ namespace: "shop" }));
});

// The cases with "myapp" are those of kopf's documentation (docs/scopes.rst).
const namespaceCases: { patterns: string[]; match: string[]; differ: string[] }[] = [
  { patterns: ["shop"], match: ["shop"], differ: ["shop-eu", "my-shop"] },
  { patterns: ["shop", "blog"], match: ["shop", "blog"], differ: ["mail"] },
  { patterns: ["shop-*"], match: ["shop-", "shop-eu"], differ: ["shop", "my-shop-eu"] },
  { patterns: ["shop-?"], match: ["shop-1"], differ: ["shop-", "shop-12"] },
  { patterns: ["shop-*", "!shop-test"], match: ["shop-eu"], differ: ["shop-test", "blog"] },
  { patterns: ["!*-pr-123-*"], match: ["shop", "blog-pr-124-x"], differ: ["blog-pr-123-x"] },
  {
    patterns: ["myapp-*", "!*-pr-*", "*-pr-123"],
    match: ["myapp-live", "myapp-pr-123"],
    differ: ["myapp-pr-456", "otherapp-live", "otherapp-pr-123"],
  },
  {
    patterns: ["!*-pr-*, *-pr-123"],
    match: ["myapp-live", "myapp-pr-123", "otherapp-pr-123"],
    differ: ["myapp-pr-456"],
  },
  { patterns: ["shop-*,blog-*", "!*-test"], match: ["shop-eu", "blog-eu"], differ: ["blog-test", "mail-eu"] },
];

for (const { patterns, match, differ } of namespaceCases) {
  Deno.test(`namespaces ${JSON.stringify(patterns)} match ${match}, but not ${differ}`, () => {
    const matches = objectMatcher([{ namespaces: patterns }]);

    assert.deepEqual(match.filter((namespace) => !matches({ namespace })), []);
    assert.deepEqual(differ.filter((namespace) => matches({ namespace })), []);
  });
}

Deno.test("a cluster-scoped object matches no namespace pattern", () => {
  assert(!objectMatcher([{ namespaces: ["*"] }])({}));
});

const invalid: { name: string; filter: ObjectFilter; error: string }[] = [
  { name: "an invalid label name", filter: { labels: { "a b": "x" } }, error: "SyntaxError" },
  { name: "an invalid label value", filter: { labels: { app: ["web", "a b"] } }, error: "SyntaxError" },
  { name: "an empty list of label values", filter: { labels: { app: [] } }, error: "RangeError" },
  { name: "an invalid annotation name", filter: { annotations: { "a/b/c": present } }, error: "SyntaxError" },
  { name: "an empty list of namespaces", filter: { namespaces: [] }, error: "RangeError" },
  { name: "a namespace in uppercase", filter: { namespaces: ["Shop"] }, error: "SyntaxError" },
  { name: "a double exclusion", filter: { namespaces: ["!!shop"] }, error: "SyntaxError" },
  { name: "an empty pattern", filter: { namespaces: ["shop,"] }, error: "SyntaxError" },
];

for (const { name, filter, error } of invalid) {
  Deno.test(`a filter with ${name} is rejected`, () => {
    assert.throws(() => objectMatcher([filter]), { name: error });
  });
}

Deno.test("an annotation filter accepts any value, and a prefix in uppercase", () => {
  assert(
    objectMatcher([{ annotations: { "Example.com/note": "a b" } }])({ annotations: { "Example.com/note": "a b" } }),
  );
});

const changeCases: { name: string; filter: ChangeFilter; match: [unknown, unknown][]; differ: [unknown, unknown][] }[] =
  [
    { name: "no filter", filter: {}, match: [[1, 2], [undefined, 1]], differ: [] },
    {
      name: "from",
      filter: { from: "free" },
      match: [["free", "gold"]],
      differ: [["gold", "free"], [undefined, "free"]],
    },
    { name: "to", filter: { to: "gold" }, match: [["free", "gold"]], differ: [["gold", "free"], ["gold", undefined]] },
    { name: "from and to", filter: { from: 1, to: 2 }, match: [[1, 2]], differ: [[1, 3], [0, 2]] },
    {
      name: "fromOrTo",
      filter: { fromOrTo: "gold" },
      match: [["gold", "free"], ["free", "gold"], [undefined, "gold"]],
      differ: [["free", "silver"]],
    },
    { name: "absent", filter: { from: absent }, match: [[undefined, 1]], differ: [[null, 1]] },
    { name: "present", filter: { to: present }, match: [[1, null]], differ: [[1, undefined]] },
    {
      name: "a function",
      filter: { to: (value: unknown) => Number(value ?? 0) > 3 },
      match: [[1, 4]],
      differ: [[4, 1], [4, undefined]],
    },
    { name: "an object", filter: { to: { a: 1, b: [2] } }, match: [[0, { b: [2], a: 1 }]], differ: [[0, { a: 1 }]] },
  ];

for (const { name, filter, match, differ } of changeCases) {
  Deno.test(`a change is filtered by ${name}`, () => {
    for (const [old, current] of match) assert(matchesChange(filter, old, current), `${old} -> ${current}`);
    for (const [old, current] of differ) assert(!matchesChange(filter, old, current), `${old} -> ${current}`);
  });
}

const selectorCases: { name: string; handlers: TextFilters[]; selector: string | undefined }[] = [
  { name: "no handlers", handlers: [], selector: undefined },
  { name: "a handler without labels", handlers: [{ app: "web" }, {}], selector: undefined },
  {
    name: "equal filters",
    handlers: [{ app: "web", demo: absent }, { demo: absent, app: "web" }],
    selector: "!demo,app=web",
  },
  { name: "different values", handlers: [{ app: "web" }, { app: "shop" }], selector: undefined },
  { name: "a shared filter", handlers: [{ app: "web", tier: () => true }, { app: "web" }], selector: "app=web" },
  { name: "a function", handlers: [{ app: () => true }], selector: undefined },
  { name: "lists in another order", handlers: [{ a: ["x", "y"] }, { a: ["y", "x", "x"] }], selector: "a in (x,y)" },
  { name: "a list with one value", handlers: [{ a: ["x"] }, { a: "x" }], selector: "a=x" },
  { name: "presence", handlers: [{ "example.com/app": present }], selector: "example.com/app" },
  { name: "an empty value", handlers: [{ a: "", b: ["", "x"] }], selector: "a=,b in (,x)" },
];

for (const { name, handlers, selector } of selectorCases) {
  Deno.test(`the label selector of ${name} is ${selector}`, () => {
    const found = selectorOf(handlers.map((labels) => ({ filters: [{ labels }], hasFinalizer: false })));

    assert.equal(found, selector);
    if (found !== undefined) parseLabelSelector(found);
  });
}

Deno.test("a label selector selects the objects that match the filters", () => {
  const filters: ObjectFilter[] = [{ labels: { a: ["", "x"], b: absent, c: present } }, { labels: { a: ["x"] } }];
  const selector = selectorOf([{ filters, hasFinalizer: false }])!;

  assert.deepEqual(parseLabelSelector(selector), [
    { key: "b", operator: "does not exist", values: [] },
    { key: "a", operator: "in", values: ["", "x"] },
    { key: "a", operator: "in", values: ["x"] },
    { key: "c", operator: "exists", values: [] },
  ]);
});

Deno.test("a kind is watched without a selector if a handler adds a finalizer", () => {
  const filters = [{ labels: { app: "web" } }];

  assert.equal(selectorOf([{ filters, hasFinalizer: false }, { filters, hasFinalizer: true }]), undefined);
});
