/**
 * Conditions of a namespace that is being deleted
 * (`k8s.io/kubernetes/pkg/controller/namespace/deletion`).
 */
import type { ServedKind } from "../objects/kinds.ts";
import { type StoredObject, timestamp } from "../objects/objects.ts";

/** A condition of a namespace. */
interface Condition {
  readonly type: string;
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

/** An object that remains in a namespace. */
export interface Content {
  readonly kind: ServedKind;
  readonly object: StoredObject;
}

/** All conditions, with the values that they have if nothing blocks the deletion. */
const DEFAULTS: readonly (readonly [type: string, reason: string, message: string])[] = [
  ["NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"],
  ["NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"],
  [
    "NamespaceDeletionContentFailure",
    "ContentDeleted",
    "All content successfully deleted, may be waiting on finalization",
  ],
  ["NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"],
  ["NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"],
];

/**
 * Returns a namespace with updated conditions.
 *
 * @param namespace The namespace.
 * @param contents The objects that remain in it.
 * @param now Current time, in milliseconds since the epoch.
 * @returns The namespace; the same object if no condition changes.
 */
export function withConditions(namespace: StoredObject, contents: readonly Content[], now: number): StoredObject {
  const status = (namespace.status ?? {}) as { readonly conditions?: readonly Condition[] };
  const before = status.conditions ?? [];
  const remaining = new Map([
    ["NamespaceContentRemaining", contentRemaining(contents)],
    ["NamespaceFinalizersRemaining", finalizersRemaining(contents)],
  ]);
  const conditions = DEFAULTS.map(([type, reason, message]): Condition => {
    const fresh = remaining.get(type) ?? { status: "False" as const, reason, message };
    const known = before.find((each) => each.type === type);
    const isSame = known?.status === fresh.status;
    return { lastTransitionTime: isSame ? known.lastTransitionTime : timestamp(now), type, ...fresh };
  });
  const text = (list: readonly Condition[]) => list.map((each) => [each.type, each.status, each.message]).join();
  if (text(conditions) === text(before)) return namespace;
  const others = before.filter(({ type }) => !DEFAULTS.some(([known]) => known === type));
  return { ...namespace, status: { ...status, conditions: [...others, ...conditions] } };
}

type ConditionState = Pick<Condition, "status" | "reason" | "message">;

function contentRemaining(contents: readonly Content[]): ConditionState | undefined {
  const counts = countNames(contents.map(({ kind }) => `${kind.plural}.${kind.group}`));
  if (counts.length === 0) return undefined;
  const list = counts.map(([name, count]) => `${name} has ${count} resource instances`).sort().join(", ");
  return { status: "True", reason: "SomeResourcesRemain", message: `Some resources are remaining: ${list}` };
}

function finalizersRemaining(contents: readonly Content[]): ConditionState | undefined {
  const counts = countNames(contents.flatMap(({ object }) => object.metadata.finalizers ?? []));
  if (counts.length === 0) return undefined;
  const list = counts.map(([name, count]) => `${name} in ${count} resource instances`).sort().join(", ");
  const message = `Some content in the namespace has finalizers remaining: ${list}`;
  return { status: "True", reason: "SomeFinalizersRemain", message };
}

function countNames(names: readonly string[]): [name: string, count: number][] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts];
}
