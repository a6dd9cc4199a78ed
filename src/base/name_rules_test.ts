import assert from "node:assert/strict";
import {
  label1035Faults,
  labelFaults,
  labelValueFaults,
  type NameRule,
  pathSegmentFaults,
  prefixRule,
  qualifiedNameFaults,
  subdomainFaults,
} from "./name_rules.ts";

const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an " +
  "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end " +
  "with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end " +
  "with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const KEY =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with " +
  "an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const PARTS = `a valid label key ${KEY} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;

const cases: readonly { rule: NameRule; name: string; given: string; expected: readonly string[] }[] = [
  { rule: subdomainFaults, name: "subdomainFaults", given: "a.b-c.1", expected: [] },
  { rule: subdomainFaults, name: "subdomainFaults", given: "a".repeat(253), expected: [] },
  {
    rule: subdomainFaults,
    name: "subdomainFaults",
    given: "a".repeat(254),
    expected: ["must be no more than 253 characters"],
  },
  { rule: subdomainFaults, name: "subdomainFaults", given: "", expected: [SUBDOMAIN] },
  { rule: subdomainFaults, name: "subdomainFaults", given: "a..b", expected: [SUBDOMAIN] },
  {
    rule: subdomainFaults,
    name: "subdomainFaults",
    given: "ä".repeat(127),
    expected: ["must be no more than 253 characters", SUBDOMAIN],
  },
  { rule: labelFaults, name: "labelFaults", given: "my-name", expected: [] },
  { rule: labelFaults, name: "labelFaults", given: "a.b", expected: ["must not contain dots"] },
  { rule: labelFaults, name: "labelFaults", given: "A.b", expected: [LABEL] },
  {
    rule: labelFaults,
    name: "labelFaults",
    given: `${"a".repeat(63)}.b`,
    expected: ["must be no more than 63 characters", "must not contain dots"],
  },
  { rule: label1035Faults, name: "label1035Faults", given: "my-name", expected: [] },
  { rule: label1035Faults, name: "label1035Faults", given: "1a", expected: [LABEL_1035] },
  { rule: pathSegmentFaults, name: "pathSegmentFaults", given: "a:b", expected: [] },
  { rule: pathSegmentFaults, name: "pathSegmentFaults", given: "..", expected: ["may not be '..'"] },
  {
    rule: pathSegmentFaults,
    name: "pathSegmentFaults",
    given: "%/",
    expected: ["may not contain '/'", "may not contain '%'"],
  },
  { rule: qualifiedNameFaults, name: "qualifiedNameFaults", given: "example.com/My_Name.1", expected: [] },
  { rule: qualifiedNameFaults, name: "qualifiedNameFaults", given: "a/b/c", expected: [PARTS] },
  {
    rule: qualifiedNameFaults,
    name: "qualifiedNameFaults",
    given: "",
    expected: ["name part must be non-empty", `name part ${KEY}`],
  },
  {
    rule: qualifiedNameFaults,
    name: "qualifiedNameFaults",
    given: "/a",
    expected: ["prefix part must be non-empty"],
  },
  {
    rule: qualifiedNameFaults,
    name: "qualifiedNameFaults",
    given: `${"A".repeat(254)}/${"a".repeat(64)}`,
    expected: [
      "prefix part must be no more than 253 bytes",
      `prefix part ${SUBDOMAIN}`,
      "name part must be no more than 63 bytes",
    ],
  },
  { rule: labelValueFaults, name: "labelValueFaults", given: "", expected: [] },
  { rule: labelValueFaults, name: "labelValueFaults", given: "-a", expected: [VALUE] },
  {
    rule: labelValueFaults,
    name: "labelValueFaults",
    given: "v".repeat(64),
    expected: ["must be no more than 63 bytes"],
  },
  { rule: prefixRule(labelFaults), name: "prefixRule(labelFaults)", given: "my-name-", expected: [] },
  { rule: prefixRule(labelFaults), name: "prefixRule(labelFaults)", given: "a--", expected: [] },
  { rule: prefixRule(labelFaults), name: "prefixRule(labelFaults)", given: "-", expected: [LABEL] },
  { rule: prefixRule(labelFaults), name: "prefixRule(labelFaults)", given: "My-", expected: [LABEL] },
  { rule: prefixRule(labelFaults), name: "prefixRule(labelFaults)", given: "a".repeat(63) + "-", expected: [] },
  {
    rule: prefixRule(labelFaults),
    name: "prefixRule(labelFaults)",
    given: "x".repeat(61) + "é-",
    expected: [LABEL],
  },
];

for (const { rule, name, given, expected } of cases) {
  const shown = given.length > 30 ? `${given.slice(0, 10)}... of ${given.length} characters` : given;
  Deno.test(`${name} reports ${expected.length} errors in "${shown}"`, () => {
    assert.deepEqual(rule(given), expected);
  });
}
