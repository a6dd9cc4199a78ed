/**
 * Generates kustomize overlays, which have the settings of one cluster. An overlay is generated
 * once and edited by hand afterwards.
 */
import type { Manifest } from "@op/sdk/operator";
import { toYaml } from "../yaml.ts";
import { type LayoutFacts, text } from "./layout.ts";

interface Patch {
  readonly target: { readonly kind: string; readonly name?: string };
  /** JSON Patch operations. */
  readonly operations: readonly { readonly op: string; readonly path: string; readonly value?: unknown }[];
}

/** The changes of an overlay to the base. */
interface Overlay {
  /** The kind of cluster that the overlay is for, for the comment at the top of its file. */
  readonly purpose: string;
  readonly patches: readonly Patch[];
  /** Additional objects, by file. */
  readonly objects: ReadonlyMap<string, readonly Manifest[]>;
}

/** The fields of Deployments that overlays use. */
interface Deployment extends Manifest {
  readonly spec: {
    readonly template: {
      readonly metadata: object;
      readonly spec: {
        readonly containers: readonly {
          readonly image: string;
          readonly args: readonly string[];
          readonly ports?: readonly { readonly name: string }[];
        }[];
      };
    };
  };
}

/**
 * Returns the files of an overlay.
 *
 * @param name The overlay's name. `local` uses images of this machine, for minikube, kind and k3d.
 *   `split` runs controllers and webhooks in separate Deployments. Other names have no special
 *   meaning.
 * @param facts The operator's declarations.
 * @param image The image in this cluster. @default {the image of the base}
 * @throws {TypeError} If the name is `split` and the operator has no webhooks.
 */
export function overlay(name: string, facts: LayoutFacts, image?: string): Map<string, string> {
  const { purpose, patches, objects } = overlayNamed(name, facts);
  const monitored = facts.manifests.prometheus.length === 0
    ? ""
    : '# For clusters with the Prometheus Operator, add "../../prometheus" to the resources.\n';
  const kustomization = toYaml({
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    resources: ["../../base", ...objects.keys()],
    images: [imageEntry(container(facts).image, image, name === "split")],
    ...(patches.length === 0 ? {} : {
      patches: patches.map(({ target, operations }) => ({ target, patch: toYaml(operations) })),
    }),
  });
  const head = `# The settings of ${purpose}. Edit this file as you like: op does not change it.\n${monitored}`;
  const files = [...objects].map(([file, some]) => [file, some.map((one) => text(one)).join("---\n")] as const);
  return new Map(
    [["kustomization.yaml", head + kustomization] as const, ...files].map(([file, body]) =>
      [`overlays/${name}/${file}`, body] as const
    ),
  );
}

/**
 * Returns the kustomize entry that replaces an image.
 *
 * @param base The image in the base.
 * @param image The image in the cluster. Without it, the entry keeps the name of the base, as an
 *   example for the user.
 * @param isPinned Whether the entry has the tag of the base. Otherwise the overlay follows the tag
 *   of the base, so that a new version of the operator needs no change of the overlay.
 */
function imageEntry(base: string, image: string | undefined, isPinned: boolean): Record<string, string> {
  const [name] = splitImage(base);
  const [newName, newTag = "latest"] = splitImage(image ?? base);
  return { name, newName, ...(image !== undefined || isPinned) && { newTag } };
}

function splitImage(image: string): readonly [repository: string, tag: string | undefined] {
  // A colon before the last slash belongs to the port of a registry.
  const [, repository = "", tag] = /^(.+?)(?::([^:/]+))?$/.exec(image) ?? [];
  return [repository, tag];
}

function overlayNamed(name: string, facts: LayoutFacts): Overlay {
  if (name === "split") return split(facts);
  if (name !== "local") return { purpose: `"${name}"`, patches: [], objects: new Map() };
  const path = "/spec/template/spec/containers/0/imagePullPolicy";
  return {
    purpose: "a cluster on this machine: minikube, kind, k3d",
    patches: [{ target: { kind: "Deployment" }, operations: [{ op: "replace", path, value: "Never" }] }],
    objects: new Map(),
  };
}

/** The name of the container port that the API server calls. */
const WEBHOOK_PORT = "webhook";

/**
 * Returns an overlay with two Deployments. The Deployment of the base runs the controllers, and a
 * second one serves the webhooks. The second one has two pods, because the API server rejects
 * requests while it cannot reach a webhook.
 */
function split(facts: LayoutFacts): Overlay {
  const { name, manifests: { manager, networkPolicy, webhook } } = facts;
  const service = webhook.find(({ kind }) => kind === "Service");
  const ports = container(facts).ports ?? [];
  const port = ports.findIndex((each) => each.name === WEBHOOK_PORT);
  if (service === undefined || port === -1) {
    throw new TypeError(`Cannot generate overlay "split": operator "${name}" has no webhooks to run separately.`);
  }
  const separateName = `${name}-webhooks`;
  const labels = { "app.kubernetes.io/name": separateName, "app.kubernetes.io/part-of": name };
  const renamed = (manifest: Manifest): Manifest =>
    relabeled({ ...manifest, metadata: { ...manifest.metadata, name: separateName } }, name, labels) as Manifest;
  const copies = [...manager, ...networkPolicy].filter(({ kind }) =>
    ["Deployment", "PodDisruptionBudget", "NetworkPolicy"].includes(kind)
  );
  const containerPath = "/spec/template/spec/containers/0";
  return {
    purpose: "a cluster in which controllers and webhooks run separately",
    patches: [
      {
        target: { kind: "Deployment", name },
        operations: [
          { op: "add", path: `${containerPath}/args/-`, value: "--skip-webhook-server" },
          ports.length === 1
            ? { op: "remove", path: `${containerPath}/ports` }
            : { op: "remove", path: `${containerPath}/ports/${port}` },
        ],
      },
      {
        target: { kind: "Service", name: service.metadata.name },
        operations: [{
          op: "replace",
          path: "/spec/selector",
          value: { "app.kubernetes.io/name": labels["app.kubernetes.io/name"] },
        }],
      },
    ],
    objects: new Map([[
      "webhooks.yaml",
      copies.map((one) => one.kind === "Deployment" ? webhookDeployment(renamed(one)) : renamed(one)),
    ]]),
  };
}

/**
 * Returns a Deployment that only serves webhooks. Webhooks need no leader, so all replicas serve
 * requests.
 */
function webhookDeployment(deployment: Manifest): Manifest {
  const { spec } = deployment as Deployment;
  const [first, ...others] = spec.template.spec.containers;
  return {
    ...deployment,
    spec: {
      ...spec,
      replicas: 2,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: {
        ...spec.template,
        spec: {
          ...spec.template.spec,
          containers: [{ ...first, args: [...first?.args ?? [], "--skip-controllers"] }, ...others],
        },
      },
    },
  };
}

/**
 * Returns a copy of a manifest with the labels and selectors of the second Deployment, which must
 * not match pods of the base.
 */
function relabeled(value: unknown, operator: string, labels: Readonly<Record<string, string>>): unknown {
  if (Array.isArray(value)) return value.map((item) => relabeled(item, operator, labels));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key === "labels") return [key, { ...inner, ...labels }];
      if (key === "matchLabels" && inner["app.kubernetes.io/name"] === operator) {
        return [key, { ...inner, "app.kubernetes.io/name": labels["app.kubernetes.io/name"] }];
      }
      return [key, relabeled(inner, operator, labels)];
    }),
  );
}

/** Returns the first container of the operator's Deployment. */
function container(
  { manifests: { manager } }: LayoutFacts,
): Deployment["spec"]["template"]["spec"]["containers"][number] {
  const deployment = manager.find(({ kind }) => kind === "Deployment") as Deployment | undefined;
  const [first] = deployment?.spec.template.spec.containers ?? [];
  if (first === undefined) throw new TypeError("Cannot generate an overlay: the manifests have no Deployment.");
  return first;
}
