/** The kind Website, version v1. */
import { type Infer, resource, s } from "@op/sdk";

export const Website = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Website",
  spec: s.object({
    host: s.string({ format: "hostname" }),
    image: s.string({ default: "nginx:1.29" }),
    replicas: s.integer({ minimum: 0, maximum: 20, default: 1 }),
  }),
  status: s.object({
    url: s.optional(s.string()),
    ready: s.optional(s.integer()),
  }),
  columns: { Host: ".spec.host", Ready: ".status.ready" },
});
export type Website = Infer<typeof Website>;
