/** Creates a Deployment for each Website and reports its ready replicas. */
import { controller, type Input } from "@op/sdk";
import { Deployment } from "@op/sdk/kinds";
import { Website } from "./v1.ts";

export const websites = controller(Website, {
  owns: [Deployment],
  async reconcile(site, { apply, status }) {
    const deployment = await apply(Deployment, deploymentFor(site));
    status({ url: `https://${site.spec.host}`, ready: deployment.status?.readyReplicas ?? 0 });
  },
});

function deploymentFor(site: Website) {
  const labels = { app: site.metadata.name };
  return {
    metadata: { name: site.metadata.name },
    spec: {
      replicas: site.spec.replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "web", image: site.spec.image, ports: [{ containerPort: 80 }] }] },
      },
    },
  } satisfies Input<typeof Deployment>;
}
