/** HTTP routes: three versions of a kind, and lists whose items must match each other. */
import { type Infer, type Input, resource, s } from "@op/sdk";

const names = {
  group: "kinds.example.com",
  kind: "Route",
  plural: "httproutes",
  singular: "httproute",
  listKind: "RouteCollection",
  shortNames: ["rt"],
} as const;

const hostname = s.string({ format: "hostname", minLength: 1, maxLength: 253 });

const header = s.object({ name: s.string({ minLength: 1, maxLength: 64 }), value: s.string({ maxLength: 1024 }) });

const target = s.object({
  service: s.string({ maxLength: 63 }),
  port: s.intOrString({ default: 80 }),
  weight: s.integer({ minimum: 0, maximum: 1000, multipleOf: 5, default: 100 }),
  protocol: s.enum(["HTTP", "GRPC"], { default: "HTTP" }),
}, {
  validations: [{
    rule: "self.protocol == 'HTTP' || self.weight > 0",
    reason: "FieldValueForbidden",
    fieldPath: ".weight",
  }],
});

const match = s.atLeastOneOf(
  s.object({
    path: s.optional(s.string({ pattern: "^/", maxLength: 1024 })),
    method: s.optional(s.enum(["GET", "POST", "PUT", "DELETE"])),
    headers: s.optional(s.array(header, { listType: "map", listMapKeys: ["name"], maxItems: 16 })),
  }),
  ["path", "method", "headers"],
);

const rule = s.object({
  name: s.optional(s.string({ maxLength: 63 })),
  matches: s.array(match, { listType: "atomic", maxItems: 8, default: [] }),
  targets: s.array(target, {
    listType: "map",
    listMapKeys: ["service", "port"],
    minItems: 1,
    maxItems: 8,
    validations: [{ rule: "self.exists(t, t.weight > 0)", message: "at least one target needs a weight" }],
  }),
});

/** The oldest version. */
export const RouteV1Alpha1 = resource({
  ...names,
  version: "v1alpha1",
  served: false,
  spec: s.object({ host: s.string() }),
});

export const RouteV1Beta1 = resource({
  ...names,
  version: "v1beta1",
  deprecated: "kinds.example.com/v1beta1 Route is deprecated; use v1 with a list of hosts",
  spec: s.object({ host: s.optional(hostname), rules: s.array(rule, { maxItems: 16, default: [] }) }),
});

export const Route = resource({
  ...names,
  version: "v1",
  spec: s.object({
    hosts: s.array(hostname, {
      listType: "set",
      minItems: 1,
      maxItems: 16,
      validations: [{ rule: "self.all(h, !h.startsWith('*') || h.startsWith('*.'))" }],
    }),
    host: s.optional(s.with(hostname, { deprecated: "use hosts" })),
    rules: s.array(rule, { maxItems: 16, default: [] }),
  }),
  status: s.object({ addresses: s.array(s.string(), { listType: "atomic" }), routes: s.integer() }),
  columns: {
    Hosts: ".spec.hosts",
    First: ".spec.rules[0].targets[0].service",
    Routes: { path: ".status.routes", type: "integer", format: "int32" },
  },
  versions: [RouteV1Beta1, RouteV1Alpha1],
  storage: "v1beta1",
  validations: [{
    rule: "self.metadata.name.size() <= 63",
    message: "the name becomes a label: 63 characters at most",
    reason: "FieldValueInvalid",
  }],
});
export type Route = Infer<typeof Route>;

export const route: Input<typeof RouteV1Beta1> = {
  metadata: { name: "shop" },
  spec: {
    host: "shop.example.com",
    rules: [{
      matches: [{ path: "/api", headers: [{ name: "x-canary", value: "yes" }] }, { method: "GET" }],
      targets: [{ service: "api", port: "http", weight: 95 }, { service: "canary", weight: 5 }],
    }],
  },
};
