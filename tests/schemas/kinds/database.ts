/** A database with replicas, users and backups: a typical operator. */
import { type Infer, type Input, resource, s } from "@op/sdk";
import { LabelSelector, ObjectMeta, PodSpec, ResourceRequirements } from "@op/sdk/schemas";

const secretKey = s.object({
  name: s.string({ minLength: 1, maxLength: 253 }),
  key: s.string({ default: "password" }),
});

const user = s.object({
  name: s.string({ pattern: "^[a-z][a-z0-9_]*$", maxLength: 63, description: "Also the name of the user's schema." }),
  admin: s.boolean({ default: false }),
  password: s.optional(secretKey),
});

const tls = s.exactlyOneOf(
  s.object({ secret: s.optional(secretKey), issuer: s.optional(s.string({ maxLength: 253 })) }),
  ["secret", "issuer"],
);

const template = s.object({
  metadata: s.optional(s.pick(ObjectMeta, ["labels", "annotations"])),
  spec: s.optional(s.pick(PodSpec, ["nodeSelector", "tolerations", "affinity", "priorityClassName"])),
});

export const Database = resource({
  group: "kinds.example.com",
  version: "v1",
  kind: "Database",
  shortNames: ["db"],
  categories: ["all", "storage"],
  description: "A database with replicas and backups.",
  labels: { "app.kubernetes.io/part-of": "databases" },
  annotations: { "kinds.example.com/docs": "https://example.com/databases" },
  spec: s.object({
    engine: s.immutable(s.enum(["postgres", "mysql"], { title: "Engine", example: "postgres" })),
    replicas: s.integer({ format: "int32", minimum: 1, maximum: 9, default: 1 }),
    minAvailable: s.integer({ minimum: 0, default: 0 }),
    size: s.quantity({ default: "10Gi" }),
    resources: s.optional(ResourceRequirements),
    template: s.optional(template),
    allowedFrom: s.optional(LabelSelector),
    tls: s.optional(tls),
    admin: s.optional(secretKey),
    users: s.array(user, { listType: "map", listMapKeys: ["name"], maxItems: 100, default: [] }),
    parameters: s.map(s.string({ maxLength: 100 }), { maxProperties: 50, default: {} }),
  }, {
    validations: [{
      rule: "self.minAvailable < self.replicas",
      messageExpression: "'at most %d of %d can be required'.format([self.replicas - 1, self.replicas])",
      fieldPath: ".minAvailable",
    }],
  }),
  status: s.object({ replicas: s.integer(), selector: s.string(), endpoint: s.string() }),
  columns: {
    Engine: ".spec.engine",
    Ready: '.status.conditions[?(@.type=="Ready")].status',
    Endpoint: { path: ".status.endpoint", priority: 1, description: "Where clients connect" },
    Age: ".metadata.creationTimestamp",
  },
  scale: {
    specReplicas: ".spec.replicas",
    statusReplicas: ".status.replicas",
    labelSelector: ".status.selector",
  },
  selectableFields: [".spec.engine"],
});
export type Database = Infer<typeof Database>;

export const database: Input<typeof Database> = {
  metadata: { name: "shop" },
  spec: {
    engine: "postgres",
    replicas: 3,
    minAvailable: 2,
    resources: { limits: { cpu: "500m", memory: "1Gi" } },
    template: { metadata: { labels: { tier: "data" } }, spec: { nodeSelector: { disk: "ssd" } } },
    allowedFrom: { matchLabels: { app: "shop" } },
    tls: { issuer: "letsencrypt" },
    users: [{ name: "shop", password: { name: "shop" } }],
    parameters: { max_connections: "200" },
  },
};
