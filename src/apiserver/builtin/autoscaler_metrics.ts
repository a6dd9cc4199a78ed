/** Metrics of autoscalers in their old form, which is left in annotations, and in the new (`k8s.io/kubernetes/pkg/apis/autoscaling/v1`, conversion.go). */
import { isObject } from "../../base/json.ts";

/** A JSON object of which only some fields are known. */
export type Fields = Readonly<Record<string, unknown>>;

/** How the source of a metric, or what is known of it, changes its form. Keys stand in the order of the server's own types, as annotations are compared as text. */
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

/** Metrics that are aimed at, in the old form. */
export const metricsToOld = (metrics: readonly Fields[]): Fields[] =>
  metrics.map((each) => formed(each, SOURCES, "toOld"));
/** Metrics that are aimed at, in the new form. */
export const metricsToNew = (metrics: readonly Fields[]): Fields[] =>
  metrics.map((each) => formed(each, SOURCES, "toNew"));
/** Metrics as they are, in the old form. */
export const currentToOld = (metrics: readonly Fields[]): Fields[] =>
  metrics.map((each) => formed(each, CURRENT, "toOld"));
/** Metrics as they are, in the new form. */
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

/** A value without fields that are undefined. */
export function known(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(known);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries.map(([key, field]) => [key, known(field)]));
}

/** A value as an object; what is none has no fields. */
export function fields(value: unknown): Fields {
  return isObject(value) ? value : {};
}

/** A value as a list of objects. */
export function items(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fields) : [];
}
