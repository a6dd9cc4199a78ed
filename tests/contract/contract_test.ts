import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { createApiserver } from "../../src/apiserver/mod.ts";
import { systemClock } from "../../src/base/clock.ts";
import { CONTROL_PLANE_VERSION, findControlPlane } from "../../src/testing/_control_plane.ts";
import {
  type Case,
  CASES,
  compare,
  type Difference,
  explain,
  judge,
  namespaceOf,
  prepare,
  report,
  runCase,
  runSuite,
  type Transcript,
} from "./mod.ts";
import { plant, type PlantedFault } from "./planted.ts";
import { PLANTED } from "./planted_data.ts";
import { subjectOf, SUBJECTS } from "./subjects.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";

const found = await findControlPlane();
const isComplete = found?.programs.kubeApiserver !== undefined && found.programs.kubeControllerManager !== undefined;
if (!isComplete) {
  console.error(
    `SKIPPED: the contract suite needs kube-apiserver ${CONTROL_PLANE_VERSION} and kube-controller-manager; ` +
      'run "tools/control_plane.ts" to build them',
  );
}

Deno.test({ name: "the server in the process answers as the real one does", ignore: !isComplete }, async (t) => {
  const truth = new Map<Case, Transcript>();
  {
    await using cluster = await realCluster({
      controllerManager: [
        "garbage-collector-controller",
        "namespace-controller",
        "clusterrole-aggregation-controller",
      ],
    });
    await using server = createApiserver({ clock: systemClock, rbac: true });
    const servers = { real: (request: Request) => cluster.fetch(request), other: asAdmin(server) };
    await Promise.all([prepare(servers.real), prepare(servers.other)]);

    const onTranscript = (transcript: Transcript, contractCase: Case) => void truth.set(contractCase, transcript);
    const results = await runSuite(CASES, servers, { namespaceOf, onTranscript });

    for (const result of results) {
      await t.step(`${result.case.area}: ${result.case.name}`, () => {
        if (result.differences.length + result.stale.length > 0) assert.fail(explain(result));
      });
    }
    console.log(report(results));
  }
  await t.step("each fault planted in the server makes a case fail", (t) => findPlantedFaults(t, truth));
});

Deno.test("the contract has as many cases of each subject as it should, and some faults are planted in each", () => {
  for (const { name, least, areas } of SUBJECTS) {
    const cases = CASES.filter(({ area }) => areas.includes(area)).length;
    assert(cases >= least, `${name}: ${cases} cases, ${least} are wanted`);
  }
  assert(PLANTED.length >= 25);
  for (const { name } of SUBJECTS) {
    const planted = PLANTED.filter((fault) => subjectOf(caseOf(fault).area).name === name).length;
    assert(planted >= 2, `${name}: ${planted} planted faults`);
  }
});

type Server = ReturnType<typeof createApiserver>;

/** Requests that bring no token are the administrator's, as they are with the real server. */
function asAdmin(server: Server): (request: Request) => Promise<Response> {
  const user = { name: "admin", groups: ["system:masters", "system:authenticated"] };
  return (request) => server.fetch(request, request.headers.has("authorization") ? {} : { user });
}

const COPIES = fileURLToPath(new URL("../../.cache/planted/", import.meta.url));

// A case that a fault keeps from ending has failed. None of those named takes a tenth of this.
const PLANTED_LIMIT = 2000;

async function findPlantedFaults(t: Deno.TestContext, truth: ReadonlyMap<Case, Transcript>): Promise<void> {
  const named = PLANTED.map((fault) => ({ fault, contractCase: caseOf(fault) }));
  const differences = async (fault: PlantedFault | undefined, cases: readonly Case[], folder: string) => {
    const { createApiserver } = await plant(fault, `${COPIES}${folder}`);
    await using server = createApiserver({ clock: systemClock, rbac: true });
    const send = asAdmin(server);
    await prepare(send);
    const found: Difference[] = [];
    for (const each of cases) {
      const other = await runCase(each, namespaceOf(each), send, fault && PLANTED_LIMIT);
      found.push(...judge(each, compare(truth.get(each) ?? { steps: [] }, other)).differences);
    }
    return found;
  };

  await t.step("none in a copy without a fault", async () => {
    // In the order of all cases, as those of discovery must not see what others make.
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
  if (found === undefined) throw new Error(`Cannot plant the fault "${title}": there is no case "${foundBy}"`);
  return found;
}
