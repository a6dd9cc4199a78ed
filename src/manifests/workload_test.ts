import assert from "node:assert/strict";
import { installOf, type InstallOptions } from "./install.ts";
import type { Manifest } from "./manifest.ts";
import { networkPolicy, type Workload, workloadManifests } from "./workload.ts";

const SHOP: Workload = {
  name: "shop",
  version: "1.2.0+build.7",
  health: { hostname: "0.0.0.0", port: 8081 },
  gracefulShutdownTimeout: 25_000,
  isElected: true,
};

Deno.test("workloadManifests returns namespace, settings, Deployment and PodDisruptionBudget with the operator's label", () => {
  const manifests = manifestsWith();
  assert.deepEqual(manifests.map(({ kind }) => kind), ["Namespace", "ConfigMap", "Deployment", "PodDisruptionBudget"]);
  for (const { metadata } of manifests) assert.equal(metadata.labels?.["app.kubernetes.io/name"], "shop");
  assert.equal(manifests[2]?.metadata.labels?.["app.kubernetes.io/version"], "1.2.0_build.7");
});

Deno.test("a Deployment gives reconciles time to finish, and surges only with leader election", () => {
  const { spec } = deployment() as Manifest & {
    spec: { strategy: unknown; template: { spec: Record<string, unknown> } };
  };
  assert.equal(spec.template.spec.terminationGracePeriodSeconds, 30);
  assert.deepEqual(spec.strategy, { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } });
  const alone = deployment({ isElected: false }) as Manifest & { spec: { strategy: unknown } };
  assert.deepEqual(alone.spec.strategy, { type: "Recreate" });
});

Deno.test("a Deployment has probes only if health is served", () => {
  const { livenessProbe, readinessProbe, ports } = container();
  assert.deepEqual([livenessProbe?.httpGet.path, readinessProbe?.httpGet.path], ["/livez", "/readyz"]);
  assert.deepEqual(ports, [{ name: "health", containerPort: 8081, protocol: "TCP" }]);
  const silent = container({ health: undefined });
  assert.deepEqual([silent.livenessProbe, silent.readinessProbe, silent.ports], [undefined, undefined, undefined]);
});

const METRICS = [
  { name: "a separate port", port: 8080, names: ["health", "metrics"], target: "metrics" },
  { name: "the port of health", port: 8081, names: ["health"], target: "health" },
];

for (const { name, port, names, target } of METRICS) {
  Deno.test(`metrics at ${name} have a Service and a rule in the network policy`, () => {
    const change = { metrics: { port } };
    assert.deepEqual(container(change).ports?.map((each) => each.name), names);
    const service = manifestsWith(change).find(({ kind }) => kind === "Service") as Manifest & {
      spec: { ports: object[] };
    };
    assert.deepEqual(service.spec.ports, [{ name: "metrics", port, targetPort: target, protocol: "TCP" }]);
    const { spec } = networkPolicy({ ...SHOP, ...change }, installOf(SHOP, {})) as Manifest & {
      spec: { ingress: { ports: object[] }[] };
    };
    assert.deepEqual(spec.ingress[0]?.ports, [{ port, protocol: "TCP" }]);
  });
}

Deno.test("networkPolicy denies all traffic if no port is served", () => {
  const { spec } = networkPolicy(SHOP, installOf(SHOP, {})) as Manifest & { spec: Record<string, unknown> };
  assert.deepEqual([spec.policyTypes, spec.ingress], [["Ingress"], undefined]);
});

Deno.test("a Deployment mounts its settings, and replaces pods for those that only apply at startup", () => {
  const settings = (text: string) => {
    const [map] = manifestsWith({ settings: text }).filter(({ kind }) => kind === "ConfigMap");
    const { spec } = deployment({ settings: text }) as Manifest & {
      spec: { template: { metadata: { annotations: Record<string, string> } } };
    };
    return { data: map?.data, digest: spec.template.metadata.annotations["shop/settings"] };
  };
  const one = settings('[operator]\nselector = "a=b"\nlog_level = "info"\n');
  assert.deepEqual(one.data, { "operator.toml": '[operator]\nselector = "a=b"\nlog_level = "info"\n' });
  assert.equal(one.digest, settings('[operator]\nselector = "a=b"\nlog_level = "warn"\n').digest);
  assert.notEqual(one.digest, settings('[operator]\nselector = "a=c"\nlog_level = "info"\n').digest);
});

Deno.test("a Deployment watches the namespaces that it has RBAC permissions for", () => {
  assert.deepEqual(container({}, { watchNamespaces: ["a", "b"] }).args, ["start", "--namespace=a", "--namespace=b"]);
});

function manifestsWith(change: Partial<Workload> = {}, options: InstallOptions = {}): Manifest[] {
  return workloadManifests({ ...SHOP, ...change }, installOf(SHOP, options));
}

function deployment(change: Partial<Workload> = {}, options: InstallOptions = {}): Manifest {
  return manifestsWith(change, options).find(({ kind }) => kind === "Deployment")!;
}

interface Container {
  readonly args: readonly string[];
  readonly ports?: readonly { readonly name: string }[];
  readonly livenessProbe?: { readonly httpGet: { readonly path: string } };
  readonly readinessProbe?: { readonly httpGet: { readonly path: string } };
}

function container(change: Partial<Workload> = {}, options: InstallOptions = {}): Container {
  const { spec } = deployment(change, options) as Manifest & {
    spec: { template: { spec: { containers: Container[] } } };
  };
  return spec.template.spec.containers[0]!;
}
