import assert from "node:assert/strict";
import { operator } from "@op/sdk";
import { RecordedIo } from "../_recorded_io.ts";
import { healthArguments } from "./health_port.ts";

const factsAt = (port: number | false) => ({
  manifests: operator({ name: "notes", parts: {}, health: port === false ? false : { port } }).manifests(),
});

Deno.test("an operator whose health port is in use under op dev gets a free one", () => {
  using taken = Deno.listen({ hostname: "0.0.0.0", port: 0 });
  const { port } = taken.addr;
  const io = new RecordedIo();
  const [argument, ...others] = healthArguments(factsAt(port), io);
  const [, free] = /^--health-port=(\d+)$/.exec(argument ?? "") ?? [];
  assert(free !== undefined && Number(free) !== port, argument);
  assert.deepEqual(others, []);
  assert.equal(io.stdout, `Port ${port} is in use: health and metrics are served on port ${free}\n`);
  assert.equal(healthArguments(factsAt(1), new RecordedIo("/", { OP_HEALTH_PORT: String(port) })).length, 1);
});

Deno.test("an operator whose health port is free, or that serves no health, keeps its settings", () => {
  const listener = Deno.listen({ hostname: "0.0.0.0", port: 0 });
  const { port } = listener.addr;
  listener.close();
  for (const facts of [factsAt(port), factsAt(false)]) assert.deepEqual(healthArguments(facts, new RecordedIo()), []);
});
