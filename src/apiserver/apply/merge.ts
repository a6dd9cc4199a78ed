/**
 * Merges an applied configuration into an object
 * (`sigs.k8s.io/structured-merge-diff/v6/typed/merge.go`).
 */
import { own, setOwn } from "../../base/own.ts";
import type { ServerSchema } from "../objects/server_schema.ts";
import { fieldSchema, itemSchema, itemStep, shapeOf } from "./typed.ts";

/**
 * Merges two values. The applied value takes precedence.
 *
 * @param schema Schema of the values.
 * @param live The current value; `undefined` if it does not exist.
 * @param applied The applied value; `undefined` if it does not exist.
 * @returns The merged value. The arguments are not changed.
 */
export function merge(schema: ServerSchema, live: unknown, applied: unknown): unknown {
  if (applied === undefined) return live;
  if (live === undefined || live === null) return applied;
  const [old, next] = [shapeOf(schema, live), shapeOf(schema, applied)];
  if (old.kind === "leaf" || next.kind === "leaf" || old.kind !== next.kind) return applied;
  if (next.kind === "map") {
    return mergeMaps(schema, live as Record<string, unknown>, applied as Record<string, unknown>);
  }
  return mergeLists(schema, live as unknown[], applied as unknown[]);
}

function mergeMaps(
  schema: ServerSchema,
  live: Record<string, unknown>,
  applied: Record<string, unknown>,
): Record<string, unknown> {
  const result = { ...live };
  for (const [key, value] of Object.entries(applied)) {
    setOwn(result, key, merge(fieldSchema(schema, key)?.schema ?? {}, own(live, key), value));
  }
  return result;
}

/**
 * Merges lists in the order of the applied one. An item that only the live list contains keeps its
 * place after the item that preceded it.
 */
function mergeLists(schema: ServerSchema, live: readonly unknown[], applied: readonly unknown[]): unknown[] {
  const left = live.map((item) => itemStep(schema, item));
  const right = applied.map((item) => itemStep(schema, item));
  const liveItems = new Map(left.map((step, i) => [step, live[i]]));
  const appliedItems = new Map(right.map((step, i) => [step, applied[i]]));
  const shared = right.filter((step) => liveItems.has(step));
  const merged = new Set<string>();
  const result: unknown[] = [];
  const take = (step: string) => {
    merged.add(step);
    result.push(merge(itemSchema(schema), liveItems.get(step), appliedItems.get(step)));
    if (shared[0] === step) shared.shift();
  };
  for (let l = 0, r = 0; l < left.length || r < right.length;) {
    const [leftStep, rightStep] = [left[l], right[r]];
    if (leftStep !== undefined && rightStep !== undefined) {
      if (leftStep === rightStep) {
        take(leftStep);
        l++;
        r++;
        continue;
      }
      if (appliedItems.has(leftStep) && shared[0] !== undefined && shared[0] !== leftStep) {
        // The item is in both lists, so a later iteration adds it.
        l++;
        continue;
      }
    }
    if (leftStep !== undefined) {
      if (!appliedItems.has(leftStep)) {
        result.push(live[l]);
        l++;
        continue;
      }
      if (merged.has(leftStep)) l++;
    }
    if (rightStep !== undefined) {
      take(rightStep);
      r++;
    }
  }
  return result;
}
