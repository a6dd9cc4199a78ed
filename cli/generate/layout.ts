/**
 * The files with an operator's manifests: a kustomize folder for each concern, and a base with all
 * that is required.
 */
import { isMap, isSeq, type YAMLMap } from "yaml";
import type { AdditionalPolicyRule, Manifest, ManifestGroups, RbacRule, Sample } from "@op/sdk/operator";
import { rejectionOf, type SampleRejection } from "./sample_review.ts";
import { sealed } from "./seal.ts";
import { formatDocument, toYaml, yamlDocument } from "../yaml.ts";
import { equal } from "../internal/mod.gen.ts";

/** The inputs of the files. */
export interface LayoutFacts {
  readonly name: string;
  readonly manifests: ManifestGroups;
  readonly samples: readonly Sample[];
  /** Rejections of samples by the operator's webhooks. @default {[]} */
  readonly rejections?: readonly SampleRejection[];
  readonly rbac: readonly RbacRule[];
}

/** A part that can be generated alone. */
export type LayoutPart = "manifests" | "crd" | "rbac" | "webhooks" | "deployment";

/** The folders of each part. */
const FOLDERS: Readonly<Record<LayoutPart, readonly string[]>> = {
  manifests: ["crd", "rbac", "manager", "webhook", "network-policy", "prometheus", "samples", "base"],
  crd: ["crd", "samples"],
  rbac: ["rbac"],
  webhooks: ["webhook"],
  deployment: ["manager", "network-policy", "prometheus"],
};

/**
 * Returns the files of a part: content by path in the folder of the configuration.
 *
 * @param part The part.
 * @param facts The operator's declarations.
 */
export function layout(part: LayoutPart, facts: LayoutFacts): Map<string, string> {
  const { name, manifests, samples, rejections = [], rbac: permissions } = facts;
  const { crd, namespace, rbac, manager, webhook, networkPolicy, prometheus } = manifests;
  const folders: Readonly<Record<string, ReadonlyMap<string, string>>> = {
    crd: folder(crd.map((one) => [`${one.spec.names.plural}.${one.spec.group}.yaml`, text(one)])),
    rbac: folder(
      byFile(rbac, name).map(([file, some]) => {
        // The reasons explain the operator's own roles. They do not apply to roles for users.
        const reasons = file.endsWith(USER_ROLES) ? [] : permissions;
        return [file, some.map((one) => text(one, reasons)).join("---\n")];
      }),
    ),
    manager: byKind([...namespace, ...manager]),
    "network-policy": byKind(networkPolicy),
    samples: folder(samples.map((sample) => [sampleFile(sample), sampleText(sample, rejections)])),
    webhook: byKind(webhook),
    prometheus: byKind(prometheus),
    // Every cluster supports the objects of the base. Overlays may add "../../prometheus".
    base: new Map([[
      "kustomization.yaml",
      kustomization([
        "../crd",
        "../manager",
        "../network-policy",
        "../rbac",
        ...(webhook.length === 0 ? [] : ["../webhook"]),
      ]),
    ]]),
  };
  const files = FOLDERS[part].flatMap((name) =>
    [...folders[name] ?? []].map(([file, body]) => [`${name}/${file}`, sealed(body)] as const)
  );
  return new Map(files);
}

/**
 * Returns manifests as YAML documents. A comment above each rule of a role has the reasons for it.
 *
 * @param manifests The manifests.
 * @param permissions The reasons.
 */
export function documents(manifests: readonly object[], permissions: readonly RbacRule[] = []): string {
  return manifests.map((one) => `---\n${text(one as Manifest, permissions)}`).join("");
}

function folder(files: readonly (readonly [string, string])[]): Map<string, string> {
  const names = files.map(([name]) => name).sort();
  return new Map([["kustomization.yaml", kustomization(names)], ...files]);
}

/** Returns a folder with a file for each kind, or no files if there are no manifests. */
function byKind(manifests: readonly Manifest[]): Map<string, string> {
  const files = Map.groupBy(manifests, ({ kind }) => `${snake(kind)}.yaml`);
  if (files.size === 0) return new Map();
  return folder([...files].map(([file, some]) => [file, some.map((one) => text(one)).join("---\n")] as const));
}

function kustomization(resources: readonly string[]): string {
  return toYaml({ apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization", resources });
}

/** The suffix of files with roles for users. */
const USER_ROLES = "_roles.yaml";

/**
 * Groups the operator's own RBAC by kind, and roles for users by the kind to which they give
 * access.
 */
function byFile(rbac: readonly Manifest[], operator: string): [string, Manifest[]][] {
  const files = new Map<string, Manifest[]>();
  for (const one of rbac) {
    const userRole = /^(.*)-(admin|editor|viewer|reader)$/.exec(one.kind === "ClusterRole" ? one.metadata.name : "");
    const isForUsers = userRole !== null &&
      !rbac.some(({ kind, metadata }) => kind === "ClusterRoleBinding" && metadata.name === one.metadata.name);
    const file = isForUsers
      ? `${userRole[1]?.slice(operator.length + 1)}${USER_ROLES}`
      : `${snake(one.kind.replace(/^Cluster/, ""))}.yaml`;
    files.set(file, [...files.get(file) ?? [], one]);
  }
  return [...files];
}

/** Returns the name of a sample's file. */
export function sampleFile({ manifest }: Sample): string {
  const [group = "", version = ""] = manifest.apiVersion.split("/");
  return `${group.split(".")[0]}_${version}_${manifest.kind.toLowerCase()}.yaml`;
}

function sampleText(sample: Sample, rejections: readonly SampleRejection[]): string {
  const comments = rejectionsOf(sample, rejections).map((reason) => `# To be corrected: ${reason}\n`);
  return `${comments.join("")}${text(sample.manifest)}`;
}

/** Returns the reasons for which a sample is rejected: by its schema, its rules or a webhook. */
export function rejectionsOf({ manifest, errors }: Sample, rejections: readonly SampleRejection[]): string[] {
  const own = rejections.filter(({ apiVersion, kind }) => apiVersion === manifest.apiVersion && kind === manifest.kind);
  const reasons = [...errors.map(({ field, message }) => `${field}: ${message}`), ...own.map(rejectionOf)];
  return [...new Set(reasons.map((one) => one.replaceAll(/\s*\n\s*/g, " ")))];
}

/** Returns an object as YAML. A comment above each rule of a role has the reasons for it. */
export function text(manifest: object, permissions: readonly RbacRule[] = []): string {
  const document = yamlDocument(manifest);
  const rules = document.get("rules");
  if (isSeq(rules)) {
    for (const item of rules.items) if (isMap(item)) explain(item, permissions);
  }
  return formatDocument(document);
}

/** Adds a comment to a rule: the parts of the operator that need it, and their reasons. */
function explain(rule: YAMLMap, permissions: readonly RbacRule[]): void {
  const { apiGroups = [], resources = [], verbs = [], resourceNames = [] } = rule.toJSON() as Partial<
    AdditionalPolicyRule
  >;
  const reasons = permissions
    .filter(({ group, resource, verb }) =>
      apiGroups.includes(group) && resources.includes(resource) && verbs.includes(verb)
    )
    .filter((permission) => equal([...permission.resourceNames].sort(), [...resourceNames].sort()))
    .map(({ part, reason }) => `${part ?? "the operator"}: ${reason}`);
  if (reasons.length === 0) return;
  rule.commentBefore = [...new Set(reasons)].map((reason) => ` ${reason}`).join("\n");
}

function snake(kind: string): string {
  return kind.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
}
