/**
 * The rules of built-in kinds: the parts of the strategies in `k8s.io/kubernetes/pkg/registry` that
 * clients observe most.
 */
import { equal } from "../../base/json.ts";
import { labelErrors, type NameRule, pathSegmentErrors, subdomainErrors } from "../../base/name_rules.ts";
import { own } from "../../base/own.ts";
import { countingUpdates, versionRequired, withGeneration } from "../../openapi/registry.gen.ts";
import { applyDefaultsKeepingNull } from "../../schema/defaults.ts";
import type { FieldError } from "../../schema/field_error.ts";
import { decode } from "../objects/decode.ts";
import type { Rules, ServedKind } from "../objects/kinds.ts";
import {
  builtinFinalizerErrors,
  metadataErrors,
  metadataUpdateErrors,
  repeatedMetadataErrors,
} from "../objects/metadata_rules.ts";
import { type Draft, metadataOf, type StoredObject, withMetadata } from "../objects/objects.ts";
import { TEMPLATE_GENERATION, withAdmissionFields, withTemplateGeneration, withTolerations } from "./created.ts";
import { builtinDefaults } from "./defaults.ts";
import { builtinErrors } from "./errors.ts";
import { ephemeralErrors, podUpdateErrors } from "./pod_update_errors.ts";
import { builtinWarnings } from "./warnings.ts";

/** Marks an object that was sent with an empty list or map, if that increments its generation. */
const EMPTIED = Symbol("an empty list or map was dropped");

/**
 * Kinds whose generation increments when an empty list or map is added or removed, although it is
 * not stored, and the paths of such lists and maps (`reflect.DeepEqual`, where the other kinds use
 * `apiequality.Semantic`).
 */
const DISTINGUISHES_EMPTY: Readonly<Record<string, RegExp>> = {
  "networking.k8s.io/networkpolicies": /^spec\.(?!policyTypes$)/,
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": /^webhooks/,
  "admissionregistration.k8s.io/validatingwebhookconfigurations": /^webhooks/,
};

/**
 * The field of `metadata` whose changes increment the generation too (`PrepareForUpdate` of the
 * strategy).
 */
const COUNTED_METADATA: Readonly<Record<string, "annotations" | "labels">> = {
  "apps/deployments": "annotations",
  "discovery.k8s.io/endpointslices": "labels",
};

/**
 * Kinds whose status is accepted on create (`PrepareForCreate` does not reset it), such as nodes,
 * which register with their status.
 */
const STATUS_ON_CREATE = new Set(["/nodes", "/persistentvolumes"]);

const NAME_RULES: Readonly<Record<string, NameRule>> = {
  "/namespaces": labelErrors,
  "/services": labelErrors,
  "rbac.authorization.k8s.io/roles": pathSegmentErrors,
  "rbac.authorization.k8s.io/clusterroles": pathSegmentErrors,
  "rbac.authorization.k8s.io/rolebindings": pathSegmentErrors,
  "rbac.authorization.k8s.io/clusterrolebindings": pathSegmentErrors,
};

/**
 * Returns the rules of a built-in kind.
 *
 * @param kind The kind.
 */
export function builtinRules(kind: ServedKind): Rules {
  const name = `${kind.group}/${kind.plural}`;
  const hasStatus = kind.subresources.some((each) => each.name === "status");
  const { withDefaults, withCreateFields } = builtinDefaults(name);
  const distinguishesEmpty = DISTINGUISHES_EMPTY[name];
  return {
    allowsUnconditionalUpdate: !versionRequired.has(name),
    decode(object) {
      const unknown: string[] = [];
      const emptied: string[] = [];
      const decoded = decode(kind.schema, object, unknown, "", emptied) as Draft;
      const completed = withDefaults(applyDefaultsKeepingNull(kind.schema, decoded) as Draft);
      const isMarked = emptied.some((path) => distinguishesEmpty?.test(path));
      return { object: isMarked ? { ...completed, [EMPTIED]: true } : completed, unknown };
    },
    ...name === "/pods" && {
      admitted: (object: StoredObject) => ({ ...object, spec: withAdmissionFields(object.spec as Draft) }),
    },
    prepareCreate(object, now) {
      const { status: _status, ...rest } = object;
      const keepsStatus = !hasStatus || STATUS_ON_CREATE.has(name);
      const fresh = keepsStatus ? object : rest as StoredObject;
      const completed = withStatus(kind, withCreateFields(asStored(name, fresh), now));
      return withGeneration.has(name) ? withMetadata(completed, { generation: 1 }) : completed;
    },
    prepareUpdate(given, old, subresource) {
      const { [EMPTIED]: isEmptied = false, ...object } = given as StoredObject & { readonly [EMPTIED]?: boolean };
      if (subresource === "status") return statusOnly(object, old);
      const status = own(old, "status");
      // A binding changes the spec and the status.
      const keepsStatus = hasStatus && status !== undefined && subresource !== "binding";
      const written = keepsStatus ? { ...object, status } : object;
      const next = asStored(
        name,
        subresource === undefined ? admittedUpdate(name, written, old) : withSubresource(subresource, written, old),
      );
      if (!countingUpdates.has(name) || subresource === "binding") return next;
      const { generation } = old.metadata;
      const isUnchanged = !isEmptied && sameSpec(next, old) && sameMetadata(next, old, COUNTED_METADATA[name]);
      return withMetadata(next, { generation: isUnchanged ? generation : (generation ?? 0) + 1 });
    },
    validate(object, old, subresource): FieldError[] {
      const { metadata } = object;
      const metadataErrorsOfCreate = metadataErrors(metadata, kind.namespaced, NAME_RULES[name] ?? subdomainErrors);
      const errors = old === undefined
        ? metadataErrorsOfCreate
        : metadataUpdateErrors(metadata, old.metadata, repeatedMetadataErrors(metadata, kind.namespaced));
      if (old !== undefined && subresource === undefined) errors.push(...metadataErrorsOfCreate);
      const finalizerErrors = builtinFinalizerErrors(name, object.metadata.finalizers);
      // The real server validates the finalizers of an update twice, and reports their errors
      // twice.
      errors.push(...finalizerErrors, ...old === undefined ? [] : finalizerErrors);
      if (subresource === "status") return errors;
      errors.push(...builtinErrors(name, object, old));
      // Updates through other subresources of pods may change other fields.
      if (name !== "/pods" || old === undefined) return errors;
      if (subresource === undefined) errors.push(...podUpdateErrors(object, old));
      if (subresource === "ephemeralcontainers") errors.push(...ephemeralErrors(object, old));
      return errors;
    },
    warnings: (object, old) => builtinWarnings(name, object, old === undefined),
    read: (stored) => stored,
  };
}

/**
 * Returns an object in the form in which the real server stores it, which does not distinguish an
 * empty list of rules from a missing one.
 */
function asStored(name: string, object: StoredObject): StoredObject {
  const isRole = name === "rbac.authorization.k8s.io/roles" || name === "rbac.authorization.k8s.io/clusterroles";
  return isRole && Array.isArray(object.rules) && object.rules.length === 0 ? { ...object, rules: null } : object;
}

/** Returns an object with the status that each object of its kind has, even if empty. */
function withStatus({ schema }: ServedKind, object: StoredObject): StoredObject {
  const status = schema.properties?.status;
  const value = own(object, "status") ?? status?.default;
  return status === undefined || value === undefined
    ? object
    : { ...object, status: applyDefaultsKeepingNull(status, value) };
}

/** Applies the changes of admission plugins to an update. */
function admittedUpdate(name: string, object: StoredObject, old: StoredObject): StoredObject {
  if (name === "/namespaces") return withOldFinalizers(object, old);
  if (name === "apps/daemonsets") return withNextGeneration(object, old);
  return name === "/pods" ? { ...object, spec: withTolerations(object.spec as Draft) } : object;
}

/** Increments the generation of a DaemonSet's template if it changes. */
function withNextGeneration(object: StoredObject, old: StoredObject): StoredObject {
  const [next, before] = [object, old].map(({ spec }) => (spec as Draft).template);
  const generation = Number(old.metadata.annotations?.[TEMPLATE_GENERATION] ?? 0);
  return withTemplateGeneration(object, String(equal(next, before) ? generation : generation + 1));
}

/**
 * Limits an update through a subresource of a pod to the fields that the subresource may change.
 */
function withSubresource(subresource: string, object: StoredObject, old: StoredObject): StoredObject {
  const [next, before] = [object.spec as Draft, old.spec as Draft];
  if (subresource === "ephemeralcontainers") {
    const { ephemeralContainers: _, ...spec } = before;
    const given = own(next, "ephemeralContainers");
    return { ...object, spec: { ...spec, ...given !== undefined && { ephemeralContainers: given } } };
  }
  return subresource === "resize" ? { ...object, spec: withNewResources(next, before) } : object;
}

/**
 * Returns a pod's spec in which only the resources are changed. If containers were added, removed
 * or reordered, validation rejects that later.
 */
function withNewResources(next: Draft, before: Draft): Draft {
  const spec: Record<string, unknown> = { ...before };
  for (const key of ["containers", "initContainers"]) {
    const [wanted, existing] = [own(next, key), own(before, key)].map((each) => (each ?? []) as readonly Draft[]);
    if (wanted?.length !== existing?.length) return next;
    if (existing?.some(({ name }, i) => wanted?.[i]?.name !== name)) return next;
    if (existing === undefined || existing.length === 0) continue;
    spec[key] = existing.map(({ resources: _r, resizePolicy: _p, ...container }, i) => {
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

/** Restores the finalizers in a namespace's `spec`, which only `/finalize` may change. */
function withOldFinalizers(object: StoredObject, old: StoredObject): StoredObject {
  const finalizers = own(old.spec as Draft | undefined, "finalizers");
  const spec = { ...own(object, "spec") as Draft | undefined };
  if (finalizers === undefined) delete spec.finalizers;
  else spec.finalizers = finalizers;
  return { ...object, spec };
}

/**
 * Applies a write to `/status` of a built-in kind, which may change metadata too, but not the spec.
 */
function statusOnly(object: StoredObject, old: StoredObject): StoredObject {
  const { generation } = old.metadata;
  const next: Record<string, unknown> = { ...old, metadata: metadataOf(object), status: own(object, "status") };
  if (next.status === undefined) delete next.status;
  return withMetadata(next as unknown as StoredObject, { generation });
}

function sameMetadata(a: StoredObject, b: StoredObject, field: "annotations" | "labels" | undefined): boolean {
  return field === undefined || equal(a.metadata[field] ?? {}, b.metadata[field] ?? {});
}

function sameSpec(a: StoredObject, b: StoredObject): boolean {
  const { metadata: _a, status: _as, ...restA } = a;
  const { metadata: _b, status: _bs, ...restB } = b;
  return equal(restA, restB);
}
