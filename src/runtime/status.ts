/**
 * The status that a reconcile reports. It is collected during the reconcile and written at its end.
 */
import { isoTime } from "../base/iso_time.ts";
import { equal, isObject } from "../base/json.ts";
import { mergePatch } from "../base/merge_patch.ts";
import type { Condition, KubeObject } from "../resource/kind.ts";

/** A condition as a reconciler reports it: without transition time and generation. */
export type ConditionPart = Pick<Condition, "type" | "status" | "reason"> & { readonly message?: string };

// API servers accept 32,768 characters, but they would be stored with each object.
const MAX_MESSAGE_LENGTH = 1024;

/** The status that a reconcile reports. */
export class StatusDraft {
  readonly #parts: Record<string, unknown> = {};
  readonly #conditions = new Map<string, ConditionPart>();

  /** Whether nothing was added. */
  get isEmpty(): boolean {
    return this.#conditions.size === 0 && Object.keys(this.#parts).length === 0;
  }

  /** Adds properties. If a name is added twice, the last value is used. */
  add(part: Record<string, unknown>): void {
    for (const [name, value] of Object.entries(part)) this.#parts[name] = value;
  }

  /** Adds a condition. */
  addCondition(condition: ConditionPart): void {
    this.#conditions.set(condition.type, condition);
  }

  /** Adds a condition, unless the reconciler reported one of that type. */
  offerCondition(condition: ConditionPart): void {
    if (!this.#conditions.has(condition.type)) this.addCondition(condition);
  }

  /** Adds the properties and conditions of another draft. They override earlier ones. */
  include(other: StatusDraft): void {
    this.add(other.#parts);
    for (const condition of other.#conditions.values()) this.addCondition(condition);
  }

  /**
   * Returns the merge patch of the status, or `undefined` if nothing changes.
   *
   * @param object The current object.
   * @param generation The generation that was reconciled.
   * @param removedTypes Condition types that no longer apply.
   * @param now The time, in milliseconds since the epoch.
   */
  patch(object: KubeObject, generation: number | undefined, removedTypes: readonly string[], now: number): unknown {
    const before = statusOf(object);
    const after = {
      ...before,
      ...this.#parts,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      conditions: this.#merge(conditionsIn(before), generation, removedTypes, now),
    };
    // Converted to JSON, so that values compare as the API server stores them.
    return mergePatch(before, JSON.parse(toJson(after)));
  }

  /**
   * Returns the merge patch for the status of a kind that the operator does not define, or
   * `undefined` if nothing changes. It has only fields that the reconciler reported.
   *
   * @param object The current object.
   * @param generation The generation that was reconciled.
   * @param now The time, in milliseconds since the epoch.
   * @param stored Returns a condition without the properties that the API server would not store.
   */
  reportedPatch(
    object: KubeObject,
    generation: number | undefined,
    now: number,
    stored: (condition: Condition) => Condition,
  ): unknown {
    const before = statusOf(object);
    const after: Record<string, unknown> = { ...before, ...this.#parts };
    if (this.#conditions.size > 0) {
      after.conditions = this.#merge(conditionsIn(after), generation, [], now, stored);
    }
    return mergePatch(before, JSON.parse(toJson(after)));
  }

  /**
   * Returns whether the patch repeats conditions of other writers. The patch must then fail if they
   * have changed meanwhile.
   */
  keepsOthers(object: KubeObject): boolean {
    return conditionsIn(statusOf(object)).some(({ type }) => !this.#conditions.has(type));
  }

  #merge(
    existing: readonly Condition[],
    generation: number | undefined,
    removedTypes: readonly string[],
    now: number,
    stored: (condition: Condition) => Condition = (condition) => condition,
  ): Condition[] {
    const reported = new Map(this.#conditions);
    const remaining = existing.filter(({ type }) => !removedTypes.includes(type) || reported.has(type)).map(
      (before) => {
        const part = reported.get(before.type);
        reported.delete(before.type);
        if (part === undefined) return before;
        const condition = { ...extraFields(before), ...stored(conditionOf(part, generation, before, now)) };
        return equal(before, condition) ? before : condition;
      },
    );
    return [
      ...remaining,
      ...[...reported.values()].map((part) => stored(conditionOf(part, generation, undefined, now))),
    ];
  }
}

/**
 * Converts a status to JSON. Rejects values that JSON cannot represent. The check of each value is
 * slow, so it only runs if the JSON may contain such a value.
 */
function toJson(status: Record<string, unknown>): string {
  try {
    const text = JSON.stringify(status);
    if (!text.includes("null")) return text;
  } catch {
    // The check below reports it with its name.
  }
  try {
    return JSON.stringify(status, (name, value) => {
      // In JSON it would be null, and the patch would remove the property.
      if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError(`"${name}" is ${value}`);
      if (typeof value === "bigint") {
        throw new RangeError(`"${name}" is the bigint ${value}. Use a number or a string`);
      }
      return value;
    });
  } catch (cause) {
    throw new TypeError(`Status not written: ${(cause as Error).message}`, { cause });
  }
}

/** Returns the status of an object, or `{}` if it has none. */
export function statusOf(object: KubeObject): Record<string, unknown> {
  const { status } = object as { status?: unknown };
  return isObject(status) ? status : {};
}

/** Returns the conditions of a status. */
export function conditionsIn({ conditions }: Record<string, unknown>): readonly Condition[] {
  return Array.isArray(conditions) ? conditions : [];
}

const CONDITION_FIELDS = ["type", "status", "reason", "message", "lastTransitionTime", "observedGeneration"];

/** Returns fields of a condition that other writers added, such as `lastProbeTime` of a Pod. */
function extraFields(condition: Condition): Partial<Condition> {
  return Object.fromEntries(Object.entries(condition).filter(([name]) => !CONDITION_FIELDS.includes(name)));
}

/**
 * Truncates a message at a whole character. Half of a surrogate pair would be stored differently,
 * so each reconcile would find the message changed.
 */
function truncated(message: string): string {
  return message.slice(0, MAX_MESSAGE_LENGTH).replace(/[\uD800-\uDBFF]$/, "");
}

function conditionOf(
  part: ConditionPart,
  generation: number | undefined,
  before: Condition | undefined,
  now: number,
): Condition {
  const time = before !== undefined && before.status === part.status
    ? before.lastTransitionTime
    : isoTime(now).replace(/\.\d+Z$/, "Z");
  return {
    type: part.type,
    status: part.status,
    reason: part.reason,
    message: truncated(part.message ?? ""),
    lastTransitionTime: time,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}
