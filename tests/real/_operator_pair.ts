/**
 * Two operators that create separate ConfigMaps from the same notes. One connects like a pod, with
 * our own HTTP/2 client, and the other with a kubeconfig and `fetch`.
 */
import { type Operator, operator } from "../../mod.ts";
import { ClusterRoleBinding, ConfigMap } from "../../src/kinds/mod.ts";
import type { Client } from "../../src/kube/client.ts";
import type { Connection } from "../../src/kube/connection.ts";
import { type Running, startOperator } from "../../src/operator/running.ts";
import type { RealCluster } from "../../src/testing/real_cluster.ts";
import { Note, recording } from "../fixtures/notes.ts";
import { kubeconfigConnection, podConnection } from "../fixtures/connections.ts";

const ACCESS = ["pod", "kubeconfig"] as const;
type Access = typeof ACCESS[number];

/** The operators' user names on the server. */
export const USERS: readonly string[] = ACCESS.map((access) => `system:serviceaccount:default:${access}`);

/** The running operators. */
export interface OperatorPair extends AsyncDisposable {
  /** Reconciles since the test last emptied the list, as `name text: reason`. */
  readonly reconciles: Readonly<Record<Access, string[]>>;
  /**
   * Returns the number of responses per operator with a status; `<error>` counts requests without a
   * response.
   */
  responses(code: string): Promise<readonly number[]>;
  /** Returns the lines of `/readyz` of both operators, for reports of failures. */
  readiness(): string;
}

/** The operator that connects like a pod. It declares the kind. */
export const podOperator: Operator = operatorOf("pod").op;

/** Returns the names of the ConfigMaps that the operators create for a note. */
export function childrenOf(name: string): string[] {
  return ACCESS.map((access) => `${name}-${access}`);
}

/**
 * Starts both operators, as users with all permissions who are not in `system:masters`, because the
 * server exempts that group from rate limits.
 *
 * @param cluster The cluster.
 * @param client The administrator's client.
 * @param port The port that the operators connect to.
 */
export async function startOperatorPair(cluster: RealCluster, client: Client, port: number): Promise<OperatorPair> {
  await using stack = new AsyncDisposableStack();
  await client.create(ClusterRoleBinding, {
    metadata: { name: "operator-pair" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: USERS.map((name) => ({ apiGroup: "rbac.authorization.k8s.io", kind: "User", name })),
  });
  const [pod, kubeconfig] = await Promise.all(USERS.map(async (user) => {
    const { token } = await cluster.user(user);
    return { url: `https://127.0.0.1:${port}`, caCert: cluster.caCert, token };
  }));
  const connections: Readonly<Record<Access, Connection>> = {
    pod: await podConnection(pod!),
    kubeconfig: kubeconfigConnection(kubeconfig!),
  };
  const reconciles: Record<Access, string[]> = { pod: [], kubeconfig: [] };
  const running: Running[] = [];
  for (const access of ACCESS) {
    stack.defer(() => connections[access].close());
    const { op, reconciles: list } = operatorOf(access);
    reconciles[access] = list;
    // If an operator lost its Lease with its connection, it would reconcile all objects again.
    running.push(stack.use(startOperator(op, { connection: connections[access], leaderElection: false })));
  }
  const resources = stack.move();
  return {
    reconciles,
    readiness: () =>
      running.map((operator, i) =>
        [`${ACCESS[i]}:`, ...operator.readiness().map(({ name, message }) => `  ${name}: ${message}`)].join("\n")
      ).join("\n"),
    responses: (code) => Promise.all(running.map(async ({ metrics }) => sumOf(await metrics.text(), code))),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function operatorOf(access: Access): { op: Operator; reconciles: string[] } {
  // One operator writes the status; the kind is external to the other.
  const { crd: _, ...foreign } = Note;
  const kind = access === "pod" ? Note : foreign as typeof Note;
  const { notes, reconciles } = recording(
    async ({ metadata: { name }, spec: { text } }, { apply }) => {
      await apply(ConfigMap, { metadata: { name: `${name}-${access}` }, data: { text } });
    },
    {},
    kind,
  );
  return { op: operator({ name: `faults-${access}`, parts: { notes }, health: false }), reconciles };
}

function sumOf(metrics: string, code: string): number {
  const lines = metrics.split("\n").filter((line) =>
    line.startsWith("rest_client_requests_total{") && line.includes(`code="${code}"`)
  );
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}
