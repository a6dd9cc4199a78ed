/**
 * Validation of events (`k8s.io/kubernetes/pkg/apis/core/validation/events.go`). Events sent as
 * `events.k8s.io/v1` are validated more strictly.
 */
import { equal, isObject } from "../../base/json.ts";
import { qualifiedNameErrors } from "../../base/name_rules.ts";
import { type FieldError, invalid, required } from "../../schema/field_error.ts";
import type { StoredObject } from "../objects/objects.ts";
import { type Fields, fields } from "./_parts.ts";

/** Maximum lengths in bytes. */
const MAX_LENGTHS = { reportingInstance: 128, action: 128, reason: 128, message: 1024 } as const;

/**
 * Fields that cannot change in `events.k8s.io/v1`. As in the real server, `reason` is checked
 * twice.
 */
const IMMUTABLE = [
  "involvedObject",
  "reason",
  "message",
  "source",
  "firstTimestamp",
  "lastTimestamp",
  "count",
  "reason",
  "type",
  "eventTime",
  "action",
  "related",
  "reportingComponent",
  "reportingInstance",
] as const;

/**
 * Returns the errors of an event.
 *
 * @param event The event in the form of `v1`.
 * @param isEventsV1 Whether the client sent it as `events.k8s.io/v1`.
 * @param old The previous event; absent if it is new.
 */
export function eventErrors(event: StoredObject, isEventsV1: boolean, old?: StoredObject): FieldError[] {
  const errors = event.eventTime ? timedErrors(event, isEventsV1) : namespaceErrors(event);
  if (!isEventsV1) return errors;
  if (old === undefined) return [...errors, ...createErrors(event)];
  if (!equal(event.series ?? null, old.series ?? null)) errors.push(...seriesErrors(event));
  for (const key of IMMUTABLE) {
    if (equal(event[key] ?? null, old[key] ?? null)) continue;
    const field = key === "reportingComponent" ? "reportingController" : key;
    errors.push(invalid(field, event[key] ?? null, "field is immutable"));
  }
  return errors;
}

function stringOf(event: Fields, key: string): string {
  const value = event[key];
  return typeof value === "string" ? value : "";
}

function namespaceErrors({ metadata, involvedObject }: StoredObject): FieldError[] {
  const namespace = stringOf(fields(involvedObject), "namespace");
  const isSame = namespace === ""
    ? metadata.namespace === undefined || metadata.namespace === "default"
    : metadata.namespace === namespace;
  return isSame ? [] : [invalid("involvedObject.namespace", namespace, "does not match event.namespace")];
}

/**
 * Checks an event with an `eventTime`, which requires the controller, the action and the reason.
 */
function timedErrors(event: StoredObject, isEventsV1: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const { namespace } = event.metadata;
  if (
    stringOf(fields(event.involvedObject), "namespace") === "" && namespace !== "default" && namespace !== "kube-system"
  ) {
    errors.push(invalid("involvedObject.namespace", "", "does not match event.namespace"));
  }
  const controller = stringOf(event, "reportingComponent");
  const field = isEventsV1 ? "reportingController" : "reportingComponent";
  if (controller === "") errors.push(required(field));
  errors.push(...qualifiedNameErrors(controller).map((detail) => invalid(field, controller, detail)));
  for (const [key, max] of Object.entries(MAX_LENGTHS)) {
    const value = stringOf(event, key);
    if (value === "" && key !== "message") errors.push(required(key));
    if (new TextEncoder().encode(value).length > max) {
      errors.push(invalid(key, "", `can have at most ${max} characters`));
    }
  }
  return errors;
}

function createErrors(event: StoredObject): FieldError[] {
  const errors = seriesErrors(event);
  if (!event.eventTime) errors.push(required("eventTime"));
  const type = stringOf(event, "type");
  if (type !== "Normal" && type !== "Warning") errors.push(invalid("type", "", `has invalid value: ${type}`));
  const source = fields(event.source);
  const unset = {
    firstTimestamp: event.firstTimestamp,
    lastTimestamp: event.lastTimestamp,
    count: event.count,
    source: source.component || source.host,
  };
  for (const [key, value] of Object.entries(unset)) if (value) errors.push(invalid(key, "", "needs to be unset"));
  return errors;
}

function seriesErrors({ series }: StoredObject): FieldError[] {
  if (!isObject(series)) return [];
  const errors: FieldError[] = [];
  if (!(Number(series.count ?? 0) >= 2)) errors.push(invalid("series.count", "", "should be at least 2"));
  if (!series.lastObservedTime) errors.push(required("series.lastObservedTime"));
  return errors;
}
