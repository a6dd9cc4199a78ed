import assert from "node:assert/strict";
import { VirtualClock } from "../base/virtual_clock.ts";
import type { Machine } from "./machine.ts";
import { tokenFile } from "./token_file.ts";

Deno.test("tokenFile reads the file again after a minute, and not before", async () => {
  const { clock, files, machine, reads } = tokenFileSetup({ "/token": "one\n" });
  const token = tokenFile("/token", machine, clock);
  assert.equal(await token(false), "one");

  files["/token"] = "two\n";
  clock.step(clock.now() + 59_999);
  assert.equal(await token(false), "one");
  clock.step(clock.now() + 1);
  assert.equal(await token(false), "two");
  assert.equal(reads.length, 2);
});

for (
  const [name, offset] of [
    ["the time of day was set back", { now: -3_600_000, elapsed: 0 }],
    ["the machine slept, so that elapsed() stopped", { now: 0, elapsed: -60_000 }],
  ] as const
) {
  Deno.test(`tokenFile reads the file again after a minute although ${name}`, async () => {
    const { clock, files, machine } = tokenFileSetup({ "/token": "one" });
    let isOff = false;
    const token = tokenFile("/token", machine, {
      now: () => clock.now() + (isOff ? offset.now : 0),
      elapsed: () => clock.elapsed() + (isOff ? offset.elapsed : 0),
      after: (delay, callback) => clock.after(delay, callback),
    });
    assert.equal(await token(false), "one");
    files["/token"] = "two";
    isOff = true;
    clock.step(clock.now() + 59_999);
    assert.equal(await token(false), "one");
    clock.step(clock.now() + 1);
    assert.equal(await token(false), "two");
  });
}

Deno.test("tokenFile reads the file again at once after a 401", async () => {
  const { clock, files, machine } = tokenFileSetup({ "/token": "one" });
  const token = tokenFile("/token", machine, clock);
  await token(false);
  files["/token"] = "two";
  assert.equal(await token(true), "two");
  assert.equal(await token(false), "two");
});

const BROKEN: readonly { name: string; files: Record<string, string>; message: RegExp }[] = [
  { name: "does not exist", files: {}, message: /^Cannot read the token file "\/token": it does not exist$/ },
  { name: "is empty", files: { "/token": " \n" }, message: /^Cannot read the token file "\/token": it is empty$/ },
];

for (const { name, files, message } of BROKEN) {
  Deno.test(`the error of tokenFile says that the file ${name}`, async () => {
    const { clock, machine } = tokenFileSetup(files);
    await assert.rejects(tokenFile("/token", machine, clock)(false), { name: "CredentialError", message });
  });
}

function tokenFileSetup(files: Record<string, string>) {
  const reads: string[] = [];
  const machine: Machine = {
    env: () => undefined,
    readText: (path) => {
      reads.push(path);
      const text = files[path];
      return text === undefined ? Promise.reject(new Deno.errors.NotFound("no such file")) : Promise.resolve(text);
    },
  };
  return { clock: new VirtualClock(), files, machine, reads };
}
