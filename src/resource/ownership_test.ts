import assert from "node:assert/strict";
import { Deployment } from "../kinds/mod.ts";
import { s } from "../schema/mod.ts";
import { resource } from "./mod.ts";
import { hasStatus, isOwnKind, keepsInConditions, keepsInStatus, ownsStatus } from "./ownership.ts";

Deno.test("ownsStatus is true only for own kinds with a status", () => {
  const [group, version, spec] = ["demo.example.com", "v1", s.object({})];
  const With = resource({ group, version, kind: "With", spec, status: s.object({}) });
  const Without = resource({ group, version, kind: "Without", spec });
  const External = resource({ group, version, kind: "External", external: true, spec, status: s.object({}) });
  const kinds = [With, Without, External, Deployment];
  assert.deepEqual(kinds.map(ownsStatus), [true, false, false, false]);
  assert.deepEqual(kinds.map(isOwnKind), [true, true, false, false]);
  assert.deepEqual(kinds.map(hasStatus), [true, false, true, false]);
});

Deno.test("keepsInConditions is true for declared fields, and for all fields if unknown ones are preserved", () => {
  const [group, version, kind] = ["demo.example.com", "v1", "Site"];
  const few = s.object({ conditions: s.array(s.object({ type: s.string(), status: s.string() })) });
  const open = s.object({}, { preserveUnknownFields: true });
  const kinds = [
    resource({ group, version, kind, status: s.object({}) }),
    resource({ group, version, kind, status: s.object({}), conditions: false }),
    resource({ group, version, kind, status: few, conditions: false }),
    resource({ group, version, kind, status: open, conditions: false }),
    resource({ group, version, kind, status: true, root: open }),
  ];
  const names = ["status", "observedGeneration"];
  assert.deepEqual(kinds.map((kind) => names.map((name) => keepsInConditions(kind, name))), [
    [true, true],
    [false, false],
    [true, false],
    [true, true],
    [true, true],
  ]);
});

Deno.test("keepsInStatus is true for declared fields, and for all fields if unknown ones are preserved", () => {
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
