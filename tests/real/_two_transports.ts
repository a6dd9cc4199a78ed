/**
 * One operator in a pod and one with a kubeconfig: our own HTTP/2, and `fetch`. Each creates its
 * own ConfigMaps from the same notes.
 */
import { type Operator, operator } from "../../mod.ts";
import { ClusterRoleBinding, ConfigMap } from "../../src/kinds/mod.ts";
import type { Client } from "../../src/kube/client.ts";
import type { Connection } from "../../src/kube/connection.ts";
import { type Running, startOperator } from "../../src/operator/running.ts";
import type { RealCluster } from "../../src/testing/real_cluster.ts";
import { Note, recording } from "../fixtures/notes.ts";
import { kubeconfigConnection, podConnection } from "../fixtures/connections.ts";

const WAYS = ["pod", "kubeconfig"] as const;
type Way = typeof WAYS[number];

/** Their user names on the server. */
export const USERS: readonly string[] = WAYS.map((way) => `system:serviceaccount:default:${way}`);

/** The running operators. */
export interface BothWays extends AsyncDisposable {
  /** Reconciles since the last reset, `name text: reason`, by transport. */
  readonly runs: Readonly<Record<Way, string[]>>;
  /**
   * Returns the number of responses per operator with a status; `<error>` counts requests without a
   * response.
   */
  answers(code: string): Promise<readonly number[]>;
}

/** The operator in the pod, which owns the kind. */
export const inPod: Operator = operatorOf("pod").op;

/** Names of the children that each one creates for a note. */
export function madeOf(name: string): string[] {
  return WAYS.map((way) => `${name}-${way}`);
}

/**
 * Starts both, as users with all permissions, but not of the group that the server gives
 * precedence.
 *
 * @param cluster The cluster.
 * @param client The administrator's client.
 * @param port The port of the server that they connect to.
 */
export async function startBothWays(cluster: RealCluster, client: Client, port: number): Promise<BothWays> {
  await using stack = new AsyncDisposableStack();
  await client.create(ClusterRoleBinding, {
    metadata: { name: "both-ways" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: USERS.map((name) => ({ apiGroup: "rbac.authorization.k8s.io", kind: "User", name })),
  });
  const [pod, person] = await Promise.all(USERS.map(async (user) => {
    const { token } = await cluster.user(user);
    return { url: `https://127.0.0.1:${port}`, caCert: cluster.caCert, token };
  }));
  const connections: Readonly<Record<Way, Connection>> = {
    pod: await podConnection(pod!),
    kubeconfig: kubeconfigConnection(person!),
  };
  const runs: Record<Way, string[]> = { pod: [], kubeconfig: [] };
  const running: Running[] = [];
  for (const way of WAYS) {
    stack.defer(() => connections[way].close());
    const { op, runs: own } = operatorOf(way);
    runs[way] = own;
    running.push(stack.use(startOperator(op, { connection: connections[way] })));
  }
  const owned = stack.move();
  return {
    runs,
    answers: (code) => Promise.all(running.map(async ({ metrics }) => sumOf(await metrics.text(), code))),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function operatorOf(way: Way): { op: Operator; runs: string[] } {
  // One operator writes the status; the kind is external to the other.
  const { crd: _, ...foreign } = Note;
  const kind = way === "pod" ? Note : foreign as typeof Note;
  const { notes, runs } = recording(
    async ({ metadata: { name }, spec: { text } }, { apply }) => {
      await apply(ConfigMap, { metadata: { name: `${name}-${way}` }, data: { text } });
    },
    {},
    kind,
  );
  return { op: operator({ name: `faults-${way}`, parts: { notes }, health: false }), runs };
}

function sumOf(metrics: string, code: string): number {
  const lines = metrics.split("\n").filter((line) =>
    line.startsWith("rest_client_requests_total{") && line.includes(`code="${code}"`)
  );
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}
