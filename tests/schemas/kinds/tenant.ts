/** A tenant of a cluster: cluster-scoped, without conditions, with a partial of another schema. */
import { type Infer, type Input, resource, s } from "@op/sdk";
import { Affinity, LabelSelector } from "@op/sdk/schemas";

const limits = s.object({
  pods: s.integer({ minimum: 0, maximum: 10_000 }),
  cpu: s.quantity(),
  burst: s.nullable(s.quantity()),
});

export const Tenant = resource({
  group: "kinds.example.com",
  version: "v1alpha1",
  kind: "Tenancy",
  scope: "Cluster",
  categories: ["tenancy"],
  conditions: false,
  deprecated: true,
  spec: s.object({
    namespaces: LabelSelector,
    placement: s.optional(Affinity),
    limits,
    overrides: s.optional(s.map(s.partial(limits), { maxProperties: 20 })),
    class: s.literal("shared", { default: "shared" }),
    owners: s.array(s.string({ format: "email", maxLength: 100 }), { listType: "set", minItems: 1 }),
    quota: s.optional(s.extend(limits, { storage: s.quantity() })),
    contact: s.nullable(s.optional(s.string())),
    free: s.optional(s.anything()),
  }, {
    validations: [{ rule: "self.owners.all(o, o != 'root@example.com')", reason: "FieldValueInvalid" }],
  }),
  status: s.object({ namespaces: s.integer() }),
  columns: { Owner: ".spec.owners[0]", Namespaces: ".status.namespaces" },
});
export type Tenant = Infer<typeof Tenant>;

export const tenant: Input<typeof Tenant> = {
  metadata: { name: "shop" },
  spec: {
    namespaces: { matchExpressions: [{ key: "tenant", operator: "In", values: ["shop"] }] },
    limits: { pods: 50, cpu: 20, burst: null },
    overrides: { shop: { pods: 100 } },
    owners: ["ann@example.com"],
    contact: null,
    free: { anything: [1, "a", { nested: true }] },
  },
};
