import assert from "node:assert/strict";
import { Deployment } from "../kinds/mod.ts";
import { s } from "../schema/mod.ts";
import { resource } from "./mod.ts";
import { ownsStatus } from "./owns_status.ts";

Deno.test("ownsStatus is true of our own kinds that have a status, and of no other", () => {
  const [group, version, spec] = ["demo.example.com", "v1", s.object({})];
  const With = resource({ group, version, kind: "With", spec, status: s.object({}) });
  const Without = resource({ group, version, kind: "Without", spec });
  assert.deepEqual([With, Without, Deployment].map(ownsStatus), [true, false, false]);
});
