/** YAML as Kubernetes' tools read it: version 1.1, as Go's libraries implement it. */

interface Tag {
  readonly tag: string;
  readonly format?: string | undefined;
}

/** YAML 1.2's octal numbers, which Go's libraries read in addition to those of 1.1. */
const OCTAL = {
  tag: "tag:yaml.org,2002:int",
  default: true,
  test: /^[-+]?0o[0-7]+$/,
  resolve: (text: string) => Number(text.replace(/^[-+]/, "")) * (text.startsWith("-") ? -1 : 1),
};

const BOOLEAN = {
  tag: "tag:yaml.org,2002:bool",
  default: true,
  test: /^(?:[Tt]rue|TRUE|[Ff]alse|FALSE)$/,
  resolve: (text: string) => text.toLowerCase() === "true",
};

/** Options of the package `yaml`. */
export interface GoYaml {
  /** The version of YAML. */
  readonly version: "1.1";
  /** Selects the tags of the version, and adds some. */
  readonly customTags: <T>(tags: T[]) => T[];
  /** Suppresses warnings about unknown tags. */
  readonly logLevel: "error";
}

/**
 * Options for the package `yaml` that make it resolve scalars as kubectl and the API server do:
 * `010` is 8, `yes` is true, but `22:22` and `2026-01-01` are strings, because Go's library omits
 * sexagesimal numbers and converts timestamps only on request.
 *
 * The package is not imported here, so that executables do not contain it.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { parse } from "yaml";
 *
 * assert.deepEqual(parse("{ octal: 010, flag: yes, time: 22:22 }", GO_YAML), {
 *   octal: 8,
 *   flag: true,
 *   time: "22:22",
 * });
 * ```
 */
export const GO_YAML: GoYaml = options([OCTAL], ({ tag }) => tag !== "tag:yaml.org,2002:timestamp");

/**
 * Options that make it resolve scalars as kustomize does, which uses a newer Go library: `yes` and
 * `on` are strings, and timestamps are dates.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { parse } from "yaml";
 *
 * assert.deepEqual(parse("{ octal: 010, flag: yes }", KUSTOMIZE_YAML), { octal: 8, flag: "yes" });
 * ```
 */
export const KUSTOMIZE_YAML: GoYaml = options([OCTAL, BOOLEAN], ({ tag }) => tag !== BOOLEAN.tag);

function options(added: readonly unknown[], keeps: (tag: Tag) => boolean): GoYaml {
  const isKept = (tag: Tag) => tag.format !== "TIME" && keeps(tag);
  return {
    version: "1.1",
    customTags: <T>(tags: T[]) => [...added as T[], ...tags.filter((tag) => isKept(tag as unknown as Tag))],
    logLevel: "error",
  };
}
