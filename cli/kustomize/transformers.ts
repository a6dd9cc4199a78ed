/**
 * Makes the changes of a kustomization that affect all of its objects: namespace, names, labels,
 * annotations, replicas and images.
 */
import { isObject } from "../internal/mod.gen.ts";
import { Failure } from "../exit_code.ts";
import type { PlainObject } from "../objects.ts";
import { appliesTo, changedAt } from "./field_path.ts";
import type { FieldSpec, ImageEntry, LabelEntry } from "./kustomization.ts";
import type { Resource } from "./resource.ts";

type StringMap = Readonly<Record<string, string>>;

/** Puts namespaced objects into a namespace, and renames the Namespace object itself. */
export function setNamespace(resource: Resource, namespace: string): void {
  const { object, isClusterScoped } = resource;
  const set = (path: string, create: boolean) => (value: PlainObject) =>
    changedAt(value, path, () => namespace, create) as PlainObject;
  let changed = isClusterScoped ? object : set("metadata/namespace", true)(object);
  if (object.kind === "Namespace" && object.apiVersion === "v1") changed = set("metadata/name", true)(changed);
  if (object.kind === "APIService") changed = set("spec/service/namespace", true)(changed);
  if (object.kind === "CustomResourceDefinition") {
    changed = set("spec/conversion/webhook/clientConfig/service/namespace", false)(changed);
  }
  if (object.kind === "RoleBinding" || object.kind === "ClusterRoleBinding") {
    // If the kustomization has the ServiceAccount of another subject, references.ts updates the
    // namespace of that subject.
    changed = changedAt(
      changed,
      "subjects",
      (subjects) =>
        Array.isArray(subjects)
          ? subjects.map((subject) =>
            isObject(subject) && subject.name === "default" ? { ...subject, namespace } : subject
          )
          : subjects,
    ) as PlainObject;
  }
  resource.change(changed);
}

/** Kinds whose names are never changed. */
const FIXED_NAMES = ["CustomResourceDefinition", "APIService", "Namespace"];

/** Adds a prefix and a suffix to the name. */
export function addAffixes(resource: Resource, prefix: string, suffix: string): void {
  const { kind, metadata } = resource.object;
  // Affixes are recorded even for kinds that keep their names, because references are matched by
  // affixes.
  if (prefix !== "") resource.prefixes.push(prefix);
  if (suffix !== "") resource.suffixes.push(suffix);
  if (FIXED_NAMES.includes(kind)) return;
  resource.change({ ...resource.object, metadata: { ...metadata, name: `${prefix}${metadata.name}${suffix}` } });
}

const TEMPLATES = ["ReplicationController", "Deployment", "ReplicaSet", "DaemonSet"];

const IN_VOLUME_CLAIMS: FieldSpec = {
  group: "apps",
  kind: "StatefulSet",
  path: "spec/volumeClaimTemplates/metadata/labels",
  create: true,
};

/** Returns the fields for labels or annotations of pod templates. */
function inTemplates(field: "labels" | "annotations"): FieldSpec[] {
  const path = `spec/template/metadata/${field}`;
  return [
    ...TEMPLATES.map((kind) => ({ kind, path, create: true })),
    { group: "apps", kind: "StatefulSet", path, create: true },
    { group: "batch", kind: "Job", path, create: true },
    { group: "batch", kind: "CronJob", path: `spec/jobTemplate/metadata/${field}`, create: true },
    { group: "batch", kind: "CronJob", path: `spec/jobTemplate/spec/template/metadata/${field}`, create: true },
  ];
}

const AFFINITY = ["podAffinity", "podAntiAffinity"].flatMap((kind) => [
  `spec/template/spec/affinity/${kind}/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels`,
  `spec/template/spec/affinity/${kind}/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels`,
]);

/**
 * Selectors of pods of the same kustomization. The list is kustomize's, because schemas do not have
 * this information.
 */
const SELECTORS: readonly FieldSpec[] = [
  ...["Service", "ReplicationController"].map((kind) => ({ version: "v1", kind, path: "spec/selector", create: true })),
  ...["Deployment", "ReplicaSet", "DaemonSet"].map((kind) => ({
    kind,
    path: "spec/selector/matchLabels",
    create: true,
  })),
  { group: "apps", kind: "StatefulSet", path: "spec/selector/matchLabels", create: true },
  ...["Deployment", "StatefulSet"].flatMap((kind) =>
    [...AFFINITY, "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels"]
      .map((path) => ({ group: "apps", kind, path }))
  ),
  { group: "batch", kind: "Job", path: "spec/selector/matchLabels" },
  { group: "batch", kind: "CronJob", path: "spec/jobTemplate/spec/selector/matchLabels" },
  { group: "policy", kind: "PodDisruptionBudget", path: "spec/selector/matchLabels" },
  ...["spec/podSelector", "spec/ingress/from/podSelector", "spec/egress/to/podSelector"].map((path) => ({
    group: "networking.k8s.io",
    kind: "NetworkPolicy",
    path: `${path}/matchLabels`,
  })),
];

/**
 * Adds labels to the object, and if the entry includes them, to its selectors and pod templates.
 */
export function addLabels(resource: Resource, entry: LabelEntry): void {
  const { pairs = {}, includeSelectors = false, includeTemplates = false, fields = [] } = entry;
  addAt(resource, pairs, [
    { path: "metadata/labels", create: true },
    ...(includeSelectors || includeTemplates ? [...inTemplates("labels"), IN_VOLUME_CLAIMS] : []),
    ...(includeSelectors ? SELECTORS : []),
    ...fields,
  ]);
}

/** Adds annotations to the object and its pod templates. */
export function addAnnotations(resource: Resource, annotations: StringMap): void {
  if (Object.keys(annotations).length === 0) return;
  addAt(resource, annotations, [{ path: "metadata/annotations", create: true }, ...inTemplates("annotations")]);
}

function addAt(resource: Resource, pairs: StringMap, fields: readonly FieldSpec[]): void {
  for (const field of fields) {
    if (!appliesTo(field, resource.identity)) continue;
    const add = (value: unknown) => ({ ...(isObject(value) ? value : {}), ...pairs });
    resource.change(changedAt(resource.object, field.path, add, field.create) as PlainObject);
  }
}

const SCALED = ["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"];

/**
 * Sets the number of replicas of all workloads with a name.
 *
 * @throws {Failure} If no workload has the name.
 */
export function setReplicas(resources: readonly Resource[], name: string, count: number, file: string): void {
  const found = resources.filter((one) =>
    SCALED.includes(one.object.kind) && one.identities.some((identity) => identity.name === name)
  );
  if (found.length === 0) {
    throw new Failure(`Cannot build "${file}": replicas: no ${SCALED.join(", ")} is named "${name}"`);
  }
  for (const resource of found) {
    resource.change(changedAt(resource.object, "spec/replicas", () => count, true) as PlainObject);
  }
}

const IMAGES = ["spec", "spec/template/spec"].flatMap((spec) =>
  ["containers/image", "initContainers/image", "volumes/image/reference"].map((path) => `${spec}/${path}`)
);

/** Changes the images of containers, wherever an object has a list of them. */
export function setImages(resource: Resource, images: readonly ImageEntry[]): void {
  if (resource.object.kind === "CustomResourceDefinition") return;
  for (const image of images) {
    const pattern = imagePattern(image.name);
    if (pattern === undefined) continue;
    const replaced = (value: unknown): unknown =>
      typeof value === "string" && pattern.test(value) ? withImage(value, image) : value;
    let object = inContainers(resource.object, replaced) as PlainObject;
    // Kustomize changes the containers at these paths a second time, which makes a difference only
    // for `tagSuffix`.
    for (const path of IMAGES) object = changedAt(object, path, replaced) as PlainObject;
    resource.change(object);
  }
}

/** Returns the name as a regular expression, as in kustomize. A malformed one matches no image. */
function imagePattern(name: string): RegExp | undefined {
  try {
    return new RegExp(`^${name}(:[a-zA-Z0-9_.{}-]*)?(@[a-zA-Z0-9]+([.+_-][a-zA-Z0-9]+)*:[a-zA-Z0-9_.{}-]*)?$`);
  } catch {
    return undefined;
  }
}

function withImage(value: string, { newName, newTag, tagSuffix, digest: newDigest }: ImageEntry): string {
  // A colon before the first slash belongs to a registry's port.
  const [, name = "", tag = "", digest = ""] = /^((?:[^/]*\/)?[^@:]*)(?::([^@]*))?(?:@(.*))?$/.exec(value) ?? [];
  const replaces = Boolean(newTag || newDigest);
  const wantedTag = replaces ? newTag ?? "" : `${tag}${tagSuffix ?? ""}`;
  const wantedDigest = replaces ? newDigest ?? "" : tagSuffix ? "" : digest;
  return `${newName || name}${wantedTag === "" ? "" : `:${wantedTag}`}${wantedDigest === "" ? "" : `@${wantedDigest}`}`;
}

function inContainers(value: unknown, change: (image: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => inContainers(item, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const changed = inContainers(inner, change);
      if ((key !== "containers" && key !== "initContainers") || !Array.isArray(changed)) return [key, changed];
      return [key, changed.map((one) => isObject(one) && "image" in one ? { ...one, image: change(one.image) } : one)];
    }),
  );
}
