/** Validates the names of a kind, and derives the names for the files of a project. */
import { type AnyKind, resource, s } from "@op/sdk";
import * as kinds from "@op/sdk/kinds";
import { UsageError } from "../exit_code.ts";
import { byNearness } from "../internal/mod.gen.ts";

/** A kind on the command line. */
export interface KindOptions {
  readonly kind: string;
  readonly apiVersion: string;
  readonly group: string;
}

/** The names of a kind in a project. */
export interface KindNames extends KindOptions {
  /** Whether it is a built-in kind, for which the project has only a controller. */
  readonly isBuiltin: boolean;
  /** Its folder: `cron_tab`. */
  readonly folder: string;
  /** The key of its controller in the operator's parts: `cronTabs`. */
  readonly part: string;
  /** The kind with a lowercase first letter: `cronTab`. */
  readonly camel: string;
  /** The name of its CustomResourceDefinition: `crontabs.demo.example.com`. */
  readonly definition: string;
}

/** Names that the generated files of a controller already use. */
const RESERVED_KINDS = ["ConfigMap", "Infer", "Deno"];

/**
 * Validates a kind as an API server does, and returns its names.
 *
 * @param options The kind.
 * @throws {UsageError} If the kind is not valid. The message suggests a similar one.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const group = "demo.example.com";
 * const { folder, part } = kindNames({ kind: "CronTab", apiVersion: "v1", group });
 * assert.deepEqual([folder, part], ["cron_tab", "cronTabs"]);
 * ```
 */
export function kindNames({ kind, apiVersion, group }: KindOptions): KindNames {
  if (apiVersion.includes("/")) {
    const [groupPart = "", versionPart = ""] = apiVersion.split("/");
    throw new UsageError(
      `Cannot define kind "${kind}": "${apiVersion}" is a group and a version. Use --group ${groupPart} --api-version ${versionPart}.`,
    );
  }
  const builtin = builtinKind(kind, apiVersion, group);
  const { plural } = builtin ?? checkedKind({ kind, apiVersion, group });
  if (builtin === undefined) checkVersionName(kind, apiVersion);
  return namesOf({ kind, apiVersion, group }, plural, builtin !== undefined);
}

/**
 * Returns the names of an existing kind.
 *
 * @param options The kind.
 * @param plural Its plural name.
 * @param isBuiltin Whether it is a built-in kind.
 */
export function namesOf({ kind, apiVersion, group }: KindOptions, plural: string, isBuiltin: boolean): KindNames {
  const camel = kind.replace(/^[A-Z]+(?=[A-Z][a-z]|\d|$)|^[A-Z]/, (start) => start.toLowerCase());
  const common = [...plural].findIndex((letter, i) => letter !== kind[i]?.toLowerCase());
  return {
    kind,
    apiVersion,
    group,
    isBuiltin,
    folder: kind.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/([A-Z])([A-Z][a-z])/g, "$1_$2").toLowerCase(),
    part: common === -1 ? camel : camel.slice(0, common) + plural.slice(common),
    camel,
    definition: `${plural}.${group}`,
  };
}

function builtinKind(kind: string, version: string, group: string): AnyKind | undefined {
  // Some exports are not kinds.
  const all = Object.values(kinds as Readonly<Record<string, unknown>>).filter((one): one is AnyKind =>
    typeof (one as Partial<AnyKind> | undefined)?.apiVersion === "string"
  );
  const found = all.find((one) => one.kind === kind && one.group === group);
  if (found?.version === version) return found;
  if (found !== undefined) {
    throw new UsageError(
      `Cannot define kind "${kind}": in Kubernetes it has version ${found.apiVersion}. Use --api-version ${found.version}.`,
    );
  }
  if (!isReserved(group)) return undefined;
  const [suggestion] = byNearness(kind, all.filter((one) => one.group === group).map((one) => one.kind));
  const hint = suggestion === undefined
    ? "Use a domain that you own, such as demo.example.com."
    : `Did you mean "${suggestion}"?`;
  const shown = group === "" ? "the core group" : `group "${group}"`;
  throw new UsageError(
    `Cannot define kind "${kind}": ${shown} belongs to Kubernetes and has no such kind. ${hint}`,
  );
}

/** Returns whether a group is reserved for kinds of Kubernetes. */
function isReserved(group: string): boolean {
  return ["", "apps", "autoscaling", "batch", "extensions", "policy"].includes(group) ||
    /(^|\.)(k8s|kubernetes)\.io$/.test(group);
}

/**
 * Checks that a version has the form by which Kubernetes orders versions.
 *
 * @throws {UsageError} If it is not of the form `v1`, `v1beta1` or `v2alpha1`. The message suggests
 *   a similar version.
 */
export function checkVersionName(kind: string, version: string): void {
  if (/^v[1-9]\d*((alpha|beta)[1-9]\d*)?$/.test(version)) return;
  const [, number = "1", stage, step = "1"] = /^v*0*(\d+)?\W*(alpha|beta)?\W*0*(\d+)?/i.exec(version) ?? [];
  const suggestion = `v${Number(number) || 1}${
    stage === undefined ? "" : `${stage.toLowerCase()}${Number(step) || 1}`
  }`;
  throw new UsageError(
    `Cannot define kind "${kind}": version "${version}" is not of the form v1, v1beta1 or v2alpha1, by which Kubernetes orders versions. Use "${suggestion}".`,
  );
}

function checkedKind({ kind, apiVersion, group }: KindOptions): AnyKind {
  if (RESERVED_KINDS.includes(kind)) {
    throw new UsageError(
      `Cannot define kind "${kind}": the generated files already use that name. Use another kind.`,
    );
  }
  try {
    return resource({ group, version: apiVersion, kind, spec: s.object({}) });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const better = camelCase(kind);
    const isCamelCase = /^[A-Z][A-Za-z0-9]*$/.test(kind);
    const hint = !isCamelCase && better !== "" && better !== kind ? `. Use "${better}".` : "";
    throw new UsageError(`${error.message}${hint}`, { cause: error });
  }
}

function camelCase(name: string): string {
  return name.split(/[^A-Za-z0-9]+/).filter((part) => part !== "").map((part) => part[0]!.toUpperCase() + part.slice(1))
    .join("").replace(/^\d+/, "");
}
