/** Selectors that a declaration names, and what is wrong with one: a server would refuse each list and watch, or the configuration of a webhook. */
import { parseFieldSelector } from "../base/field_selector.ts";
import { labelsFault, parseLabelSelector } from "../base/label_selector.ts";
import { labelFaults, labelValueFaults, qualifiedNameFaults } from "../base/name_rules.ts";
import type { WatchOptions } from "./watch.ts";

/** Which objects are meant, by their labels. */
export interface LabelSelector {
  /** Labels that must all be there with these values. */
  readonly matchLabels?: { readonly [label: string]: string };
  /** Labels whose value must be one of some, none of some, or that must be there or not; all of it must hold. */
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
    readonly values?: readonly string[];
  }[];
}

/**
 * What is wrong with the choice that a watch makes among the objects of its kind.
 *
 * @param options The watch's.
 * @returns In words that go on behind a colon; nothing where all is right.
 */
export function choiceFault({ labelSelector, fieldSelector, namespaces = [] }: WatchOptions): string | undefined {
  const ofLabels = labelSelector === undefined
    ? undefined
    : typeof labelSelector === "string"
    ? unread(() => parseLabelSelector(labelSelector))
    : labelsFault(labelSelector);
  if (ofLabels !== undefined) {
    return `"labelSelector" is ${
      JSON.stringify(labelSelector)
    }, and must be one of labels, such as "app=web" or { app: "web" }: ${ofLabels}`;
  }
  const ofFields = fieldSelector === undefined ? undefined : unread(() => parseFieldSelector(fieldSelector));
  if (ofFields !== undefined) {
    return `"fieldSelector" is ${
      JSON.stringify(fieldSelector)
    }, and must be one of fields, such as "metadata.name=web": ${ofFields}`;
  }
  const wrong = namespaces.find((name) => labelFaults(name).length > 0);
  return wrong === undefined
    ? undefined
    : `"namespaces" has "${wrong}", which is no name of a namespace: patterns are not taken`;
}

/**
 * What is wrong with a selector of a webhook (`k8s.io/apimachinery/pkg/apis/meta/v1/validation`).
 *
 * @param selector The selector.
 * @returns In words that go on behind a colon; nothing where all is right.
 */
export function selectorFault({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string | undefined {
  const ofLabels = labelsFault(matchLabels);
  if (ofLabels !== undefined) return ofLabels;
  for (const { key, operator, values = [] } of matchExpressions) {
    const hasValues = ["In", "NotIn"].includes(operator);
    if (!hasValues && !["Exists", "DoesNotExist"].includes(operator)) {
      return `"${operator}" is not one of In, NotIn, Exists, DoesNotExist`;
    }
    if (hasValues !== values.length > 0) return `"${operator}" of "${key}" ${hasValues ? "needs" : "takes no"} values`;
    const [fault] = qualifiedNameFaults(key);
    if (fault !== undefined) return `"${key}" is no label: ${fault}`;
    const value = values.find((value) => labelValueFaults(value).length > 0);
    if (value !== undefined) return `"${value}" of "${key}" is no value: ${labelValueFaults(value)[0]}`;
  }
  return undefined;
}

function unread(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
