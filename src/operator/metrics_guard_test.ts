import assert from "node:assert/strict";
import { createApiserver } from "../apiserver/mod.ts";
import { elapsedOnly } from "../base/_elapsed_clock.ts";
import { VirtualClock } from "../base/virtual_clock.ts";
import { Client } from "../kube/client.ts";
import { metricsGuard } from "./metrics_guard.ts";

const RBAC = "rbac.authorization.k8s.io";
const OPERATOR = { name: "operator", groups: ["system:authenticated"] };
const ADMIN = { name: "admin", groups: ["system:masters"] };
const TOKENS = { scraper: { name: "prometheus", groups: ["monitoring"] }, unauthorized: { name: "jane", groups: [] } };
const silent = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent, isDebug: false };

/**
 * Starts a server where the group "monitoring" may read metrics, and a guard that uses it as the
 * operator.
 */
async function started(verbs: readonly string[] = ["create"]) {
  const clock = new VirtualClock();
  const server = createApiserver({ clock, rbac: true, tokens: TOKENS });
  const sent: string[] = [];
  let isDown = false;
  const connect = (user: typeof ADMIN) =>
    new Client({
      url: "http://server",
      close() {},
      async fetch(request) {
        if (user === OPERATOR) sent.push(new URL(request.url).pathname.split("/").at(-1)!);
        if (isDown) throw new TypeError("connection refused");
        return await server.fetch(request, { user });
      },
    }, { clock });
  const admin = { method: "POST", headers: { "content-type": "application/json" } };
  const bound = async (name: string, rules: unknown, subject: unknown) => {
    const send = async (plural: string, body: unknown) => {
      const request = new Request(`http://server/apis/${RBAC}/v1/${plural}`, { ...admin, body: JSON.stringify(body) });
      assert.equal((await server.fetch(request, { user: ADMIN })).status, 201);
    };
    await send("clusterroles", { metadata: { name }, rules });
    const roleRef = { apiGroup: RBAC, kind: "ClusterRole", name };
    await send("clusterrolebindings", { metadata: { name }, roleRef, subjects: [subject] });
  };
  await bound("metrics-reader", [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }], {
    apiGroup: RBAC,
    kind: "Group",
    name: "monitoring",
  });
  await bound("reviews", [
    { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs },
    { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs },
  ], { apiGroup: RBAC, kind: "User", name: "operator" });
  const guard = metricsGuard({ client: connect(OPERATOR), clock: elapsedOnly(clock), log: silent });
  const request = async (authorization?: string) => {
    const headers = new Headers(authorization === undefined ? {} : { authorization });
    return (await guard(new Request("http://pod/metrics", { headers })))?.status ?? 200;
  };
  return {
    request,
    sent,
    clock,
    stopServer: () => void (isDown = true),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const CASES: readonly { name: string; authorization?: string; status: number; reviews: readonly string[] }[] = [
  {
    name: "an authorized user",
    authorization: "Bearer scraper",
    status: 200,
    reviews: ["tokenreviews", "subjectaccessreviews"],
  },
  {
    name: "an unauthorized user",
    authorization: "Bearer unauthorized",
    status: 403,
    reviews: ["tokenreviews", "subjectaccessreviews"],
  },
  { name: "an unknown token", authorization: "Bearer other", status: 401, reviews: ["tokenreviews"] },
  { name: "no token", status: 401, reviews: [] },
  { name: "a user name and password", authorization: "Basic YTpi", status: 401, reviews: [] },
  { name: "a token that is too long", authorization: `Bearer ${"x".repeat(20_000)}`, status: 401, reviews: [] },
];

for (const { name, authorization, status, reviews } of CASES) {
  Deno.test(`metricsGuard responds to ${name} with ${status}`, async () => {
    await using it = await started();
    assert.equal(await it.request(authorization), status);
    assert.deepEqual(it.sent, reviews);
  });
}

Deno.test("metricsGuard reviews a token once a minute", async () => {
  await using it = await started();
  for (let i = 0; i < 3; i++) assert.equal(await it.request("Bearer scraper"), 200);
  assert.equal(it.sent.length, 2);
  it.stopServer();
  assert.equal(await it.request("Bearer scraper"), 200);
  it.clock.step(it.clock.now() + 61_000);
  assert.equal(await it.request("Bearer scraper"), 500, "the review is repeated after a minute");
});

Deno.test("metricsGuard rejects all requests if the operator may not create reviews", async () => {
  await using it = await started(["get"]);
  assert.equal(await it.request("Bearer scraper"), 500);
});

Deno.test("metricsGuard limits the log lines that callers can trigger while the API server is unavailable", async () => {
  const lines: unknown[] = [];
  const log = { ...silent, error: (...line: unknown[]) => void lines.push(line), with: () => log };
  const clock = new VirtualClock();
  const connection = {
    url: "http://server",
    close() {},
    fetch: () => Promise.resolve(Response.json({ kind: "Status", message: "no" }, { status: 403 })),
  };
  const guard = metricsGuard({ client: new Client(connection, { clock }), clock, log });
  for (let i = 0; i < 50; i++) {
    const headers = { authorization: `Bearer token-${i}` };
    assert.equal((await guard(new Request("http://pod/metrics", { headers })))?.status, 500);
  }
  assert.equal(lines.length, 10);
});
