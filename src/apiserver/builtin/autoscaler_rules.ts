/** Autoscalers, which are kept as `autoscaling/v2` and served as `v1` too: what that lacks is in annotations (`k8s.io/kubernetes/pkg/apis/autoscaling`). */
import type { Rules } from "../objects/kinds.ts";
import { type Draft, metadataOf, type StoredObject, withMetadata } from "../objects/objects.ts";
import { autoscalerFaults } from "./autoscaler_faults.ts";
import {
  currentToNew,
  currentToOld,
  type Fields,
  fields,
  items,
  known,
  metricsToNew,
  metricsToOld,
} from "./autoscaler_metrics.ts";

const [OLD, NEW] = ["autoscaling/v1", "autoscaling/v2"];

const PREFIX = "autoscaling.alpha.kubernetes.io/";
const METRICS = `${PREFIX}metrics`;
const CURRENT_METRICS = `${PREFIX}current-metrics`;
const CONDITIONS = `${PREFIX}conditions`;
const BEHAVIOR = `${PREFIX}behavior`;
/** Annotations that stand for fields. What somebody else wrote into them is lost. */
const TAKEN = [
  METRICS,
  CURRENT_METRICS,
  CONDITIONS,
  BEHAVIOR,
  `${PREFIX}scale-down-tolerance`,
  `${PREFIX}scale-up-tolerance`,
];

/** What is aimed at where nothing is said. */
const HALF_BUSY = cpuMetric(80);

/**
 * The rules of autoscalers.
 *
 * @param base The rules of built-in kinds at large.
 * @param isOld Whether they are served as `v1`.
 */
export function autoscalerRules(base: Rules, isOld: boolean): Rules {
  const shown = new WeakMap<StoredObject, StoredObject>();
  /** What was kept, by what is shown of it: the old version loses the order of metrics. */
  const origins = new WeakMap<StoredObject, StoredObject>();
  const served = (object: StoredObject) => isOld ? toOld(object) : object;
  return {
    ...base,
    decode(object) {
      const { object: decoded, unknown } = base.decode(object);
      return { object: served(toNew(decoded as unknown as StoredObject)) as unknown as Draft, unknown };
    },
    prepareCreate: (object, now) => toNew(base.prepareCreate(toNew(object), now)),
    prepareUpdate: (object, old, subresource) =>
      toNew(base.prepareUpdate(toNew(object), origins.get(old) ?? toNew(old), subresource)),
    validate: (object, old, subresource) => [
      ...base.validate(object, old, subresource),
      ...autoscalerFaults(object, old, subresource),
    ],
    stored: toNew,
    read(stored) {
      if (!isOld) return stored;
      const made = shown.get(stored) ?? toOld(stored);
      shown.set(stored, made);
      origins.set(made, stored);
      return made;
    },
  };
}

/** An autoscaler as it is kept. */
function toNew(object: StoredObject): StoredObject {
  const { annotations = {} } = metadataOf(object);
  const isOld = object.apiVersion === OLD;
  const whole = isOld ? { ...object, ...newParts(object, annotations) } : object;
  const { currentReplicas, currentMetrics = null, ...status } = fields(whole.status);
  const kept = {
    ...whole,
    apiVersion: NEW,
    ...whole.status !== undefined && {
      status: { ...status, ...(currentReplicas ? { currentReplicas } : {}), currentMetrics },
    },
  };
  return withAnnotations(kept as StoredObject, withoutTaken(annotations));
}

function newParts({ spec, status }: StoredObject, annotations: Readonly<Record<string, string>>): Fields {
  const { targetCPUUtilizationPercentage: cpu, ...rest } = fields(spec);
  const metrics = [
    ...metricsToNew(items(parsed(annotations[METRICS]))),
    ...typeof cpu === "number" ? [cpuMetric(cpu)] : [],
  ];
  const behavior = behaviorToNew(parsed(annotations[BEHAVIOR]));
  const { currentCPUUtilizationPercentage: current, ...state } = fields(status);
  const currentMetrics = annotations[CURRENT_METRICS] !== undefined
    ? currentToNew(items(parsed(annotations[CURRENT_METRICS])))
    : typeof current === "number"
    ? [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: current } } }]
    : undefined;
  const conditions = annotations[CONDITIONS] === undefined ? undefined : items(parsed(annotations[CONDITIONS]));
  return known({
    spec: { ...rest, metrics: metrics.length > 0 ? metrics : [HALF_BUSY], behavior },
    status: status === undefined ? undefined : { ...state, currentMetrics, conditions },
  }) as Fields;
}

/** An autoscaler as `v1` has it. */
function toOld(object: StoredObject): StoredObject {
  if (object.apiVersion === OLD) return object;
  const { metrics, behavior, ...spec } = fields(object.spec);
  const { currentMetrics, conditions, currentReplicas = 0, desiredReplicas = 0, ...status } = fields(object.status);
  const [aims, currents] = [items(metrics), items(currentMetrics)];
  const left: Readonly<Record<string, string | undefined>> = {
    [METRICS]: textOf(metricsToOld(aims.filter((each) => cpuShare(each, "target") === undefined))),
    [CURRENT_METRICS]: textOf(currentToOld(currents)),
    [BEHAVIOR]: behavior === undefined ? undefined : text(behaviorToOld(fields(behavior))),
    [CONDITIONS]: textOf(items(conditions).map(inOrder)),
  };
  const old = {
    ...object,
    apiVersion: OLD,
    spec: { ...spec, targetCPUUtilizationPercentage: firstShare(aims, "target") },
    ...object.status !== undefined && {
      status: {
        ...status,
        currentReplicas,
        desiredReplicas,
        currentCPUUtilizationPercentage: firstShare([...currents].reverse(), "current"),
      },
    },
  };
  const kept = known({ spec: old.spec, status: old.status }) as Fields;
  const { annotations = {} } = metadataOf(object);
  return withAnnotations(
    { ...old, ...kept } as StoredObject,
    known({ ...annotations, ...left }) as Record<string, string>,
  );
}

function cpuMetric(averageUtilization: number): Fields {
  return { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } };
}

/** The share of its processor that a metric is about: the old version has a field for it. */
function cpuShare({ type, resource }: Fields, key: "target" | "current"): unknown {
  const { name, [key]: value } = fields(resource);
  return type === "Resource" && name === "cpu" ? fields(value).averageUtilization : undefined;
}

function firstShare(metrics: readonly Fields[], key: "target" | "current"): unknown {
  return metrics.map((each) => cpuShare(each, key)).find((share) => share !== undefined);
}

function inOrder({ type, status, lastTransitionTime, reason, message }: Fields): Fields {
  return { type, status, lastTransitionTime, reason, message };
}

/** Behaviour is written with the names that the server's own types have. */
function behaviorToOld({ scaleUp, scaleDown }: Fields): Fields {
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

function behaviorToNew(behavior: unknown): Fields | undefined {
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

function withoutTaken(annotations: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !TAKEN.includes(key)));
}

function withAnnotations(object: StoredObject, annotations: Record<string, string>): StoredObject {
  return withMetadata(object, { annotations: Object.keys(annotations).length > 0 ? annotations : undefined });
}

/** A list as an annotation has it; none where there is nothing in it. */
function textOf(list: readonly Fields[]): string | undefined {
  return list.length === 0 ? undefined : text(list);
}

/** JSON as Go writes it, but for the order of keys, which is kept. */
function text(value: unknown): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(known(value)).replace(/[<>&\u2028\u2029]/g, escaped);
}

function parsed(json: string | undefined): unknown {
  try {
    return JSON.parse(json ?? "null");
  } catch {
    return null;
  }
}
