import assert from "node:assert/strict";
import { apiChanges } from "./public_api.ts";

const CHANGES: readonly { name: string; before: string; after: string; expected: readonly string[] }[] = [
  {
    name: "a new declaration is added",
    before: "",
    after: "class A\n  constructor()\n",
    expected: ["added class A"],
  },
  {
    name: "a missing declaration is removed",
    before: "type A = string\n",
    after: "",
    expected: ["removed type A"],
  },
  {
    name: "a changed type is breaking",
    before: "type A = string\n",
    after: "type A = number\n",
    expected: ["breaking type A - type A = string", "breaking type A + type A = number"],
  },
  {
    name: "a new required parameter is breaking",
    before: "function f(): void\n",
    after: "function f(a: string): void\n",
    expected: ["breaking function f - function f(): void", "added function f + function f(a: string): void"],
  },
  {
    name: "a new overload is added",
    before: "function f(): void\n",
    after: "function f(): void\n\nfunction f(a: string): void\n",
    expected: ["added function f + function f(a: string): void"],
  },
  {
    name: "a new optional member is added",
    before: "interface A\n  readonly a: string\n",
    after: "interface A\n  readonly a: string\n  readonly b?: string\n  c?(d: string): void\n",
    expected: ["added interface A + readonly b?: string", "added interface A + c?(d: string): void"],
  },
  {
    name: "a new required member is breaking in an interface and added in a class",
    before: "interface A\n  a: string\n\nclass B\n  a: string\n",
    after: "interface A\n  a: string\n  b: string | undefined\n\nclass B\n  a: string\n  b(): void\n",
    expected: ["breaking interface A + b: string | undefined", "added class B + b(): void"],
  },
  {
    name: "a member that becomes required is breaking",
    before: "interface A\n  a?: string\n",
    after: "interface A\n  a: string\n",
    expected: ["breaking interface A - a?: string", "breaking interface A + a: string"],
  },
  {
    name: "the order of declarations is ignored",
    before: "type A = 1\n\ntype B = 2\n",
    after: "type B = 2\n\ntype A = 1\n",
    expected: [],
  },
];

for (const { name, before, after, expected } of CHANGES) {
  Deno.test(`apiChanges: ${name}`, () => {
    const changes = apiChanges(before, after).map(({ kind, declaration, line }) =>
      [kind, declaration, ...line === undefined ? [] : [line]].join(" ")
    );
    assert.deepEqual(changes, expected);
  });
}
