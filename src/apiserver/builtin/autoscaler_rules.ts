/**
 * Autoscalers, which are stored as `autoscaling/v2` and also served as `v1`, with annotations for
 * the fields that `v1` lacks (`k8s.io/kubernetes/pkg/apis/autoscaling`).
 */
import type { Rules } from "../objects/kinds.ts";
import { type Draft, metadataOf, type StoredObject, withMetadata } from "../objects/objects.ts";
import { type Fields, fields, items } from "./_parts.ts";
import { autoscalerErrors } from "./autoscaler_errors.ts";
import { currentToV1, currentToV2, metricsToV1, metricsToV2, withoutUndefined } from "./autoscaler_metrics.ts";

const [V1, V2] = ["autoscaling/v1", "autoscaling/v2"];

const PREFIX = "autoscaling.alpha.kubernetes.io/";
const METRICS = `${PREFIX}metrics`;
const CURRENT_METRICS = `${PREFIX}current-metrics`;
const CONDITIONS = `${PREFIX}conditions`;
const BEHAVIOR = `${PREFIX}behavior`;

/**
 * Annotations that represent fields of `v2`. The server drops values that users write into them.
 */
const RESERVED = [
  METRICS,
  CURRENT_METRICS,
  CONDITIONS,
  BEHAVIOR,
  `${PREFIX}scale-down-tolerance`,
  `${PREFIX}scale-up-tolerance`,
];

/** The default metric. */
const DEFAULT_METRIC = cpuMetric(80);

/**
 * Returns the rules of autoscalers.
 *
 * @param base The rules of built-in kinds.
 * @param isV1 Whether autoscalers are served as `v1`, and not as `v2`.
 */
export function autoscalerRules(base: Rules, isV1: boolean): Rules {
  /** Results of `read` by stored object. */
  const readResults = new WeakMap<StoredObject, StoredObject>();
  /** Stored objects by the result of `read`, since `v1` loses the order of metrics. */
  const origins = new WeakMap<StoredObject, StoredObject>();
  const served = (object: StoredObject) => isV1 ? toV1(object) : object;
  return {
    ...base,
    decode(object) {
      const { object: decoded, unknown } = base.decode(object);
      return { object: served(toV2(decoded as unknown as StoredObject)) as unknown as Draft, unknown };
    },
    prepareCreate: (object, now) => toV2(base.prepareCreate(toV2(object), now)),
    prepareUpdate: (object, old, subresource) =>
      toV2(base.prepareUpdate(toV2(object), origins.get(old) ?? toV2(old), subresource)),
    validate: (object, old, subresource) => [
      ...base.validate(object, old, subresource),
      ...autoscalerErrors(object, old, subresource),
    ],
    stored: toV2,
    read(stored) {
      if (!isV1) return stored;
      const converted = readResults.get(stored) ?? toV1(stored);
      readResults.set(stored, converted);
      origins.set(converted, stored);
      return converted;
    },
  };
}

/** Converts an autoscaler to `v2`. */
function toV2(object: StoredObject): StoredObject {
  const { annotations = {} } = metadataOf(object);
  const isV1 = object.apiVersion === V1;
  const whole = isV1 ? { ...object, ...v2Fields(object, annotations) } : object;
  const { currentReplicas, currentMetrics = null, ...status } = fields(whole.status);
  const next = {
    ...whole,
    apiVersion: V2,
    ...whole.status !== undefined && {
      status: { ...status, ...(currentReplicas ? { currentReplicas } : {}), currentMetrics },
    },
  };
  return withAnnotations(next as StoredObject, withoutReserved(annotations));
}

function v2Fields({ spec, status }: StoredObject, annotations: Readonly<Record<string, string>>): Fields {
  const { targetCPUUtilizationPercentage: cpu, ...rest } = fields(spec);
  const metrics = [
    ...metricsToV2(items(parseAnnotation(annotations[METRICS]))),
    ...typeof cpu === "number" ? [cpuMetric(cpu)] : [],
  ];
  const behavior = behaviorToV2(parseAnnotation(annotations[BEHAVIOR]));
  const { currentCPUUtilizationPercentage: current, ...state } = fields(status);
  const currentMetrics = annotations[CURRENT_METRICS] !== undefined
    ? currentToV2(items(parseAnnotation(annotations[CURRENT_METRICS])))
    : typeof current === "number"
    ? [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: current } } }]
    : undefined;
  const conditions = annotations[CONDITIONS] === undefined
    ? undefined
    : items(parseAnnotation(annotations[CONDITIONS]));
  return withoutUndefined({
    spec: { ...rest, metrics: metrics.length > 0 ? metrics : [DEFAULT_METRIC], behavior },
    status: status === undefined ? undefined : { ...state, currentMetrics, conditions },
  }) as Fields;
}

/** Converts an autoscaler to `v1`. */
function toV1(object: StoredObject): StoredObject {
  if (object.apiVersion === V1) return object;
  const { metrics, behavior, ...spec } = fields(object.spec);
  const { currentMetrics, conditions, currentReplicas = 0, desiredReplicas = 0, ...status } = fields(object.status);
  const [targets, currents] = [items(metrics), items(currentMetrics)];
  const added: Readonly<Record<string, string | undefined>> = {
    [METRICS]: listJson(metricsToV1(targets.filter((each) => cpuUtilization(each, "target") === undefined))),
    [CURRENT_METRICS]: listJson(currentToV1(currents)),
    [BEHAVIOR]: behavior === undefined ? undefined : goJson(behaviorToV1(fields(behavior))),
    [CONDITIONS]: listJson(items(conditions).map(orderedCondition)),
  };
  const old = {
    ...object,
    apiVersion: V1,
    spec: { ...spec, targetCPUUtilizationPercentage: firstUtilization(targets, "target") },
    ...object.status !== undefined && {
      status: {
        ...status,
        currentReplicas,
        desiredReplicas,
        currentCPUUtilizationPercentage: firstUtilization([...currents].reverse(), "current"),
      },
    },
  };
  const definedFields = withoutUndefined({ spec: old.spec, status: old.status }) as Fields;
  const { annotations = {} } = metadataOf(object);
  return withAnnotations(
    { ...old, ...definedFields } as StoredObject,
    withoutUndefined({ ...annotations, ...added }) as Record<string, string>,
  );
}

function cpuMetric(averageUtilization: number): Fields {
  return { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } };
}

/** Returns the CPU utilization of a metric, for which `v1` has a field. */
function cpuUtilization({ type, resource }: Fields, key: "target" | "current"): unknown {
  const { name, [key]: value } = fields(resource);
  return type === "Resource" && name === "cpu" ? fields(value).averageUtilization : undefined;
}

function firstUtilization(metrics: readonly Fields[], key: "target" | "current"): unknown {
  return metrics.map((each) => cpuUtilization(each, key)).find((utilization) => utilization !== undefined);
}

function orderedCondition({ type, status, lastTransitionTime, reason, message }: Fields): Fields {
  return { type, status, lastTransitionTime, reason, message };
}

/**
 * Converts the behavior to the form of the annotation, which has the field names of Go's internal
 * types.
 */
function behaviorToV1({ scaleUp, scaleDown }: Fields): Fields {
  const rules = (value: unknown) => {
    if (value === undefined) return null;
    const { stabilizationWindowSeconds = null, selectPolicy = null, policies, tolerance = null } = fields(value);
    return {
      StabilizationWindowSeconds: stabilizationWindowSeconds,
      SelectPolicy: selectPolicy,
      Policies: policies === undefined ? null : items(policies).map(({ type, value, periodSeconds }) => ({
        Type: type,
        Value: value,
        PeriodSeconds: periodSeconds,
      })),
      Tolerance: tolerance,
    };
  };
  return { ScaleUp: rules(scaleUp), ScaleDown: rules(scaleDown) };
}

function behaviorToV2(behavior: unknown): Fields | undefined {
  const { ScaleUp, ScaleDown } = fields(behavior);
  const rules = (value: unknown) => {
    if (value === undefined || value === null) return undefined;
    const { StabilizationWindowSeconds, SelectPolicy, Policies, Tolerance } = fields(value);
    return {
      stabilizationWindowSeconds: StabilizationWindowSeconds ?? undefined,
      selectPolicy: SelectPolicy ?? undefined,
      policies: Array.isArray(Policies)
        ? items(Policies).map(({ Type, Value, PeriodSeconds }) => ({
          type: Type,
          value: Value,
          periodSeconds: PeriodSeconds,
        }))
        : undefined,
      tolerance: Tolerance ?? undefined,
    };
  };
  const [scaleUp, scaleDown] = [rules(ScaleUp), rules(ScaleDown)];
  return scaleUp === undefined && scaleDown === undefined ? undefined : { scaleUp, scaleDown };
}

function withoutReserved(annotations: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !RESERVED.includes(key)));
}

function withAnnotations(object: StoredObject, annotations: Record<string, string>): StoredObject {
  return withMetadata(object, { annotations: Object.keys(annotations).length > 0 ? annotations : undefined });
}

/** Formats a list for an annotation; `undefined` if it is empty. */
function listJson(list: readonly Fields[]): string | undefined {
  return list.length === 0 ? undefined : goJson(list);
}

/** Formats JSON as Go does, but keeps the order of keys. */
function goJson(value: unknown): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(withoutUndefined(value)).replace(/[<>&\u2028\u2029]/g, escaped);
}

function parseAnnotation(json: string | undefined): unknown {
  try {
    return JSON.parse(json ?? "null");
  } catch {
    return null;
  }
}
