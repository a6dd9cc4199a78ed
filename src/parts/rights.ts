/** What a controller asks of the API server, as rights: the verbs that the runtime really sends for what is declared. */
import type { AnyKind } from "../resource/kind.ts";
import type { Controller } from "./controller.ts";

/** A right: one verb on one resource. */
export interface Right {
  readonly group: string;
  readonly version: string;
  /** The plural, with a subresource behind a slash: `websites/status`. */
  readonly resource: string;
  readonly verb: string;
  readonly namespaced: boolean;
  /** Where it is asked for; those of the operator where it is left out. */
  readonly namespaces: readonly string[] | undefined;
  /** Whether nothing can be done without it. Live calls may be meant for one namespace, where a role of that namespace grants them. */
  readonly isVital: boolean;
}

/**
 * The rights of a controller, each once.
 *
 * @param controller The controller.
 */
export function rightsOf({ kind, owns, reads, uses, watches, prune, cleanup }: Controller): Right[] {
  const namespacesOf = (kind: AnyKind): readonly string[] | undefined =>
    watches.find((watch) => identity(watch.kind) === identity(kind))?.options.namespaces;
  const on = (kind: AnyKind, verbs: readonly string[], isVital = true, subresource = ""): Right[] =>
    verbs.map((verb) => ({
      group: kind.group,
      version: kind.version,
      resource: kind.plural + subresource,
      verb,
      namespaced: kind.namespaced,
      namespaces: namespacesOf(kind),
      isVital,
    }));
  const writesStatus = kind.crd?.spec.versions.some(({ name, subresources }) =>
    name === kind.version && subresources?.status
  );
  return unique([
    ...on(kind, ["list", "watch", ...(cleanup === undefined ? [] : ["patch"])]),
    ...(writesStatus ? on(kind, ["patch"], true, "/status") : []),
    ...owns.flatMap((kind) => on(kind, ["list", "watch", "create", "patch", ...(prune ? ["delete"] : [])])),
    ...[...reads, ...watches.map(({ kind }) => kind)].flatMap((kind) => on(kind, ["list", "watch"])),
    ...uses.flatMap(({ kind, verbs }) => on(kind, verbs, false)),
  ]);
}

/**
 * A right in words: `patch websites/status.demo.example.com`.
 *
 * @param right The right.
 */
export function told({ verb, resource, group }: Right): string {
  const [plural, subresource] = resource.split("/");
  return `${verb} ${plural}${group === "" ? "" : `.${group}`}${subresource === undefined ? "" : `/${subresource}`}`;
}

function unique(rights: readonly Right[]): Right[] {
  const seen = new Map<string, Right>();
  for (const right of rights) {
    const key = told(right);
    const held = seen.get(key);
    if (held === undefined || (right.isVital && !held.isVital)) seen.set(key, right);
  }
  return [...seen.values()];
}

function identity({ kind, version, group }: AnyKind): string {
  return `${kind}.${version}.${group}`;
}
