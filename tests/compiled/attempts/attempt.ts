/** The kind: what is to be attempted, and what came of it. */
import { type Infer, resource, s } from "@op/sdk";

export const Attempt = resource({
  group: "probe.example.com",
  version: "v1",
  kind: "Attempt",
  spec: s.object({ what: s.string(), url: s.string() }),
  status: s.object({ outcome: s.optional(s.string()) }),
});
export type Attempt = Infer<typeof Attempt>;
