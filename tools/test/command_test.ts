import assert from "node:assert/strict";
import { testCommand } from "./command.ts";
import type { Lane } from "./lanes.ts";
import { check, EMPTY_RESULT } from "./report.ts";

/** Four lanes: one that passes, one that fails, one that throws, one that is skipped. */
function lanes(ran: string[]): Lane[] {
  const results = {
    good: () => Promise.resolve({ ...EMPTY_RESULT, passed: 3 }),
    bad: () => Promise.resolve(check("bad", false, "a reason")),
    broken: () => Promise.reject(new Error("out of disk")),
    skipped: () => Promise.resolve({ ...EMPTY_RESULT, skipped: 1 }),
  };
  return Object.entries(results).map(([name, result]) => ({
    name,
    title: `the lane ${name}`,
    run: () => (ran.push(name), result()),
  }));
}

async function run(args: string[]): Promise<{ code: number; lines: string[]; ran: string[] }> {
  const ran: string[] = [];
  const lines: string[] = [];
  const code = await testCommand(args, lanes(ran), (line) => lines.push(...line.split("\n")));
  return { code, lines, ran };
}

Deno.test("testCommand runs the lanes after a failed one, and ends with a line of counts", async () => {
  const { code, lines, ran } = await run([]);
  assert.equal(code, 1);
  assert.deepEqual(ran, ["good", "bad", "broken", "skipped"]);
  assert.equal(lines.at(-1), "3 passed, 2 failed, 1 skipped");
  assert.equal(lines.filter((line) => /^\d+ passed, \d+ failed/.test(line)).length, 1);
  assert(lines.includes("bad: a reason") && lines.includes("broken: out of disk"));
});

Deno.test("testCommand runs only the named lanes, in the order of the list", async () => {
  const { code, lines, ran } = await run(["skipped", "good"]);
  assert.equal(code, 0);
  assert.deepEqual(ran, ["good", "skipped"]);
  assert.equal(lines.at(-1), "3 passed, 0 failed, 1 skipped");
});

Deno.test("testCommand runs no lane if one does not exist", async () => {
  const { code, lines, ran } = await run(["good", "godo"]);
  assert.equal(code, 2);
  assert.deepEqual(ran, []);
  assert.deepEqual(lines, ['Unknown lane "godo". Available lanes: "good", "bad", "broken", "skipped"']);
});

Deno.test("testCommand --list lists the lanes and runs none", async () => {
  const { code, lines, ran } = await run(["--list"]);
  assert.equal(code, 0);
  assert.deepEqual(ran, []);
  assert.equal(lines[0], "good           the lane good");
});

Deno.test("testCommand passes each lane the lanes that passed before it", async () => {
  const passedBefore: string[][] = [];
  const results = [EMPTY_RESULT, check("bad", false, "a reason"), { ...EMPTY_RESULT, skipped: 1 }, {
    ...EMPTY_RESULT,
    passed: 1,
  }];
  const lanes = results.map((result, i): Lane => ({
    name: `lane ${i}`,
    title: "",
    run: (passed) => (passedBefore.push([...passed]), Promise.resolve(result)),
  }));
  await testCommand([], lanes, () => {});
  assert.deepEqual(passedBefore, [[], ["lane 0"], ["lane 0"], ["lane 0"]]);
});
