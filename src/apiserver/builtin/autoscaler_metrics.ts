/**
 * Converts the metrics of autoscalers between `v2` and their `v1` form, which is in annotations
 * (`k8s.io/kubernetes/pkg/apis/autoscaling/v1`, conversion.go).
 */
import { isObject } from "../../base/json.ts";
import { type Fields, fields } from "./_parts.ts";

/**
 * Converts the source of a metric, or its current value. The results have their keys in the order
 * of Go's types, since annotations are compared as strings.
 */
interface Conversion {
  toV1(source: Fields): Fields;
  toV2(source: Fields): Fields;
}

const RESOURCE: Conversion = {
  toV1({ name, target }) {
    const { averageUtilization, averageValue } = fields(target);
    return { name, targetAverageUtilization: averageUtilization, targetAverageValue: averageValue };
  },
  toV2({ name, targetAverageUtilization: averageUtilization, targetAverageValue: averageValue }) {
    const type = averageUtilization === undefined ? "AverageValue" : "Utilization";
    return { name, target: { type, averageValue, averageUtilization } };
  },
};

const SOURCES: Readonly<Record<string, Conversion>> = {
  object: {
    toV1({ metric, target, describedObject }) {
      const { value = "0", averageValue } = fields(target);
      const { name, selector } = fields(metric);
      return { target: reference(describedObject), metricName: name, targetValue: value, selector, averageValue };
    },
    toV2({ target, metricName, targetValue, selector, averageValue }) {
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
    toV1({ metric, target }) {
      const { name, selector } = fields(metric);
      return { metricName: name, targetAverageValue: fields(target).averageValue ?? "0", selector };
    },
    toV2: ({ metricName, targetAverageValue, selector }) => ({
      metric: { name: metricName, selector },
      target: { type: "AverageValue", averageValue: targetAverageValue },
    }),
  },
  resource: RESOURCE,
  containerResource: {
    toV1: (source) => ({ ...RESOURCE.toV1(source), container: source.container }),
    toV2: (source) => ({ ...RESOURCE.toV2(source), container: source.container }),
  },
  external: {
    toV1({ metric, target }) {
      const { name, selector } = fields(metric);
      const { value, averageValue } = fields(target);
      return { metricName: name, metricSelector: selector, targetValue: value, targetAverageValue: averageValue };
    },
    toV2: ({ metricName, metricSelector, targetValue: value, targetAverageValue: averageValue }) => ({
      metric: { name: metricName, selector: metricSelector },
      target: { type: value === undefined ? "AverageValue" : "Value", value, averageValue },
    }),
  },
};

const CURRENT_RESOURCE: Conversion = {
  toV1({ name, current }) {
    const { averageUtilization, averageValue = "0" } = fields(current);
    return { name, currentAverageUtilization: averageUtilization, currentAverageValue: averageValue };
  },
  toV2: ({ name, currentAverageUtilization: averageUtilization, currentAverageValue: averageValue }) => ({
    name,
    current: { averageValue, averageUtilization },
  }),
};

const CURRENT_VALUES: Readonly<Record<string, Conversion>> = {
  object: {
    toV1({ metric, current, describedObject }) {
      const { value = "0", averageValue } = fields(current);
      const { name, selector } = fields(metric);
      return { target: reference(describedObject), metricName: name, currentValue: value, selector, averageValue };
    },
    toV2: ({ target, metricName, currentValue: value, selector, averageValue }) => ({
      metric: { name: metricName, selector },
      current: { value, averageValue },
      describedObject: target,
    }),
  },
  pods: {
    toV1({ metric, current }) {
      const { name, selector } = fields(metric);
      return { metricName: name, currentAverageValue: fields(current).averageValue ?? "0", selector };
    },
    toV2: ({ metricName, currentAverageValue: averageValue, selector }) => ({
      metric: { name: metricName, selector },
      current: { averageValue },
    }),
  },
  resource: CURRENT_RESOURCE,
  containerResource: {
    toV1: (source) => ({ ...CURRENT_RESOURCE.toV1(source), container: source.container }),
    toV2: (source) => ({ ...CURRENT_RESOURCE.toV2(source), container: source.container }),
  },
  external: {
    toV1({ metric, current }) {
      const { name, selector } = fields(metric);
      const { value = "0", averageValue } = fields(current);
      return { metricName: name, metricSelector: selector, currentValue: value, currentAverageValue: averageValue };
    },
    toV2: ({ metricName, metricSelector, currentValue: value, currentAverageValue: averageValue }) => ({
      metric: { name: metricName, selector: metricSelector },
      current: { value, averageValue },
    }),
  },
};

/** Converts metrics of the spec to the form of `v1`. */
export const metricsToV1 = (metrics: readonly Fields[]): Fields[] =>
  metrics.map((each) => convertMetric(each, SOURCES, "toV1"));

/** Converts metrics of the spec to the form of `v2`. */
export const metricsToV2 = (metrics: readonly Fields[]): Fields[] =>
  metrics.map((each) => convertMetric(each, SOURCES, "toV2"));

/** Converts current metrics to the form of `v1`. */
export const currentToV1 = (metrics: readonly Fields[]): Fields[] =>
  metrics.map((each) => convertMetric(each, CURRENT_VALUES, "toV1"));

/** Converts current metrics to the form of `v2`. */
export const currentToV2 = (metrics: readonly Fields[]): Fields[] =>
  metrics.map((each) => convertMetric(each, CURRENT_VALUES, "toV2"));

function convertMetric(
  metric: Fields,
  conversions: Readonly<Record<string, Conversion>>,
  direction: keyof Conversion,
): Fields {
  const sources = Object.entries(conversions).filter(([key]) => metric[key] !== undefined);
  const converted = sources.map(([key, conversion]) => [key, conversion[direction](fields(metric[key]))]);
  return withoutUndefined({ type: metric.type, ...Object.fromEntries(converted) }) as Fields;
}

function reference(value: unknown): Fields {
  const { kind, name, apiVersion } = fields(value);
  return { kind, name, apiVersion };
}

/** Returns a value without the fields that are `undefined`, at any depth. */
export function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries.map(([key, field]) => [key, withoutUndefined(field)]));
}
