import assert from "node:assert/strict";
import { VirtualClock } from "../base/virtual_clock.ts";
import type { Machine } from "./machine.ts";
import { tokenFile } from "./token_file.ts";

Deno.test("tokenFile reads the file again when a minute has passed, and not before", async () => {
  const { clock, files, machine, reads } = desk({ "/token": "one\n" });
  const token = tokenFile("/token", machine, clock);
  assert.equal(await token(false), "one");

  files["/token"] = "two\n";
  clock.step(clock.now() + 59_999);
  assert.equal(await token(false), "one");
  clock.step(clock.now() + 1);
  assert.equal(await token(false), "two");
  assert.equal(reads.length, 2);
});

Deno.test("tokenFile reads the file again at once when the token was refused", async () => {
  const { clock, files, machine } = desk({ "/token": "one" });
  const token = tokenFile("/token", machine, clock);
  await token(false);
  files["/token"] = "two";
  assert.equal(await token(true), "two");
  assert.equal(await token(false), "two");
});

const BROKEN: readonly { name: string; files: Record<string, string>; message: RegExp }[] = [
  { name: "is not there", files: {}, message: /^Cannot read the token file "\/token": it does not exist$/ },
  { name: "is empty", files: { "/token": " \n" }, message: /^Cannot read the token file "\/token": it is empty$/ },
];

for (const { name, files, message } of BROKEN) {
  Deno.test(`tokenFile says that the file ${name}`, async () => {
    const { clock, machine } = desk(files);
    await assert.rejects(tokenFile("/token", machine, clock)(false), { name: "CredentialError", message });
  });
}

function desk(files: Record<string, string>) {
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
