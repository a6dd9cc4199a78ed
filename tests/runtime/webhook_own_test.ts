/** What an operator writes itself is let pass by webhooks that say so, and nobody else's. */
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
  Deno.test(`a webhook that lets ${ignoreOwnRequests ? "the operator alone pass" : "nobody pass"} is asked about the others' requests`, async () => {
    let asked = 0;
    const seatIsGiven = webhook(Ticket, {
      ignoreOwnRequests,
      validate({ spec }, { old }) {
        asked++;
        if (spec.seat !== old?.spec.seat) throw deny("seats are given", { field: "spec.seat" });
      },
    });
    await using cluster = await memoryCluster({ parts: { seats, seatIsGiven }, failures: "collect" });
    await cluster.create(Ticket, "a", { spec: {} });
    await cluster.settle();
    assert.equal((await cluster.get(Ticket, "a"))?.spec.seat, ignoreOwnRequests ? 7 : undefined);
    if (ignoreOwnRequests) assert.equal(asked, 1);
    await assert.rejects(cluster.patch(Ticket, "a", { spec: { seat: 8 } }), /spec\.seat: seats are given/);
  });
}
