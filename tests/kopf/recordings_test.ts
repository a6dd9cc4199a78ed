/**
 * The committed recordings: each belongs to the present scenario and program, and shows what kopf
 * does in the situations that its users reported.
 */
import assert from "node:assert/strict";
import { committedRecording, inputsOf, recordedPrograms } from "./kopf.ts";
import { SCENARIOS } from "./recorder.ts";
import type { RecordedCall, RecordedStep } from "./scenario.ts";
import { EXAMPLES } from "./scenarios/examples.ts";

for (const scenario of SCENARIOS) {
  Deno.test(`the recording of ${scenario.name} belongs to its scenario and its program`, async () => {
    const recording = await committedRecording(scenario.name);
    assert(recording, `"${scenario.name}" is not recorded. Run "deno run -A tests/kopf/recorder.ts ${scenario.name}"`);
    assert.equal(
      recording.inputs,
      await inputsOf(scenario),
      `"${scenario.name}" has changed since it was recorded. Run "deno run -A tests/kopf/recorder.ts ${scenario.name}"`,
    );
    assert.deepEqual(recording.steps.map(({ step }) => step), scenario.steps.map(({ name }) => name));
  });
}

Deno.test("every example of kopf and every program has a scenario", async () => {
  const numbers = [...Array.from({ length: 17 }, (_, index) => index + 1), 99];
  assert.deepEqual(
    EXAMPLES.map(({ name }) => name),
    numbers.map((number) => `example_${String(number).padStart(2, "0")}`),
  );
  assert.deepEqual(await recordedPrograms(), SCENARIOS.map(({ name }) => name).sort());
});

/** The recorded steps of a scenario by name. */
async function stepsOf(name: string): Promise<(step: string) => RecordedStep> {
  const recording = await committedRecording(name);
  assert(recording, `"${name}" is not recorded`);
  return (step) => {
    const found = recording.steps.find((each) => each.step === step);
    assert(found, `"${name}" has no step "${step}"`);
    return found;
  };
}

/** Returns `old -> current` of the successful calls of a handler in a step. */
function changes(step: RecordedStep, key: string): string[] {
  return succeeded(step, key).map(({ old, current }) => `${sizeOf(old)} -> ${sizeOf(current)}`);
}

function succeeded(step: RecordedStep, key: string): RecordedCall[] {
  return (step.calls[key] ?? []).filter(({ outcome }) => outcome === "success");
}

// deno-lint-ignore no-explicit-any -- a recorded essence
function sizeOf(essence: any): number {
  return essence.spec.size;
}

// deno-lint-ignore no-explicit-any -- a recorded object
function objectOf({ objects }: RecordedStep, name: string): any {
  // deno-lint-ignore no-explicit-any -- as above
  return objects.find(({ object }: any) => object === name);
}

Deno.test("kopf #574: stripped annotations make kopf call creation handlers again", async () => {
  const step = await stepsOf("issue_574");
  assert.equal(succeeded(step("create"), "create_fn KopfExample/one").length, 1);
  assert.equal(succeeded(step("strip the annotations"), "create_fn KopfExample/one").length, 1);
});

Deno.test("kopf #635: kopf marks its state as a Deployment's, and still copies it to the ReplicaSet", async () => {
  const step = await stepsOf("issue_635");
  const created = step("create");
  assert.deepEqual(Object.keys(created.calls).map((key) => key.split("/")[0]), [
    "create_deployment Deployment",
    "create_replica_set ReplicaSet",
  ]);
  const [replicaSet] = created.objects.slice(1) as { annotations: Record<string, string> }[];
  const stored = Object.keys(replicaSet!.annotations).filter((name) => name.startsWith("kopf.zalando.org/"));
  assert.deepEqual(stored, [
    "kopf.zalando.org/last-handled-configuration",
    "kopf.zalando.org/last-handled-configuration-ofDRS",
  ]);
});

Deno.test("kopf #640: kopf releases an object whose deletion handler gave up", async () => {
  const step = await stepsOf("issue_640");
  const deleted = step("delete");
  assert.deepEqual(deleted.calls["clean_up KopfExample/one"]?.map(({ outcome }) => outcome), ["permanent"]);
  assert.deepEqual(deleted.objects, []);
});

Deno.test("kopf #641: a handler that has succeeded never sees a change made while another one retries", async () => {
  const step = await stepsOf("issue_641");
  assert.deepEqual(changes(step("change during a retry"), "first KopfExample/one"), ["1 -> 2"]);
  assert.deepEqual(changes(step("change during a retry"), "second KopfExample/one"), ["1 -> 3"]);
  assert.deepEqual(changes(step("a later change"), "first KopfExample/one"), ["3 -> 4"], "2 -> 3 is lost");
});

Deno.test("kopf #701: kopf never calls an optional deletion handler of an object without its finalizer", async () => {
  const step = await stepsOf("issue_701");
  for (const name of ["delete", "delete with another finalizer", "remove that finalizer"]) {
    assert.deepEqual(step(name).calls, {});
  }
});

Deno.test("kopf #729: a reversed change leaves one handler with the wrong state and the other one unfinished", async () => {
  const step = await stepsOf("issue_729");
  const reversed = step("reverse during a retry");
  assert.deepEqual(changes(reversed, "first KopfExample/one"), ["1 -> 2"], "it never learns of the reversal");
  assert.deepEqual(changes(reversed, "second KopfExample/one"), []);
  const { annotations, spec } = objectOf(reversed, "kopfexamples/one");
  assert.equal(spec.size, 1);
  assert("kopf.zalando.org/second" in annotations, "its progress remains stored");
});

Deno.test("kopf #784: a path in a string cannot name an annotation with dots, a list of names can", async () => {
  const step = await stepsOf("issue_784");
  assert.deepEqual(Object.keys(step("change the annotation").calls), ["by_list KopfExample/one"]);
  assert.deepEqual(step("change the spec").calls, {});
});

Deno.test("kopf #916: a change while a creation handler retries reaches no update handler", async () => {
  const step = await stepsOf("issue_916");
  const created = step("change during the creation's retry");
  assert.deepEqual(Object.keys(created.calls), ["first KopfExample/one", "second KopfExample/one"]);
  assert.deepEqual(changes(step("a later change"), "update_fn KopfExample/one"), ["2 -> 3"], "1 -> 2 is lost");
});

Deno.test("kopf #1082: an object that is restored or cloned with its annotations is not created for kopf", async () => {
  const step = await stepsOf("issue_1082");
  assert.deepEqual(step("restore").calls, {});
  assert.deepEqual(changes(step("clone with a change"), "update_fn KopfExample/two"), ["1 -> 2"]);
});

Deno.test("kopf #1087: kopf's annotation makes the metadata of a Pod too large for containerd", async () => {
  const step = await stepsOf("issue_1087");
  assert.equal(objectOf(step("create"), "pods/one").metadataIsLargerThan, 4096);
});

Deno.test("kopf #1243: kopf calls no handler if an index has more objects than there are workers", async () => {
  const step = await stepsOf("issue_1243");
  const { calls } = step("start with existing objects");
  assert.deepEqual(Object.keys(calls), ["by_name KopfExample/one", "configure"]);
});

Deno.test("kopf #1294: kopf calls creation handlers again whenever its annotation disappears", async () => {
  const step = await stepsOf("issue_1294");
  for (const times of ["once", "twice", "three times"]) {
    const { calls } = step(`strip the annotations ${times}`);
    assert.deepEqual(Object.keys(calls), ["create_fn KopfExample/one"], times);
  }
});

Deno.test("kopf #1305: two processes of one operator both call the creation handler", async () => {
  const step = await stepsOf("issue_1305");
  assert.deepEqual(Object.keys(step("create").calls), ["a: create_fn KopfExample/one", "b: create_fn KopfExample/one"]);
});

Deno.test("zalando/kopf #112: resume handlers take part in an update after a restart, with its cause", async () => {
  const step = await stepsOf("zalando_112");
  const { calls } = step("change while down");
  assert.deepEqual(calls["resume_fn KopfExample/one"]?.map(({ cause }) => cause), ["update"]);
  assert.deepEqual(calls["update_fn KopfExample/one"]?.map(({ cause }) => cause), ["update"]);
  assert.deepEqual(Object.keys(step("create while down").calls), [
    "create_fn KopfExample/two",
    "resume_fn KopfExample/one",
  ]);
});

Deno.test("zalando/kopf #113: a resume handler that fails is retried, and the others are called once", async () => {
  const step = await stepsOf("zalando_113");
  const { calls } = step("restart");
  assert.deepEqual(calls["resume_1 KopfExample/one"]?.map(({ outcome }) => outcome), ["temporary", "success"]);
  assert.deepEqual(calls["resume_2 KopfExample/one"]?.map(({ outcome }) => outcome), ["success"]);
  assert.deepEqual(step("change").calls, {});
});

Deno.test("zalando/kopf #150: kopf does not restore a child, neither after a restart nor after a change", async () => {
  const step = await stepsOf("zalando_150");
  for (const name of ["delete the child", "restart", "change"]) {
    assert.deepEqual(step(name).calls, {});
    assert.equal(objectOf(step(name), "pods/one-child"), undefined);
  }
});

Deno.test("zalando/kopf #223: a resume handler is called once per process, and not for later changes", async () => {
  const step = await stepsOf("zalando_223");
  assert.deepEqual(Object.keys(step("create while down").calls), ["create_fn KopfExample/one"]);
  assert.deepEqual(Object.keys(step("restart").calls), ["resume_fn KopfExample/one"]);
  assert.deepEqual(Object.keys(step("change").calls), ["update_fn KopfExample/one"]);
  assert.deepEqual(step("change the status").calls, {});
});
