/**
 * Faults of a real API server: rejected writes, a storm of 429 responses, and a compacted history.
 * The server itself generates the responses.
 */
import assert from "node:assert/strict";
import { ValidatingWebhookConfiguration } from "../../src/kinds/admissionregistration_v1.gen.ts";
import { FlowSchema, PriorityLevelConfiguration } from "../../src/kinds/flowcontrol_v1.gen.ts";
import { ClusterRoleBinding } from "../../src/kinds/mod.ts";
import type { Client } from "../../src/kube/client.ts";
import type { AnyKind } from "../../src/resource/kind.ts";
import { localCertificate } from "../../src/testing/local_certificate.ts";
import type { RealCluster } from "../../src/testing/real_cluster.ts";
import { eventually } from "../eventually.ts";

/** Options for {@linkcode rejectWrites}. */
export interface RejectOptions {
  /** The users whose writes are reviewed. */
  readonly users: readonly string[];
  /** The reviewed resources, such as `configmaps` or `notes/status`. */
  readonly resources: readonly string[];
  /** Returns the status with which the next write is rejected, or `undefined` to allow it. */
  status(): Promise<number | undefined> | number | undefined;
}

const REASONS: Readonly<Record<number, string>> = { 409: "Conflict", 429: "TooManyRequests" };

/**
 * Registers an admission webhook that rejects or delays writes. Disposing of the result removes it.
 *
 * @param client The administrator's client.
 * @param options The writes, and their status.
 */
export async function rejectWrites(
  client: Client,
  { users, resources, status }: RejectOptions,
): Promise<AsyncDisposable> {
  const { certificate: cert, key, caCert } = await localCertificate();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, cert, key, onListen() {} }, async (request) => {
    const { request: { uid } } = await request.json();
    const code = await status();
    const response = code === undefined
      ? { uid, allowed: true }
      : { uid, allowed: false, status: { code, reason: REASONS[code], message: "rejected by the test" } };
    return Response.json({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response });
  });
  const metadata = { name: "reject-writes" };
  await client.create(ValidatingWebhookConfiguration, {
    metadata,
    webhooks: [{
      name: "reject-writes.test.example.com",
      clientConfig: { url: `https://127.0.0.1:${server.addr.port}/`, caBundle: btoa(caCert) },
      rules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: [...resources] }],
      matchConditions: [{ name: "users", expression: `request.userInfo.username in ${JSON.stringify(users)}` }],
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      timeoutSeconds: 30,
    }],
  });
  return {
    async [Symbol.asyncDispose]() {
      await eventually(() => client.delete(ValidatingWebhookConfiguration, metadata.name));
      await server.shutdown();
    },
  };
}

/** The user whose request does not end. */
const BLOCKER = "blocker";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

/**
 * Starts a storm of 429 responses. For the given users, the server serves only one request at a
 * time. It is busy with a request that does not end, so it rejects all others. Disposing of the
 * result ends the storm.
 *
 * Source: k8s.io/apiserver `pkg/util/flowcontrol`: a level without a share serves a request if no
 * other is in progress.
 *
 * @param client The administrator's client.
 * @param cluster The cluster.
 * @param users The users whose requests are rejected.
 */
export async function startStormOf429(
  client: Client,
  cluster: RealCluster,
  users: readonly string[],
): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const metadata = { name: "storm" };
  const deleteAtEnd = (kind: AnyKind) =>
    stack.defer(async () => void await eventually(() => client.delete(kind, metadata.name)));
  await client.create(ClusterRoleBinding, {
    metadata,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: BLOCKER }],
  });
  deleteAtEnd(ClusterRoleBinding);
  const limited = { nominalConcurrencyShares: 0, lendablePercent: 0, borrowingLimitPercent: 0 };
  await client.create(PriorityLevelConfiguration, {
    metadata,
    spec: { type: "Limited", limited: { ...limited, limitResponse: { type: "Reject" } } },
  });
  deleteAtEnd(PriorityLevelConfiguration);
  const end = Promise.withResolvers<void>();
  const reviewStarted = Promise.withResolvers<void>();
  let isReviewing = false;
  stack.use(
    await rejectWrites(client, {
      users: [BLOCKER],
      resources: ["configmaps"],
      async status() {
        isReviewing = true;
        reviewStarted.resolve();
        await end.promise;
        return 409;
      },
    }),
  );
  const schema = await client.create(FlowSchema, {
    metadata,
    spec: {
      priorityLevelConfiguration: metadata,
      // Only the flow schema of system:masters has a lower number, and so precedence.
      matchingPrecedence: 2,
      rules: [{
        subjects: [...users, BLOCKER].map((name) => ({ kind: "User", user: { name } })),
        resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] }],
      }],
    },
  });
  deleteAtEnd(FlowSchema);
  const blocker = await cluster.user(BLOCKER);
  const send = async (path: string, init?: RequestInit): Promise<Response> => {
    const response = await blocker.fetch(path, init);
    await response.body?.cancel();
    return response;
  };
  await eventually(async () => {
    const { headers } = await send(`${CONFIG_MAPS}?limit=1`);
    assert.equal(headers.get("x-kubernetes-pf-flowschema-uid"), schema.metadata.uid);
  });
  const body = JSON.stringify({ metadata: { name: BLOCKER } });
  let blocking: Promise<Response> | undefined;
  await eventually(async () => {
    blocking = send(CONFIG_MAPS, { method: "POST", body });
    await Promise.race([blocking, reviewStarted.promise]);
    assert(isReviewing, "another request is being served, or the server does not call the webhook yet");
  });
  stack.defer(async () => {
    end.resolve();
    await blocking;
  });
  return stack.move();
}

/** Compacts the history of the cluster's etcd up to now, through etcd's JSON gateway (`/v3/kv`). */
export async function compactEtcd(cluster: RealCluster): Promise<void> {
  const { header } = await callEtcd(cluster, "/v3/kv/range", { key: btoa("/registry") });
  await callEtcd(cluster, "/v3/kv/compaction", { revision: header.revision, physical: true });
}

async function callEtcd(
  { folder }: RealCluster,
  path: string,
  body: unknown,
): Promise<{ readonly header: { readonly revision: string } }> {
  using socket = await Deno.connect({ transport: "unix", path: `${folder}/etcd.sock` });
  const text = JSON.stringify(body);
  const request = `POST ${path} HTTP/1.0\r\nHost: etcd\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${text.length}\r\n\r\n${text}`;
  await socket.write(new TextEncoder().encode(request));
  let response = "";
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(4096);
  for (let count = await socket.read(buffer); count !== null; count = await socket.read(buffer)) {
    response += decoder.decode(buffer.subarray(0, count), { stream: true });
  }
  if (!response.includes(" 200 ")) throw new Error(`etcd rejected ${path}: ${response}`);
  return JSON.parse(response.slice(response.indexOf("\r\n\r\n")));
}
