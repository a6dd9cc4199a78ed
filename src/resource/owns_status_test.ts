import assert from "node:assert/strict";
import { Deployment } from "../kinds/mod.ts";
import { s } from "../schema/mod.ts";
import { resource } from "./mod.ts";
import { keepsInStatus, ownsStatus } from "./owns_status.ts";

Deno.test("ownsStatus is true of our own kinds that have a status, and of no other", () => {
  const [group, version, spec] = ["demo.example.com", "v1", s.object({})];
  const With = resource({ group, version, kind: "With", spec, status: s.object({}) });
  const Without = resource({ group, version, kind: "Without", spec });
  assert.deepEqual([With, Without, Deployment].map(ownsStatus), [true, false, false]);
});

Deno.test("keepsInStatus is true of what the status has, and of all where unknown fields are kept", () => {
  const [group, version, kind] = ["demo.example.com", "v1", "Site"];
  const status = s.object({ ready: s.integer() });
  const open = s.object({}, { preserveUnknownFields: true });
  const kinds = [
    resource({ group, version, kind, status }),
    resource({ group, version, kind, status, conditions: false }),
    resource({ group, version, kind, status: open, conditions: false }),
    resource({ group, version, kind, status: true, root: open }),
    resource({ group, version, kind, status: true, root: s.object({ status }) }),
    resource({ group, version, kind, status: true }),
  ];
  assert.deepEqual(kinds.map((kind) => [keepsInStatus(kind, "ready"), keepsInStatus(kind, "conditions")]), [
    [true, true],
    [true, false],
    [true, true],
    [true, true],
    [true, false],
    [false, false],
  ]);
});
