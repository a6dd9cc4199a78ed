import assert from "node:assert/strict";
import {
  label1035Errors,
  labelErrors,
  labelValueErrors,
  type NameRule,
  pathSegmentErrors,
  prefixRule,
  qualifiedNameErrors,
  subdomainErrors,
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
  { rule: subdomainErrors, name: "subdomainErrors", given: "a.b-c.1", expected: [] },
  { rule: subdomainErrors, name: "subdomainErrors", given: "a".repeat(253), expected: [] },
  {
    rule: subdomainErrors,
    name: "subdomainErrors",
    given: "a".repeat(254),
    expected: ["must be no more than 253 characters"],
  },
  { rule: subdomainErrors, name: "subdomainErrors", given: "", expected: [SUBDOMAIN] },
  { rule: subdomainErrors, name: "subdomainErrors", given: "a..b", expected: [SUBDOMAIN] },
  {
    rule: subdomainErrors,
    name: "subdomainErrors",
    given: "ä".repeat(127),
    expected: ["must be no more than 253 characters", SUBDOMAIN],
  },
  { rule: labelErrors, name: "labelErrors", given: "my-name", expected: [] },
  { rule: labelErrors, name: "labelErrors", given: "a.b", expected: ["must not contain dots"] },
  { rule: labelErrors, name: "labelErrors", given: "A.b", expected: [LABEL] },
  {
    rule: labelErrors,
    name: "labelErrors",
    given: `${"a".repeat(63)}.b`,
    expected: ["must be no more than 63 characters", "must not contain dots"],
  },
  { rule: label1035Errors, name: "label1035Errors", given: "my-name", expected: [] },
  { rule: label1035Errors, name: "label1035Errors", given: "1a", expected: [LABEL_1035] },
  { rule: pathSegmentErrors, name: "pathSegmentErrors", given: "a:b", expected: [] },
  { rule: pathSegmentErrors, name: "pathSegmentErrors", given: "..", expected: ["may not be '..'"] },
  {
    rule: pathSegmentErrors,
    name: "pathSegmentErrors",
    given: "%/",
    expected: ["may not contain '/'", "may not contain '%'"],
  },
  { rule: qualifiedNameErrors, name: "qualifiedNameErrors", given: "example.com/My_Name.1", expected: [] },
  { rule: qualifiedNameErrors, name: "qualifiedNameErrors", given: "a/b/c", expected: [PARTS] },
  {
    rule: qualifiedNameErrors,
    name: "qualifiedNameErrors",
    given: "",
    expected: ["name part must be non-empty", `name part ${KEY}`],
  },
  {
    rule: qualifiedNameErrors,
    name: "qualifiedNameErrors",
    given: "/a",
    expected: ["prefix part must be non-empty"],
  },
  {
    rule: qualifiedNameErrors,
    name: "qualifiedNameErrors",
    given: `${"A".repeat(254)}/${"a".repeat(64)}`,
    expected: [
      "prefix part must be no more than 253 bytes",
      `prefix part ${SUBDOMAIN}`,
      "name part must be no more than 63 bytes",
    ],
  },
  { rule: labelValueErrors, name: "labelValueErrors", given: "", expected: [] },
  { rule: labelValueErrors, name: "labelValueErrors", given: "-a", expected: [VALUE] },
  {
    rule: labelValueErrors,
    name: "labelValueErrors",
    given: "v".repeat(64),
    expected: ["must be no more than 63 bytes"],
  },
  { rule: prefixRule(labelErrors), name: "prefixRule(labelErrors)", given: "my-name-", expected: [] },
  { rule: prefixRule(labelErrors), name: "prefixRule(labelErrors)", given: "a--", expected: [] },
  { rule: prefixRule(labelErrors), name: "prefixRule(labelErrors)", given: "-", expected: [LABEL] },
  { rule: prefixRule(labelErrors), name: "prefixRule(labelErrors)", given: "My-", expected: [LABEL] },
  { rule: prefixRule(labelErrors), name: "prefixRule(labelErrors)", given: "a".repeat(63) + "-", expected: [] },
  {
    rule: prefixRule(labelErrors),
    name: "prefixRule(labelErrors)",
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
