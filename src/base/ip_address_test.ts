import assert from "node:assert/strict";
import fc from "fast-check";
import { IpAddress, IpNetwork } from "./ip_address.ts";

const canonicalForms: readonly (readonly [given: string, expected: string])[] = [
  ["0.0.0.0", "0.0.0.0"],
  ["255.255.255.255", "255.255.255.255"],
  ["::", "::"],
  ["::1", "::1"],
  ["1::", "1::"],
  ["0:0:0:0:0:0:0:0", "::"],
  ["2001:DB8::0:ABCD", "2001:db8::abcd"],
  ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
  ["1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"],
  ["1:0:0:4:0:0:0:8", "1:0:0:4::8"],
  ["64:ff9b::10.0.0.1", "64:ff9b::a00:1"],
  ["::ffff:1.2.3.4", "::ffff:1.2.3.4"],
  ["::ffff:102:304", "::ffff:1.2.3.4"],
  ["fe80::1%eth0", "fe80::1%eth0"],
];

for (const [given, expected] of canonicalForms) {
  Deno.test(`IpAddress.parse("${given}") prints as ${expected}`, () => {
    assert.equal(IpAddress.parse(given).toString(), expected);
  });
}

const rejected: readonly (readonly [given: string, message: string])[] = [
  ["", "unable to parse IP"],
  ["localhost", "unable to parse IP"],
  ["%eth0", "missing IPv6 address"],
  ["1.2.3", "IPv4 address too short"],
  ["1.2.3.4.5", "IPv4 address too long"],
  ["1.2.3.04", "IPv4 field has octet with leading zero"],
  ["1.2.3.256", "IPv4 field has value >255"],
  ["1..2.3", 'IPv4 field must have at least one digit (at ".2.3")'],
  [".1.2.3", 'IPv4 field must have at least one digit (at ".1.2.3")'],
  ["1.2.3.", 'IPv4 field must have at least one digit (at ".")'],
  ["1.2.3.x", 'unexpected character (at "x")'],
  [":::1", 'each colon-separated field must have at least one digit (at ":1")'],
  ["1::2::3", 'multiple :: in address (at ":3")'],
  ["12345::", 'each group must have 4 or less digits (at "12345::")'],
  ["1:", 'colon must be followed by more characters (at ":")'],
  ["1:2g", 'unexpected character, want colon (at "g")'],
  ["1:2:3:4:5:6:7", "address string too short"],
  ["1:2:3:4:5:6:7:8:9", 'trailing garbage after address (at "9")'],
  ["1:2:3:4:5:6:7::8", "the :: must expand to at least one field of zeros"],
  ["1:2:3:1.2.3.4", 'embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")'],
  ["1::2:3:4:5:6:7:1.2.3.4", 'too many hex fields to fit an embedded IPv4 at the end of the address (at "1.2.3.4")'],
  ["fe80::1%", "zone must be a non-empty string"],
];

for (const [given, message] of rejected) {
  Deno.test(`IpAddress.parse rejects "${given}"`, () => {
    assert.throws(() => IpAddress.parse(given), {
      name: "SyntaxError",
      message: `ParseAddr(${JSON.stringify(given)}): ${message}`,
    });
  });
}

const KINDS = [
  "isMapped",
  "isUnspecified",
  "isLoopback",
  "isMulticast",
  "isLinkLocalMulticast",
  "isLinkLocalUnicast",
  "isGlobalUnicast",
] as const;
const kinds: readonly (readonly [given: string, expected: readonly (typeof KINDS[number])[]])[] = [
  ["0.0.0.0", ["isUnspecified"]],
  ["::", ["isUnspecified"]],
  ["127.1.2.3", ["isLoopback"]],
  ["::1", ["isLoopback"]],
  ["224.0.0.1", ["isMulticast", "isLinkLocalMulticast"]],
  ["224.0.1.1", ["isMulticast"]],
  ["239.255.255.255", ["isMulticast"]],
  ["ff02::1", ["isMulticast", "isLinkLocalMulticast"]],
  ["ff05::1", ["isMulticast"]],
  ["169.254.0.1", ["isLinkLocalUnicast"]],
  ["fe80::1", ["isLinkLocalUnicast"]],
  ["febf::1", ["isLinkLocalUnicast"]],
  ["fec0::1", ["isGlobalUnicast"]],
  ["10.0.0.1", ["isGlobalUnicast"]],
  ["240.0.0.1", ["isGlobalUnicast"]],
  ["255.255.255.255", []],
  ["2001:db8::1", ["isGlobalUnicast"]],
  ["::ffff:127.0.0.1", ["isMapped", "isLoopback"]],
  ["::ffff:10.0.0.1", ["isMapped", "isGlobalUnicast"]],
];

for (const [given, expected] of kinds) {
  Deno.test(`IpAddress.parse("${given}") is ${expected.join(" and ") || "in no class"}`, () => {
    const address = IpAddress.parse(given);
    assert.deepEqual(KINDS.filter((kind) => address[kind]), expected);
  });
}

const rejectedNetworks: readonly (readonly [given: string, message: string])[] = [
  ["10.0.0.0", "no '/'"],
  ["10.0.0/8", 'ParseAddr("10.0.0"): IPv4 address too short'],
  ["/8", 'ParseAddr(""): unable to parse IP'],
  ["10.0.0.0/33", "prefix length out of range"],
  ["::/129", "prefix length out of range"],
  ["10.0.0.0/", 'bad bits after slash: ""'],
  ["10.0.0.0/08", 'bad bits after slash: "08"'],
  ["10.0.0.0/+8", 'bad bits after slash: "+8"'],
  ["10.0.0.0/9223372036854775808", 'bad bits after slash: "9223372036854775808"'],
  ["fe80::1%eth0/64", "IPv6 zones cannot be present in a prefix"],
];

for (const [given, message] of rejectedNetworks) {
  Deno.test(`IpNetwork.parse rejects "${given}"`, () => {
    assert.throws(() => IpNetwork.parse(given), {
      name: "SyntaxError",
      message: `netip.ParsePrefix(${JSON.stringify(given)}): ${message}`,
    });
  });
}

const networks: readonly {
  given: string;
  masked: string;
  contained: readonly string[];
  notContained: readonly string[];
}[] = [
  {
    given: "10.1.2.3/8",
    masked: "10.0.0.0/8",
    contained: ["10.0.0.0", "10.255.255.255"],
    notContained: ["11.0.0.0", "::a00:1", "::ffff:10.0.0.1"],
  },
  { given: "10.1.2.3/31", masked: "10.1.2.2/31", contained: ["10.1.2.2", "10.1.2.3"], notContained: ["10.1.2.4"] },
  { given: "10.1.2.3/32", masked: "10.1.2.3/32", contained: ["10.1.2.3"], notContained: ["10.1.2.2"] },
  { given: "10.1.2.3/0", masked: "0.0.0.0/0", contained: ["255.255.255.255"], notContained: ["::"] },
  {
    given: "2001:db8:ffff::1/33",
    masked: "2001:db8:8000::/33",
    contained: ["2001:db8:8000::"],
    notContained: ["2001:db8:7fff::"],
  },
  { given: "fe80::/10", masked: "fe80::/10", contained: ["febf::1"], notContained: ["fec0::", "fe80::1%eth0"] },
];

for (const { given, masked, contained, notContained } of networks) {
  Deno.test(`IpNetwork.parse("${given}") is ${masked} and contains ${contained.join(", ")} but not ${notContained.join(", ")}`, () => {
    const network = IpNetwork.parse(given);
    assert.equal(network.masked().toString(), masked);
    assert.equal(network.toString(), given);
    for (const address of contained) assert(network.contains(IpAddress.parse(address)), address);
    for (const address of notContained) assert(!network.contains(IpAddress.parse(address)), address);
  });
}

Deno.test("IpNetwork.overlaps is true for a network and one inside it, in either order", () => {
  const [wide, narrow, other] = ["10.0.0.0/8", "10.1.0.0/16", "11.0.0.0/8"].map(IpNetwork.parse);
  assert.deepEqual([wide!.overlaps(narrow!), narrow!.overlaps(wide!), wide!.overlaps(other!)], [true, true, false]);
});

Deno.test("IpAddress parses its own output", () => {
  const groups = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), {
    minLength: 8,
    maxLength: 8,
  });
  fc.assert(fc.property(groups, (parts) => {
    const address = IpAddress.parse(parts.map((part) => part.toString(16)).join(":"));
    const text = address.toString();
    assert(IpAddress.parse(text).equals(address));
    // The WHATWG URL parser agrees.
    if (!address.isMapped) assert.equal(new URL(`http://[${text}]/`).hostname, `[${text}]`);
  }));
});
