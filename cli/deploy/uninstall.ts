/** `op uninstall`: takes an operator out of a cluster, its objects first, so that nothing is left that waits for it. */
import { type AnyKind, ApiError, type KubeObject } from "@op/sdk";
import { type Cluster, type ClusterOptions, connectCluster, servedKind } from "../cluster.ts";
import { Failure, UsageError } from "../exit_code.ts";
import { factsOf, NO_IMAGE, type PlaceOptions } from "../generate/generate.ts";
import type { OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { place, type PlainObject, shown } from "../objects.ts";
import { step } from "../progress.ts";
import { isOwnNamespace, refuseConflicts } from "./ownership.ts";
import { registeredIn, unregister } from "../run/webhook_registration.ts";

/** Options for {@linkcode uninstall}. */
export interface UninstallOptions extends ClusterOptions, PlaceOptions {
  /** Do it; without, it is only told what would go. */
  readonly yes?: boolean | undefined;
  /** Delete objects that belong to another operator of the same name, too. */
  readonly adopt?: boolean | undefined;
  /** Leave the kinds and their objects. */
  readonly keepObjects?: boolean | undefined;
  /** Take the operator's finalizers off what is still there when the time is over. */
  readonly releaseFinalizers?: boolean | undefined;
  /** How many seconds the operator has to clean up. */
  readonly timeout: string;
}

/** An object of one of the operator's kinds. */
interface Owned {
  readonly kind: AnyKind;
  readonly object: KubeObject;
}

const BETWEEN_LOOKS = 500;

/**
 * Deletes the objects of the operator's kinds while it still runs, so that it cleans up; then the operator itself; then its kinds.
 *
 * @param file The file whose default export is the operator.
 * @param options Which cluster, and how.
 * @param io The terminal and the shell.
 * @throws {Failure} If objects are still there when the time is over. The operator is then left as it is.
 */
export async function uninstall(file: string, options: UninstallOptions, io: Io): Promise<void> {
  const seconds = Number(options.timeout);
  if (!Number.isInteger(seconds) || seconds < 1) {
    throw new UsageError(`Cannot wait "${options.timeout}": say a number of seconds, from 1`);
  }
  const facts = await factsOf(file, { ...options, image: NO_IMAGE }, io);
  using cluster = await connectCluster(options, io);
  if (options.adopt !== true) {
    await refuseConflicts(cluster, partsOf(facts, options.keepObjects ?? false), {
      what: `uninstall "${facts.name}"`,
      adopting: "To delete all of them anyway, say --adopt.",
    });
  }
  const owned = options.keepObjects ? [] : await objectsOf(cluster, facts);
  const parts = await present(cluster, partsOf(facts, options.keepObjects ?? false));
  if (options.yes !== true) {
    const left = await registeredIn(cluster, facts);
    for (const one of left) io.out(`would go   ${one}, which "op dev" left\n`);
    for (const one of [...owned.map(({ object }) => object), ...parts]) io.out(`would go   ${shown(one)}\n`);
    if (left.length + owned.length + parts.length === 0) {
      return io.out(`Nothing of "${facts.name}" is in ${cluster.url}\n`);
    }
    throw new UsageError(
      `Nothing was deleted: ${owned.length} objects of its kinds and ${
        left.length + parts.length
      } parts of "${facts.name}" would go from ${cluster.url}: say --yes`,
    );
  }
  // What calls a machine that nobody develops on any longer would hold up the rest.
  for (const one of await unregister(cluster, facts)) io.out(`deleted    ${one}, which "op dev" left\n`);
  await deleteOwned(cluster, facts, owned, seconds, options.releaseFinalizers ?? false, io);
  for (const part of parts) {
    await remove(cluster, await cluster.kindOf(part), part);
    io.out(`deleted    ${shown(part)}\n`);
  }
}

async function objectsOf(cluster: Cluster, { crds, reconciled }: OperatorFacts): Promise<Owned[]> {
  const own = crds.filter(({ metadata }) => reconciled.includes(metadata.name));
  const lists = await Promise.all(own.map(async ({ spec: { group, names, versions } }) => {
    const version = versions.find(({ served }) => served)?.name ?? "";
    const kind = await servedKind(cluster, { apiVersion: `${group}/${version}`, kind: names.kind });
    if (kind === undefined) return [];
    return (await cluster.client.list(kind)).map((object: KubeObject) => ({ kind, object }));
  }));
  return lists.flat();
}

/** What was installed, the last first: a binding that is gone too early would keep the operator from its work. */
function partsOf({ manifests, reconciled }: OperatorFacts, isKept: boolean): PlainObject[] {
  const { crd, namespace, rbac, manager, networkPolicy, webhook } = manifests;
  const kinds = isKept ? [] : crd.filter(({ metadata }) => reconciled.includes(metadata.name));
  // Before the Service that leads to the webhooks those who ask them: nothing may be held up by what is gone.
  return [
    ...webhook.toReversed(),
    ...manager,
    ...networkPolicy,
    ...rbac,
    ...kinds,
    ...namespace,
  ] as unknown as PlainObject[];
}

async function present(cluster: Cluster, parts: readonly PlainObject[]): Promise<PlainObject[]> {
  const found = await Promise.all(parts.map(async (part) => {
    const kind = await servedKind(cluster, part);
    if (kind === undefined) return [];
    try {
      const live = await cluster.client.get(kind, part.metadata.name, place(part));
      // A namespace that others made, or put something into by its name, is not ours to delete.
      const isOurs = part.kind !== "Namespace" || isOwnNamespace(live, part);
      return isOurs ? [part] : [];
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return [];
      throw error;
    }
  }));
  return found.flat();
}

async function deleteOwned(
  cluster: Cluster,
  facts: OperatorFacts,
  owned: readonly Owned[],
  seconds: number,
  isReleased: boolean,
  io: Io,
): Promise<void> {
  if (owned.length > 0) step(`Deleting ${owned.length} objects, and waiting until the operator cleaned up`, io);
  for (const { kind, object } of owned) await remove(cluster, kind, object as unknown as PlainObject);
  let left = await stillThere(cluster, owned);
  for (const late = AbortSignal.timeout(seconds * 1000); left.length > 0 && !late.aborted;) {
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_LOOKS));
    left = await stillThere(cluster, left);
  }
  for (
    const { object } of owned.filter(({ object }) =>
      !left.some((other) => other.object.metadata.uid === object.metadata.uid)
    )
  ) {
    io.out(`deleted    ${shown(object)}\n`);
  }
  if (left.length === 0) return;
  if (!isReleased) {
    for (const { object } of left) io.err(`${shown(object)} is held by ${object.metadata.finalizers?.join(", ")}\n`);
    throw new Failure(
      `Cannot uninstall "${facts.name}": ${left.length} objects were not cleaned up within ${seconds} s: is the operator running? See its log, or say --release-finalizers to let them go as they are`,
    );
  }
  for (const { kind, object } of left) {
    const finalizers = (object.metadata.finalizers ?? []).filter((name) => !isItsOwn(name, facts));
    await cluster.client.patch(kind, object.metadata.name, {
      metadata: { resourceVersion: object.metadata.resourceVersion, finalizers },
    }, place(object));
    io.out(`released   ${shown(object)}\n`);
  }
}

/** What its controllers put on: by their own names, or by those made from the operator's name. */
function isItsOwn(finalizer: string, { name, finalizers }: OperatorFacts): boolean {
  return finalizers.includes(finalizer) || (finalizer.split("/")[1] ?? "").startsWith(`${name}.`);
}

async function stillThere(cluster: Cluster, owned: readonly Owned[]): Promise<Owned[]> {
  const now = await Promise.all(owned.map(async ({ kind, object }) => {
    try {
      const live: KubeObject = await cluster.client.get(kind, object.metadata.name, place(object));
      return live.metadata.uid === object.metadata.uid ? [{ kind, object: live }] : [];
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return [];
      throw error;
    }
  }));
  return now.flat();
}

async function remove(cluster: Cluster, kind: AnyKind, object: PlainObject): Promise<void> {
  try {
    await cluster.client.delete(kind, object.metadata.name, place(object));
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
}
