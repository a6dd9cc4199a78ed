/** Names of kinds as they are typed, and all that follows from them for the files of a project. */
import { type AnyKind, resource, s } from "@op/sdk";
import * as kinds from "@op/sdk/kinds";
import { UsageError } from "../exit_code.ts";
import { byNearness } from "../internal/mod.gen.ts";

/** A kind, as the command line names it. */
export interface KindOptions {
  readonly kind: string;
  readonly apiVersion: string;
  readonly group: string;
}

/** What a kind is called in a project. */
export interface KindNames extends KindOptions {
  /** Whether it is one that Kubernetes has: only what is done about it is the project's. */
  readonly isBuiltin: boolean;
  /** Its folder: `cron_tab`. */
  readonly folder: string;
  /** The key of its controller among the operator's parts: `cronTabs`. */
  readonly part: string;
  /** The kind with a small first letter: `cronTab`. */
  readonly camel: string;
  /** Its name in a cluster: `crontabs.demo.example.com`. */
  readonly definition: string;
}

/** Names that the files of a controller use for something else. */
const USED = ["ConfigMap", "Infer", "Deno"];

/**
 * Checks a kind as an API server would, and names what is made of it.
 *
 * @param options The kind, as it was typed.
 * @throws {UsageError} If there can be no such kind; the message has one that can be, where there
 * is one near.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const { folder, part } = kindNames({ kind: "CronTab", apiVersion: "v1", group: "demo.example.com" });
 * assert.deepEqual([folder, part], ["cron_tab", "cronTabs"]);
 * ```
 */
export function kindNames({ kind, apiVersion, group }: KindOptions): KindNames {
  if (apiVersion.includes("/")) {
    const [before = "", behind = ""] = apiVersion.split("/");
    throw new UsageError(
      `Cannot make kind "${kind}": "${apiVersion}" is a group and a version; say --group ${before} --api-version ${behind}`,
    );
  }
  const builtin = builtinKind(kind, apiVersion, group);
  const { plural } = builtin ?? checkedKind({ kind, apiVersion, group });
  if (builtin === undefined) checkVersionName(kind, apiVersion);
  return namesOf({ kind, apiVersion, group }, plural, builtin !== undefined);
}

/**
 * All that follows from the names of a kind that there is.
 *
 * @param options The kind.
 * @param plural Its plural name.
 * @param isBuiltin Whether Kubernetes has it.
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
  // A few of the exports are no kinds.
  const all = Object.values(kinds as Readonly<Record<string, unknown>>).filter((one): one is AnyKind =>
    typeof (one as Partial<AnyKind> | undefined)?.apiVersion === "string"
  );
  const found = all.find((one) => one.kind === kind && one.group === group);
  if (found?.version === version) return found;
  if (found !== undefined) {
    throw new UsageError(
      `Cannot make kind "${kind}": Kubernetes has it as ${found.apiVersion}; say --api-version ${found.version}`,
    );
  }
  if (!isReserved(group)) return undefined;
  const [near] = byNearness(kind, all.filter((one) => one.group === group).map((one) => one.kind));
  const hint = near === undefined ? "take a domain of your own, such as demo.example.com" : `did you mean ${near}?`;
  const shown = group === "" ? "the core group" : `group "${group}"`;
  throw new UsageError(
    `Cannot make kind "${kind}": ${shown} is Kubernetes' own, and there is no such kind in it: ${hint}`,
  );
}

/** Groups in which a cluster takes no kinds of others. */
function isReserved(group: string): boolean {
  return ["", "apps", "autoscaling", "batch", "extensions", "policy"].includes(group) ||
    /(^|\.)(k8s|kubernetes)\.io$/.test(group);
}

/**
 * Refuses a version that Kubernetes cannot put in order: which one is newer is told by the number.
 *
 * @throws {UsageError} If it is not like `v1`, `v1beta1` or `v2alpha1`; the message has one that
 * is.
 */
export function checkVersionName(kind: string, version: string): void {
  if (/^v[1-9]\d*((alpha|beta)[1-9]\d*)?$/.test(version)) return;
  const [, number = "1", stage, step = "1"] = /^v*0*(\d+)?\W*(alpha|beta)?\W*0*(\d+)?/i.exec(version) ?? [];
  const near = `v${Number(number) || 1}${stage === undefined ? "" : `${stage.toLowerCase()}${Number(step) || 1}`}`;
  throw new UsageError(
    `Cannot make kind "${kind}": version "${version}" is none that Kubernetes has in order, as v1, v1beta1 or v2alpha1 are; try "${near}"`,
  );
}

function checkedKind({ kind, apiVersion, group }: KindOptions): AnyKind {
  if (USED.includes(kind)) {
    throw new UsageError(
      `Cannot make kind "${kind}": the files that are made use that name themselves; take another one`,
    );
  }
  try {
    return resource({ group, version: apiVersion, kind, spec: s.object({}) });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const better = camelCase(kind);
    const isName = error.message.includes('"kind" must be');
    const hint = isName && better !== "" && better !== kind ? `; try "${better}"` : "";
    throw new UsageError(`${error.message}${hint}`, { cause: error });
  }
}

function camelCase(name: string): string {
  return name.split(/[^A-Za-z0-9]+/).filter((part) => part !== "").map((part) => part[0]!.toUpperCase() + part.slice(1))
    .join("").replace(/^\d+/, "");
}
