/** Generates code that loads an operator's file in a child process, and reports its errors. */
import { pathToFileURL } from "node:url";
import { denoErrors, isUnsettledAwait, type SourceFile } from "./deno.ts";

/** An error that a file threw while it was loaded. */
export interface LoadError {
  /** The message for the user, with the position of the error. */
  readonly message: string;
  /** The error's name and message. */
  readonly summary: string;
  /** The positions of the stack trace, such as `file:///shop/main.ts:3:16`, the innermost first. */
  readonly places: readonly string[];
}

/**
 * Returns code that loads a file. It defines `op`, the operator, or `loadError`, a
 * {@linkcode LoadError}, or `absent`, the reason why the file has no operator. An operator is
 * recognized by its methods, because the file may import another copy of the SDK.
 *
 * @param source The file.
 * @param shown The file as the user typed it.
 */
export function loading({ url, folder }: Pick<SourceFile, "url" | "folder">, shown: string): string {
  const text = JSON.stringify;
  return `
let module, loadError;
try {
  module = await import(${text(url.href)});
} catch (error) {
  const isError = typeof error?.message === "string";
  // The names of errors from Deno's module loader do not help the author of the file.
  const isNamed = isError && error.name !== "Error" && error.code !== "ERR_MODULE_NOT_FOUND";
  const name = isNamed ? error.name + ": " : "";
  const places = [...(isError ? error.stack ?? "" : "").matchAll(/^ +at (?:.*\\()?(\\w+:[^()\\s]+:\\d+:\\d+)\\)?$/gm)].map(([, place]) => place);
  const near = (text) => text.replaceAll(${text(`${pathToFileURL(folder).href}/`)}, "");
  // Messages of Deno may have colors, and positions in this script.
  const plain = (isError ? error.message : String(error)).replaceAll(/\\x1b\\[[0-9;]*m/g, "");
  // Deno names a flag that the user of op cannot set. The message is the only place that has the
  // permission.
  const [, wanted] = error?.name === "NotCapable" ? /^Requires (.*?), run again/s.exec(plain) ?? [] : [];
  const words = wanted === undefined ? name + plain : "it needs " + wanted + " at its top level, which op does not grant while it loads a file. Move the code into a part or a service.";
  const lines = near(words).split("\\n");
  const summary = lines.filter((line, i) => !line.includes("$deno$") && lines.indexOf(line) === i).join("\\n");
  const place = places.map(near).find((place) => !place.includes(":/") && !/^(ext:|node:|\\$deno\\$)/.test(place));
  const where = place === undefined || summary.includes(place) ? "" : "\\n    at " + place;
  loadError = { message: ${text(`Cannot load "${shown}": `)} + summary + where, summary, places };
}
const isOperator = (value) => typeof value?.name === "string" &&
  ["crds", "withSettings", "sandbox", "rbac", "manifests", "samples", "main"].every((name) => typeof value[name] === "function");
const op = module?.default;
let absent;
if (loadError === undefined && !isOperator(op)) {
  const named = Object.keys(module).filter((name) => isOperator(module[name]));
  absent = ${text(`Cannot find an operator in "${shown}": `)} +
    (op === undefined ? "it has no default export" : "its default export is not the result of operator()") + (named.length === 0
      ? '. Add "export default operator({ ... })".'
      : ', but it exports ' + named.map((name) => '"' + name + '"').join(" and ") + '. Add "export default ' + named[0] + '".');
}
`;
}

/**
 * Returns the error message for a bundle that could not be loaded.
 *
 * @param shown The operator's file as the user typed it.
 * @param error The error.
 * @param traced Maps positions in the bundle to its sources.
 */
export function bundleFailure(
  shown: string,
  { summary, places }: LoadError,
  traced: (text: string) => string,
): string {
  // The innermost position in the project itself, not in a package.
  const place = places.map(traced).find((place) => !/:\/|^\.\.|^(jsr|npm):|^@[^/]+\/[^/]+@/.test(place));
  return `Cannot load "${shown}": ${summary}${place === undefined ? "" : `\n    at ${place}`}`;
}

/**
 * Returns the error message for a file whose process exited before it was loaded.
 *
 * @param shown The file as the user typed it.
 * @param code The exit code of the process.
 * @param stderr Its standard error.
 */
export function unfinishedLoad(shown: string, code: number, stderr: string): string {
  const errors = denoErrors(stderr);
  if (isUnsettledAwait(errors)) {
    return `Cannot load "${shown}": its top level awaits a promise that never settles. Move the await into a part.`;
  }
  if (errors !== "") return `Cannot load "${shown}":\n${errors}`;
  return `Cannot load "${shown}": it exited the process with code ${code} while it was loaded. Only op.main() may do that.`;
}
