/** Computations in threads of a compiled operator. */
import assert from "node:assert/strict";
import op from "../../examples/01_website/main.ts";
import { Website } from "../../examples/01_website/website.ts";
import { Namespace } from "../../src/kinds/mod.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient } from "../fixtures/watched.ts";
import { install } from "../fixtures/install.ts";
import { buildOperator, freePort } from "../fixtures/build_operator.ts";
import { startAsPod } from "../fixtures/operator_pod.ts";

Deno.test("a compiled operator reconciles other objects and serves health while it computes in a thread", async () => {
  const port = freePort();
  await using built = await buildOperator(`
    import { controller, offload, operator } from "@op/sdk";
    import { Website } from "repository/examples/01_website/website.ts";
    const work = offload(import.meta.url, {
      compute(gate: Int32Array): string {
        while (Atomics.load(gate, 0) === 0) { /* computes until the gate opens */ }
        return "computed";
      },
    });
    const gate = new Int32Array(new SharedArrayBuffer(4));
    const websites = controller(Website, {
      async reconcile({ metadata: { name } }, { log }) {
        log.info("Entered");
        if (name === "heavy") log.info(await work.compute(gate));
        if (name === "last") Atomics.store(gate, 0, 1);
      },
    });
    const op = operator({ name: "heavy-operator", parts: { websites }, health: { hostname: "127.0.0.1", port: ${port} } });
    export default op;
    if (import.meta.main) await op.main();
  `);
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  await install(client, op);
  await client.create(Namespace, { metadata: { name: "one" } });
  const { token } = await cluster.user("pod", { groups: ["system:masters"] });
  await using pod = await startAsPod(built.path, { cluster, token });
  await pod.logged(({ msg }) => msg === "Controller started");
  const create = (name: string) =>
    client.create(Website, { metadata: { name }, spec: { host: "a.example" } }, { namespace: "one" });
  await create("heavy");
  await pod.logged(({ msg, name }) => msg === "Entered" && name === "heavy");
  await create("light");
  await pod.logged(({ msg, name }) => msg === "Entered" && name === "light");
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  assert.match(metrics, /^op_event_loop_lag_seconds \d/m);
  assert(!pod.log.some(({ msg }) => msg === "computed"), "the computation ended before the metrics were read");
  await create("last");
  await pod.logged(({ msg, name }) => msg === "computed" && name === "heavy");
  assert.equal(pod.log.filter(({ msg }) => msg === "Operator started").length, 1, "a thread started a second operator");
  assert.equal(await pod.stop("SIGTERM"), 0);
});
