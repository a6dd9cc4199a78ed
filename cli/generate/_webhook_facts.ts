/** The account of an operator with a webhook, for tests of what is made of it. */
import { controller, type Manifest, operator } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import type { LayoutFacts } from "./layout.ts";

/** An operator "guard", whose container has a port for webhooks and whose webhooks have a Service. */
export function webhookFacts(): LayoutFacts {
  const op = operator({ name: "guard", parts: { maps: controller(ConfigMap, { reconcile() {} }) } });
  const { manager, ...rest } = op.manifests();
  const service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "guard-webhook", namespace: "guard-system", labels: { "app.kubernetes.io/name": "guard" } },
    spec: {
      selector: { "app.kubernetes.io/name": "guard" },
      ports: [{ name: "webhook", port: 443, targetPort: "webhook", protocol: "TCP" }],
    },
  };
  const withPort = (manifest: Manifest) => {
    if (manifest.kind !== "Deployment") return manifest;
    const copy = structuredClone(manifest) as Manifest & {
      spec: { template: { spec: { containers: { ports: object[] }[] } } };
    };
    copy.spec.template.spec.containers[0]?.ports.push({ name: "webhook", containerPort: 9443, protocol: "TCP" });
    return copy;
  };
  return {
    name: op.name,
    manifests: { ...rest, manager: manager.map(withPort), webhook: [service] },
    samples: [],
    rights: op.rights(),
  };
}
