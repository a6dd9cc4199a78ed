import assert from "node:assert/strict";
import { initialState } from "../../handlers/state.ts";
import { HandlerStateLostError, StateMemory } from "./state_memory.ts";

const state = initialState({ handlers: [] }, "0a1b2c3d");
const decoded = { state, isOutdated: false, unknown: {} };

function fail(): never {
  throw new Error("unexpected decode");
}

Deno.test("a changed state that was not sent must be written by the next reconcile", () => {
  const memory = new StateMemory();
  memory.load("old", () => decoded);
  memory.update(state, true);
  assert.equal(memory.load("old", fail).mustWrite, true);
  assert.equal(memory.send("new"), "old");
  assert.equal(memory.load("old", fail).mustWrite, true, "the write failed");
  assert.equal(memory.load("new", fail).mustWrite, false);
});

Deno.test("a state that returns to the stored one is written while an earlier write may be accepted", () => {
  const memory = new StateMemory();
  memory.load("old", () => decoded);
  memory.update(state, true);
  memory.send("new");
  memory.update(state, true);
  memory.send("old");
  assert.equal(memory.load("new", fail).mustWrite, true);
});

Deno.test("the record of another process replaces the state", () => {
  const memory = new StateMemory();
  assert.equal(memory.load("old", () => decoded).isReplaced, false);
  memory.update(state, true);
  const { isReplaced, mustWrite } = memory.load("other", () => decoded);
  assert.deepEqual([isReplaced, mustWrite], [true, false]);
});

Deno.test("a record that disappeared twice stops the handlers until it is restored", () => {
  const memory = new StateMemory();
  memory.load("old", () => decoded);
  assert.equal(memory.load(undefined, fail).isLost, true);
  memory.send("new");
  memory.accept();
  for (let i = 0; i < 3; i++) assert.throws(() => memory.load(undefined, fail), HandlerStateLostError);
  assert.equal(memory.load("old", () => decoded).state?.uid, state.uid);
});
