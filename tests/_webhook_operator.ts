/** An operator with webhooks of every sort, for one suite on several API servers. */
import { access, conversion, deny, operator, resource, s, webhook } from "@op/sdk";
import { ConfigMap, Pod } from "@op/sdk/kinds";

const names = { group: "gadgets.example.com", kind: "Gadget" } as const;

const common = {
  status: s.object({ ready: s.optional(s.integer()) }),
  scale: { specReplicas: ".spec.replicas", statusReplicas: ".status.ready" },
} as const;

export const GadgetV1 = resource({
  ...names,
  ...common,
  version: "v1",
  spec: s.object({
    size: s.string({ default: "1x1" }),
    owner: s.optional(s.string()),
    replicas: s.integer({ default: 1 }),
    extra: s.optional(s.anything()),
  }),
});

export const Gadget = resource({
  ...names,
  ...common,
  version: "v2",
  spec: s.object({
    width: s.integer({ default: 1 }),
    height: s.integer({ default: 1 }),
    owner: s.optional(s.string()),
    replicas: s.integer({ default: 1 }),
    extra: s.optional(s.anything()),
  }),
  versions: [GadgetV1],
});

/** One text in v1, two numbers in v2. */
export const gadgetV1 = conversion(GadgetV1, Gadget, {
  up({ spec: { size, ...spec }, status }) {
    if (size === "odd") throw new RangeError("nobody knows how large that is");
    const [width = 1, height = 1] = size.split("x").map(Number);
    return { spec: { ...spec, width, height }, ...(status && { status }) };
  },
  down({ spec: { width, height, ...spec }, status }) {
    return { spec: { ...spec, size: `${width}x${height}` }, ...(status && { status }) };
  },
});

/** Changes a draft, finds several faults, warns, reads others. */
export const gadgetRules = webhook(Gadget, {
  uses: [access(ConfigMap, "get")],
  reinvocation: "IfNeeded",
  mutate(gadget) {
    gadget.metadata.labels = { ...gadget.metadata.labels, area: String(gadget.spec.width * gadget.spec.height) };
    if (gadget.spec.owner !== undefined) gadget.spec.owner = gadget.spec.owner.trim();
  },
  async validate({ metadata, spec }, { get, warn, audit, dryRun, user }) {
    if (metadata.name === "broken") throw new TypeError("no such thing");
    if (spec.width > 100) warn("that is wide");
    audit("asked-by", `${user.username}${dryRun ? " (dry run)" : ""}`);
    const limit = Number((await get(ConfigMap, "limits"))?.data?.width ?? "1000");
    return [
      ...(spec.width > limit ? [deny(`at most ${limit}`, { field: "spec.width" })] : []),
      ...(spec.height < 1 ? [deny("at least 1", { field: "spec.height" })] : []),
    ];
  },
});

/** Only when the owner is new, another one, or goes with its gadget: it says that it was asked. */
export const ownerRules = webhook(Gadget, {
  field: ".spec.owner",
  operations: ["CREATE", "UPDATE", "DELETE"],
  validate({ spec }, { operation, warn }) {
    warn(`the owner: ${operation}`);
    if (operation !== "DELETE" && spec.owner === "nobody") throw deny("somebody has to");
  },
});

export const statusRules = webhook(Gadget, {
  subresource: "status",
  operations: ["UPDATE"],
  validate({ status }) {
    if ((status?.ready ?? 0) > 9) throw deny("more than there can be", { field: "status.ready" });
  },
});

export const scaleRules = webhook(Gadget, {
  subresource: "scale",
  operations: ["UPDATE"],
  validate({ spec }, { old }) {
    if ((spec?.replicas ?? 0) > 5) throw deny(`from ${old?.spec?.replicas} to more than 5`, { code: 409 });
  },
});

/** A kind of Kubernetes: its wanted object is answered, what is deleted is asked about, a failure is passed over. */
export const mapRules = webhook(ConfigMap, {
  operations: ["CREATE", "UPDATE", "DELETE"],
  matchConditions: { named: '!object.?metadata.?name.orValue("").startsWith("kube-")' },
  objectSelector: { matchLabels: { guarded: "yes" } },
  mutate({ data, ...map }) {
    return { ...map, data: { ...data, seen: "yes" } };
  },
  validate(map, { operation, old }) {
    if (map.data?.mood === "broken") throw new TypeError("no such mood");
    if (operation === "DELETE" && old?.data?.keep === "yes") throw deny("it is to be kept", { code: 423 });
  },
});

/** Nobody runs a command in a pod that is called so. */
export const execRules = webhook(Pod, {
  operations: ["CONNECT"],
  subresource: "exec",
  failurePolicy: "Fail",
  validate(options, { name }) {
    if (name === "vault") throw deny(`nobody runs ${JSON.stringify(options.command)} in it`);
  },
});

export const parts = {
  gadgetV1,
  gadgetRules,
  ownerRules,
  statusRules,
  scaleRules,
  mapRules,
  execRules,
};

/** The operator, served at a port of this machine. */
export function gadgetOperator(port: number) {
  return operator({
    name: "gadget-operator",
    parts,
    health: port === 0 ? false : { hostname: "127.0.0.1", port: port + 10 },
    webhooks: { hostname: "127.0.0.1", port, names: ["127.0.0.1"] },
    gracefulShutdownTimeout: "5s",
  });
}
