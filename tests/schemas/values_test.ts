/**
 * Thousands of values of random schemas, each tried on the real API server, on ours, and with
 * `validate`, `applyDefaults` and `prune`: decision, fields, messages and the resulting object are
 * equal.
 */
import assert from "node:assert/strict";
import { equal } from "../../src/base/json.ts";
import fc, { runs } from "../fixtures/property.ts";
import { type Local, local } from "./_local.ts";
import { Random } from "../fixtures/random.ts";
import { type Sample, type SampledKind, sampledKind, samples } from "./_samples.ts";
import { wideSchema } from "./_schemas.ts";
import { table } from "./_table.ts";
import { type Tried, tryAll } from "./_trial.ts";

const seed = fc.readConfigureGlobal()?.seed ?? 0;

/** Twelve kinds, each with all keywords at random depths. */
const kinds: readonly SampledKind[] = new Random(seed).times(
  12,
  (i) => sampledKind(`Thing${i}`, wideSchema(seed + i), i < 10 ? "spec" : "status"),
);

Deno.test(`values of random schemas get the same response from our API server as from the real one (PROPERTY_SEED=${seed})`, async (t) => {
  const all = samples(new Random(seed), kinds, { invalid: 50 * runs, doubtful: 12 * runs, valid: 2400 * runs });
  const tried = await tryAll(kinds, all);
  console.log(countsOf(all));

  await t.step("the real server accepts valid values and rejects invalid ones", () => {
    assertNone(
      tried.filter(({ sample: { validity }, real }) =>
        validity !== "doubtful" && (validity === "valid") !== real.code < 300
      ),
    );
  });

  await t.step(
    "our server returns the same decision, fields, messages and object",
    () => {
      assertNone(tried.filter(({ real, ours }) => !equal(real, ours)));
    },
  );

  await t.step("validate, applyDefaults and prune agree without a server", () => {
    assertNone(tried.map((each) => ({ ...each, local: local(each.sample) })).filter((each) => !agrees(each)));
  });

  await t.step("each category has enough cases", () => {
    const invalid = all.filter(({ validity }) => validity === "invalid");
    const valid = all.filter(({ validity }) => validity === "valid");
    assert(invalid.length + valid.length >= 2000);
    assert(valid.length / (invalid.length + valid.length) >= 0.4);
    assert(invalid.filter(({ isDeep }) => isDeep).length / invalid.length >= 0.5);
    for (const [keyword, count] of Object.entries(counted(invalid))) assert(count.all >= 50, keyword);
    assert.deepEqual(KEYWORDS.filter((keyword) => counted(invalid)[keyword] === undefined), []);
  });
});

/** Keywords that at least one value must violate. */
const KEYWORDS = [
  ..."type enum nullable minimum maximum exclusiveMinimum exclusiveMaximum multipleOf integer int32 int64 float".split(
    " ",
  ),
  ..."minLength maxLength pattern minItems maxItems required minProperties maxProperties additionalProperties".split(
    " ",
  ),
  ..."allOf anyOf oneOf not int-or-string set map".split(" "),
  "list map keys",
  "embedded resource",
  "embedded metadata",
  "unknown field",
  "duplicate field",
  ..."bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4 uuid5 isbn isbn10 isbn13 creditcard ssn hexcolor"
    .split(" ")
    .map((format) => `format: ${format}`),
  ..."rgbcolor byte date duration date-time k8s-short-name k8s-long-name".split(" ").map((format) =>
    `format: ${format}`
  ),
];

/** Returns whether the results without a server match those of the real server. */
function agrees({ sample, real, local }: Tried & { readonly local: Local }): boolean {
  const unknown = [...local.dropped].sort().map((field) => `unknown field "${field}"`);
  if (real.code === 400) {
    // Errors that do not depend on the schema: a duplicate field, or undecodable metadata.
    if (!real.message?.includes("strict decoding error: unknown field")) return true;
    return real.message.endsWith(`strict decoding error: ${unknown.join(", ")}`);
  }
  if (sample.fieldValidation === "Strict" && unknown.length > 0) return false;
  if (real.code === 422) return equal(local.causes, real.causes);
  if (sample.fieldValidation === "Warn" && !equal(unknown, real.warnings ?? [])) return false;
  const returned = (real.object as Record<string, unknown>)[sample.kind.at];
  return local.causes.length === 0 && equal(local.value, returned);
}

/** Fails with the shortest of the cases, if there are any. */
function assertNone(found: readonly (Tried & { readonly local?: unknown })[]): void {
  const shown = found.toSorted((a, b) => a.sample.text.length - b.sample.text.length).slice(0, 5);
  const details = shown.map(({ sample: { kind, ...sample }, ...verdicts }) => ({
    kind: kind.kind,
    ...sample,
    ...verdicts,
  }));
  assert.equal(found.length, 0, `${found.length} values, such as\n${JSON.stringify(details, undefined, 1)}`);
}

function counted(all: readonly Sample[]): Record<string, { all: number; deep: number }> {
  const groups = Object.groupBy(all, ({ keyword }) => keyword ?? "");
  return Object.fromEntries(
    Object.entries(groups).map(([keyword, list = []]) => {
      return [keyword, { all: list.length, deep: list.filter(({ isDeep }) => isDeep).length }];
    }),
  );
}

function countsOf(all: readonly Sample[]): string {
  const { valid = [], invalid = [], doubtful = [] } = Object.groupBy(all, ({ validity }) => validity);
  const [invalidCounts, doubtfulCounts] = [counted(invalid), counted(doubtful)];
  const keywords = [...new Set([...Object.keys(invalidCounts), ...Object.keys(doubtfulCounts)])].sort();
  const rows = keywords.map((keyword) => [
    keyword,
    invalidCounts[keyword]?.all ?? 0,
    invalidCounts[keyword]?.deep ?? 0,
    doubtfulCounts[keyword]?.all ?? 0,
  ]);
  const deep = invalid.filter(({ isDeep }) => isDeep).length;
  const head = ["keyword", "invalid", "deep", "doubtful"];
  return `\n${table(head, [...rows, ["all", invalid.length, deep, doubtful.length]])}\n` +
    `valid ${valid.length}: ${
      Math.round(100 * valid.length / (valid.length + invalid.length))
    } % of the valid and invalid ones; ` +
    `deep (at depth 3 or more, or under lists and maps): ${
      Math.round(100 * deep / invalid.length)
    } % of the invalid ones`;
}
