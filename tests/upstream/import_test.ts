/**
 * Imports CustomResourceDefinitions of other projects. The modules must compile, and a real API
 * server must accept and reject the same objects by the imported definitions as by the originals.
 * tools/upstream.ts downloads the originals; ORIGINS.md lists them.
 */
import assert from "node:assert/strict";
import type { JsonSchema } from "../../src/schema/mod.ts";
import { type RealCluster, realCluster } from "../../src/testing/real_cluster.ts";
import { upstream } from "../../tools/upstream.ts";
import { ORIGINS } from "../../tools/upstream/origins.ts";
import type { Packed } from "../../tools/upstream/pack.ts";
import { table } from "../schemas/_table.ts";
import { compiled, deno, importAll, IMPORTED_GROUP, regrouped } from "./_imported.ts";
import { install } from "./_install.ts";
import { Random } from "../fixtures/random.ts";
import { type Json, type Mutant, mutantsOf, selectMutants, withProperty } from "./_mutants.ts";
import { fleet, garden } from "./_subjects.ts";
import { type Served, type Verdict, verdictOf } from "./_verdict.ts";

const SEED = 20_261_121;
const MUTANTS = 20;
const MOST_RAW = 2; // percent

interface Subject {
  readonly packed: Packed;
  readonly original: Served;
  readonly imported: Served;
}

interface MutantResult {
  readonly mutant: Mutant;
  readonly before: Verdict;
  readonly after: Verdict;
}

Deno.test("imported kinds of other projects compile, and validate as the originals do", async (t) => {
  const { packed, missing, reason } = await upstream({ origins: ORIGINS });
  for (const kind of missing) {
    console.log(`\n!!! Without ${kind}: ${reason}\n`);
    await t.step({ name: kind, ignore: true, fn: () => {} });
  }
  const subjects = [...packed, await garden(), fleet()].map(subjectOf);
  await using cluster = await realCluster();
  const folder = await Deno.makeTempDir();
  const rows: (string | number)[][] = [];
  const notes: string[] = [];
  try {
    const reports = await importAll(subjects.map(({ packed }) => packed), folder);
    // Messages of op crd import about differences from the original.
    assert.deepEqual(reports.flatMap((report) => report.trim().split("\n").slice(1)), []);
    let definitions: readonly Json[] = [];
    await t.step("the modules compile, without unused names", async () => {
      definitions = await compiled(subjects.map(({ packed }) => packed.kind), folder);
    });
    await t.step("the modules are formatted", async () => {
      await deno(["fmt", "--check", ...subjects.map(({ packed }) => `${packed.kind}.ts`)], folder);
    });
    await t.step("the API server accepts the imported definitions with strict field validation", async () => {
      for (const { packed } of subjects) await install(cluster, packed.definition, "Ignore");
      for (const definition of definitions) await install(cluster, regrouped(definition, IMPORTED_GROUP), "Strict");
    });
    for (const [i, subject] of subjects.entries()) {
      await t.step(subject.packed.kind, async (t) => {
        rows.push([subject.packed.kind, ...await compare(t, cluster, subject, { report: reports[i]!, notes })]);
      });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  console.log([table(HEAD, rows), ...notes].join("\n"));
});

const HEAD = [
  "kind",
  "schemas",
  "as JSON %",
  "samples",
  "of them rejected",
  "mutants",
  "of them rejected",
  "at depth 4 and more",
  "other messages",
];

function subjectOf(packed: Packed): Subject {
  const { group, names, scope } = packed.definition.spec as { group: string; names: { plural: string }; scope: string };
  const original = { group, plural: names.plural, namespaced: scope === "Namespaced" };
  return { packed, original, imported: { ...original, group: IMPORTED_GROUP } };
}

interface Reports {
  /** Output of op crd import. */
  readonly report: string;
  /** Records a line of the report. */
  readonly notes: string[];
}

/** Compares the decisions of the server by the original and by the imported definition. */
async function compare(t: Deno.TestContext, cluster: RealCluster, subject: Subject, { report, notes }: Reports) {
  const { packed, original, imported } = subject;
  const [, schemas = "", share = ""] = /: (\d+) schemas, \d+ of them as JSON \(([\d.]+) %\)/.exec(report) ?? [];
  // Garden intentionally has features without a builder.
  if (packed.kind !== "Garden") assert(share !== "" && Number(share) <= MOST_RAW, report);
  const root = rootOf(packed.definition);
  const verdictsOf = async (object: Json) => {
    const [before, after] = await Promise.all([
      verdictOf(cluster, original, object),
      verdictOf(cluster, imported, object),
    ]);
    return { before, after };
  };
  let otherMessages = 0;
  const assertSame = (name: string, before: Verdict, after: Verdict) => {
    assert.deepEqual(
      [after.status, after.fields],
      [before.status, before.fields],
      `${name}\n${before.message}\n${after.message}`,
    );
    assert.deepEqual(after.stored, before.stored, name);
    if (before.message === after.message) return;
    otherMessages++;
    notes.push(`${packed.kind}: ${name} has another message\n  ${before.message}\n  ${after.message}`);
  };
  const valid: Json[] = [];
  await t.step("samples are validated in the same way", async () => {
    for (const { from, object } of packed.samples) {
      const { before, after } = await verdictsOf(object);
      assertSame(from, before, after);
      if (before.status === 201) valid.push(object);
    }
    assert(valid.length > 0, "no sample is valid");
  });
  const results: MutantResult[] = [];
  await t.step("mutants are validated in the same way", async () => {
    const random = new Random(SEED);
    const bases = [
      ...valid,
      ...await extended(valid, root, random, async (object) => {
        const { before, after } = await verdictsOf(object);
        assertSame("a sample with another property", before, after);
        return before.status === 201;
      }),
    ];
    const mutants = selectMutants(bases.flatMap((object) => mutantsOf(object, root(object))), MUTANTS, random);
    assert.equal(mutants.length, MUTANTS);
    for (const mutant of mutants) {
      const { before, after } = await verdictsOf(mutant.object);
      assertSame(`${mutant.change} at ${mutant.path}`, before, after);
      results.push({ mutant, before, after });
    }
    const rejected = results.filter(({ before }) => before.status !== 201).length;
    assert(rejected >= MUTANTS / 2, `only ${rejected} of the mutants are rejected`);
  });
  return [
    Number(schemas),
    Number(share),
    packed.samples.length,
    packed.samples.length - valid.length,
    results.length,
    results.filter(({ before }) => before.status !== 201).length,
    results.filter(({ mutant }) => mutant.depth >= 4).length,
    otherMessages,
  ];
}

interface DefinedVersion {
  readonly name: string;
  readonly schema: { readonly openAPIV3Schema: JsonSchema };
}

/** Returns the schema of the version of an object. */
function rootOf(definition: Json): (object: Json) => JsonSchema {
  const { versions } = definition.spec as { versions: readonly DefinedVersion[] };
  const schemas = new Map(versions.map(({ name, schema }) => [name, schema.openAPIV3Schema]));
  return (object) => schemas.get(String(object.apiVersion).split("/")[1]!)!;
}

/** Number of samples to which missing properties are added, and how often. */
const EXTENDED = { samples: 8, times: 3 };

async function extended(
  valid: readonly Json[],
  root: (object: Json) => JsonSchema,
  random: Random,
  isValid: (object: Json) => Promise<boolean>,
): Promise<Json[]> {
  const found: Json[] = [];
  for (const sample of valid.slice(0, EXTENDED.samples)) {
    for (let i = 0; i < EXTENDED.times; i++) {
      const object = withProperty(sample, root(sample), random);
      if (object !== undefined && await isValid(object)) found.push(object);
    }
  }
  return found;
}
