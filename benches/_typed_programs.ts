/**
 * Programs for the type check benchmark: one without the SDK, one that only imports it, one with
 * ten kinds with a PodSpec, and one with a kind as large as Prometheus.
 */
import { importKind } from "../cli/import/import.ts";
import { RecordedIo } from "../cli/_recorded_io.ts";
import { IngressSpec, JobSpec, StatefulSetSpec } from "../src/kinds/schemas/full/mod.ts";
import { isObject } from "../src/base/json.ts";
import { upstream } from "../tools/upstream.ts";
import { ORIGINS } from "../tools/upstream/origins.ts";

/** A program. `deno check` runs on its `main.ts`. */
export interface CheckedProgram {
  readonly name: string;
  readonly files: { readonly [name: string]: string };
  /** Set on the program that the others are compared with. */
  readonly isEmpty?: true;
}

/** The programs. */
export async function typedPrograms(): Promise<CheckedProgram[]> {
  return [
    { name: "no SDK", files: { "main.ts": "export const one = 1;\n" } },
    { name: "the SDK only", files: { "main.ts": EMPTY }, isEmpty: true },
    { name: "ten kinds and their controllers, PodSpec", files: { "main.ts": tenKinds() } },
    await largeKind(),
  ];
}

const EMPTY = `import { operator } from "@op/sdk";

export const op = operator({ name: "empty", parts: {} });
`;

function tenKinds(): string {
  const numbers = Array.from({ length: 10 }, (_, i) => i);
  return [
    `import { access, controller, type Infer, operator, requeue, resource, s } from "@op/sdk";`,
    `import { ConfigMap, Deployment, Job, Secret, Service, StatefulSet } from "@op/sdk/kinds";`,
    `import { LabelSelector, PodSpec, ResourceRequirements } from "@op/sdk/schemas";`,
    ...numbers.map(kindAndController),
    `export const op = operator({ name: "ten", parts: { ${numbers.map((i) => `sites${i}`).join(", ")} } });`,
    "",
  ].join("\n");
}

/**
 * Returns a kind and its controller. All kinds differ, so that the compiler cannot reuse their
 * types.
 */
function kindAndController(i: number): string {
  const pod = i % 2 === 0 ? "PodSpec" : `s.omit(PodSpec, ["containers"])`;
  return `
export const Site${i} = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Site${i}",
  spec: s.object({
    host: s.string({ format: "hostname" }),
    replicas: s.integer({ minimum: 0, maximum: 20, default: ${i} }),
    tier${i}: s.enum(["free", "paid"], { default: "free" }),
    labels: s.optional(s.map(s.string())),
    ports: s.array(
      s.object({
        name: s.string(),
        number: s.integer({ minimum: 1, maximum: 65535 }),
        protocol: s.string({ enum: ["TCP", "UDP"], default: "TCP" }),
      }),
      { listType: "map", listMapKeys: ["name"] },
    ),
    tls: s.optional(s.object({
      secretName: s.string(),
      minVersion: s.enum(["1.2", "1.3"], { default: "1.3" }),
      ciphers: s.optional(s.array(s.string())),
    })),
    source: s.exactlyOneOf(
      s.object({
        git: s.optional(s.object({ url: s.string(), ref: s.string({ default: "main" }) })),
        image: s.optional(s.string()),
      }),
      ["git", "image"],
    ),
    resources: s.optional(ResourceRequirements),
    selector: s.optional(LabelSelector),
    template: s.optional(s.object({ spec: ${pod} })),
  }),
  status: s.object({
    url: s.optional(s.string()),
    ready: s.optional(s.integer()),
    phase: s.optional(s.enum(["Ready", "Broken"])),
  }),
  columns: {
    Host: ".spec.host",
    Ready: ".status.ready",
    Port: '.spec.ports[?(@.name=="http")].number',
    State: '.status.conditions[?(@.type=="Ready")].status',
    Node: { path: ".spec.template.spec.nodeName", priority: 1 },
  },
  scale: { specReplicas: ".spec.replicas", statusReplicas: ".status.ready" },
  selectableFields: [".spec.host"],
});
export type Site${i} = Infer<typeof Site${i}>;

export const sites${i} = controller(Site${i}, {
  owns: [Deployment, Service, ConfigMap],
  reads: [StatefulSet],
  uses: [access(Secret, "get"), access(Job, "create", "delete")],
  async reconcile(site, { apply, status, get, list, log, condition }) {
    const { name } = site.metadata;
    const secret = await get(Secret, site.spec.tls?.secretName ?? "tls");
    const sets = await list(StatefulSet);
    const ports = site.spec.ports.map((port) => ({
      name: port.name,
      containerPort: port.number,
      protocol: port.protocol,
    }));
    const live = await apply(Deployment, {
      metadata: { name },
      spec: {
        replicas: site.spec.replicas,
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels: { app: name } },
          spec: { containers: [{ name: "web", image: site.spec.source.image ?? "nginx", ports }] },
        },
      },
    });
    await apply(Service, {
      metadata: { name },
      spec: { selector: { app: name }, ports: site.spec.ports.map(({ number, name }) => ({ name, port: number })) },
    });
    await apply(ConfigMap, {
      metadata: { name },
      data: { host: site.spec.host, secret: secret?.metadata.name ?? "", sets: String(sets.length) },
    });
    status({ url: \`https://\${site.spec.host}\`, ready: live.status?.readyReplicas ?? 0, phase: "Ready" });
    condition({ type: "Fine", status: "True", reason: "Fine" });
    log.info("Site applied", { tier: site.spec.tier${i} });
    return requeue("10m");
  },
});`;
}

/**
 * Returns a program with the imported kind Prometheus, or with a generated kind of the same size if
 * the CRD cannot be downloaded.
 */
async function largeKind(): Promise<CheckedProgram> {
  const { packed: [packed] } = await upstream({ origins: ORIGINS.filter(({ kind }) => kind === "Prometheus") });
  const kind = packed === undefined ? "Large" : "Prometheus";
  const folder = await Deno.makeTempDir();
  const io = new RecordedIo(folder);
  try {
    await Deno.writeTextFile(`${folder}/crd.json`, JSON.stringify(packed?.definition ?? large()));
    await importKind("crd.json", {}, io);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  return {
    name: `${packed === undefined ? "a kind as large as Prometheus" : "the imported Prometheus"}, ${
      io.stdout.split("\n").length
    } lines`,
    files: {
      "kind.ts": io.stdout,
      "main.ts": `import { controller, operator } from "@op/sdk";
import { ConfigMap, StatefulSet } from "@op/sdk/kinds";
import { ${kind} } from "./kind.ts";

export const larges = controller(${kind}, {
  owns: [ConfigMap, StatefulSet],
  async reconcile({ metadata: { name }, spec }, { apply, status }) {
    await apply(ConfigMap, { metadata: { name }, data: { replicas: String(spec.replicas) } });
    status({ availableReplicas: spec.replicas ?? 1 });
  },
});
export const op = operator({ name: "large", parts: { larges } });
`,
    },
  };
}

/**
 * Returns a CRD whose specs differ slightly from those of built-in kinds, so that the import cannot
 * replace them by known types.
 */
function large(): Record<string, unknown> {
  const parts = { set: changed(StatefulSetSpec), job: changed(JobSpec), ingress: changed(IngressSpec) };
  const [group, plural] = ["demo.example.com", "larges"];
  const replicas = { type: "integer" };
  const schema = {
    type: "object",
    properties: {
      spec: { type: "object", properties: { replicas, ...parts }, required: Object.keys(parts) },
      status: { type: "object", properties: { availableReplicas: replicas } },
    },
    required: ["spec"],
  };
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind: "Large", plural, singular: "large", listKind: "LargeList" },
      scope: "Namespaced",
      versions: [{ ...version, subresources: { status: {} } }],
    },
  };
}

/** Returns the schema with one more property in each object. */
function changed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(changed);
  if (!isObject(node)) return node;
  const all = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, changed(value)]));
  return isObject(all.properties) ? { ...all, properties: { ...all.properties, more: { type: "boolean" } } } : all;
}
