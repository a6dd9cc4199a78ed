import assert from "node:assert/strict";
import { hasFormat, isKnownFormat } from "./string_formats.ts";

const cases: readonly { format: string; valid: string[]; invalid: string[] }[] = [
  { format: "date", valid: ["2024-02-29"], invalid: ["2023-02-29", "2024-2-1", "x"] },
  {
    format: "date-time",
    valid: ["2024-01-01T00:00:00Z", "2024-01-01T00:00:00.5+01:00"],
    invalid: ["2024-01-01", "2024-01-01T25:00:00Z"],
  },
  { format: "duration", valid: ["1h30m", "90s", "22 ns", "0"], invalid: ["", "1x", "h"] },
  { format: "hostname", valid: ["a", "example.com", "A-b.example.com"], invalid: ["-a", "a..b", "a_b"] },
  { format: "ipv4", valid: ["10.0.0.1"], invalid: ["10.0.0.256", "10.0.0", "::1"] },
  { format: "ipv6", valid: ["::1", "fe80::1"], invalid: ["10.0.0.1", "fe80::1::2", "x"] },
  { format: "cidr", valid: ["10.0.0.0/8", "fe80::/10"], invalid: ["10.0.0.0", "10.0.0.0/33", "fe80::/129"] },
  { format: "mac", valid: ["00:11:22:33:44:55"], invalid: ["00:11:22:33:44", "zz:11:22:33:44:55"] },
  { format: "uuid", valid: ["123e4567-e89b-12d3-a456-426614174000"], invalid: ["123e4567"] },
  {
    format: "uuid4",
    valid: ["123e4567-e89b-42d3-a456-426614174000"],
    invalid: ["123e4567-e89b-12d3-a456-426614174000"],
  },
  { format: "uri", valid: ["https://example.com/a", "/a"], invalid: ["example.com", "a b"] },
  { format: "email", valid: ["a@example.com"], invalid: ["a", "a@"] },
  { format: "byte", valid: ["dGV4dA=="], invalid: ["dGV4dA", "!"] },
  { format: "isbn10", valid: ["0321751043"], invalid: ["0321751044"] },
  { format: "isbn13", valid: ["978-0321751041"], invalid: ["978-0321751042"] },
  { format: "creditcard", valid: ["4111 1111 1111 1111"], invalid: ["4111 1111 1111 1112"] },
  { format: "hexcolor", valid: ["#fff", "#FFFFFF"], invalid: ["#ff"] },
  { format: "rgbcolor", valid: ["rgb(1, 2, 255)"], invalid: ["rgb(1,2,256)"] },
  { format: "k8s-short-name", valid: ["a-b"], invalid: ["A", "a.b", "a".repeat(64)] },
  { format: "k8s-long-name", valid: ["a.b"], invalid: ["A.b", "a..b"] },
];
for (const { format, valid, invalid } of cases) {
  Deno.test(`hasFormat validates ${format}`, () => {
    assert(isKnownFormat(format));
    for (const text of valid) assert(hasFormat(format, text), text);
    for (const text of invalid) assert(!hasFormat(format, text), text);
  });
}

Deno.test("hasFormat accepts unknown formats", () => {
  assert(hasFormat("int-or-string", "x"));
  assert(!isKnownFormat("int-or-string"));
});
