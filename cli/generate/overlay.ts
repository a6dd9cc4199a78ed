/** The files of overlays: what differs in one cluster. They are made once, and are their owner's from then on. */
import type { Manifest } from "@op/sdk/operator";
import { toYaml } from "../yaml.ts";
import { type LayoutFacts, text } from "./layout.ts";

interface Patch {
  readonly target: { readonly kind: string; readonly name?: string };
  /** Operations, as JSON patch has them. */
  readonly operations: readonly { readonly op: string; readonly path: string; readonly value?: unknown }[];
}

/** What an overlay has beside the base. */
interface Overlay {
  /** What it is for. */
  readonly told: string;
  readonly patches: readonly Patch[];
  /** Objects of its own, by file. */
  readonly objects: ReadonlyMap<string, readonly Manifest[]>;
}

/** Deployments as far as overlays look at them. */
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
 * The files of an overlay.
 *
 * @param name The overlay's name. `local` takes the image from the machine, as minikube, kind and k3d have it; `split` runs controllers and webhooks apart.
 * @param facts The operator's own account.
 * @throws {TypeError} If there is nothing to run apart.
 */
export function overlay(name: string, facts: LayoutFacts): Map<string, string> {
  const { told, patches, objects } = overlayOf(name, facts);
  const [, repository = "", tag = "latest"] = /^(.+?)(?::([^:/]+))?$/.exec(container(facts).image) ?? [];
  const monitored = facts.manifests.prometheus.length === 0
    ? ""
    : '# Where the Prometheus Operator runs, add "../../prometheus" to the resources.\n';
  const kustomization = toYaml({
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    resources: ["../../base", ...objects.keys()],
    images: [{ name: repository, newName: repository, newTag: tag }],
    ...(patches.length === 0 ? {} : {
      patches: patches.map(({ target, operations }) => ({ target, patch: toYaml(operations) })),
    }),
  });
  const head = `# What differs in ${told}. This file is yours: op does not change it.\n${monitored}`;
  const files = [...objects].map(([file, some]) => [file, some.map((one) => text(one)).join("---\n")] as const);
  return new Map(
    [["kustomization.yaml", head + kustomization] as const, ...files].map(([file, body]) =>
      [`overlays/${name}/${file}`, body] as const
    ),
  );
}

function overlayOf(name: string, facts: LayoutFacts): Overlay {
  if (name === "split") return split(facts);
  if (name !== "local") return { told: `"${name}"`, patches: [], objects: new Map() };
  const path = "/spec/template/spec/containers/0/imagePullPolicy";
  return {
    told: "a cluster on this machine: minikube, kind, k3d",
    patches: [{ target: { kind: "Deployment" }, operations: [{ op: "replace", path, value: "Never" }] }],
    objects: new Map(),
  };
}

/** The port of a container that the API server calls. */
const WEBHOOK_PORT = "webhook";

/**
 * Two Deployments in place of one: that of the base runs the controllers, one more serves the webhooks, by two pods, since an API server that finds none
 * refuses what they look at.
 */
function split(facts: LayoutFacts): Overlay {
  const { name, manifests: { manager, networkPolicy, webhook } } = facts;
  const service = webhook.find(({ kind }) => kind === "Service");
  const ports = container(facts).ports ?? [];
  const port = ports.findIndex((each) => each.name === WEBHOOK_PORT);
  if (service === undefined || port === -1) {
    throw new TypeError(`Cannot make overlay "split": operator "${name}" has no webhooks that could run apart`);
  }
  const apart = `${name}-webhooks`;
  const labels = { "app.kubernetes.io/name": apart, "app.kubernetes.io/part-of": name };
  const renamed = (manifest: Manifest): Manifest =>
    relabelled({ ...manifest, metadata: { ...manifest.metadata, name: apart } }, name, labels) as Manifest;
  const copies = [...manager, ...networkPolicy].filter(({ kind }) =>
    ["Deployment", "PodDisruptionBudget", "NetworkPolicy"].includes(kind)
  );
  const first = "/spec/template/spec/containers/0";
  return {
    told: "a cluster where controllers and webhooks run apart",
    patches: [
      {
        target: { kind: "Deployment", name },
        operations: [
          { op: "add", path: `${first}/args/-`, value: "--skip-webhook-server" },
          ports.length === 1
            ? { op: "remove", path: `${first}/ports` }
            : { op: "remove", path: `${first}/ports/${port}` },
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
      copies.map((one) => one.kind === "Deployment" ? serving(renamed(one)) : renamed(one)),
    ]]),
  };
}

/** It looks at nothing and elects nobody: as many as are wanted work at once. */
function serving(deployment: Manifest): Manifest {
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

/** A value whose labels and selectors are another program's: the pods of the base are not meant. */
function relabelled(value: unknown, operator: string, labels: Readonly<Record<string, string>>): unknown {
  if (Array.isArray(value)) return value.map((item) => relabelled(item, operator, labels));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key === "labels") return [key, { ...inner, ...labels }];
      if (key === "matchLabels" && inner["app.kubernetes.io/name"] === operator) {
        return [key, { ...inner, "app.kubernetes.io/name": labels["app.kubernetes.io/name"] }];
      }
      return [key, relabelled(inner, operator, labels)];
    }),
  );
}

function container(
  { manifests: { manager } }: LayoutFacts,
): Deployment["spec"]["template"]["spec"]["containers"][number] {
  const deployment = manager.find(({ kind }) => kind === "Deployment") as Deployment | undefined;
  const [first] = deployment?.spec.template.spec.containers ?? [];
  if (first === undefined) throw new TypeError("Cannot make an overlay: there is no Deployment among the manifests");
  return first;
}
