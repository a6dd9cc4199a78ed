/** The machine an operator runs on. */
import type { Machine } from "../kube/machine.ts";
import { isTraced } from "./process_tracer.ts";

/** This machine: Deno's environment and files. */
export const denoMachine: Machine = {
  env: (name) => Deno.env.get(name),
  readText: (path) => Deno.readTextFile(path),
  isTraced,
};
