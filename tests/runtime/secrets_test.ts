/** Logs, conditions, Events and errors contain no values of Secrets and no credentials. */
import assert from "node:assert/strict";
import { inspect } from "node:util";
import { controller, resource, s } from "@op/sdk";
import { Event, Secret } from "@op/sdk/kinds";
import { memoryCluster, OperatorFailedError } from "@op/sdk/testing";

const Login = resource({
  group: "test.example.com",
  version: "v1",
  kind: "Login",
  spec: s.object({}),
  status: s.object({}),
});

const password = btoa("hunter2");

const MISTAKES: { name: string; reconcile(secret: unknown): unknown }[] = [
  { name: "returns a Secret", reconcile: (secret) => secret },
  {
    name: "throws a Secret",
    reconcile(secret) {
      throw secret;
    },
  },
];

for (const { name, reconcile } of MISTAKES) {
  Deno.test(`a reconciler that ${name} reveals none of its values`, async () => {
    const logins = controller(Login, {
      owns: [Secret],
      async reconcile(login, { apply, log }) {
        const secret = await apply(Secret, { metadata: { name: login.metadata.name }, data: { password } });
        log.info("Secret applied", { secret });
        return reconcile(secret) as undefined;
      },
    });
    await using cluster = await memoryCluster({ parts: { logins } });
    await cluster.create(Login, "a", { spec: {} });
    const error: unknown = await cluster.settle().catch((error) => error);
    assert(error instanceof OperatorFailedError);

    const login = await cluster.get(Login, "a");
    const events = await cluster.list(Event);
    assert(events.length > 0);
    assert.match(JSON.stringify(login.status), /\*\*\*/);
    for (const output of [login, events]) assert.doesNotMatch(JSON.stringify(output), new RegExp(password));
    assert.doesNotMatch(Deno.inspect(error), new RegExp(password));
  });
}

Deno.test("the requests that a memory cluster records contain the values of a Secret, but do not print them", async () => {
  await using cluster = await memoryCluster();
  await cluster.create(Secret, "a", { data: { password } });
  const requests = cluster.sent({ kind: Secret, verb: "create" });
  assert.deepEqual((requests[0]!.body as { data: unknown }).data, { password });
  for (const printed of [Deno.inspect(requests, { depth: 9 }), inspect(requests, { depth: 9 })]) {
    assert.match(printed, /\*\*\*/);
    assert.doesNotMatch(printed, new RegExp(password));
  }
});

Deno.test("the credentials of a URL in a thrown error are masked in the condition, the Event and the log", async () => {
  const logins = controller(Login, {
    reconcile() {
      throw new Error("connect postgres://user:topsecretpw@db/x failed");
    },
  });
  await using cluster = await memoryCluster({ parts: { logins } });
  await cluster.create(Login, "a", { spec: {} });
  await cluster.settle({ allowFailures: true });

  const login = await cluster.get(Login, "a");
  const events = await cluster.list(Event);
  for (const output of [login.status, events, cluster.logged]) {
    assert.match(JSON.stringify(output), /connect postgres:\/\/\*\*\*@db\/x failed/);
    assert.doesNotMatch(JSON.stringify(output), /topsecretpw/);
  }
});
