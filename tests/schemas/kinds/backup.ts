/** Scheduled backups: times, sizes, bytes, and fields that may change in one direction only. */
import { type Infer, type Input, resource, s } from "@op/sdk";
import { Volume } from "@op/sdk/schemas";

const retention = s.atMostOneOf(
  s.object({
    days: s.optional(s.integer({ minimum: 1 })),
    copies: s.optional(s.integer({ minimum: 1, maximum: 1000 })),
  }),
  ["days", "copies"],
  { as: "schema" },
);

const key = s.object({
  id: s.string({ format: "uuid" }),
  data: s.bytes({ maxLength: 4096 }),
  expires: s.optional(s.dateTime()),
});

export const Backup = resource({
  group: "kinds.example.com",
  version: "v1",
  kind: "Backup",
  spec: s.object({
    every: s.duration({ default: "24h" }),
    from: s.optional(s.dateTime({ example: "2026-01-01T00:00:00Z" })),
    limit: s.optional(
      s.quantity({ description: "Maximum size of one backup.", deprecated: "set it on the volume" }),
    ),
    maxBytes: s.optional(s.integer({ format: "int64", minimum: 0, exclusiveMinimum: true })),
    speed: s.optional(s.number({ format: "double", minimum: 0, maximum: 1, exclusiveMaximum: true })),
    retention: s.optional(retention),
    key: s.optional(key),
    target: s.optional(s.omit(Volume, ["hostPath", "emptyDir"])),
    generation: s.integer({
      default: 1,
      validations: [{
        rule: "!oldSelf.hasValue() || self >= oldSelf.value()",
        optionalOldSelf: true,
        message: "must not decrease",
      }],
    }),
    paths: s.map(s.array(s.string({ maxLength: 256 }), { maxItems: 20 }), {
      minProperties: 1,
      maxProperties: 10,
      default: { data: ["/"] },
      validations: [{ rule: "self.all(name, self[name].size() > 0)", message: "each name needs a path" }],
    }),
    tags: s.optional(
      s.map(s.string({ maxLength: 63, validations: [{ rule: "self == self.lowerAscii()" }] }), { maxProperties: 8 }),
    ),
  }),
  status: s.object({
    last: s.dateTime(),
    bytes: s.integer({ format: "int64" }),
    phase: s.enum(["Waiting", "Running", "Done"], {
      validations: [{
        rule: "!(oldSelf == 'Done' && self == 'Waiting')",
        message: "a completed backup cannot wait again",
      }],
    }),
  }),
  columns: {
    Every: ".spec.every",
    Last: { path: ".status.last", format: "date-time" },
    Age: ".metadata.creationTimestamp",
  },
});
export type Backup = Infer<typeof Backup>;

export const backup: Input<typeof Backup> = {
  metadata: { name: "nightly" },
  spec: {
    every: "12h",
    from: "2026-01-01T00:00:00Z",
    maxBytes: 10_000_000_000,
    speed: 0.5,
    retention: { copies: 14 },
    key: { id: "8f14e45f-ceea-467f-a8d0-3f1b3c2c9f50", data: "aGVsbG8=" },
    target: { name: "backups", persistentVolumeClaim: { claimName: "backups" } },
    paths: { home: ["/home"], config: ["/etc", "/opt/etc"] },
    tags: { team: "data" },
  },
};
