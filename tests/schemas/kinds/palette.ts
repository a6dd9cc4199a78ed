/**
 * Kinds without a spec: one with root properties like a ConfigMap, and one that preserves all
 * fields.
 */
import { type Infer, type Input, resource, s } from "@op/sdk";

export const Palette = resource({
  group: "kinds.example.com",
  version: "v1",
  kind: "Palette",
  root: s.object({
    metadata: s.object({ name: s.string({ maxLength: 20 }) }),
    data: s.map(s.string({ pattern: "^#[0-9a-f]{6}$", maxLength: 7 }), { maxProperties: 100 }),
    size: s.integer({ default: 16 }),
    status: s.optional(s.object({ phase: s.string() })),
  }, { minProperties: 4 }),
  validations: [{ rule: "self.data.size() <= self.size", message: "must not have more colors than size" }],
  columns: { Size: ".size", Red: ".data.red" },
  selectableFields: [".size"],
});
export type Palette = Infer<typeof Palette>;

export const palette: Input<typeof Palette> = {
  metadata: { name: "flags" },
  data: { red: "#ff0000" },
  status: { phase: "Mixed" },
};

export const Sketch = resource({
  group: "kinds.example.com",
  version: "v1",
  kind: "Sketch",
  status: true,
  root: s.object({ spec: s.anything(), status: s.optional(s.object({ lines: s.integer() })) }, {
    preserveUnknownFields: true,
  }),
  columns: { Lines: ".status.lines", Author: ".author.name" },
});
export type Sketch = Infer<typeof Sketch>;

export const sketch: Input<typeof Sketch> = {
  metadata: { name: "house" },
  spec: "a roof on four walls",
  author: { name: "Ann" },
};
