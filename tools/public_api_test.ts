import assert from "node:assert/strict";
import { apiChanges } from "./public_api.ts";

const CHANGES: readonly { name: string; before: string; after: string; expected: readonly string[] }[] = [
  {
    name: "reports a new declaration as added",
    before: "",
    after: "class A\n  constructor()\n",
    expected: ["added class A"],
  },
  {
    name: "reports a missing declaration as removed",
    before: "type A = string\n",
    after: "",
    expected: ["removed type A"],
  },
  {
    name: "reports a changed type as breaking",
    before: "type A = string\n",
    after: "type A = number\n",
    expected: ["breaking type A - type A = string", "breaking type A + type A = number"],
  },
  {
    name: "reports a new required parameter as breaking",
    before: "function f(): void\n",
    after: "function f(a: string): void\n",
    expected: ["breaking function f - function f(): void", "added function f + function f(a: string): void"],
  },
  {
    name: "reports a new overload as added",
    before: "function f(): void\n",
    after: "function f(): void\n\nfunction f(a: string): void\n",
    expected: ["added function f + function f(a: string): void"],
  },
  {
    name: "reports a new optional member as added",
    before: "interface A\n  readonly a: string\n",
    after: "interface A\n  readonly a: string\n  readonly b?: string\n  c?(d: string): void\n",
    expected: ["added interface A + readonly b?: string", "added interface A + c?(d: string): void"],
  },
  {
    name: "reports a new required member as breaking in an interface, and as added in a class",
    before: "interface A\n  a: string\n\nclass B\n  a: string\n",
    after: "interface A\n  a: string\n  b: string | undefined\n\nclass B\n  a: string\n  b(): void\n",
    expected: ["breaking interface A + b: string | undefined", "added class B + b(): void"],
  },
  {
    name: "reports a member that becomes required as breaking",
    before: "interface A\n  a?: string\n",
    after: "interface A\n  a: string\n",
    expected: ["breaking interface A - a?: string", "breaking interface A + a: string"],
  },
  {
    name: "ignores the order of declarations",
    before: "type A = 1\n\ntype B = 2\n",
    after: "type B = 2\n\ntype A = 1\n",
    expected: [],
  },
];

for (const { name, before, after, expected } of CHANGES) {
  Deno.test(`apiChanges ${name}`, () => {
    const changes = apiChanges(before, after).map(({ kind, declaration, line }) =>
      [kind, declaration, ...line === undefined ? [] : [line]].join(" ")
    );
    assert.deepEqual(changes, expected);
  });
}
