/** A kind whose objects request an attempt. The status reports its outcome. */
import { type Infer, resource, s } from "@op/sdk";

export const Attempt = resource({
  group: "probe.example.com",
  version: "v1",
  kind: "Attempt",
  spec: s.object({ attempt: s.string(), url: s.string() }),
  status: s.object({ outcome: s.optional(s.string()) }),
});
export type Attempt = Infer<typeof Attempt>;
