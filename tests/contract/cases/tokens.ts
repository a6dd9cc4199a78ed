/** Tokens of service accounts, Leases and Events. */
import { area } from "../contract.ts";
import type { Recorder } from "../recorder.ts";

const REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews";
const REQUEST = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest" };

async function createAccount(api: Recorder, name = "robot"): Promise<string> {
  const body = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name } };
  const answer = await api.quietly("POST", api.core("serviceaccounts"), body);
  return answer.body.metadata.uid;
}

/** Requests a token and records the response without it, because tokens are random. */
async function requestToken(api: Recorder, body: Record<string, unknown>, name = "robot"): Promise<string> {
  const response: { body: unknown; status: number } = await postWithoutRecording(
    api,
    api.core(`serviceaccounts/${name}/token`),
    body,
  );
  const answer = response.body as { status?: { token?: string }; spec?: unknown };
  const token = typeof answer.status === "object" ? answer.status?.token ?? "" : "";
  const status = typeof answer.status === "object"
    ? { ...answer.status, token: token === "" ? "" : "<token>" }
    : answer.status;
  api.note(`POST token of ${name}`, { status: response.status, body: { ...answer, status } });
  if (token !== "") api.note(`claims of ${name}`, claims(token));
  return token;
}

async function postWithoutRecording(
  api: Recorder,
  path: string,
  body: unknown,
): Promise<{ status: number; body: unknown }> {
  const before = api.steps.length;
  const { status, body: answer } = await api.post(path, body);
  api.steps.splice(before);
  return { status, body: answer };
}

/** Returns the claims of a token, with durations instead of times. */
function claims(token: string): unknown {
  const text = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
  const { iat, nbf, exp, ...rest } = JSON.parse(atob(text));
  return { ...rest, lifetime: exp - iat, isGoodAtOnce: nbf === iat };
}

async function reviewToken(api: Recorder, token: string, audiences?: readonly string[]): Promise<void> {
  const spec = { token, ...(audiences && { audiences }) };
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec };
  const before = api.steps.length;
  const answer = await api.post(REVIEWS, body);
  api.steps.splice(before);
  const normalized = { ...answer.body, spec: { ...answer.body.spec, token: token === "" ? "" : "<token>" } };
  if (typeof normalized.metadata === "object") delete normalized.metadata.managedFields;
  api.note("POST review", { status: answer.status, body: normalized });
}

/** Token requests and reviews. */
export const tokens = area("tokens", {
  "a token with all defaults": async (api) => {
    await createAccount(api);
    await requestToken(api, { ...REQUEST, spec: {} });
    await requestToken(api, REQUEST);
  },
  "a token for some audiences and some time": async (api) => {
    await createAccount(api);
    await requestToken(api, { ...REQUEST, spec: { audiences: ["a", "b"], expirationSeconds: 7200 } });
  },
  "lifetimes that are too short and too long": async (api) => {
    await createAccount(api);
    await requestToken(api, { ...REQUEST, spec: { expirationSeconds: 599 } });
    await requestToken(api, { ...REQUEST, spec: { expirationSeconds: 600 } });
    await requestToken(api, { ...REQUEST, spec: { expirationSeconds: 4294967297 } });
  },
  "a token of a missing account": async (api) => {
    await requestToken(api, { ...REQUEST, spec: {} }, "none");
  },
  "a name, namespace or uid of another object": async (api) => {
    const uid = await createAccount(api);
    await requestToken(api, { ...REQUEST, metadata: { name: "other" }, spec: {} });
    await requestToken(api, { ...REQUEST, metadata: { namespace: "other" }, spec: {} });
    await requestToken(api, { ...REQUEST, metadata: { uid: "11111111-1111-1111-1111-111111111111" }, spec: {} });
    await requestToken(api, { ...REQUEST, metadata: { name: "robot", namespace: api.namespace, uid }, spec: {} });
  },
  "a token bound to a Secret": async (api) => {
    await createAccount(api);
    await api.quietly("POST", api.core("secrets"), { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } });
    const boundObjectRef = { apiVersion: "v1", kind: "Secret", name: "s" };
    const token = await requestToken(api, { ...REQUEST, spec: { boundObjectRef } });
    await reviewToken(api, token);
    await api.quietly("DELETE", api.core("secrets/s"));
    await requestToken(api, { ...REQUEST, spec: { boundObjectRef } });
  },
  "a token bound to a pod": async (api) => {
    await createAccount(api);
    await createAccount(api, "other");
    const spec = { serviceAccountName: "robot", containers: [{ name: "a", image: "x" }] };
    const { body } = await api.quietly("POST", api.core("pods"), {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      spec,
    });
    const boundObjectRef = { apiVersion: "v1", kind: "Pod", name: "p", uid: body.metadata.uid };
    await reviewToken(api, await requestToken(api, { ...REQUEST, spec: { boundObjectRef } }));
    await requestToken(api, { ...REQUEST, spec: { boundObjectRef } }, "other");
    await requestToken(api, { ...REQUEST, spec: { boundObjectRef: { ...boundObjectRef, uid: "1" } } });
  },
  "a token bound to an unsupported kind": async (api) => {
    await createAccount(api);
    await requestToken(api, {
      ...REQUEST,
      spec: { boundObjectRef: { apiVersion: "v1", kind: "ConfigMap", name: "c" } },
    });
    await requestToken(api, {
      ...REQUEST,
      spec: { boundObjectRef: { apiVersion: "apps/v1", kind: "Deployment", name: "c" } },
    });
    await requestToken(api, { ...REQUEST, spec: { boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "none" } } });
  },
  "a review of a good token": async (api) => {
    await createAccount(api);
    const token = await requestToken(api, { ...REQUEST, spec: {} });
    await reviewToken(api, token);
    await reviewToken(api, token, ["https://kubernetes.default.svc", "other"]);
  },
  "a review for another audience": async (api) => {
    await createAccount(api);
    const token = await requestToken(api, { ...REQUEST, spec: { audiences: ["vault"] } });
    await reviewToken(api, token, ["vault", "other"]);
  },
  "a review without a token": async (api) => {
    await reviewToken(api, "");
  },
  "a token authenticates a request": async (api) => {
    await createAccount(api);
    const token = await requestToken(api, { ...REQUEST, spec: {} });
    await api.sending({ Authorization: `Bearer ${token}` }).get(api.core("configmaps"));
  },
  "a token for other audiences does not authenticate a request": async (api) => {
    await createAccount(api);
    const token = await requestToken(api, { ...REQUEST, spec: { audiences: ["vault"] } });
    await api.sending({ Authorization: `Bearer ${token}` }).get(api.core("configmaps"));
  },
});

const LEASE = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };
const TIME = "2030-01-02T03:04:05.123456Z";

/** Leases. */
export const leases = area("leases", {
  "a lease is acquired, renewed and released": async (api) => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${api.namespace}/leases`;
    const spec = {
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      acquireTime: TIME,
      renewTime: TIME,
      leaseTransitions: 0,
    };
    const { body } = await api.post(path, { ...LEASE, metadata: { name: "l" }, spec });
    await api.put(`${path}/l`, { ...body, spec: { ...spec, renewTime: "2030-01-02T03:04:07.000001Z" } });
    await api.put(`${path}/l`, { ...body, spec: { ...spec, holderIdentity: "b" } });
    await api.merge(`${path}/l`, { spec: { holderIdentity: "" } });
    await api.get(`${path}/l`);
  },
  "an update of a lease without a resourceVersion": async (api) => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${api.namespace}/leases`;
    await api.put(`${path}/l`, {
      ...LEASE,
      metadata: { name: "l", namespace: api.namespace },
      spec: { holderIdentity: "a" },
    });
    await api.put(`${path}/l`, {
      ...LEASE,
      metadata: { name: "l", namespace: api.namespace },
      spec: { holderIdentity: "b" },
    });
  },
  "invalid numbers and times": async (api) => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${api.namespace}/leases`;
    const lease = (spec: unknown) => ({ ...LEASE, metadata: { name: "l" }, spec });
    await api.post(path, lease({ leaseDurationSeconds: 0 }));
    await api.post(path, lease({ leaseTransitions: -1 }));
    await api.post(path, lease({ strategy: "Odd" }));
    await api.post(path, lease({ preferredHolder: "x" }));
  },
});

/** Events. */
export const events = area("events", {
  "an event of the older form": async (api) => {
    await api.post(api.core("events"), {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "e" },
      involvedObject: { apiVersion: "v1", kind: "ConfigMap", namespace: api.namespace, name: "c" },
      reason: "Seen",
      message: "hello",
      type: "Normal",
      count: 1,
      firstTimestamp: "2030-01-02T03:04:05Z",
      source: { component: "test" },
    });
    await api.get(`/apis/events.k8s.io/v1/namespaces/${api.namespace}/events/e`);
  },
  "an event of the newer form": async (api) => {
    const path = `/apis/events.k8s.io/v1/namespaces/${api.namespace}/events`;
    await api.post(path, {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name: "e" },
      eventTime: TIME,
      reportingController: "example.com/test",
      reportingInstance: "test-1",
      action: "Look",
      reason: "Seen",
      regarding: { apiVersion: "v1", kind: "ConfigMap", namespace: api.namespace, name: "c" },
      note: "hello",
      type: "Normal",
    });
    await api.merge(`${path}/e`, { series: { count: 2, lastObservedTime: TIME } });
    await api.get(api.core("events/e"));
  },
  "managed fields of an event in both forms": async (api) => {
    const path = `/apis/events.k8s.io/v1/namespaces/${api.namespace}/events/e?fieldManager=newer`;
    const involvedObject = { apiVersion: "v1", kind: "ConfigMap", namespace: api.namespace, name: "c" };
    const event = { apiVersion: "v1", kind: "Event", metadata: { name: "e" }, involvedObject };
    await api.post(api.core("events?fieldManager=older"), { ...event, message: "hello", count: 1, reason: "Seen" });
    await api.merge(path, { note: "bye", deprecatedCount: 2 });
    await api.merge(path, { metadata: { labels: { a: "b" } } });
    await api.merge(api.core("events/e?fieldManager=older"), { count: 3 });
    await api.get(path);
  },
  "events of an object": async (api) => {
    for (const name of ["a", "b"]) {
      await api.quietly("POST", api.core("events"), {
        apiVersion: "v1",
        kind: "Event",
        metadata: { name: `e-${name}` },
        involvedObject: { apiVersion: "v1", kind: "ConfigMap", namespace: api.namespace, name },
        reason: "Seen",
        type: "Normal",
      });
    }
    await api.get(api.core("events?fieldSelector=involvedObject.name%3Da"));
    await api.get(api.core("events?fieldSelector=involvedObject.kind%3DConfigMap,reason%3DSeen,type%3DWarning"));
    await api.get(api.core("events?fieldSelector=unknown%3Da"));
  },
  "required fields of an event": async (api) => {
    const path = `/apis/events.k8s.io/v1/namespaces/${api.namespace}/events`;
    await api.post(path, { apiVersion: "events.k8s.io/v1", kind: "Event", metadata: { name: "e" } });
    await api.post(path, { apiVersion: "events.k8s.io/v1", kind: "Event", metadata: { name: "e" }, eventTime: TIME });
    await api.post(api.core("events"), { apiVersion: "v1", kind: "Event", metadata: { name: "e" } });
    await api.post(api.core("events"), {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "e" },
      involvedObject: { kind: "ConfigMap", namespace: "other", name: "c" },
    });
  },
});
