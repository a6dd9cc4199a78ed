/**
 * The built-in kinds of Kubernetes, with the types of their JSON: dates and quantities are strings,
 * and a port given by number or name is `number | string`.
 *
 * Each name is a kind and the type of its objects as read; the name with `Input` is the type of
 * objects to write. Each kind is in its latest version.
 *
 * @example Usage
 * ```ts
 * import { Deployment, type DeploymentInput } from "@op/sdk/kinds";
 *
 * const web: DeploymentInput = {
 *   metadata: { name: "web" },
 *   spec: {
 *     selector: { matchLabels: { app: "web" } },
 *     template: {
 *       metadata: { labels: { app: "web" } },
 *       spec: { containers: [{ name: "web", image: "nginx:1.29" }] },
 *     },
 *   },
 * };
 * console.log(Deployment.apiVersion, web.metadata?.name);
 * ```
 *
 * @module
 */
export * from "./latest.gen.ts";
export type { Embedded, EmbeddedObjectMeta } from "./embedded.ts";
