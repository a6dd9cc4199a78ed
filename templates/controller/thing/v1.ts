/** The kind Thing, version v1. */
import { type Infer, resource, s } from "@op/sdk";

export const Thing = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Thing",
  spec: s.object({
    text: s.string({ maxLength: 1000, default: "Hello" }),
  }),
  status: s.object({
    length: s.optional(s.integer()),
  }),
  columns: { Length: ".status.length" },
});
export type Thing = Infer<typeof Thing>;
