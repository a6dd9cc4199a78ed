import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { createApiserver } from "../../src/apiserver/mod.ts";
import { systemClock } from "../../src/base/clock.ts";
import { CONTROL_PLANE_VERSION, findControlPlane } from "../../src/testing/_control_plane.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { asAdministrator, PREPARED_CONTROLLERS } from "./servers.ts";
import {
  applyExceptions,
  type Case,
  CASES,
  compare,
  type Difference,
  explain,
  namespaceOf,
  type NormalTranscript,
  normalTranscript,
  prepare,
  report,
  runCase,
  runSuite,
} from "./mod.ts";
import { plant, type PlantedFault } from "./planted.ts";
import { PLANTED } from "./planted_data.ts";
import { HOW_TO_RECORD, Recording, writeRecording } from "./recording.ts";
import { subjectOf, SUBJECTS } from "./subjects.ts";

const found = await findControlPlane();
const isComplete = found?.programs.kubeApiserver !== undefined && found.programs.kubeControllerManager !== undefined;
if (!isComplete) {
  console.error(
    `SKIPPED: the contract suite on a real server: no kube-apiserver ${CONTROL_PLANE_VERSION} and ` +
      'kube-controller-manager. Run "deno run -A tools/control_plane.ts" to build them',
  );
}

const isUpdate = Deno.args.includes("--update");

Deno.test({ name: "the in-process API server responds like the real one", ignore: !isComplete }, async (t) => {
  const truth = new Map<Case, NormalTranscript>();
  {
    await using cluster = await realCluster({ controllerManager: PREPARED_CONTROLLERS });
    await using server = createApiserver({ clock: systemClock, rbac: true });
    const servers = { real: (request: Request) => cluster.fetch(request), other: asAdministrator(server) };
    await Promise.all([prepare(servers.real), prepare(servers.other)]);

    const onTranscript = (transcript: NormalTranscript, contractCase: Case) => void truth.set(contractCase, transcript);
    const results = await runSuite(CASES, servers, { namespaceOf, onTranscript });

    for (const result of results) {
      await t.step(`${result.case.area}: ${result.case.name}`, () => {
        if (result.differences.length + result.stale.length > 0) assert.fail(explain(result));
      });
    }
    console.log(report(results));
  }
  if (isUpdate) {
    await writeRecording(new Map(CASES.map((each) => [each, truth.get(each)!])), CONTROL_PLANE_VERSION);
  }
  await t.step("the recorded transcripts equal those of the real server", async () => {
    const recording = await Recording.read(CASES);
    const outdated = CASES.filter((each) => compare(truth.get(each)!, recording.transcript(each)).length > 0)
      .map(({ area, name }) => `${area}: ${name}`);
    assert.deepEqual(outdated, [], HOW_TO_RECORD);
  });
  await t.step("each fault planted in the server makes a case fail", (t) => findPlantedFaults(t, truth));
});

Deno.test("the contract has enough cases and planted faults of each subject", () => {
  for (const { name, minimum, areas } of SUBJECTS) {
    const cases = CASES.filter(({ area }) => areas.includes(area)).length;
    assert(cases >= minimum, `${name}: ${cases} cases, at least ${minimum} are required`);
  }
  assert(PLANTED.length >= 25);
  for (const { name } of SUBJECTS) {
    const planted = PLANTED.filter((fault) => subjectOf(caseOf(fault).area).name === name).length;
    assert(planted >= 2, `${name}: ${planted} planted faults, at least 2 are required`);
  }
});

Deno.test("the source that each planted fault replaces occurs once", async () => {
  for (const { title, file, from } of PLANTED) {
    const text = await Deno.readTextFile(new URL(`../../src/${file}`, import.meta.url));
    assert.equal(text.split(from).length - 1, 1, `${title}: "${file}": ${from}`);
  }
});

const COPIES = fileURLToPath(new URL("../../.cache/planted/", import.meta.url));

// In milliseconds. A case that does not end because of a fault has failed. Without a fault, each of
// the cases takes less than a tenth of this.
const PLANTED_LIMIT = 2000;

async function findPlantedFaults(t: Deno.TestContext, truth: ReadonlyMap<Case, NormalTranscript>): Promise<void> {
  const named = PLANTED.map((fault) => ({ fault, contractCase: caseOf(fault) }));
  const differences = async (fault: PlantedFault | undefined, cases: readonly Case[], folder: string) => {
    const { createApiserver } = await plant(fault, `${COPIES}${folder}`);
    await using server = createApiserver({ clock: systemClock, rbac: true });
    const send = asAdministrator(server);
    await prepare(send);
    const found: Difference[] = [];
    for (const each of cases) {
      const other = normalTranscript(await runCase(each, namespaceOf(each), send, fault && PLANTED_LIMIT));
      found.push(...applyExceptions(each, compare(truth.get(each) ?? { steps: [] }, other)).differences);
    }
    return found;
  };

  await t.step("a copy without a fault passes", async () => {
    // Keeps the order of CASES, because discovery must run before other cases create kinds.
    const cases = CASES.filter((each) => named.some(({ contractCase }) => contractCase === each));
    assert.deepEqual(await differences(undefined, cases, "none"), []);
  });
  for (const [i, { fault, contractCase }] of named.entries()) {
    await t.step(`${fault.title}: ${fault.foundBy}`, async () => {
      assert.notDeepEqual(await differences(fault, [contractCase], String(i + 1)), []);
    });
  }
}

function caseOf({ title, foundBy }: PlantedFault): Case {
  const found = CASES.find(({ area, name }) => `${area}: ${name}` === foundBy);
  if (found === undefined) throw new Error(`Planted fault "${title}": the case "${foundBy}" does not exist`);
  return found;
}
