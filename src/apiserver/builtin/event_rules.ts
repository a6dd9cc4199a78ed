/** Events, which are stored in one form and served as `v1` and `events.k8s.io/v1`. */
import { own } from "../../base/own.ts";
import type { Rules } from "../objects/kinds.ts";
import type { Draft, StoredObject } from "../objects/objects.ts";
import { eventErrors } from "./event_errors.ts";

/** Names of fields in `v1` and in `events.k8s.io/v1`. */
const NAMES: readonly (readonly [core: string, events: string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["reportingComponent", "reportingController"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
];

/** Fields that each event in `v1` has, even if they are null or empty. */
const ALWAYS_PRESENT: Draft = {
  source: {},
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
  reportingComponent: "",
  reportingInstance: "",
};

/**
 * Returns the rules of events.
 *
 * @param base The rules of built-in kinds.
 * @param isEventsV1 Whether events are served as `events.k8s.io/v1`, and not as `v1`.
 */
export function eventRules(base: Rules, isEventsV1: boolean): Rules {
  /** Results of `read` by stored object. */
  const readResults = new WeakMap<StoredObject, StoredObject>();
  const toCore = (object: StoredObject): StoredObject => isEventsV1 ? renameFields(object, 1, "v1") : object;
  return {
    ...base,
    prepareCreate: (object, now) => toCore(base.prepareCreate(object, now)),
    prepareUpdate: (object, old, subresource) => toCore(base.prepareUpdate(object, old, subresource)),
    validate(object, old, subresource) {
      const before = old === undefined ? undefined : toCore(old);
      return [...base.validate(object, old, subresource), ...eventErrors(toCore(object), isEventsV1, before)];
    },
    read(stored) {
      const known = readResults.get(stored);
      if (known !== undefined) return known;
      const apiVersion = isEventsV1 ? "events.k8s.io/v1" : "v1";
      const isCore = stored.apiVersion === "v1";
      const core = isCore ? stored : renameFields(stored, 1, "v1");
      const whole = { ...ALWAYS_PRESENT, ...core } as StoredObject;
      const converted = isEventsV1 ? withoutEmptyReporting(renameFields(whole, 0, apiVersion)) : whole;
      readResults.set(stored, converted);
      return converted;
    },
  };
}

/** Renames the fields of an event to the other form. `from` is the index of their current names. */
function renameFields(object: StoredObject, from: 0 | 1, apiVersion: string): StoredObject {
  const result: Record<string, unknown> = { ...object, apiVersion };
  for (const names of NAMES) {
    const [before, after] = from === 0 ? names : [names[1], names[0]];
    const value = own(result, before);
    delete result[before];
    if (value !== undefined) result[after] = value;
  }
  return result as unknown as StoredObject;
}

/** Drops empty reporting fields, which `events.k8s.io/v1` omits. */
function withoutEmptyReporting(event: StoredObject): StoredObject {
  const kept = Object.entries(event).filter(([key, value]) => !key.startsWith("reporting") || value !== "");
  return Object.fromEntries(kept) as unknown as StoredObject;
}
