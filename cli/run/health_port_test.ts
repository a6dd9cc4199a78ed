import assert from "node:assert/strict";
import { operator } from "@op/sdk";
import { operatorFolder } from "../_operator_folder.ts";
import { RecordedIo } from "../_recorded_io.ts";
import { healthArguments } from "./health_port.ts";

const factsAt = (port: number | false) => ({
  manifests: operator({ name: "notes", parts: {}, health: port === false ? false : { port } }).manifests(),
});

Deno.test("healthArguments chooses a free port if the health port is in use", () => {
  using taken = Deno.listen({ hostname: "0.0.0.0", port: 0 });
  const { port } = taken.addr;
  const io = new RecordedIo();
  const [argument, ...others] = healthArguments(factsAt(port), io);
  const [, free] = /^--health-port=(\d+)$/.exec(argument ?? "") ?? [];
  assert(free !== undefined && Number(free) !== port, argument);
  assert.deepEqual(others, []);
  assert.equal(io.stdout, `Port ${port} is in use. Health and metrics are served on port ${free}\n`);
  assert.equal(healthArguments(factsAt(1), new RecordedIo("/", { OP_HEALTH_PORT: String(port) })).length, 1);
});

Deno.test("healthArguments returns no arguments if the health port is free or no health is served", () => {
  const listener = Deno.listen({ hostname: "0.0.0.0", port: 0 });
  const { port } = listener.addr;
  listener.close();
  for (const facts of [factsAt(port), factsAt(false)]) assert.deepEqual(healthArguments(facts, new RecordedIo()), []);
});

Deno.test("op start serves health on a free port if the configured port is in use, unless --health-port is set", async () => {
  using taken = Deno.listen({ hostname: "0.0.0.0", port: 0 });
  const { port } = taken.addr;
  await using folder = await operatorFolder(
    `export default operator({ name: "notes", parts: {}, health: { port: ${port} } });\n`,
  );
  // The kubeconfig does not exist, so the operator exits immediately.
  const defaultPort = await folder.op("start", "--kubeconfig", "missing");
  assert.match(defaultPort.stdout, new RegExp(`^Port ${port} is in use. Health and metrics are served on port \\d+\n`));
  const requestedPort = await folder.op("start", "--kubeconfig", "missing", "main.ts", "--", `--health-port=${port}`);
  assert.equal(requestedPort.stdout, "");
});
