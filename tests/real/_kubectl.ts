/** kubectl: its path, the overlays that it builds, and the comparable part of its output. */
import assert from "node:assert/strict";
import { objectsIn, type PlainObject } from "../../cli/objects.ts";
import { findControlPlane } from "../../src/testing/_control_plane.ts";
import type { Command } from "./_kubectl_commands.ts";

/** Returns the path of kubectl, which is built with the control plane. */
export async function kubectlPath(): Promise<string> {
  const path = (await findControlPlane())?.programs.kubectl;
  assert(path, "the control plane has no kubectl");
  return path;
}

/** Returns the objects that `kubectl kustomize` builds from a folder. */
export async function kubectlKustomize(folder: string): Promise<PlainObject[]> {
  const { success, stdout, stderr } = await new Deno.Command(await kubectlPath(), { args: ["kustomize", folder] })
    .output();
  assert(success, new TextDecoder().decode(stderr));
  return objectsIn(new TextDecoder().decode(stdout), "the output of kubectl");
}

/** Exit code and output of a command. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Replaces the values in an output that differ on every call, such as UIDs and times. */
export function comparable(
  { code, stdout, stderr }: CommandResult,
  { unordered, ignoredLines }: Command,
): { code: number; stdout: readonly string[]; stderr: readonly string[] } {
  const lines = (text: string) => {
    const all = normalize(text).split("\n").filter((line) => ignoredLines === undefined || !ignoredLines.test(line));
    return unordered ? all.sort() : all;
  };
  return { code, stdout: lines(stdout), stderr: lines(stderr) };
}

function normalize(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uid>")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "<time>")
    .replaceAll(/(\d{4}-\d\d-\d\d|\w{3}, \d\d \w{3} \d{4}) \d\d:\d\d:\d\d(?:\.\d+)? [+-]\d{4}/g, "<time>")
    .replaceAll(/(resourceVersion"?: ?"?|Resource Version: +)\d+/g, "$1<version>")
    .replaceAll(/https:\/\/127\.0\.0\.1:\d+/g, "<server>")
    .replaceAll(/\/tmp\/[A-Z]+-\d+/g, "<folder>")
    .replaceAll(/\b\d+m?s\b/g, "<age>")
    .replaceAll(/[ \t]+$/gm, "")
    // Column widths depend on the ages in them.
    .replaceAll(/ {2,}/g, "  ");
}
