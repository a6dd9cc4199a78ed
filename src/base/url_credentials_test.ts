import assert from "node:assert/strict";
import { withoutUrlCredentials } from "./url_credentials.ts";

const cases: { given: string; expected: string }[] = [
  { given: "postgres://user:pw@db/x", expected: "postgres://***@db/x" },
  { given: "https://token@example.com", expected: "https://***@example.com" },
  { given: "redis://:pw@[::1]:6379, amqp://a:b@c", expected: "redis://***@[::1]:6379, amqp://***@c" },
  { given: "mongodb://u:p@ss@host:1/?a=b", expected: "mongodb://***@host:1/?a=b" },
  { given: "//user:pw@host", expected: "//***@host" },
  { given: "see https://example.com/@scope/x?mail=a@b.c", expected: "see https://example.com/@scope/x?mail=a@b.c" },
  { given: "at file:///a@1.0/mod.ts:1:2", expected: "at file:///a@1.0/mod.ts:1:2" },
  { given: "mail a@b.c // or d@e.f", expected: "mail a@b.c // or d@e.f" },
];

for (const { given, expected } of cases) {
  Deno.test(`withoutUrlCredentials turns "${given}" into "${expected}"`, () => {
    assert.equal(withoutUrlCredentials(given), expected);
  });
}
