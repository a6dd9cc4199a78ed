/** Updates references to objects whose names a kustomization has changed. */
import { isObject } from "../internal/mod.gen.ts";
import { Failure } from "../exit_code.ts";
import type { PlainObject } from "../objects.ts";
import { appliesTo, changedAt } from "./field_path.ts";
import type { FieldSpec } from "./kustomization.ts";
import { type Resource, shownIdentity } from "./resource.ts";

/** A kind, and the fields of other kinds that contain names of its objects. */
interface Referenced {
  readonly kind: string;
  readonly group?: string;
  readonly fields: readonly FieldSpec[];
}

/** The path of the pod spec in each kind that has one. */
const PODS: Readonly<Record<string, string>> = {
  Pod: "spec",
  PodTemplate: "template/spec",
  Deployment: "spec/template/spec",
  ReplicaSet: "spec/template/spec",
  DaemonSet: "spec/template/spec",
  StatefulSet: "spec/template/spec",
  Job: "spec/template/spec",
  CronJob: "spec/jobTemplate/spec/template/spec",
  ReplicationController: "spec/template/spec",
};

/** Returns fields in the pod specs of all kinds except the given ones. */
function inPods(paths: readonly string[], except: readonly string[]): FieldSpec[] {
  return Object.entries(PODS).filter(([kind]) => !except.includes(kind)).flatMap(([kind, spec]) =>
    paths.map((path) => ({ kind, path: `${spec}/${path}` }))
  );
}

function fieldsIn(kind: string, ...paths: readonly string[]): FieldSpec[] {
  return paths.map((path) => ({ kind, path }));
}

const RBAC = "rbac.authorization.k8s.io";
const ADMISSION = "admissionregistration.k8s.io";
const fromSources = (kind: "configMap" | "secret", volume: string) => [
  `volumes/${volume}`,
  `containers/env/valueFrom/${kind}KeyRef/name`,
  `initContainers/env/valueFrom/${kind}KeyRef/name`,
  `containers/envFrom/${kind}Ref/name`,
  `initContainers/envFrom/${kind}Ref/name`,
  `volumes/projected/sources/${kind}/name`,
];
const IN_WORKLOADS = ["PodTemplate", "ReplicaSet"];
const RULES = [...fieldsIn("Role", "rules/resourceNames"), ...fieldsIn("ClusterRole", "rules/resourceNames")];

/**
 * The references that kustomize updates, from its `nameReference` configuration. Schemas do not
 * have this information.
 * https://github.com/kubernetes-sigs/kustomize/blob/master/api/internal/konfig/builtinpluginconsts/namereference.go
 */
const REFERENCES: readonly Referenced[] = [
  ...["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"].map((kind) => ({
    kind,
    fields: fieldsIn("HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
  })),
  {
    kind: "ConfigMap",
    fields: [
      ...inPods(fromSources("configMap", "configMap/name"), ["ReplicationController"]),
      ...fieldsIn("Node", "spec/configSource/configMap"),
      ...RULES,
      ...fieldsIn("Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/fastcgi-params-configmap"),
    ],
  },
  {
    kind: "Secret",
    fields: [
      ...inPods([...fromSources("secret", "secret/secretName"), "imagePullSecrets/name"], ["ReplicationController"]),
      ...fieldsIn(
        "Ingress",
        "spec/tls/secretName",
        "metadata/annotations/ingress.kubernetes.io\\/auth-secret",
        "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-secret",
        "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-tls-secret",
      ),
      ...fieldsIn("ServiceAccount", "imagePullSecrets/name"),
      ...fieldsIn(
        "StorageClass",
        "parameters/secretName",
        "parameters/adminSecretName",
        "parameters/userSecretName",
        "parameters/secretRef",
      ),
      ...RULES,
      ...fieldsIn("PersistentVolume", "spec/azureFile/secretName"),
    ],
  },
  {
    kind: "Service",
    fields: [
      ...fieldsIn("StatefulSet", "spec/serviceName"),
      ...fieldsIn(
        "Ingress",
        "spec/rules/http/paths/backend/serviceName",
        "spec/backend/serviceName",
        "spec/rules/http/paths/backend/service/name",
        "spec/defaultBackend/service/name",
      ),
      { kind: "APIService", group: "apiregistration.k8s.io", path: "spec/service/name" },
      { kind: "ValidatingWebhookConfiguration", group: ADMISSION, path: "webhooks/clientConfig/service" },
      { kind: "MutatingWebhookConfiguration", group: ADMISSION, path: "webhooks/clientConfig/service" },
    ],
  },
  { kind: "Role", group: RBAC, fields: [{ kind: "RoleBinding", group: RBAC, path: "roleRef/name" }] },
  {
    kind: "ClusterRole",
    group: RBAC,
    fields: ["RoleBinding", "ClusterRoleBinding"].map((kind) => ({ kind, group: RBAC, path: "roleRef/name" })),
  },
  {
    kind: "ServiceAccount",
    fields: [
      ...["RoleBinding", "ClusterRoleBinding"].map((kind) => ({ kind, group: RBAC, path: "subjects" })),
      ...inPods(["serviceAccountName"], IN_WORKLOADS),
    ],
  },
  { kind: "PersistentVolumeClaim", fields: inPods(["volumes/persistentVolumeClaim/claimName"], IN_WORKLOADS) },
  {
    kind: "PersistentVolume",
    fields: [
      ...fieldsIn("PersistentVolumeClaim", "spec/volumeName"),
      ...fieldsIn("ClusterRole", "rules/resourceNames"),
    ],
  },
  {
    kind: "StorageClass",
    group: "storage.k8s.io",
    fields: [
      ...fieldsIn("PersistentVolume", "spec/storageClassName"),
      ...fieldsIn("PersistentVolumeClaim", "spec/storageClassName"),
      ...fieldsIn("StatefulSet", "spec/volumeClaimTemplates/spec/storageClassName"),
    ],
  },
  { kind: "PriorityClass", group: "scheduling.k8s.io", fields: inPods(["priorityClassName"], IN_WORKLOADS) },
  { kind: "IngressClass", group: "networking.k8s.io", fields: fieldsIn("Ingress", "spec/ingressClassName") },
  {
    kind: "ValidatingAdmissionPolicy",
    group: ADMISSION,
    fields: [{ kind: "ValidatingAdmissionPolicyBinding", group: ADMISSION, path: "spec/policyName" }],
  },
];

/**
 * Updates all references to names that have changed.
 *
 * @param resources The objects, which are changed in place.
 * @throws {Failure} If a reference may refer to several objects whose names now differ.
 */
export function updateReferences(resources: readonly Resource[]): void {
  for (const { kind, group, fields } of REFERENCES) {
    const referenced = resources.filter((resource) =>
      resource.identities.some((one) => one.kind === kind && (group === undefined || one.group === group))
    );
    if (referenced.length === 0) continue;
    for (const referrer of resources) {
      for (const field of fields) {
        if (!appliesTo(field, referrer.identity)) continue;
        const update = (value: unknown): unknown => updated(value, field, referrer, referenced);
        referrer.change(changedAt(referrer.object, field.path, update) as PlainObject);
      }
    }
  }
}

function updated(value: unknown, field: FieldSpec, referrer: Resource, candidates: readonly Resource[]): unknown {
  if (Array.isArray(value)) return value.map((item) => updated(item, field, referrer, candidates));
  if (typeof value === "string") return selected(value, field, referrer, candidates)?.object.metadata.name ?? value;
  if (!isObject(value) || typeof value.name !== "string") return value;
  const { name, namespace } = value;
  const inNamespace = (pick: (resource: Resource) => { namespace: string }) =>
    candidates.filter((one) => pick(one).namespace === namespace);
  const before = inNamespace(({ original }) => original);
  const all = namespace === undefined ? candidates : before.length > 0 ? before : inNamespace((one) => one.identity);
  const found = selected(name, field, referrer, all);
  if (found === undefined) return value;
  const { metadata } = found.object;
  if (metadata.namespace === undefined) return { ...value, name: metadata.name };
  return { ...value, name: metadata.name, namespace: metadata.namespace };
}

/**
 * Returns the object that a name refers to. If several objects had the name, the one in the same
 * kustomization is preferred, as in kustomize.
 */
function selected(
  name: string,
  { path }: FieldSpec,
  referrer: Resource,
  candidates: readonly Resource[],
): Resource | undefined {
  let found = candidates.filter((one) => one.identities.slice(0, -1).some((id) => id.name === name));
  if (path === "roleRef/name") {
    const { kind, apiGroup } = referrer.object.roleRef as Record<string, unknown>;
    found = found.filter((one) => one.identities.some((id) => id.kind === kind && id.group === apiGroup));
  }
  if (!referrer.isClusterScoped) {
    found = found.filter((one) =>
      one.isClusterScoped || one.object.kind === "ServiceAccount" ||
      one.identity.namespace === referrer.identity.namespace
    );
  }
  if (found.length > 1) {
    found = found.filter((one) =>
      haveSameEnd(one.prefixes, referrer.prefixes, true) && haveSameEnd(one.suffixes, referrer.suffixes, true)
    );
  }
  if (found.length > 1) {
    found = found.filter((one) =>
      haveSameEnd(one.prefixes, referrer.prefixes, false) && haveSameEnd(one.suffixes, referrer.suffixes, false)
    );
  }
  const [first, ...others] = found;
  if (first !== undefined && others.some(({ object }) => object.metadata.name !== first.object.metadata.name)) {
    throw new Failure(
      `Cannot update ${path} of ${shownIdentity(referrer.identity)}: "${name}" could be ` +
        `${found.map(({ identity }) => shownIdentity(identity)).join(" or ")}`,
    );
  }
  return first;
}

/** Returns whether the shorter of two lists equals the end of the longer one. */
function haveSameEnd(a: readonly string[], b: readonly string[], allowEmpty: boolean): boolean {
  if (a.length === 0 || b.length === 0) return allowEmpty || a.length === b.length;
  const length = Math.min(a.length, b.length);
  return a.slice(-length).join("\n") === b.slice(-length).join("\n");
}
