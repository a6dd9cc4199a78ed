import assert from "node:assert/strict";
import { denoErrors } from "./deno.ts";

Deno.test("Deno's own backtrace and its summary are removed from the errors of a program", () => {
  const errors = "TS2322 [ERROR]: Type 'number' is not assignable to type 'string'.\n    at file:///main.ts:1:14";
  const backtrace = [
    "Stack backtrace:",
    "   0: <unknown>",
    "   1: __libc_start_call_main",
    "             at ./csu/../sysdeps/nptl/libc_start_call_main.h:58:16",
    "   2: <unknown>",
  ].join("\n");
  assert.equal(denoErrors(`${errors}\n`), errors);
  assert.equal(denoErrors(`${errors}\n\n${backtrace}\n`), errors);
  assert.equal(denoErrors(`${errors}\n\nerror: bundling failed\n\n${backtrace}\n`), errors);
});
