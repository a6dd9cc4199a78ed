/** The status of a run: gathered while it goes on, written once at its end. */
import { isoTime } from "../base/iso_time.ts";
import { equal, isObject } from "../base/json.ts";
import { mergePatch } from "../base/merge_patch.ts";
import type { Condition, KubeObject } from "../resource/kind.ts";

/** A condition as a reconciler says it: times and generation are added here. */
export type ConditionPart = Pick<Condition, "type" | "status" | "reason"> & { readonly message?: string };

// The API takes 32,768 characters; nobody reads so many, and they would be stored with each object.
const LONGEST_MESSAGE = 1024;

/** What a run reports. */
export class StatusDraft {
  readonly #parts: Record<string, unknown> = {};
  readonly #conditions = new Map<string, ConditionPart>();

  /** Gathers properties; a later one of the same name wins. */
  add(part: Record<string, unknown>): void {
    for (const [name, value] of Object.entries(part)) this.#parts[name] = value;
  }

  /** Gathers a condition. */
  addCondition(condition: ConditionPart): void {
    this.#conditions.set(condition.type, condition);
  }

  /** Adds a condition, unless the reconciler said it itself. */
  offerCondition(condition: ConditionPart): void {
    if (!this.#conditions.has(condition.type)) this.addCondition(condition);
  }

  /**
   * The merge patch of the status, or nothing when it says this already.
   *
   * @param object The object as it is now.
   * @param generation The generation that the run worked on.
   * @param drops Condition types that hold no longer.
   * @param now Milliseconds since the epoch.
   */
  patch(object: KubeObject, generation: number | undefined, drops: readonly string[], now: number): unknown {
    const before = statusOf(object);
    const after = {
      ...before,
      ...this.#parts,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      conditions: this.#merge(heldConditions(before), generation, drops, now),
    };
    // Through JSON, so that values compare as the server will hold them.
    return mergePatch(before, JSON.parse(jsonOf(after)));
  }

  /**
   * Returns the merge patch of a status that others define, or `undefined` when the status already says this. It has only what the reconciler reported.
   *
   * @param object The object as it is now.
   * @param generation The generation that the reconcile worked on.
   * @param now Milliseconds since the epoch.
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
      after.conditions = this.#merge(heldConditions(after), generation, [], now, stored);
    }
    return mergePatch(before, JSON.parse(jsonOf(after)));
  }

  /** Whether conditions that this run does not say would be written again with the patch: then nobody may have changed them meanwhile. */
  keepsOthers(object: KubeObject): boolean {
    return heldConditions(statusOf(object)).some(({ type }) => !this.#conditions.has(type));
  }

  #merge(
    held: readonly Condition[],
    generation: number | undefined,
    drops: readonly string[],
    now: number,
    stored: (condition: Condition) => Condition = (condition) => condition,
  ): Condition[] {
    const said = new Map(this.#conditions);
    const kept = held.filter(({ type }) => !drops.includes(type) || said.has(type)).map((before) => {
      const part = said.get(before.type);
      said.delete(before.type);
      if (part === undefined) return before;
      const condition = { ...extraFields(before), ...stored(conditionOf(part, generation, before, now)) };
      return equal(before, condition) ? before : condition;
    });
    return [...kept, ...[...said.values()].map((part) => stored(conditionOf(part, generation, undefined, now)))];
  }
}

/** As JSON; what JSON has no place for is refused. Looking at each value is slow, so that is done only where there may be such a one. */
function jsonOf(status: Record<string, unknown>): string {
  try {
    const text = JSON.stringify(status);
    if (!text.includes("null")) return text;
  } catch {
    // Said below, with the name.
  }
  try {
    return JSON.stringify(status, (name, value) => {
      // JSON would make it null, and the patch would take the property away.
      if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError(`"${name}" is ${value}`);
      if (typeof value === "bigint") {
        throw new RangeError(`"${name}" is a bigint, ${value}: give it as a number or as text`);
      }
      return value;
    });
  } catch (cause) {
    throw new TypeError(`Cannot write the status: ${(cause as Error).message}`, { cause });
  }
}

/** The status of an object; `{}` where it has none. */
export function statusOf(object: KubeObject): Record<string, unknown> {
  const { status } = object as { status?: unknown };
  return isObject(status) ? status : {};
}

/** The conditions that a status has. */
export function heldConditions({ conditions }: Record<string, unknown>): readonly Condition[] {
  return Array.isArray(conditions) ? conditions : [];
}

const FIELDS = ["type", "status", "reason", "message", "lastTransitionTime", "observedGeneration"];

/** The fields of a condition that others added, such as `lastProbeTime` of a Pod's. */
function extraFields(condition: Condition): Partial<Condition> {
  return Object.fromEntries(Object.entries(condition).filter(([name]) => !FIELDS.includes(name)));
}

/** Half a character at the end would come back changed, and look like news. */
function cut(message: string): string {
  return message.slice(0, LONGEST_MESSAGE).replace(/[\uD800-\uDBFF]$/, "");
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
    message: cut(part.message ?? ""),
    lastTransitionTime: time,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}
