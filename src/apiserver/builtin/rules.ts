/** The rules of built-in kinds: of the many strategies of `k8s.io/kubernetes/pkg/registry` what clients see most. */
import { equal } from "../../base/json.ts";
import { labelFaults, type NameRule, pathSegmentFaults, subdomainFaults } from "../../base/name_rules.ts";
import { own } from "../../base/own.ts";
import { applyDefaultsKeepingNull } from "../../schema/defaults.ts";
import type { FieldError } from "../../schema/field_error.ts";
import { decode } from "../objects/decode.ts";
import type { Rules, ServedKind } from "../objects/kinds.ts";
import {
  builtinFinalizerFaults,
  metadataFaults,
  metadataUpdateFaults,
  repeatedFaults,
} from "../objects/metadata_rules.ts";
import { type Draft, metadataOf, type StoredObject, withMetadata } from "../objects/objects.ts";
import { admittedPod, patientPod, TEMPLATE_GENERATION, withTemplateGeneration } from "./created.ts";
import { builtinDefaults } from "./defaults.ts";
import { builtinFaults } from "./faults.ts";
import { ephemeralFaults, podUpdateFaults } from "./pod_update_faults.ts";
import { builtinWarnings } from "./warnings.ts";

/** Kinds whose generation the server counts. */
const COUNTED = new Set([
  "/pods",
  "/podtemplates",
  "/replicationcontrollers",
  "apps/daemonsets",
  "apps/deployments",
  "apps/replicasets",
  "apps/statefulsets",
  "batch/cronjobs",
  "batch/jobs",
  "networking.k8s.io/ingresses",
  "networking.k8s.io/ingressclasses",
  "networking.k8s.io/networkpolicies",
  "policy/poddisruptionbudgets",
  "scheduling.k8s.io/priorityclasses",
  "flowcontrol.apiserver.k8s.io/flowschemas",
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations",
  "admissionregistration.k8s.io/mutatingadmissionpolicies",
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings",
  "admissionregistration.k8s.io/mutatingwebhookconfigurations",
  "admissionregistration.k8s.io/validatingadmissionpolicies",
  "admissionregistration.k8s.io/validatingadmissionpolicybindings",
  "admissionregistration.k8s.io/validatingwebhookconfigurations",
  "apiextensions.k8s.io/customresourcedefinitions",
  "discovery.k8s.io/endpointslices",
  "resource.k8s.io/deviceclasses",
  "resource.k8s.io/resourceslices",
]);

/** Said of an object that came with an empty list or map where there may be none. */
const EMPTIED = Symbol("an empty list or map was dropped");

/**
 * Kinds that take an empty list or map for something else than none when they count, and where: it is gone once it is stored (`reflect.DeepEqual` where
 * the others have `apiequality.Semantic`).
 */
const TELLS_EMPTY_FROM_NONE: Readonly<Record<string, RegExp>> = {
  "networking.k8s.io/networkpolicies": /^spec\.(?!policyTypes$)/,
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": /^webhooks/,
  "admissionregistration.k8s.io/validatingwebhookconfigurations": /^webhooks/,
};

/** Kinds whose annotations are part of what is wanted. */
const ANNOTATED = new Set(["apps/deployments"]);

/** A node reports itself when it registers: its status is taken on create. */
const STATUS_ON_CREATE = new Set(["/nodes", "/persistentvolumes"]);

/** Kinds of which a write must say from which resourceVersion it starts. */
const CONDITIONAL = new Set(["coordination.k8s.io/leases", "apiextensions.k8s.io/customresourcedefinitions"]);

const NAME_RULES: Readonly<Record<string, NameRule>> = {
  "/namespaces": labelFaults,
  "/services": labelFaults,
  "rbac.authorization.k8s.io/roles": pathSegmentFaults,
  "rbac.authorization.k8s.io/clusterroles": pathSegmentFaults,
  "rbac.authorization.k8s.io/rolebindings": pathSegmentFaults,
  "rbac.authorization.k8s.io/clusterrolebindings": pathSegmentFaults,
};

/**
 * The rules of a built-in kind.
 *
 * @param kind The kind.
 */
export function builtinRules(kind: ServedKind): Rules {
  const name = `${kind.group}/${kind.plural}`;
  const isCounted = COUNTED.has(name);
  const hasStatus = kind.subresources.some((each) => each.name === "status");
  const { filled, created } = builtinDefaults(name);
  const told = TELLS_EMPTY_FROM_NONE[name];
  return {
    allowsUnconditionalUpdate: !CONDITIONAL.has(name),
    decode(object) {
      const unknown: string[] = [];
      const emptied: string[] = [];
      const cut = decode(kind.schema, object, unknown, "", emptied) as Draft;
      const made = filled(applyDefaultsKeepingNull(kind.schema, cut) as Draft);
      const isTold = emptied.some((path) => told?.test(path));
      return { object: isTold ? { ...made, [EMPTIED]: true } : made, unknown };
    },
    ...name === "/pods" && {
      admitted: (object: StoredObject) => ({ ...object, spec: admittedPod(object.spec as Draft) }),
    },
    prepareCreate(object, now) {
      const { status: _status, ...rest } = object;
      const keepsStatus = !hasStatus || STATUS_ON_CREATE.has(name);
      const fresh = keepsStatus ? object : rest as StoredObject;
      const made = withStatus(kind, created(kept(name, fresh), now));
      return isCounted ? withMetadata(made, { generation: 1 }) : made;
    },
    prepareUpdate(given, old, subresource) {
      const { [EMPTIED]: isEmptied = false, ...object } = given as StoredObject & { readonly [EMPTIED]?: boolean };
      if (subresource === "status") return statusOnly(object, old);
      const status = own(old, "status");
      // Where a pod is bound is said in both.
      const keepsStatus = hasStatus && status !== undefined && subresource !== "binding";
      const written = keepsStatus ? { ...object, status } : object;
      const next = kept(
        name,
        subresource === undefined ? admittedUpdate(name, written, old) : only(subresource, written, old),
      );
      if (!isCounted || subresource === "binding") return next;
      const generation = old.metadata.generation ?? 1;
      const isSame = !isEmptied && sameSpec(next, old) && (!ANNOTATED.has(name) || sameAnnotations(next, old));
      return withMetadata(next, { generation: isSame ? generation : generation + 1 });
    },
    validate(object, old, subresource): FieldError[] {
      const { metadata } = object;
      const ofObject = metadataFaults(metadata, kind.namespaced, NAME_RULES[name] ?? subdomainFaults);
      const faults = old === undefined
        ? ofObject
        : metadataUpdateFaults(metadata, old.metadata, repeatedFaults(metadata, kind.namespaced));
      if (old !== undefined && subresource === undefined) faults.push(...ofObject);
      const unqualified = builtinFinalizerFaults(name, object.metadata.finalizers);
      // Those of a change are looked at on two ways, and told twice.
      faults.push(...unqualified, ...old === undefined ? [] : unqualified);
      if (subresource === "status") return faults;
      faults.push(...builtinFaults(name, object, old));
      // On paths of their own pods may change in other ways.
      if (name !== "/pods" || old === undefined) return faults;
      if (subresource === undefined) faults.push(...podUpdateFaults(object, old));
      if (subresource === "ephemeralcontainers") faults.push(...ephemeralFaults(object, old));
      return faults;
    },
    warnings: (object, old) => builtinWarnings(name, object, old === undefined),
    read: (stored) => stored,
  };
}

/** An object as the real server's store keeps it, whose format does not tell an empty list from none. */
function kept(name: string, object: StoredObject): StoredObject {
  const isRole = name === "rbac.authorization.k8s.io/roles" || name === "rbac.authorization.k8s.io/clusterroles";
  return isRole && Array.isArray(object.rules) && object.rules.length === 0 ? { ...object, rules: null } : object;
}

/** An object with the status that any object of its kind has, be it empty. */
function withStatus({ schema }: ServedKind, object: StoredObject): StoredObject {
  const status = schema.properties?.status;
  const value = own(object, "status") ?? status?.default;
  return status === undefined || value === undefined
    ? object
    : { ...object, status: applyDefaultsKeepingNull(status, value) };
}

/** What admission makes of a change. */
function admittedUpdate(name: string, object: StoredObject, old: StoredObject): StoredObject {
  if (name === "/namespaces") return withFinalizers(object, old);
  if (name === "apps/daemonsets") return countedTemplate(object, old);
  return name === "/pods" ? { ...object, spec: patientPod(object.spec as Draft) } : object;
}

/** A daemon set counts how often its template changed. */
function countedTemplate(object: StoredObject, old: StoredObject): StoredObject {
  const [next, before] = [object, old].map(({ spec }) => (spec as Draft).template);
  const generation = Number(old.metadata.annotations?.[TEMPLATE_GENERATION] ?? 0);
  return withTemplateGeneration(object, String(equal(next, before) ? generation : generation + 1));
}

/** A change as the path of a subresource takes it: of a pod's spec some paths take but a part. */
function only(subresource: string, object: StoredObject, old: StoredObject): StoredObject {
  const [next, before] = [object.spec as Draft, old.spec as Draft];
  if (subresource === "ephemeralcontainers") {
    const { ephemeralContainers: _, ...spec } = before;
    const given = own(next, "ephemeralContainers");
    return { ...object, spec: { ...spec, ...given !== undefined && { ephemeralContainers: given } } };
  }
  return subresource === "resize" ? { ...object, spec: resized(next, before) } : object;
}

/** A pod's spec of which only resources change. Containers in another order, or others, are left for the rules to refuse. */
function resized(next: Draft, before: Draft): Draft {
  const spec: Record<string, unknown> = { ...before };
  for (const key of ["containers", "initContainers"]) {
    const [wanted, there] = [own(next, key), own(before, key)].map((each) => (each ?? []) as readonly Draft[]);
    if (wanted?.length !== there?.length) return next;
    if (there?.some(({ name }, i) => wanted?.[i]?.name !== name)) return next;
    if (there === undefined || there.length === 0) continue;
    spec[key] = there.map(({ resources: _r, resizePolicy: _p, ...container }, i) => {
      const { resources, resizePolicy } = wanted?.[i] ?? {};
      return {
        ...container,
        ...resources !== undefined && { resources },
        ...resizePolicy !== undefined && { resizePolicy },
      };
    });
  }
  return spec;
}

/** The finalizers in a namespace's `spec` go by `/finalize` alone. */
function withFinalizers(object: StoredObject, old: StoredObject): StoredObject {
  const finalizers = own(old.spec as Draft | undefined, "finalizers");
  const spec = { ...own(object, "spec") as Draft | undefined };
  if (finalizers === undefined) delete spec.finalizers;
  else spec.finalizers = finalizers;
  return { ...object, spec };
}

/** A write to `/status` of a built-in kind changes labels and the like too, but no spec. */
function statusOnly(object: StoredObject, old: StoredObject): StoredObject {
  const { generation } = old.metadata;
  const next: Record<string, unknown> = { ...old, metadata: metadataOf(object), status: own(object, "status") };
  if (next.status === undefined) delete next.status;
  return withMetadata(next as unknown as StoredObject, { generation });
}

function sameAnnotations(a: StoredObject, b: StoredObject): boolean {
  return equal(a.metadata.annotations ?? {}, b.metadata.annotations ?? {});
}

function sameSpec(a: StoredObject, b: StoredObject): boolean {
  const { metadata: _a, status: _as, ...restA } = a;
  const { metadata: _b, status: _bs, ...restB } = b;
  return equal(restA, restB);
}
