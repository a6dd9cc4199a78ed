import assert from "node:assert/strict";
import fc from "fast-check";
import { type DueEntry, DueHeap } from "./due_heap.ts";

Deno.test("DueHeap returns values by due time, and in the order of insertion if these are equal", () => {
  const heap = new DueHeap<string>();
  for (const [due, value] of [[3, "c"], [1, "a"], [3, "d"], [1, "b"]] as const) heap.add(due, value);

  assert.deepEqual(drain(heap), ["a", "b", "c", "d"]);
});

Deno.test("DueHeap.delete has no effect for an entry that was removed before", () => {
  const heap = new DueHeap<string>();
  const first = heap.add(1, "a");
  const second = heap.add(2, "b");

  assert.deepEqual([heap.delete(first), heap.delete(first)], [true, false]);
  heap.clear();
  heap.add(3, "c");

  assert.equal(heap.delete(second), false);
  assert.deepEqual(drain(heap), ["c"]);
});

Deno.test("DueHeap orders any sequence of insertions and removals as a sorted list does", () => {
  const operation = fc.oneof(
    fc.record({ due: fc.integer({ min: 0, max: 5 }) }),
    fc.record({ removed: fc.nat(100) }),
  );
  fc.assert(fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
    const heap = new DueHeap<number>();
    const model: DueEntry<number>[] = [];
    for (const [i, each] of operations.entries()) {
      if ("due" in each) model.push(heap.add(each.due, i));
      else if (model.length > 0) assert(heap.delete(model.splice(each.removed % model.length, 1)[0]!));
      assert.equal(heap.size, model.length);
    }
    const sorted = model.toSorted((a, b) => a.due - b.due).map(({ value }) => value);
    assert.deepEqual(drain(heap), sorted);
  }));
});

function drain<T>(heap: DueHeap<T>): T[] {
  const values: T[] = [];
  for (let entry = heap.first; entry !== undefined; entry = heap.first) {
    values.push(entry.value);
    heap.delete(entry);
  }
  return values;
}
