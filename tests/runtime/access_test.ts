/**
 * Missing RBAC permissions: the operator names them, waits for them, and continues all other work.
 */
import assert from "node:assert/strict";
import { access, controller, operator } from "@op/sdk";
import { ConfigMap, Secret, SelfSubjectAccessReview } from "@op/sdk/kinds";
import { faults, memoryCluster } from "@op/sdk/testing";
import { controllerRbacRules, describeRule } from "../../src/parts/rbac.ts";
import { startOperator } from "../../src/operator/running.ts";
import type { Clock } from "../../src/base/clock.ts";
import type { Connection } from "../../src/kube/connection.ts";
import { applyText, Note, recording } from "../fixtures/notes.ts";

Deno.test("controllerRbacRules returns the verbs that the runtime sends for a controller's declarations", () => {
  const notes = controller(Note, {
    owns: [ConfigMap],
    reads: [Secret],
    uses: [access(Secret, "get"), access(ConfigMap, "delete")],
    reconcile() {},
    cleanup() {},
  });
  assert.deepEqual(controllerRbacRules(notes).map(describeRule), [
    "list notes.demo.example.com",
    "watch notes.demo.example.com",
    "patch notes.demo.example.com",
    "patch notes.demo.example.com/status",
    "update notes.demo.example.com/finalizers",
    "list configmaps",
    "watch configmaps",
    "create configmaps",
    "patch configmaps",
    "list secrets",
    "watch secrets",
    "get secrets",
    "delete configmaps",
  ]);
  const owner = controller(ConfigMap, { owns: [Secret], prune: true, reconcile() {} });
  assert(controllerRbacRules(owner).map(describeRule).includes("delete secrets"));
});

/**
 * Starts an operator with two controllers on a cluster that rejects the requests in a set, such as
 * `patch configmaps`.
 */
async function operatorWithout(missing: Set<string>) {
  const stack = new AsyncDisposableStack();
  const cluster = stack.use(await memoryCluster({ kinds: [Note] }));
  const notes = controller(Note, { owns: [ConfigMap], reconcile: applyText });
  const secrets = controller(Secret, { reconcile: ({ metadata }) => void seen.push(metadata.name) });
  const seen: string[] = [];
  const connection: Connection = {
    url: "http://memory.cluster",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname.endsWith("/selfsubjectaccessreviews")) {
        const review = await request.json();
        const { verb, resource, subresource } = review.spec.resourceAttributes;
        const allowed = !missing.has(`${verb} ${[resource, subresource].filter(Boolean).join("/")}`);
        return Response.json({ ...review, metadata: {}, status: { allowed } }, { status: 201 });
      }
      const forbidden = request.method === "PATCH" && pathname.includes("/configmaps/") &&
        missing.has("patch configmaps");
      if (!forbidden) return await cluster.fetch(request);
      const status = { kind: "Status", status: "Failure", reason: "Forbidden", message: "no", code: 403 };
      return Response.json(status, { status: 403 });
    },
    close() {},
  };
  const op = operator({ name: "test", parts: { notes, secrets }, health: false });
  // The wall clock jumps by up to two hours at each call: elapsed time must not depend on it.
  let calls = 0;
  const clock: Clock = {
    now: () => cluster.clock.now() + calls++ % 3 * 3_600_000,
    elapsed: () => cluster.clock.elapsed(),
    after: (delay, callback) => cluster.clock.after(delay, callback),
  };
  const running = startOperator(op, { connection, clock, random: () => 0.5 });
  stack.defer(async () => {
    const ended = running[Symbol.asyncDispose]();
    await cluster.advance("1m");
    await ended;
  });
  await cluster.advance("1s");
  const lines = () =>
    running.readiness().filter(({ isReady }) => !isReady).map(({ name, message }) => `${name}: ${message}`);
  return { cluster, running, lines, notes, seen, missing, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

Deno.test("an RBAC permission that is missing at start is named, only its controller waits, and it starts once the permission is granted", async () => {
  await using run = await operatorWithout(new Set(["patch configmaps"]));
  const { cluster, lines, missing, running } = run;
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.create(Secret, "s", {});
  await cluster.advance("1m");
  assert.deepEqual(run.seen, ["s"]);
  assert.equal(await cluster.exists(ConfigMap, "a"), false);
  assert.deepEqual(lines(), [
    "controller notes: waits for the RBAC permission to patch configmaps",
    "RBAC permission to patch configmaps: missing",
  ]);
  assert.match(await running.metrics.text(), /^op_controller_missing_rbac\{controller="notes"\} 1$/m);

  missing.clear();
  await cluster.advance("1m");
  assert.equal((await cluster.get(ConfigMap, "a")).data?.text, "one");
  assert.deepEqual(lines(), []);
  const granted = running.readiness().filter(({ name, message }) =>
    name.startsWith("RBAC permission to ") && message === "granted"
  );
  assert.deepEqual(granted.map(({ name }) => name.slice("RBAC permission to ".length)), [
    ...controllerRbacRules(run.notes).filter(({ need }) => need !== "optional").map(describeRule),
    ...["list secrets", "watch secrets"],
  ]);
});

Deno.test("an RBAC permission that is revoked at run time is named after the first 403, and work resumes once it is granted", async () => {
  await using run = await operatorWithout(new Set());
  const { cluster, lines, missing } = run;
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.advance("1s");
  assert.equal((await cluster.get(ConfigMap, "a")).data?.text, "one");
  missing.add("patch configmaps");
  await cluster.patch(Note, "a", { spec: { text: "two" } });
  await cluster.advance("1s");
  assert.deepEqual(lines()[0], "controller notes: waits for the RBAC permission to patch configmaps");
  missing.clear();
  await cluster.advance("20m");
  assert.equal((await cluster.get(ConfigMap, "a")).data?.text, "two");
});

Deno.test("the RBAC check is not repeated for each request that a quota rejects with 403", async () => {
  const { notes, reconciles } = recording(applyText);
  await using cluster = await memoryCluster({ parts: { notes }, checkAccess: true, forbiddenRequests: "allow" });
  await cluster.advance("1s");
  const reviews = () => cluster.sent({ kind: SelfSubjectAccessReview }).length;
  const once = reviews();
  assert(once > 5, `${once} access reviews at start`);
  using _ = cluster.inject(faults.status(403, "exceeded quota"), {
    client: "test",
    kind: ConfigMap,
    verb: "patch",
    times: 1e6,
  });
  for (let i = 0; i < 20; i++) await cluster.create(Note, `n${i}`, { spec: {} });
  await cluster.advance("1m");
  assert(reconciles.length > 200, `${reconciles.length} reconciles`);
  assert(reviews() <= 9 * once, `${reviews()} access reviews in a minute, ${once} at start`);
});
