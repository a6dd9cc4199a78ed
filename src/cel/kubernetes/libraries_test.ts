import assert from "node:assert/strict";
import { type Case, caseOf } from "../../../tests/cel_libraries/case.ts";
import { CIDRS } from "../../../tests/cel_libraries/cidr.ts";
import { FORMATS } from "../../../tests/cel_libraries/format.ts";
import { IPS } from "../../../tests/cel_libraries/ip.ts";
import { LISTS } from "../../../tests/cel_libraries/lists.ts";
import { QUANTITIES } from "../../../tests/cel_libraries/quantity.ts";
import { REGEX } from "../../../tests/cel_libraries/regex.ts";
import { SEMVERS } from "../../../tests/cel_libraries/semver.ts";
import { URLS } from "../../../tests/cel_libraries/urls.ts";

const tables: Readonly<Record<string, readonly Case[]>> = {
  lists: LISTS,
  regex: REGEX,
  urls: URLS,
  quantity: QUANTITIES,
  ip: IPS,
  cidr: CIDRS,
  format: FORMATS,
  semver: SEMVERS,
};

for (const [name, cases] of Object.entries(tables)) {
  Deno.test(`${cases.length} expressions of the library "${name}" come out and cost as on a real API server`, () => {
    assert.deepEqual(cases.map(([expression]) => caseOf(expression)), cases);
  });
}
