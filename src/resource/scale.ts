/** The scale subresource of a kind: the paths of its replicas (`/scale`, autoscaling/v1). */
import { fieldTarget } from "../schema/field_path.ts";
import type { JsonSchema } from "../schema/mod.ts";
import type { CheckedNames } from "./column_path.ts";
import type { DefinitionVersion } from "./kind.ts";
import { pathError } from "./_path_error.ts";
import { rejectKind } from "./_kind_error.ts";

/** The paths of a kind's replicas: plain names, such as `.spec.replicas`. */
export interface Scale {
  /**
   * The path below `.spec` of an integer: the desired replicas, which a HorizontalPodAutoscaler or
   * `kubectl scale` writes.
   */
  readonly specReplicas: string;
  /** The path below `.status` of an integer: the current replicas. */
  readonly statusReplicas: string;
  /**
   * The path below `.spec` or `.status` of a string: the label selector of the pods. A
   * HorizontalPodAutoscaler needs it.
   */
  readonly labelSelector?: string;
}

/**
 * The path itself if its target is an integer below `Start`; otherwise the message that the
 * compiler shows.
 */
export type ReplicasPath<P extends string, Start extends string, Root> = Below<
  P,
  Start,
  CheckedNames<Root, P, number, "an integer">
>;

/**
 * The path itself if its target is a string below `.spec` or `.status`; otherwise the message that
 * the compiler shows.
 */
export type SelectorPath<P extends string, Root> = Below<
  P,
  ".spec" | ".status",
  CheckedNames<Root, P, string, "a string">
>;

type Below<P extends string, Start extends string, Checked> = [P] extends [never] ? string
  : P extends `${Start}.${string}` ? Checked
  : `${P} is not below ${Start}`;

const PATHS = [
  { option: "specReplicas", roots: [".spec."], where: ".spec", type: "integer" },
  { option: "statusReplicas", roots: [".status."], where: ".status", type: "integer" },
  { option: "labelSelector", roots: [".spec.", ".status."], where: ".spec or .status", type: "string" },
] as const;

/**
 * Returns the scale in the form of a CustomResourceDefinition.
 *
 * @param kind The kind, for messages.
 * @param scale The paths.
 * @param root The schema of a whole object.
 * @throws {TypeError} If a path is not below the required field, or its target has the wrong type.
 */
export function scaleOf(
  kind: string,
  scale: Scale,
  root: JsonSchema,
): NonNullable<NonNullable<DefinitionVersion["subresources"]>["scale"]> {
  for (const { option, roots, where, type } of PATHS) {
    const path = scale[option];
    if (path === undefined && option === "labelSelector") continue;
    if (typeof path !== "string" || !roots.some((each) => path.startsWith(each))) {
      rejectKind(kind, `"scale.${option}" must be a path below ${where}, got ${JSON.stringify(path)}`);
    }
    const actual = targetType(path, root);
    if (actual === undefined) {
      rejectKind(kind, `the path "${path}" of "scale" is not in the schema: ${invalidPathReason(path, root)}`);
    }
    if (actual !== type && actual !== "any") {
      rejectKind(kind, `"scale.${option}" must be of type ${type}: "${path}" is of type ${actual}`);
    }
  }
  return {
    specReplicasPath: scale.specReplicas,
    statusReplicasPath: scale.statusReplicas,
    ...(scale.labelSelector !== undefined && { labelSelectorPath: scale.labelSelector }),
  };
}

function invalidPathReason(path: string, root: JsonSchema): string {
  return path.includes("[") ? 'only property names are allowed, such as ".spec.replicas"' : pathError(path, root);
}

/**
 * Returns the type at a path of plain names: "any" for arbitrary values, `undefined` if the path
 * does not resolve.
 */
function targetType(path: string, root: JsonSchema): string | undefined {
  try {
    const { schema } = fieldTarget(path, root, { brackets: false });
    return schema?.type ?? (schema?.["x-kubernetes-int-or-string"] ? "integer or string" : "any");
  } catch {
    return preservesUnknown(path, root) ? "any" : undefined;
  }
}

/** Returns whether a path is within an object that preserves unknown fields. */
function preservesUnknown(path: string, root: JsonSchema): boolean {
  let node: JsonSchema | undefined = root;
  for (const name of path.slice(1).split(".")) {
    if (node === undefined) return false;
    const next: JsonSchema | undefined = node.properties?.[name];
    if (next === undefined) return node["x-kubernetes-preserve-unknown-fields"] === true;
    node = next;
  }
  return false;
}
