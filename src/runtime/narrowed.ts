/**
 * Checks that a controller's watch on an owned kind selects the children that the controller
 * writes. It would never see changes of a child that its watch does not select.
 */
import { type FieldRequirement, parseFieldSelector } from "../base/field_selector.ts";
import { isLabelRequirementMet, type LabelRequirement, parseLabelSelector } from "../base/label_selector.ts";
import { own } from "../base/own.ts";
import type { Watch } from "../parts/watch.ts";
import type { AnyKind } from "../resource/kind.ts";
import { keyOf } from "../watch/key.ts";
import { labelSelectorOf } from "../watch/selection.ts";

/** The selection of a controller's watch on an owned kind. */
export interface NarrowedWatch {
  readonly kind: AnyKind;
  /** The selector as the controller declares it, for errors. */
  readonly labelSelector: string;
  readonly labels: readonly LabelRequirement[];
  readonly fieldSelector: string;
  readonly fields: readonly FieldRequirement[];
  readonly namespaces: readonly string[] | undefined;
}

/** Returns the selection of a watch, or `undefined` if it selects all objects of the kind. */
export function narrowedWatch({ kind, options }: Watch): NarrowedWatch | undefined {
  const { labelSelector: labels = "", fieldSelector = "", namespaces } = options;
  const labelSelector = labelSelectorOf(labels).trim();
  if (labelSelector === "" && fieldSelector === "" && namespaces === undefined) return undefined;
  return {
    kind,
    labelSelector,
    labels: parseLabelSelector(labelSelector),
    fieldSelector,
    fields: parseFieldSelector(fieldSelector),
    namespaces,
  };
}

/** The metadata of a child before it is written. */
interface ChildMetadata {
  readonly name?: string;
  readonly namespace?: string | undefined;
  readonly labels?: { readonly [label: string]: string | undefined } | undefined;
}

/**
 * Throws if the controller's own watch on the kind would not select a child.
 *
 * @param call The call that writes the child, for errors, such as `apply()`.
 * @param metadata The child's metadata.
 * @param watch The watch on the child's kind.
 * @throws {TypeError} If the watch does not select the child's labels, fields or namespace.
 */
export function checkCovered(call: string, metadata: ChildMetadata, watch: NarrowedWatch): void {
  const { name = "", namespace, labels = {} } = metadata;
  const reject = (option: string, reason: string): never => {
    throw new TypeError(
      `${call} of ${watch.kind.kind} "${
        keyOf({ name, namespace })
      }": the watch of this controller has ${option}, so it would not see the object: ${reason}.`,
    );
  };
  const label = watch.labels.find((requirement) => !isLabelRequirementMet(requirement, own(labels, requirement.key)));
  if (label !== undefined) {
    reject(
      `labelSelector "${watch.labelSelector}"`,
      `${unmetLabel(label, own(labels, label.key))}, or widen the selector`,
    );
  }
  const values: Record<string, string | undefined> = {
    "metadata.name": metadata.name,
    "metadata.namespace": namespace,
  };
  for (const { field, value, isEqual } of watch.fields) {
    const actual = values[field];
    if (actual === undefined || (actual === value) === isEqual) continue;
    reject(
      `fieldSelector "${watch.fieldSelector}"`,
      `${field} is "${actual}". Rename the object, or widen the selector`,
    );
  }
  if (namespace !== undefined && watch.namespaces?.includes(namespace) === false) {
    reject(
      `namespaces ${JSON.stringify(watch.namespaces)}`,
      `the object is in "${namespace}". Add the namespace to the watch, or remove "namespaces"`,
    );
  }
}

function unmetLabel({ key, operator, values }: LabelRequirement, actual: string | undefined): string {
  const state = actual === undefined ? `label "${key}" is missing` : `label "${key}" is "${actual}"`;
  switch (operator) {
    case "exists":
      return `${state}. Add the label`;
    case "does not exist":
      return `${state}. Remove the label`;
    case "in":
      return `${state}. Set it to ${values.map((value) => `"${value}"`).join(" or ")}`;
    case "notin":
      return `${state}. Set it to another value`;
    default:
      return `${state}. Set it to a number ${operator} ${values[0]}`;
  }
}
