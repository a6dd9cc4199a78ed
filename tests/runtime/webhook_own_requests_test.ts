/** `ignoreOwnRequests` of webhooks. */
import assert from "node:assert/strict";
import { access, controller, deny, resource, s, webhook } from "@op/sdk";
import { memoryCluster } from "@op/sdk/testing";

const Ticket = resource({
  group: "own.example.com",
  version: "v1",
  kind: "Ticket",
  spec: s.object({ seat: s.optional(s.integer()) }),
});

const seats = controller(Ticket, {
  uses: [access(Ticket, "patch")],
  async reconcile({ metadata: { name }, spec }, { patch }) {
    if (spec.seat === undefined) await patch(Ticket, name, { spec: { seat: 7 } });
  },
});

for (const ignoreOwnRequests of [true, false]) {
  Deno.test(`a webhook with ignoreOwnRequests: ${ignoreOwnRequests} ${ignoreOwnRequests ? "skips" : "reviews"} the operator's own requests, and reviews all others`, async () => {
    let calls = 0;
    const seatIsAssigned = webhook(Ticket, {
      ignoreOwnRequests,
      validate({ spec }, { old }) {
        calls++;
        if (spec.seat !== old?.spec.seat) throw deny("seats are assigned", { field: "spec.seat" });
      },
    });
    await using cluster = await memoryCluster({ parts: { seats, seatIsAssigned }, failures: "collect" });
    await cluster.create(Ticket, "a", { spec: {} });
    await cluster.settle();
    assert.equal((await cluster.get(Ticket, "a"))?.spec.seat, ignoreOwnRequests ? 7 : undefined);
    if (ignoreOwnRequests) assert.equal(calls, 1);
    await assert.rejects(cluster.patch(Ticket, "a", { spec: { seat: 8 } }), /spec\.seat: seats are assigned/);
  });
}
