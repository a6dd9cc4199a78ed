/** How an operator's file is loaded, in a process of its own; and what is said where it cannot be: its own words, and the one place in it that matters. */
import { pathToFileURL } from "node:url";
import { faultOf, type SourceFile } from "./deno.ts";

/** What a file threw while it was loaded. */
export interface LoadFault {
  /** Why it could not be loaded, as it is told. */
  readonly told: string;
  /** The error's words, with its name before them. */
  readonly said: string;
  /** Places, the innermost first, as `file:///shop/main.ts:3:16`. */
  readonly places: readonly string[];
}

/**
 * Code that loads a file. It has `op`, the operator; or `fault`, a {@linkcode LoadFault}, or `absent`, why there is no operator in it.
 * The value is asked, not its class: the file may have got the SDK by another road than this program.
 *
 * @param source The file.
 * @param shown The file, as the user named it.
 */
export function loading({ url, folder }: Pick<SourceFile, "url" | "folder">, shown: string): string {
  const text = JSON.stringify;
  return `
let module, fault;
try {
  module = await import(${text(url.href)});
} catch (error) {
  const isError = typeof error?.message === "string";
  // The names of what Deno and the SDK throw say nothing to whoever wrote the file.
  const name = isError && !/^(Cannot|Import|Module|SyntaxError:|The module|Expected|Attempted) ?/.test(error.message) ? error.name + ": " : "";
  const places = [...(isError ? error.stack ?? "" : "").matchAll(/^ +at (?:.*\\()?(\\w+:[^()\\s]+:\\d+:\\d+)\\)?$/gm)].map(([, place]) => place);
  const near = (text) => text.replaceAll(${text(`${pathToFileURL(folder).href}/`)}, "");
  // Deno's own words bring places along, this script's among them, and colours.
  const plain = (isError ? error.message : String(error)).replaceAll(/\\x1b\\[[0-9;]*m/g, "");
  // The flag in Deno's own words is not the user's to set.
  const [, wanted] = error?.name === "NotCapable" ? /^Requires (.*?), run again/s.exec(plain) ?? [] : [];
  const words = wanted === undefined ? name + plain : "it needs " + wanted + " at its top level, which op does not grant while it loads a file; ask for it inside a part or a service";
  const lines = near(words).split("\\n");
  const said = lines.filter((line, i) => !line.includes("$deno$") && lines.indexOf(line) === i).join("\\n");
  const place = places.map(near).find((place) => !place.includes(":/") && !/^(ext:|node:|\\$deno\\$)/.test(place));
  const where = place === undefined || said.includes(place) ? "" : "\\n    at " + place;
  fault = { told: ${text(`Cannot load "${shown}": `)} + said + where, said, places };
}
const isOperator = (value) => typeof value?.name === "string" &&
  ["crds", "configured", "sandbox", "rbac", "manifests", "samples", "main"].every((name) => typeof value[name] === "function");
const op = module?.default;
let absent;
if (fault === undefined && !isOperator(op)) {
  const named = Object.keys(module).filter((name) => isOperator(module[name]));
  absent = ${text(`Cannot find an operator in "${shown}": its default export is `)} +
    (op === undefined ? "none" : "none that operator() made") + (named.length === 0
      ? '; write "export default operator({ ... })" there'
      : "; it exports " + named.map((name) => '"' + name + '"').join(" and ") + ' by name: write "export default ' + named[0] + '" there');
}
`;
}

/**
 * Why a bundle could not be loaded, with the place in what it was made of.
 *
 * @param shown The operator's file, as the user named it.
 * @param fault What it threw.
 * @param traced Reads places of the bundle as those of its sources.
 */
export function bundleFailure(shown: string, { said, places }: LoadFault, traced: (text: string) => string): string {
  // What is of a package is not what is to be mended.
  const place = places.map(traced).find((place) => !/:\/|^\.\.|^(jsr|npm):|^@[^/]+\/[^/]+@/.test(place));
  return `Cannot load "${shown}": ${said}${place === undefined ? "" : `\n    at ${place}`}`;
}

/**
 * Why a file was not loaded to its end, by how the process ended.
 *
 * @param shown The file, as the user named it.
 * @param code The exit code.
 * @param stderr Its standard error.
 */
export function unfinishedLoad(shown: string, code: number, stderr: string): string {
  const said = faultOf(stderr);
  if (said.includes("Top-level await promise never resolved")) {
    return `Cannot load "${shown}": it waits at its top level for a promise that is never settled; await it inside a part`;
  }
  if (said !== "") return `Cannot load "${shown}":\n${said}`;
  return `Cannot load "${shown}": it ended the process with exit code ${code} while it was loaded; leave that to op.main()`;
}
