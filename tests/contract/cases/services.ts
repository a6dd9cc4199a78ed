/** Services: allocated addresses and ports. */
import { area } from "../contract.ts";
import { MERGE, type Recorder } from "../recorder.ts";

const PORTS = [{ name: "http", port: 80 }, { name: "dns", port: 53, protocol: "UDP" }];

function service(name: string, spec: Record<string, unknown>): unknown {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { selector: { app: "x" }, ports: PORTS, ...spec },
  };
}

async function createEach(api: Recorder, specs: readonly Record<string, unknown>[]): Promise<void> {
  for (const [i, spec] of specs.entries()) await api.post(api.core("services"), service(`s${i}`, spec));
}

export const services = area("services", {
  "addresses and families by type": (api) =>
    createEach(api, [
      {},
      { type: "ClusterIP", selector: undefined },
      { type: "NodePort" },
      { type: "LoadBalancer" },
      { type: "LoadBalancer", allocateLoadBalancerNodePorts: false },
      { type: "ExternalName", externalName: "example.com", ports: undefined },
      { clusterIP: "None" },
    ]),
  "allocated addresses survive updates and patches": async (api) => {
    const { body } = await api.post(api.core("services"), service("s", { type: "NodePort" }));
    const { clusterIP: _ip, clusterIPs: _ips, ipFamilies: _families, ipFamilyPolicy: _policy, ...spec } = body.spec;
    const ports = [{ name: "http", port: 80 }, { name: "more", port: 81 }];
    const { body: after } = await api.put(api.core("services/s"), { ...body, spec: { ...spec, ports } });
    await api.merge(api.core("services/s"), { spec: { ports: [{ name: "http", port: 80 }] } });
    await api.call("PATCH", api.core("services/s"), { metadata: { labels: { a: "b" } } }, { contentType: MERGE });
    await api.get(api.core("services/s"));
    const isSame = (of: { spec: { clusterIP: string } }) => of.spec.clusterIP === body.spec.clusterIP;
    api.note("the address is the same", isSame(after));
  },
  "an address is unique and immutable": async (api) => {
    await api.post(api.core("services"), service("taken", { clusterIP: "10.0.0.1" }));
    // An address that is never allocated automatically.
    const own = service("s", { clusterIP: "10.0.0.9" });
    await api.post(api.core("services"), own);
    await api.merge(api.core("services/s"), { spec: { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"] } });
    await api.delete(api.core("services/s"));
    await api.post(api.core("services"), own);
  },
  "invalid names and ports": async (api) => {
    for (const name of ["1a", "A", "a.b", "x".repeat(64), "-a"]) {
      await api.post(api.core("services"), service(name, {}));
    }
    await createEach(
      api,
      [
        [{ port: 0 }],
        [{ port: 80, targetPort: 70_000 }],
        [{ port: 80, targetPort: "a--b" }],
        [{ port: 80, targetPort: "1" }],
        [{ port: 80, targetPort: "x".repeat(16) }],
        [{ port: 80, protocol: "ICMP" }],
        [{ name: "A", port: 80 }],
        [{ name: "a", port: 80 }, { name: "a", port: 81 }],
        [{ port: 80 }, { port: 81 }],
      ].map((ports) => ({ ports })),
    );
  },
  "the Service kubernetes": async (api) => {
    const pick = ({ metadata: { name, labels, managedFields }, spec: { ports, ...spec } }: Body) => ({
      metadata: { name, labels, managedFields },
      spec: { ...spec, ports: ports.map((port: object) => ({ ...port, targetPort: 0 })) },
    });
    await api.get("/api/v1/namespaces/default/services/kubernetes", { pick });
    await api.get("/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical");
    await api.get("/apis/scheduling.k8s.io/v1/priorityclasses/system-cluster-critical");
  },
});

// deno-lint-ignore no-explicit-any -- The body is not checked before.
type Body = any;
