/** Applies the patches of a kustomization. */
import {
  applyJsonPatch,
  isLabelRequirementMet,
  isObject,
  type JsonPatchOperation,
  KUSTOMIZE_YAML,
  type LabelRequirement,
  parseLabelSelector,
} from "../internal/mod.gen.ts";
import type { BuiltinSchemas } from "./builtin_schemas.ts";
import { Failure } from "../exit_code.ts";
import type { PlainObject } from "../objects.ts";
import { yamlDocuments } from "../yaml.ts";
import type { Patch, Target } from "./kustomization.ts";
import { type Identity, type Resource, shownIdentity } from "./resource.ts";
import { DELETED, strategicMerge } from "./strategic_merge.ts";

/** A patch with its source. */
export interface LoadedPatch extends Patch {
  readonly text: string;
  /** The name of the source in errors. */
  readonly shown: string;
}

/**
 * Applies a patch, which is either a strategic merge patch (an object) or a JSON patch (a list of
 * operations).
 *
 * @param resources The objects.
 * @param patch The patch.
 * @param builtin Schemas of built-in kinds.
 * @returns The remaining objects: a patch may delete some.
 * @throws {Failure} If the patch is not well-formed, or its object does not exist.
 */
export function patched(resources: readonly Resource[], patch: LoadedPatch, builtin: BuiltinSchemas): Resource[] {
  const documents = yamlDocuments(patch.text, patch.shown, KUSTOMIZE_YAML).filter((document) => document !== null);
  const [first] = documents;
  if (first === undefined) throw new Failure(`Cannot apply ${patch.shown}: the patch is empty`);
  if (Array.isArray(first)) {
    jsonPatched(resources, first as JsonPatchOperation[], patch);
    return [...resources];
  }
  if (patch.target !== undefined && documents.length > 1) {
    throw new Failure(
      `Cannot apply ${patch.shown}: it has ${documents.length} patches and a target. Use one entry per patch.`,
    );
  }
  let remaining = [...resources];
  for (const document of documents) {
    if (!isObject(document)) {
      throw new Failure(`Cannot apply ${patch.shown}: a patch must be an object or a list of JSON patch operations`);
    }
    const targets = patch.target === undefined
      ? [objectOf(remaining, document, patch.shown)]
      : matching(remaining, patch);
    for (const target of targets) {
      if (!merge(target, document as unknown as PlainObject, patch, builtin)) {
        remaining = remaining.filter((one) => one !== target);
      }
    }
  }
  return remaining;
}

function jsonPatched(resources: readonly Resource[], operations: JsonPatchOperation[], patch: LoadedPatch): void {
  if (patch.target === undefined) {
    throw new Failure(`Cannot apply ${patch.shown}: a JSON patch needs a target. Add "target" with kind and name.`);
  }
  for (const resource of matching(resources, patch)) {
    try {
      resource.change(applyJsonPatch(resource.object, operations) as PlainObject);
    } catch (error) {
      throw new Failure(
        `Cannot apply ${patch.shown} to ${shownIdentity(resource.identity)}: ${(error as Error).message}`,
        { cause: error },
      );
    }
  }
}

/** Merges a patch into an object. Returns `false` if the patch deletes the object. */
function merge(resource: Resource, patch: PlainObject, { options = {} }: Patch, builtin: BuiltinSchemas): boolean {
  const { apiVersion, kind, metadata } = resource.object;
  const merged = strategicMerge(resource.object, patch, builtin.schemaOf(apiVersion, kind), builtin);
  if (merged === DELETED) return false;
  const result = merged as unknown as PlainObject;
  resource.change({
    ...result,
    kind: options.allowKindChange ? result.kind : kind,
    metadata: {
      ...result.metadata,
      name: options.allowNameChange ? result.metadata.name : metadata.name,
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    },
  });
  if (metadata.namespace === undefined) {
    const { namespace: _, ...rest } = resource.object.metadata;
    resource.change({ ...resource.object, metadata: rest as PlainObject["metadata"] });
  }
  return true;
}

/**
 * Returns the object that a patch without a target changes. The patch has the current or a previous
 * name of the object.
 */
function objectOf(resources: readonly Resource[], patch: Readonly<Record<string, unknown>>, shown: string): Resource {
  const { apiVersion, kind, metadata } = patch as unknown as PlainObject;
  if (typeof apiVersion !== "string" || typeof kind !== "string" || typeof metadata?.name !== "string") {
    throw new Failure(`Cannot apply ${shown}: a patch without a target needs apiVersion, kind and metadata.name`);
  }
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  const { name, namespace = "default" } = metadata;
  const isTarget = (id: Identity, isClusterScoped: boolean) =>
    id.group === group && id.version === version && id.kind === kind && id.name === name &&
    (isClusterScoped || id.namespace === namespace);
  const found = resources.filter((one) => one.identities.some((id) => isTarget(id, one.isClusterScoped)));
  if (found.length === 1) return found[0]!;
  const wanted = shownIdentity({ group, version, kind, namespace: metadata.namespace ?? "", name });
  throw new Failure(
    found.length === 0
      ? `Cannot apply ${shown}: ${wanted} does not exist among the resources`
      : `Cannot apply ${shown}: ${wanted} could be ${
        found.map(({ identity }) => shownIdentity(identity)).join(" or ")
      }`,
  );
}

/** Returns the objects that a target selects. */
function matching(resources: readonly Resource[], { target = {}, shown }: LoadedPatch): Resource[] {
  const fits = (pattern: string | undefined, value: string): boolean => {
    if (pattern === undefined || pattern === "") return true;
    try {
      return new RegExp(`^(?:${pattern})$`).test(value);
    } catch (error) {
      throw new Failure(`Cannot apply ${shown}: "${pattern}" in its target is not a regular expression`, {
        cause: error,
      });
    }
  };
  return resources.filter((resource) => {
    const { identity, original, object: { metadata } } = resource;
    const { labels = {}, annotations = {} } = metadata as { labels?: Labels; annotations?: Labels };
    return [original.name, identity.name].some((name) => fits(target.name, name)) &&
      [original.namespace, identity.namespace].some((namespace) => fits(target.namespace, namespace)) &&
      fits(target.group, identity.group) && fits(target.version, identity.version) &&
      fits(target.kind, identity.kind) &&
      isSelected(target.labelSelector, labels, shown) && isSelected(target.annotationSelector, annotations, shown);
  });
}

type Labels = Readonly<Record<string, string>>;

function isSelected(selector: Target["labelSelector"], labels: Labels, shown: string): boolean {
  let requirements: readonly LabelRequirement[];
  try {
    requirements = parseLabelSelector(selector ?? "");
  } catch (error) {
    throw new Failure(
      `Cannot apply ${shown}: the selector "${selector}" of its target is invalid: ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
  return requirements.every((requirement) => isLabelRequirementMet(requirement, labels[requirement.key]));
}
