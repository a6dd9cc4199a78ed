/** The kind Website. */
import { type Infer, resource, s } from "@op/sdk";

export const Website = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Website",
  shortNames: ["web"],
  spec: s.object({
    host: s.string({ format: "hostname", maxLength: 253, description: "The host name of the site" }),
    theme: s.enum(["light", "dark"], { default: "light" }),
    text: s.string({ maxLength: 10_000, default: "Hello" }),
    source: s.optional(s.string({ description: "URL of a page to show instead of the text" })),
  }),
  status: s.object({
    url: s.optional(s.string()),
    bytes: s.optional(s.integer()),
  }),
  columns: { Host: ".spec.host", Theme: ".spec.theme", Url: ".status.url" },
});
export type Website = Infer<typeof Website>;
