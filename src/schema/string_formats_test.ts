import assert from "node:assert/strict";
import { hasFormat, isKnownFormat } from "./string_formats.ts";

const cases: readonly { format: string; good: string[]; bad: string[] }[] = [
  { format: "date", good: ["2024-02-29"], bad: ["2023-02-29", "2024-2-1", "x"] },
  {
    format: "date-time",
    good: ["2024-01-01T00:00:00Z", "2024-01-01T00:00:00.5+01:00"],
    bad: ["2024-01-01", "2024-01-01T25:00:00Z"],
  },
  { format: "duration", good: ["1h30m", "90s", "22 ns", "0"], bad: ["", "1x", "h"] },
  { format: "hostname", good: ["a", "example.com", "A-b.example.com"], bad: ["-a", "a..b", "a_b"] },
  { format: "ipv4", good: ["10.0.0.1"], bad: ["10.0.0.256", "10.0.0", "::1"] },
  { format: "ipv6", good: ["::1", "fe80::1"], bad: ["10.0.0.1", "fe80::1::2", "x"] },
  { format: "cidr", good: ["10.0.0.0/8", "fe80::/10"], bad: ["10.0.0.0", "10.0.0.0/33", "fe80::/129"] },
  { format: "mac", good: ["00:11:22:33:44:55"], bad: ["00:11:22:33:44", "zz:11:22:33:44:55"] },
  { format: "uuid", good: ["123e4567-e89b-12d3-a456-426614174000"], bad: ["123e4567"] },
  { format: "uuid4", good: ["123e4567-e89b-42d3-a456-426614174000"], bad: ["123e4567-e89b-12d3-a456-426614174000"] },
  { format: "uri", good: ["https://example.com/a", "/a"], bad: ["example.com", "a b"] },
  { format: "email", good: ["a@example.com"], bad: ["a", "a@"] },
  { format: "byte", good: ["dGV4dA=="], bad: ["dGV4dA", "!"] },
  { format: "isbn10", good: ["0321751043"], bad: ["0321751044"] },
  { format: "isbn13", good: ["978-0321751041"], bad: ["978-0321751042"] },
  { format: "creditcard", good: ["4111 1111 1111 1111"], bad: ["4111 1111 1111 1112"] },
  { format: "hexcolor", good: ["#fff", "#FFFFFF"], bad: ["#ff"] },
  { format: "rgbcolor", good: ["rgb(1, 2, 255)"], bad: ["rgb(1,2,256)"] },
  { format: "k8s-short-name", good: ["a-b"], bad: ["A", "a.b", "a".repeat(64)] },
  { format: "k8s-long-name", good: ["a.b"], bad: ["A.b", "a..b"] },
];
for (const { format, good, bad } of cases) {
  Deno.test(`hasFormat validates ${format}`, () => {
    assert(isKnownFormat(format));
    for (const text of good) assert(hasFormat(format, text), text);
    for (const text of bad) assert(!hasFormat(format, text), text);
  });
}

Deno.test("hasFormat accepts unknown formats", () => {
  assert(hasFormat("int-or-string", "x"));
  assert(!isKnownFormat("int-or-string"));
});
