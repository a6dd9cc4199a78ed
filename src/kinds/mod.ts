/**
 * The kinds of Kubernetes, typed as on the wire: dates and quantities are strings, numbers or names of ports `number | string`.
 *
 * Each name is the kind and the type of its objects as read; with `Input` behind it, as written. Of each kind the latest version is here.
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
