/** Names files and types, and chooses one group for each name that several groups have. */

/** Returns the file that a type is written to, such as `apps_v1.gen.ts`. */
export function fileOf(id: string): string {
  const [version, group] = id.split(".").slice(0, -1).reverse();
  return `${group}_${version}.gen.ts`;
}

/** Returns the short name of a type: `DeploymentSpec` for `io.k8s.api.apps.v1.DeploymentSpec`. */
export function nameOf(id: string): string {
  return id.slice(id.lastIndexOf(".") + 1);
}

/**
 * Returns the first sentence of a description as a comment on one line, or `""` if there is no
 * description.
 */
export function comment(description: string | undefined, indent: string): string {
  const short = firstSentence(description)?.replaceAll("*/", "* /").replace(/\.$/, "");
  if (short === undefined) return "";
  return `${indent}/** ${short.length > 160 ? `${short.slice(0, short.lastIndexOf(" ", 157))} ...` : `${short}.`} */\n`;
}

// Abbreviations whose last dot does not end a sentence. A one-dot leader replaces it temporarily.
const ABBREVIATION = /\b(e\.g|i\.e|etc|vs)\.(?=\s|,|$)/gi;
// Links or values that follow before the sentence ends.
const REST = /\s*[;,(]?\s*\b(?:More info(?:rmation)?|Possible enum values|The supported values are)\b.*$/i;
// The end of a paragraph, or the start of a list.
const BREAK = /\n\s*\n|\n\s*[-*] |(?<=:)\s+[-*] /;
// A first sentence without information of its own, such as "Required."
const OPENING = /^(?:\S+ (?:is )?)?(?:optional|required|deprecated|read-?only)[.:]$/i;

/**
 * Returns the first sentence of a description, on one line, without the links and lists that follow
 * it.
 */
export function firstSentence(description: string | undefined): string | undefined {
  const [paragraph = ""] = (description ?? "").trim().split(BREAK);
  const text = paragraph.replaceAll(/\s+/g, " ").replaceAll(ABBREVIATION, "$1\u2024");
  const sentences = text.match(/.+?(?:[.!?](?= |$)|$)/g)?.map((sentence) => sentence.trim()) ?? [];
  const [first, second] = sentences;
  if (!first) return undefined;
  const sentence = OPENING.test(first) && second ? `${first} ${second}` : first;
  const short = sentence.replace(REST, "") || sentence;
  return short.replaceAll("\u2024", ".").replace(/:$/, "");
}

/** A name that a file exports. */
export interface Exported {
  readonly file: string;
  readonly name: string;
  /** Whether it belongs to a kind that the API server serves. */
  readonly served: boolean;
}

/** The group of a name for which the rules choose none: the one that operators usually mean. */
const PREFERRED: { readonly [name: string]: string } = {
  Subject: "rbac",
  ServiceReference: "admissionregistration",
  WebhookClientConfig: "admissionregistration",
};

/**
 * Returns the exports of each file, with each name once. Within a group, the latest version has the
 * name. If several groups have the name, the group that took the kind over from core has it, and
 * for other types core. If neither applies, the name is omitted unless `PREFERRED` lists it.
 */
export function latestOf<E extends Exported>(all: readonly E[]): { file: string; exports: E[] }[] {
  const files = [...new Set(all.map(({ file }) => file))].sort(byAge);
  const owners = new Map<string, E | undefined>();
  for (const each of files.flatMap((file) => all.filter((each) => each.file === file))) {
    const { file, name, served } = each;
    const before = owners.get(name);
    const [group, earlier] = [groupOf(file), before && groupOf(before.file)];
    const preferred = PREFERRED[name.replace(/Input$/, "")];
    if (!owners.has(name) || earlier === group || (earlier === "core" && served) || preferred === group) {
      owners.set(name, each);
    } else if (earlier !== undefined && earlier !== "core" && earlier !== preferred) owners.set(name, undefined);
  }
  return files
    .map((file) => ({ file, exports: [...owners.values()].filter((each) => each?.file === file) as E[] }))
    .filter(({ exports }) => exports.length > 0);
}

function groupOf(file: string): string {
  return file.slice(0, file.lastIndexOf("_"));
}

/**
 * Compares files: core first, then by group name, and within a group from alpha to the latest
 * version.
 */
function byAge(a: string, b: string): number {
  const rank = (file: string) => {
    const [, group, major, stage = "stable", minor = "0"] = /^(.+)_v(\d+)(alpha|beta)?(\d+)?\.gen\.ts$/.exec(file)!;
    const stages = ["alpha", "beta", "stable"];
    return { group: group === "core" ? "" : group!, age: [stages.indexOf(stage), Number(major), Number(minor)] };
  };
  const [x, y] = [rank(a), rank(b)];
  if (x.group !== y.group) return x.group < y.group ? -1 : 1;
  for (const [i, age] of x.age.entries()) if (age !== y.age[i]) return age - y.age[i]!;
  return 0;
}
