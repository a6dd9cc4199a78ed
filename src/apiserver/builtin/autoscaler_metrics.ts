/**
 * Converts the metrics of autoscalers between `v2` and their `v1` form, which is in annotations
 * (`k8s.io/kubernetes/pkg/apis/autoscaling/v1`, conversion.go).
 */
import { isObject } from "../../base/json.ts";
import { type Fields, fields } from "./_parts.ts";

/**
 * Conversions of the source of a metric, or of its current value. Keys are in the order of Go's
 * types, since annotations are compared as strings.
 */
interface Form {
  toOld(source: Fields): Fields;
  toNew(source: Fields): Fields;
}

const RESOURCE: Form = {
  toOld({ name, target }) {
    const { averageUtilization, averageValue } = fields(target);
    return { name, targetAverageUtilization: averageUtilization, targetAverageValue: averageValue };
  },
  toNew({ name, targetAverageUtilization: averageUtilization, targetAverageValue: averageValue }) {
    const type = averageUtilization === undefined ? "AverageValue" : "Utilization";
    return { name, target: { type, averageValue, averageUtilization } };
  },
};

const SOURCES: Readonly<Record<string, Form>> = {
  object: {
    toOld({ metric, target, describedObject }) {
      const { value = "0", averageValue } = fields(target);
      const { name, selector } = fields(metric);
      return { target: reference(describedObject), metricName: name, targetValue: value, selector, averageValue };
    },
    toNew({ target, metricName, targetValue, selector, averageValue }) {
      const isAverage = averageValue !== undefined;
      const value = isAverage && targetValue === "0" ? undefined : targetValue;
      return {
        describedObject: target,
        target: { type: isAverage ? "AverageValue" : "Value", value, averageValue },
        metric: { name: metricName, selector },
      };
    },
  },
  pods: {
    toOld({ metric, target }) {
      const { name, selector } = fields(metric);
      return { metricName: name, targetAverageValue: fields(target).averageValue ?? "0", selector };
    },
    toNew: ({ metricName, targetAverageValue, selector }) => ({
      metric: { name: metricName, selector },
      target: { type: "AverageValue", averageValue: targetAverageValue },
    }),
  },
  resource: RESOURCE,
  containerResource: {
    toOld: (source) => ({ ...RESOURCE.toOld(source), container: source.container }),
    toNew: (source) => ({ ...RESOURCE.toNew(source), container: source.container }),
  },
  external: {
    toOld({ metric, target }) {
      const { name, selector } = fields(metric);
      const { value, averageValue } = fields(target);
      return { metricName: name, metricSelector: selector, targetValue: value, targetAverageValue: averageValue };
    },
    toNew: ({ metricName, metricSelector, targetValue: value, targetAverageValue: averageValue }) => ({
      metric: { name: metricName, selector: metricSelector },
      target: { type: value === undefined ? "AverageValue" : "Value", value, averageValue },
    }),
  },
};

const CURRENT_RESOURCE: Form = {
  toOld({ name, current }) {
    const { averageUtilization, averageValue = "0" } = fields(current);
    return { name, currentAverageUtilization: averageUtilization, currentAverageValue: averageValue };
  },
  toNew: ({ name, currentAverageUtilization: averageUtilization, currentAverageValue: averageValue }) => ({
    name,
    current: { averageValue, averageUtilization },
  }),
};

const CURRENT: Readonly<Record<string, Form>> = {
  object: {
    toOld({ metric, current, describedObject }) {
      const { value = "0", averageValue } = fields(current);
      const { name, selector } = fields(metric);
      return { target: reference(describedObject), metricName: name, currentValue: value, selector, averageValue };
    },
    toNew: ({ target, metricName, currentValue: value, selector, averageValue }) => ({
      metric: { name: metricName, selector },
      current: { value, averageValue },
      describedObject: target,
    }),
  },
  pods: {
    toOld({ metric, current }) {
      const { name, selector } = fields(metric);
      return { metricName: name, currentAverageValue: fields(current).averageValue ?? "0", selector };
    },
    toNew: ({ metricName, currentAverageValue: averageValue, selector }) => ({
      metric: { name: metricName, selector },
      current: { averageValue },
    }),
  },
  resource: CURRENT_RESOURCE,
  containerResource: {
    toOld: (source) => ({ ...CURRENT_RESOURCE.toOld(source), container: source.container }),
    toNew: (source) => ({ ...CURRENT_RESOURCE.toNew(source), container: source.container }),
  },
  external: {
    toOld({ metric, current }) {
      const { name, selector } = fields(metric);
      const { value = "0", averageValue } = fields(current);
      return { metricName: name, metricSelector: selector, currentValue: value, currentAverageValue: averageValue };
    },
    toNew: ({ metricName, metricSelector, currentValue: value, currentAverageValue: averageValue }) => ({
      metric: { name: metricName, selector: metricSelector },
      current: { value, averageValue },
    }),
  },
};

/** Converts metrics of the spec to the form of `v1`. */
export const metricsToOld = (metrics: readonly Fields[]): Fields[] =>
  metrics.map((each) => formed(each, SOURCES, "toOld"));

/** Converts metrics of the spec to the form of `v2`. */
export const metricsToNew = (metrics: readonly Fields[]): Fields[] =>
  metrics.map((each) => formed(each, SOURCES, "toNew"));

/** Converts current metrics to the form of `v1`. */
export const currentToOld = (metrics: readonly Fields[]): Fields[] =>
  metrics.map((each) => formed(each, CURRENT, "toOld"));

/** Converts current metrics to the form of `v2`. */
export const currentToNew = (metrics: readonly Fields[]): Fields[] =>
  metrics.map((each) => formed(each, CURRENT, "toNew"));

function formed(metric: Fields, forms: Readonly<Record<string, Form>>, way: keyof Form): Fields {
  const sources = Object.entries(forms).filter(([key]) => metric[key] !== undefined);
  const changed = sources.map(([key, form]) => [key, form[way](fields(metric[key]))]);
  return known({ type: metric.type, ...Object.fromEntries(changed) }) as Fields;
}

function reference(value: unknown): Fields {
  const { kind, name, apiVersion } = fields(value);
  return { kind, name, apiVersion };
}

/** Returns a value without undefined fields. */
export function known(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(known);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries.map(([key, field]) => [key, known(field)]));
}
