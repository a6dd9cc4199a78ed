/**
 * A storm of 429 responses from a real API server: for some users it serves one request at a time,
 * which does not end, and rejects the others.
 */
import assert from "node:assert/strict";
import { FlowSchema, PriorityLevelConfiguration } from "../../src/kinds/flowcontrol_v1.gen.ts";
import { ClusterRoleBinding } from "../../src/kinds/mod.ts";
import type { Client } from "../../src/kube/client.ts";
import type { AnyKind } from "../../src/resource/kind.ts";
import type { RealCluster } from "../../src/testing/real_cluster.ts";
import { refusals } from "./_rejecting_webhook.ts";
import { eventually } from "../eventually.ts";

/** The user whose request does not end. */
const BLOCKER = "blocker";
const MAPS = "/api/v1/namespaces/default/configmaps";

/**
 * Starts the storm. Disposing of the result ends it.
 *
 * Source: k8s.io/apiserver `pkg/util/flowcontrol`: a level without a share serves a request if no
 * other is in progress.
 *
 * @param client The administrator's client.
 * @param cluster The cluster.
 * @param users The users whose requests are rejected.
 */
export async function stormOf429(
  client: Client,
  cluster: RealCluster,
  users: readonly string[],
): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const metadata = { name: "storm" };
  const gone = (kind: AnyKind) =>
    stack.defer(async () => void await eventually(() => client.delete(kind, metadata.name)));
  await client.create(ClusterRoleBinding, {
    metadata,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: BLOCKER }],
  });
  gone(ClusterRoleBinding);
  const limited = { nominalConcurrencyShares: 0, lendablePercent: 0, borrowingLimitPercent: 0 };
  await client.create(PriorityLevelConfiguration, {
    metadata,
    spec: { type: "Limited", limited: { ...limited, limitResponse: { type: "Reject" } } },
  });
  gone(PriorityLevelConfiguration);
  const held = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  stack.use(
    await refusals(client, [BLOCKER], ["configmaps"], async () => {
      asked.resolve();
      await held.promise;
      return 409;
    }),
  );
  const schema = await client.create(FlowSchema, {
    metadata,
    spec: {
      priorityLevelConfiguration: metadata,
      // Only requests of system:masters take precedence.
      matchingPrecedence: 2,
      rules: [{
        subjects: [...users, BLOCKER].map((name) => ({ kind: "User", user: { name } })),
        resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] }],
      }],
    },
  });
  gone(FlowSchema);
  const blocker = await cluster.user(BLOCKER);
  const ask = async (path: string, init?: RequestInit): Promise<Response> => {
    const response = await blocker.fetch(path, init);
    await response.body?.cancel();
    return response;
  };
  await eventually(async () => {
    const { headers } = await ask(`${MAPS}?limit=1`);
    assert.equal(headers.get("x-kubernetes-pf-flowschema-uid"), schema.metadata.uid);
  });
  let isRaging = false;
  asked.promise.then(() => isRaging = true);
  const body = JSON.stringify({ metadata: { name: BLOCKER } });
  let blocking: Promise<Response> | undefined;
  await eventually(async () => {
    blocking = ask(MAPS, { method: "POST", body });
    await Promise.race([blocking, asked.promise]);
    assert(isRaging, "the place is taken, or the webhook is not asked yet");
  });
  stack.defer(async () => {
    held.resolve();
    await blocking;
  });
  return stack.move();
}
