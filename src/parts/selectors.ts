/**
 * Validates selectors when they are declared. Otherwise the API server would reject each list and
 * watch, or the webhook configuration.
 */
import { parseFieldSelector } from "../base/field_selector.ts";
import { labelsError, parseLabelSelector } from "../base/label_selector.ts";
import { labelErrors, labelValueErrors, qualifiedNameErrors } from "../base/name_rules.ts";
import type { WatchOptions } from "./watch.ts";

/** Selects objects by their labels. */
export interface LabelSelector {
  /** Labels that an object must have, with these values. */
  readonly matchLabels?: { readonly [label: string]: string };
  /** Conditions on labels, all of which must be met. */
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
    readonly values?: readonly string[];
  }[];
}

/**
 * Validates the selectors of a watch.
 *
 * @param options The options of the watch.
 * @returns The error as a clause that follows a colon, or `undefined`.
 */
export function watchSelectorError(
  { labelSelector, fieldSelector, namespaces = [] }: WatchOptions,
): string | undefined {
  const labelError = labelSelector === undefined
    ? undefined
    : typeof labelSelector === "string"
    ? parseErrorOf(() => parseLabelSelector(labelSelector))
    : labelsError(labelSelector);
  if (labelError !== undefined) {
    return `"labelSelector" is ${
      JSON.stringify(labelSelector)
    }, but must be a label selector such as "app=web" or { app: "web" }: ${labelError}`;
  }
  const fieldError = fieldSelector === undefined ? undefined : parseErrorOf(() => parseFieldSelector(fieldSelector));
  if (fieldError !== undefined) {
    return `"fieldSelector" is ${
      JSON.stringify(fieldSelector)
    }, but must be a field selector such as "metadata.name=web": ${fieldError}`;
  }
  const invalidName = namespaces.find((name) => labelErrors(name).length > 0);
  return invalidName === undefined
    ? undefined
    : `"namespaces" has "${invalidName}", which is not the name of a namespace. Patterns are not supported.`;
}

/**
 * Validates a label selector of a webhook by the rules of
 * `k8s.io/apimachinery/pkg/apis/meta/v1/validation`.
 *
 * @param selector The selector.
 * @returns The error as a clause that follows a colon, or `undefined`.
 */
export function labelSelectorError({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string | undefined {
  const labelError = labelsError(matchLabels);
  if (labelError !== undefined) return labelError;
  for (const { key, operator, values = [] } of matchExpressions) {
    const hasValues = ["In", "NotIn"].includes(operator);
    if (!hasValues && !["Exists", "DoesNotExist"].includes(operator)) {
      return `"${operator}" is not one of In, NotIn, Exists, DoesNotExist`;
    }
    if (hasValues !== values.length > 0) return `"${operator}" of "${key}" ${hasValues ? "needs" : "takes no"} values`;
    const [error] = qualifiedNameErrors(key);
    if (error !== undefined) return `"${key}" is not a label name: ${error}`;
    const value = values.find((value) => labelValueErrors(value).length > 0);
    if (value !== undefined) return `"${value}" of "${key}" is not a label value: ${labelValueErrors(value)[0]}`;
  }
  return undefined;
}

function parseErrorOf(parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
