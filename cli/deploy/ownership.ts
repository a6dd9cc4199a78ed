/**
 * Determines to which operator the objects in a cluster belong. Installed objects have the
 * operator's name and ID as labels. Objects without an ID belong to an operator whose project has
 * no ID. Such operators of the same name are distinguished by their kinds.
 */
import { type AnyKind, ApiError, type KubeObject } from "@op/sdk";
import { ClusterRole, CustomResourceDefinition } from "@op/sdk/kinds";
import { ID_LABEL, NAME_LABEL } from "../internal/mod.gen.ts";
import { type Cluster, ifFound, servedKind } from "../cluster.ts";
import { Failure } from "../exit_code.ts";
import { DEV_MANAGER, MANAGER } from "../field_manager.ts";
import { namespaceOptions, type PlainObject, shown } from "../objects.ts";
import { counted } from "../plural.ts";

/** An object to write or delete that belongs to another operator in the cluster. */
export interface Conflict {
  readonly object: PlainObject;
  readonly live: KubeObject;
}

/** The maximum number of objects that a message names. */
const MAX_NAMED = 5;

/** Field managers of definitions that `op` installed. */
const OWN_MANAGERS: readonly string[] = [MANAGER, DEV_MANAGER];

/** An annotation on the Secret of an operator's certificate. */
const AUTHORITY_SINCE = "op/authority-since";

/**
 * Returns whether a namespace belongs to an operator. Another owner may have created it, and
 * several operators may share it.
 *
 * @param live The namespace in the cluster.
 * @param desired The operator's manifest of it.
 */
export function isOwnNamespace(live: Pick<KubeObject, "metadata">, desired: Pick<PlainObject, "metadata">): boolean {
  const [has, wants] = [live.metadata.labels ?? {}, desired.metadata.labels ?? {}];
  if (wants[NAME_LABEL] === undefined) return true;
  // A namespace that was installed before the project had an ID has only the name.
  return has[NAME_LABEL] === wants[NAME_LABEL] && (has[ID_LABEL] === undefined || has[ID_LABEL] === wants[ID_LABEL]);
}

/**
 * Returns the objects that belong to another operator in the cluster, except namespaces.
 *
 * @param cluster The cluster.
 * @param objects The objects as this operator declares them, with their namespaces.
 * @throws {ApiError} If the user may not read one of them.
 */
export async function conflictsIn(cluster: Cluster, objects: readonly PlainObject[]): Promise<Conflict[]> {
  const operators = new Set(
    objects.filter(({ kind, metadata: { name, labels } }) => kind === "ServiceAccount" && labels?.[NAME_LABEL] === name)
      .map(({ metadata }) => metadata.name),
  );
  const pairs = await Promise.all(
    objects.filter(({ kind }) => kind !== "Namespace").map(async (object) => {
      const live = await liveOf(cluster, object);
      return live === undefined ? [] : [{ object, live }];
    }),
  );
  const isForeign = await Promise.all(
    pairs.flat().map(async ({ object, live }) => {
      const [id, name] = [object.metadata.labels?.[ID_LABEL], object.metadata.labels?.[NAME_LABEL]];
      const [liveId, liveName] = [live.metadata.labels?.[ID_LABEL], live.metadata.labels?.[NAME_LABEL]];
      if (liveId !== undefined) return liveId !== id;
      if (object.kind === "CustomResourceDefinition") {
        return (id !== undefined || operators.size > 0) && await isForeignDefinition(live);
      }
      // An object that the user added to an overlay belongs to no operator.
      if (name === undefined || !operators.has(name)) return false;
      if (liveName === name) return !await hasKindsInCommon(name);
      return !isUnlabeledCertificate(live);
    }),
  );
  return pairs.flat().filter((_, index) => isForeign[index]);

  /**
   * Returns whether a definition without an ID belongs to another operator. The definition may have
   * no label with the operator's name, but the roles for its users have one.
   */
  async function isForeignDefinition({ metadata }: KubeObject): Promise<boolean> {
    const name = metadata.labels?.[NAME_LABEL];
    if (name !== undefined) return !operators.has(name);
    if (!(metadata.managedFields ?? []).some(({ manager = "" }) => OWN_MANAGERS.includes(manager))) return true;
    if (operators.size === 0) return false;
    const roles = await userRoles(cluster);
    return roles.some((role) =>
      kindsIn(role).includes(metadata.name) && !operators.has(role.metadata.labels?.[NAME_LABEL] ?? "")
    );
  }

  async function hasKindsInCommon(name: string): Promise<boolean> {
    const otherKinds = (await userRoles(cluster, name)).filter(({ metadata }) =>
      metadata.labels?.[ID_LABEL] === undefined
    ).flatMap(kindsIn);
    const definitions = definitionsIn(objects);
    // If all kinds of this operator are external now, its roles still name the kinds that an
    // earlier version installed.
    const used = definitions.length > 0 ? [] : objects.flatMap(kindsInRules);
    const own = [...objects.flatMap(kindsIn), ...definitions, ...used];
    return otherKinds.length === 0 || otherKinds.some((kind) => own.includes(kind));
  }
}

/**
 * Checks that no object belongs to another operator in the cluster.
 *
 * @param cluster The cluster.
 * @param objects The objects as this operator declares them, with their namespaces.
 * @param options `action` is the command that fails, such as `deploy "shop"`. `advice` is a
 *   sentence with what to do instead.
 * @throws {Failure} If at least one object belongs to another operator. The message names the
 *   objects, and what that operator would lose.
 */
export async function checkConflicts(
  cluster: Cluster,
  objects: readonly PlainObject[],
  { action, advice }: { readonly action: string; readonly advice: string },
): Promise<void> {
  const conflicts = await conflictsIn(cluster, objects);
  if (conflicts.length === 0) return;
  throw new Failure(
    `Cannot ${action}: ${await conflictReport(cluster, conflicts, objects)}\n` +
      `No object was changed. If both operators belong in this cluster, rename one of them. ${advice}`,
  );
}

/**
 * Describes conflicts: the objects, their owner, and what the owner would lose.
 *
 * @param cluster The cluster.
 * @param conflicts The conflicts, at least one.
 * @param objects All objects of this operator.
 */
export async function conflictReport(
  cluster: Cluster,
  conflicts: readonly Conflict[],
  objects: readonly PlainObject[],
): Promise<string> {
  const names = conflicts.slice(0, MAX_NAMED).map(({ live }) => shown(live)).join(", ");
  const more = conflicts.length > MAX_NAMED ? ` and ${conflicts.length - MAX_NAMED} more` : "";
  const lost = await losses(cluster, conflicts);
  return [
    `${counted(conflicts.length, "object belongs", "objects belong")} to another operator in ${cluster.url}, ` +
    `${ownerOf(conflicts)}: ${names}${more}.`,
    ...(lost.length === 0 ? [] : [`That operator would lose ${lost.join(", ")}.`]),
    ...idAdvice(conflicts, objects),
  ].join("\n");
}

/**
 * Returns whether an object is the Secret of an operator's certificate, created by an earlier
 * version of the SDK, which did not set labels.
 */
function isUnlabeledCertificate({ kind, metadata: { labels, annotations } }: KubeObject): boolean {
  return kind === "Secret" && labels?.[NAME_LABEL] === undefined && annotations?.[AUTHORITY_SINCE] !== undefined;
}

function ownerOf(conflicts: readonly Conflict[]): string {
  const owners = conflicts.map(({ live: { metadata: { labels } } }) => {
    const [id, name] = [labels?.[ID_LABEL], labels?.[NAME_LABEL]];
    if (name === undefined) return id === undefined ? "which op did not install" : `with ID "${id}"`;
    return `"${name}" ${id === undefined ? "without an ID" : `with ID "${id}"`}`;
  });
  return [...new Set(owners)].join(" and ");
}

/**
 * Returns what another operator would lose: its Deployment, its permissions, and the objects of its
 * kinds.
 */
async function losses(cluster: Cluster, conflicts: readonly Conflict[]): Promise<string[]> {
  const names = new Set(conflicts.flatMap(({ live }) => live.metadata.labels?.[NAME_LABEL] ?? []));
  const roles = (await Promise.all([...names].map((name) => userRoles(cluster, name)))).flat();
  const ids = new Set(conflicts.map(({ live }) => live.metadata.labels?.[ID_LABEL]));
  const kinds = new Set([
    ...roles.filter(({ metadata }) => ids.has(metadata.labels?.[ID_LABEL])).flatMap(kindsIn),
    ...conflicts.filter(({ live }) => live.kind === "CustomResourceDefinition").map(({ live }) => live.metadata.name),
  ]);
  const hasRole = conflicts.some(({ live }) => live.kind === "ClusterRole" || live.kind === "Role");
  return [
    ...(conflicts.some(({ live }) => live.kind === "Deployment") ? ["its Deployment"] : []),
    ...(await Promise.all(
      [...kinds].map(async (kind) =>
        `${hasRole ? "its permissions on" : "the definition of"} ${kind} (${await objectCount(cluster, kind)})`
      ),
    )),
  ];
}

function idAdvice(conflicts: readonly Conflict[], objects: readonly PlainObject[]): string[] {
  const hasNoId = objects.every(({ metadata }) => metadata.labels?.[ID_LABEL] === undefined);
  const ids = [...new Set(conflicts.flatMap(({ live }) => live.metadata.labels?.[ID_LABEL] ?? []))];
  if (!hasNoId || ids.length !== 1) return [];
  return [
    `This project has no ID. If it is the same operator, add [project] id = "${
      ids[0]
    }" to operator.toml, and generate the manifests again.`,
  ];
}

/**
 * Returns the ClusterRoles for users of the kinds that an operator installed. Without a name, it
 * returns those of all operators.
 */
async function userRoles(cluster: Cluster, name?: string): Promise<readonly KubeObject[]> {
  const labelSelector = name === undefined ? NAME_LABEL : `${NAME_LABEL}=${name}`;
  const roles = await cluster.client.list(ClusterRole, { labelSelector });
  return roles.filter(isUserRole);
}

function isUserRole({ kind, metadata: { name, labels } }: Pick<PlainObject, "kind" | "metadata">): boolean {
  return kind === "ClusterRole" && name.startsWith(`${labels?.[NAME_LABEL]}-`) && name.endsWith("-viewer");
}

/** Returns the resources of a role for users, such as `websites.demo.example.com`. */
function kindsIn(role: Pick<PlainObject, "kind" | "metadata">): string[] {
  return isUserRole(role) ? kindsInRules(role) : [];
}

/** Returns the resources in the rules of a role, or an empty list for other objects. */
export function kindsInRules(role: Pick<PlainObject, "kind" | "metadata">): string[] {
  if (role.kind !== "ClusterRole" && role.kind !== "Role") return [];
  const { rules = [] } = role as {
    readonly rules?: readonly { readonly apiGroups?: readonly string[]; readonly resources?: readonly string[] }[];
  };
  return rules.flatMap(({ apiGroups = [], resources = [] }) =>
    resources.filter((resource) => !resource.includes("/")).flatMap((resource) =>
      apiGroups.map((group) => `${resource}.${group}`)
    )
  );
}

function definitionsIn(objects: readonly PlainObject[]): string[] {
  return objects.filter(({ kind }) => kind === "CustomResourceDefinition").map(({ metadata }) => metadata.name);
}

/**
 * Counts the objects of a custom kind, and returns a string such as `3 objects`.
 *
 * @param cluster The cluster.
 * @param definition The name of its CustomResourceDefinition.
 */
export async function objectCount({ client }: Cluster, definition: string): Promise<string> {
  try {
    const { spec } = await client.get(CustomResourceDefinition, definition);
    const version = (spec.versions.find(({ storage }) => storage) ?? spec.versions[0])?.name ?? "";
    const { names, scope, group } = spec;
    const kind = {
      ...{ group, version, kind: names.kind, plural: names.plural, apiVersion: `${group}/${version}` },
      ...{ singular: "", listKind: `${names.kind}List`, shortNames: [], namespaced: scope === "Namespaced" },
    } as AnyKind;
    return counted((await client.list(kind, { metadataOnly: true })).length, "object");
  } catch (error) {
    if (error instanceof ApiError) return "an unknown number of objects";
    throw error;
  }
}

/**
 * Returns the object of the same kind and name in a cluster, or `undefined` if it does not exist.
 *
 * @param cluster The cluster.
 * @param object The object as it is declared.
 */
export async function liveOf(cluster: Cluster, object: PlainObject): Promise<KubeObject | undefined> {
  const kind = await servedKind(cluster, object);
  // An object whose kind is not served cannot exist.
  if (kind === undefined) return undefined;
  const options = kind.namespaced ? { namespace: cluster.namespace, ...namespaceOptions(object) } : {};
  return await ifFound(() => cluster.client.get(kind, object.metadata.name, options));
}
