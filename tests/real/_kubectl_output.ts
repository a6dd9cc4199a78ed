/** The comparable part of kubectl's output. */
import type { Command } from "./_kubectl_commands.ts";

/** Removes what differs on every call from an output. */
export function comparable(
  { code, stdout, stderr }: { code: number; stdout: string; stderr: string },
  { unordered, absent }: Command,
): { code: number; stdout: readonly string[]; stderr: readonly string[] } {
  const lines = (text: string) => {
    const found = plain(text).split("\n").filter((line) => absent === undefined || !absent.test(line));
    return unordered ? found.sort() : found;
  };
  return { code, stdout: lines(stdout), stderr: lines(stderr) };
}

function plain(text: string): string {
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
