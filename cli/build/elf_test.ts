import assert from "node:assert/strict";
import { machineOf } from "./elf.ts";

function header(bytes: Record<number, number>): Uint8Array {
  return Uint8Array.from({ length: 20 }, (_, i) => bytes[i] ?? 0);
}

const ELF = { 0: 0x7f, 1: 0x45, 2: 0x4c, 3: 0x46 };

const CASES = [
  { name: "x86_64", given: header({ ...ELF, 5: 1, 18: 62 }), expected: "x86_64" },
  { name: "aarch64", given: header({ ...ELF, 5: 1, 18: 183 }), expected: "aarch64" },
  { name: "big-endian bytes", given: header({ ...ELF, 5: 2, 19: 183 }), expected: "aarch64" },
  { name: "another machine", given: header({ ...ELF, 5: 1, 18: 243 }), expected: undefined },
  { name: "a script", given: new TextEncoder().encode("#!/bin/sh\nexec true && true\n"), expected: undefined },
  { name: "a file that is too short", given: new Uint8Array([0x7f, 0x45, 0x4c, 0x46]), expected: undefined },
];

Deno.test("machineOf returns the machine in an ELF header", () => {
  for (const { name, given, expected } of CASES) assert.equal(machineOf(given), expected, name);
});

Deno.test("machineOf recognizes the machine of the running Deno", { ignore: Deno.build.os !== "linux" }, async () => {
  using file = await Deno.open(Deno.execPath());
  const bytes = new Uint8Array(64);
  await file.read(bytes);
  assert.equal(machineOf(bytes), Deno.build.arch);
});
