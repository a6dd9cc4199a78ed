/** The kind: what a user of the operator writes, and what the operator answers. */
import { type Infer, resource, s } from "@op/sdk";

export const Website = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Website",
  shortNames: ["web"],
  spec: s.object({
    host: s.string({ format: "hostname", maxLength: 253, description: "The name under which the site is found" }),
    theme: s.enum(["light", "dark"], { default: "light" }),
    text: s.string({ maxLength: 10_000, default: "Hello" }),
    source: s.optional(s.string({ description: "Address of a page to show in place of the text" })),
  }),
  status: s.object({
    url: s.optional(s.string()),
    bytes: s.optional(s.integer()),
  }),
  columns: { Host: ".spec.host", Theme: ".spec.theme", Url: ".status.url" },
});
export type Website = Infer<typeof Website>;
