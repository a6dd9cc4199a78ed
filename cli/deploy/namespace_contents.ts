/**
 * Finds objects in an operator's namespace that do not belong to the operator. They would be
 * deleted together with the namespace.
 */
import type { AnyKind, KubeObject } from "@op/sdk";
import { NAME_LABEL } from "../internal/mod.gen.ts";
import { collectableKinds, scan } from "../cluster_scan.ts";
import type { Cluster } from "../cluster.ts";
import type { OperatorFacts } from "../inspect.ts";
import { type PlainObject, shown } from "../objects.ts";
import { counted } from "../plural.ts";
import { uidOf } from "./dependents.ts";

/** The maximum number of objects that a message names. */
const MAX_NAMED = 3;

/** Kinds of objects that Kubernetes or the operator writes into every namespace. */
const EPHEMERAL = ["Event", "Lease", "Endpoints"];

/** Objects that Kubernetes creates in every namespace. */
const DEFAULT_OBJECTS = ["ConfigMap/kube-root-ca.crt", "ServiceAccount/default"];

/** Annotation of the token Secrets that Kubernetes creates for ServiceAccounts. */
const TOKEN_ANNOTATION = "kubernetes.io/service-account.name";

/**
 * Returns why a namespace must not be deleted with its operator.
 *
 * @param cluster The cluster.
 * @param namespace The name of the namespace.
 * @param facts The operator.
 * @param parts The objects that are deleted with the operator.
 * @returns The reason, such as `it has 2 other objects (Secret shop-system/db, ...)`, or
 *   `undefined` if the namespace has no other objects.
 */
export async function otherContents(
  cluster: Cluster,
  namespace: string,
  { name }: Pick<OperatorFacts, "name">,
  parts: readonly PlainObject[],
): Promise<string | undefined> {
  const deleted = parts.filter(({ kind }) => kind === "CustomResourceDefinition").map(({ metadata }) => metadata.name);
  const kinds = (await collectableKinds(cluster)).filter(({ namespaced, plural, group, kind }) =>
    namespaced && !deleted.includes(`${plural}.${group}`) && !EPHEMERAL.includes(kind)
  );
  const { objects, unread: [unread] } = await scan(cluster, kinds, () => true, namespace);
  // Objects that cannot be listed may belong to another owner.
  if (unread !== undefined) return `its ${unread.kind.plural} cannot be listed: ${unread.reason}`;
  const uids = new Set(objects.map(uidOf));
  const others = objects.filter(({ kind, object }) => !isOwn(object, kind));
  if (others.length === 0) return undefined;
  const some = others.slice(0, MAX_NAMED).map(({ kind, object }) => shown({ ...object, kind: kind.kind })).join(", ");
  const more = others.length > MAX_NAMED ? `, and ${others.length - MAX_NAMED} more` : "";
  return `it has ${counted(others.length, "other object")} (${some}${more})`;

  function isOwn({ metadata }: KubeObject, { kind }: AnyKind): boolean {
    const { labels, annotations, ownerReferences = [], deletionTimestamp } = metadata;
    return deletionTimestamp !== undefined || labels?.[NAME_LABEL] === name ||
      annotations?.[TOKEN_ANNOTATION] !== undefined || DEFAULT_OBJECTS.includes(`${kind}/${metadata.name}`) ||
      // The owner of a namespaced object is in the same namespace or is not namespaced.
      ownerReferences.some(({ uid }) => uids.has(uid)) ||
      parts.some((part) => part.kind === kind && part.metadata.name === metadata.name);
  }
}
