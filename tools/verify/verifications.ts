/** The checks of `deno task verify`, which are too slow for the test command. */
import { dirname } from "node:path";
import { controlPlane } from "../control_plane.ts";
import type { Lane } from "../test/lanes.ts";
import type { Result } from "../test/report.ts";
import { runTests, skip } from "../test/run.ts";

/**
 * Tests that must pass on every supported version of Kubernetes: paths to the API server, watches,
 * writes, and the commands that run an operator.
 */
const ON_EVERY_VERSION = [
  "tests/real/watch_list_test.ts",
  "tests/real/client_test.ts",
  "tests/real/connection_test.ts",
  "tests/real/guarantees_test.ts",
  "tests/real/develop_test.ts",
  "tests/real/deploy_test.ts",
  "tests/real/faults_test.ts",
  "tests/real/leadership_test.ts",
];

const NO_CONTROL_PLANE = "Go is not installed, so the control plane cannot be built. Install Go";

/** Every verification. */
export const VERIFICATIONS: readonly Lane[] = [
  {
    name: "kubernetes-1.37",
    title: "an operator and the commands that run one, on Kubernetes 1.37, which compresses watch lists",
    run: () => onKubernetes("v1.37.2"),
  },
  {
    name: "kopf",
    title: "kopf, recorded again on the real control plane and compared with its recordings",
    run: async () =>
      await controlPlane({ print: console.log }) === undefined
        ? skip("kopf", NO_CONTROL_PLANE)
        : await runTests("kopf", ["--no-check", "tests/kopf/recorded_again_test.ts"]),
  },
  {
    name: "http2-fuzz",
    title: "the HTTP/2 client against random frames, with a new seed",
    run: () => {
      const seed = crypto.getRandomValues(new Uint32Array(1))[0]! >>> 1;
      const env = { PROPERTY_SEED: String(seed), PROPERTY_RUNS: "50" };
      return runTests(`http2-fuzz (PROPERTY_SEED=${seed})`, ["--no-check", "src/kube/http2/connection_fuzz_test.ts"], {
        env,
      });
    },
  },
];

/**
 * Builds a version of Kubernetes, which takes minutes the first time, and runs the tests that must
 * pass on it.
 */
async function onKubernetes(version: string): Promise<Result> {
  const name = `kubernetes ${version}`;
  const programs = await controlPlane({ version, print: console.log });
  if (programs === undefined) {
    return skip(name, NO_CONTROL_PLANE);
  }
  const env = { KUBEBUILDER_ASSETS: dirname(programs.etcd) };
  return await runTests(name, ["--parallel", "--no-check", ...ON_EVERY_VERSION], { env });
}
