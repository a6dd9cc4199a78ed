import assert from "node:assert/strict";
import * as fc from "fast-check";
import { conversion } from "../parts/conversion.ts";
import { JobTemplateSpec } from "../kinds/schemas/mod.ts";
import { resource } from "../resource/resource.ts";
import * as s from "../schema/builders.ts";
import { objectsOf } from "./_arbitrary.ts";
import { roundTrips } from "./round_trips.ts";

const names = { group: "demo.example.com", kind: "CronJob" } as const;
const spec = s.object({ schedule: s.string(), jobTemplate: JobTemplateSpec });
const CronJobV1 = resource({ ...names, version: "v1", spec });
const CronJob = resource({ ...names, version: "v2", spec, versions: [CronJobV1] });

Deno.test("random objects with a pod template are small, and 500 of them cover each property of a pod", () => {
  const { objects, size } = objectsOf(fc, CronJob);
  const samples = fc.sample(objects, { numRuns: 500, seed: 1 });

  const bytes = samples.reduce((sum, object) => sum + JSON.stringify(object).length, 0) / samples.length;
  assert(bytes < 4000, `an object has ${bytes} bytes on average`);
  assert(size < 200, `an object has ${size} values on average`);
  const pods = samples.map((object) => (object as unknown as Pod).spec.jobTemplate.spec?.template?.spec ?? {});
  const seen = new Set(pods.flatMap(Object.keys));
  const known = CronJob.crd.spec.versions.find(({ name }) => name === "v2")!.schema
    .openAPIV3Schema as unknown as Schema;
  const pod = ["spec", "jobTemplate", "spec", "template", "spec"].reduce((at, key) => at.properties[key]!, known);
  assert.deepEqual(Object.keys(pod.properties).filter((key) => !seen.has(key)), []);
});

Deno.test("the default number of runs is 500, and lower for large objects", async () => {
  const runsOf = async (fields: number): Promise<number> => {
    const names = { group: "demo.example.com", kind: "Large" } as const;
    const entries = Array.from({ length: fields }, (_, i) => [`field${i}`, s.boolean()] as const);
    const spec = s.object(Object.fromEntries(entries));
    const first = resource({ ...names, version: "v1", spec });
    const second = resource({ ...names, version: "v2", spec, versions: [first] });
    let runs = 0;
    const up = ({ spec }: { readonly spec: unknown }) => {
      runs++;
      return { spec: spec as never };
    };
    await roundTrips(conversion(first, second, { up, down: ({ spec }) => ({ spec }) }), { from: "first" });
    return runs;
  };

  assert.equal(await runsOf(2), 500);
  const runs = await runsOf(1000);
  assert(runs >= 40 && runs <= 50, `${runs} runs of objects with 1000 fields`);
});

Deno.test("the default number of runs finds a conversion that loses a property of a pod", async () => {
  const lossy = conversion(CronJobV1, CronJob, {
    up: ({ spec }) => {
      const copy = structuredClone(spec) as Draft;
      delete copy.jobTemplate.spec?.template?.spec?.dnsConfig;
      return { spec: copy as never };
    },
    down: ({ spec }) => ({ spec }),
  });
  const error: Error = await roundTrips(lossy, { seed: 1 }).then(() => assert.fail("it passed"), (error) => error);
  assert.match(error.message, /dnsConfig/);
  // The message contains the seed, but no frames or hints of the library that generates objects.
  assert.match(error.message, /\nTo repeat this, call roundTrips with \{ seed: 1 \}\.$/);
  assert.doesNotMatch(error.message, /fast-check|Hint/);
});

Deno.test("a lossless conversion of a kind with a pod template passes", async () => {
  const lossless = conversion(CronJobV1, CronJob, { up: ({ spec }) => ({ spec }), down: ({ spec }) => ({ spec }) });
  await roundTrips(lossless, { seed: 1 });
});

interface Pod {
  readonly spec: { readonly jobTemplate: { readonly spec?: { readonly template?: { readonly spec?: object } } } };
}

interface Draft {
  jobTemplate: { spec?: { template?: { spec?: { dnsConfig?: unknown } } } };
}

interface Schema {
  readonly properties: Readonly<Record<string, Schema>>;
}
