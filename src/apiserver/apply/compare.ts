/** Compares two values field by field (`sigs.k8s.io/structured-merge-diff/v6/typed/compare.go`). */
import { equal, isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import type { ServerSchema } from "../objects/server_schema.ts";
import { FieldSet } from "./field_set.ts";
import { fieldSchema, itemSchema, itemStep, shapeOf } from "./typed.ts";

/** The fields that were added, modified and removed. The sets are disjoint. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/**
 * Compares two values.
 *
 * @param schema Schema of the values.
 * @param before The old value; `undefined` if it did not exist.
 * @param after The new value; `undefined` if it no longer exists.
 */
export function compare(schema: ServerSchema, before: unknown, after: unknown): Comparison {
  const comparison = { added: new FieldSet(), modified: new FieldSet(), removed: new FieldSet() };
  visit(schema, before, after, [], comparison);
  return comparison;
}

function visit(schema: ServerSchema, before: unknown, after: unknown, path: readonly string[], sets: Comparison): void {
  if (equal(before, after)) return;
  const isLeaf = visitParts(schema, before, after, path, sets);
  if (before === undefined) sets.added.insert(path);
  else if (after === undefined) sets.removed.insert(path);
  else if (isLeaf) sets.modified.insert(path);
}

/**
 * Compares the parts of two values. Returns whether the values are leaves, which the caller
 * compares as a whole.
 */
function visitParts(
  schema: ServerSchema,
  before: unknown,
  after: unknown,
  path: readonly string[],
  sets: Comparison,
): boolean {
  // Two empty values are leaves, so that null differs from an empty list or map.
  if (isEmpty(before) && isEmpty(after)) return true;
  const shape = shapeOf(schema, before ?? after);
  const other = shapeOf(schema, after ?? before);
  if (shape.kind !== other.kind) {
    // The value changes as a whole, and all parts of both values are removed or added.
    if (shape.kind === "map") visitFields(schema, before, {}, path, sets);
    if (shape.kind === "list") visitItems(schema, before, [], path, sets);
    if (other.kind === "map") visitFields(schema, {}, after, path, sets);
    if (other.kind === "list") visitItems(schema, [], after, path, sets);
  }
  if (shape.kind === "leaf" || other.kind === "leaf" || shape.kind !== other.kind) return true;
  if (shape.kind === "map") visitFields(schema, before ?? {}, after ?? {}, path, sets);
  else visitItems(schema, before ?? [], after ?? [], path, sets);
  return false;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

function visitFields(
  schema: ServerSchema,
  before: unknown,
  after: unknown,
  path: readonly string[],
  sets: Comparison,
): void {
  const [old, next] = [before as Record<string, unknown>, after as Record<string, unknown>];
  for (const key of new Set([...Object.keys(old), ...Object.keys(next)])) {
    const field = fieldSchema(schema, key);
    if (field === undefined) continue;
    visit(field.schema, own(old, key), own(next, key), [...path, `f:${key}`], sets);
  }
}

function visitItems(
  schema: ServerSchema,
  before: unknown,
  after: unknown,
  path: readonly string[],
  sets: Comparison,
): void {
  const [old, next] = [groupByStep(schema, before as unknown[]), groupByStep(schema, after as unknown[])];
  for (const step of new Set([...old.keys(), ...next.keys()])) {
    const [oldItems, newItems] = [old.get(step) ?? [], next.get(step) ?? []];
    const here = [...path, step];
    if (oldItems.length <= 1 && newItems.length <= 1) visit(itemSchema(schema), oldItems[0], newItems[0], here, sets);
    // Duplicate items cannot be matched, so they are compared as one.
    else if (oldItems.length > 1 && newItems.length > 1) {
      if (!equal(oldItems, newItems)) sets.modified.insert(here);
    } else if (oldItems.length > 1) {
      if (newItems.length > 0) visit(itemSchema(schema), undefined, newItems[0], here, sets);
      sets.removed.insert(here);
    } else {
      if (oldItems.length > 0) visit(itemSchema(schema), oldItems[0], undefined, here, sets);
      sets.added.insert(here);
    }
  }
}

function groupByStep(schema: ServerSchema, list: readonly unknown[]): Map<string, unknown[]> {
  const groups = new Map<string, unknown[]>();
  for (const item of list) {
    let step: string;
    try {
      step = itemStep(schema, item);
    } catch {
      // An item without its key has no path, so it cannot have a manager.
      continue;
    }
    groups.set(step, [...groups.get(step) ?? [], item]);
  }
  return groups;
}
