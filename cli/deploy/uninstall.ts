/** `op uninstall`: removes an operator from a cluster, the objects of its own kinds first. External kinds and their objects stay. */
import { type AnyKind, ApiError, type KubeObject } from "@op/sdk";
import type { CustomResourceDefinitionManifest } from "@op/sdk/resource";
import type { ScannedObject } from "../cluster_scan.ts";
import { type Cluster, type ClusterOptions, connectCluster, servedKind } from "../cluster.ts";
import { Failure, UsageError } from "../exit_code.ts";
import { durationOption, shownDuration } from "../duration_option.ts";
import { factsOf, NO_IMAGE, type PlaceOptions } from "../generate/generate.ts";
import type { OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { type NamedObject, place, type PlainObject, shown } from "../objects.ts";
import { counted } from "../plural.ts";
import { step } from "../progress.ts";
import { withoutConversion } from "./conversion.ts";
import { byKind, dependentsOf, uidOf, untilCollected } from "./dependents.ts";
import { foreignHeld, isItsOwn, refuseForeignHeld, releaseForeign } from "./foreign_finalizers.ts";
import { otherContents } from "./namespace_contents.ts";
import { isOwnNamespace, refuseConflicts } from "./ownership.ts";
import { devSession, leasePlace } from "../run/dev_lease.ts";
import { registeredIn, unregister } from "../run/webhook_registration.ts";

/** Options for {@linkcode uninstall}. */
export interface UninstallOptions extends ClusterOptions, PlaceOptions {
  /** Do it; without, it is only told what would go. */
  readonly yes?: boolean | undefined;
  /** Delete objects that belong to another operator of the same name, too. */
  readonly adopt?: boolean | undefined;
  /** Leave the kinds and their objects. */
  readonly keepObjects?: boolean | undefined;
  /** Remove the operator's finalizers from what is still there when the time is over, and from objects of kinds that it does not own. */
  readonly releaseFinalizers?: boolean | undefined;
  /** Delete the kinds even if objects that their objects owned are still there when the time is over. */
  readonly orphanDependents?: boolean | undefined;
  /** How long the operator has to clean up, and the garbage collector after it: a duration. */
  readonly timeout: string;
}

const PAUSE = 500;

/** Objects that a message names before it counts the rest. */
const MOST_NAMED = 20;

/**
 * Deletes the objects of the operator's kinds while it still runs, so that it cleans up; waits until what they owned is deleted as well; then deletes the
 * operator itself, and its kinds.
 *
 * @param file The file whose default export is the operator.
 * @param options Which cluster, and how.
 * @param io The terminal and the shell.
 * @throws {Failure} If objects are still there when the time is over, or objects of kinds of others have its finalizer and `releaseFinalizers` is not set. The
 * operator and its kinds are then left as they are.
 */
export async function uninstall(file: string, options: UninstallOptions, io: Io): Promise<void> {
  const timeout = durationOption(options.timeout, "--timeout");
  const facts = await factsOf(file, { ...options, image: NO_IMAGE }, io);
  using cluster = await connectCluster(options, io);
  const { keepObjects = false, releaseFinalizers = false, orphanDependents = false } = options;
  if (options.adopt !== true) {
    await refuseConflicts(cluster, partsOf(facts, keepObjects), {
      what: `uninstall "${facts.name}"`,
      adopting: "To delete all of them anyway, say --adopt.",
    });
  }
  const parts = await present(cluster, partsOf(facts, keepObjects));
  const definitions = keepObjects
    ? []
    : parts.filter(({ kind }) => kind === "CustomResourceDefinition") as unknown as Definition[];
  if (options.yes !== true) return await preview(cluster, facts, { parts, definitions, releaseFinalizers }, io);
  if (!releaseFinalizers) await refuseForeignHeld(cluster, facts);
  const removal = new Removal({ cluster, facts, definitions, timeout, releaseFinalizers, orphanDependents, io });
  await removal.run();
  const kept = await keptNamespaces(cluster, facts, parts);
  for (const part of parts) {
    const why = part.kind === "Namespace" ? kept.get(part.metadata.name) : undefined;
    if (why !== undefined) {
      io.out(`kept       ${shown(part)}: ${why}\n`);
      continue;
    }
    await remove(cluster, await cluster.kindOf(part), part);
    io.out(`deleted    ${shown(part)}\n`);
  }
  // Only now, without its roles, the operator cannot add its finalizers again.
  await releaseForeign(cluster, facts, timeout, io);
  await untilDefinitionsAreGone(cluster, definitions, timeout);
}

/** Returns the namespaces among an operator's parts that contain objects of others, and what these are. */
async function keptNamespaces(
  cluster: Cluster,
  facts: OperatorFacts,
  parts: readonly PlainObject[],
): Promise<ReadonlyMap<string, string>> {
  const kept = new Map<string, string>();
  for (const { kind, metadata: { name } } of parts) {
    const why = kind === "Namespace" ? await otherContents(cluster, name, facts, parts) : undefined;
    if (why !== undefined) kept.set(name, why);
  }
  return kept;
}

/** Prints what would be deleted. */
async function preview(
  cluster: Cluster,
  facts: OperatorFacts,
  { parts, definitions, releaseFinalizers }: {
    readonly parts: readonly PlainObject[];
    readonly definitions: readonly Definition[];
    readonly releaseFinalizers: boolean;
  },
  io: Io,
): Promise<void> {
  const { objects, unreadable } = await objectsOf(cluster, definitions);
  const left = await registeredIn(cluster, facts);
  const held = await foreignHeld(cluster, facts);
  for (const { object } of held) {
    const verb = releaseFinalizers ? "would keep" : "blocks    ";
    io.out(`${verb} ${shown(object)}, which has its finalizer\n`);
  }
  for (const { shown } of left) io.out(`would go   ${shown}, which "op dev" left\n`);
  const kept = await keptNamespaces(cluster, facts, parts);
  const isKept = ({ kind, metadata: { name } }: NamedObject) => kind === "Namespace" && kept.has(name);
  for (const one of [...objects.map(({ object }) => object), ...parts]) {
    io.out(isKept(one) ? `would stay ${shown(one)}: ${kept.get(one.metadata.name)}\n` : `would go   ${shown(one)}\n`);
  }
  const owners = new Set(objects.map(uidOf));
  const dependents = (await dependentsOf(cluster, owners)).filter((one) => !owners.has(uidOf(one)));
  if (dependents.length > 0) io.out(`would go   what these own: ${byKind(dependents)}\n`);
  for (const { metadata } of unreadable) io.err(`${unreadableMessage(metadata.name)}\n`);
  if (left.length + objects.length + parts.length + held.length === 0) {
    return io.out(`Nothing of "${facts.name}" is in ${cluster.url}\n`);
  }
  throw new UsageError(
    `Nothing was deleted: ${counted(objects.length, "object")} of its kinds, ${
      counted(dependents.length, "object")
    } that these own, and ${
      counted(left.length + parts.length - kept.size, "part")
    } of "${facts.name}" would go from ${cluster.url}: say --yes`,
  );
}

interface RemovalOptions {
  readonly cluster: Cluster;
  readonly facts: OperatorFacts;
  readonly definitions: readonly Definition[];
  /** In milliseconds, for each of the two waits. */
  readonly timeout: number;
  readonly releaseFinalizers: boolean;
  readonly orphanDependents: boolean;
  readonly io: Io;
}

/** The deletion of the objects of an operator's kinds, and of what they own. */
class Removal {
  readonly #with: RemovalOptions;

  constructor(options: RemovalOptions) {
    this.#with = options;
  }

  /** @throws {Failure} If something is left. Conversions are then as they were. */
  async run(): Promise<void> {
    const { cluster, facts, definitions } = this.#with;
    // What calls a machine where nothing runs any more would hold up the rest. A running op dev may be what cleans up.
    const session = await devSession(cluster, leasePlace(facts), Date.now());
    if (!session?.isAlive) await this.#takeBack();
    let restore = async (): Promise<void> => {};
    try {
      if (this.#with.releaseFinalizers && (await objectsOf(cluster, definitions)).unreadable.length > 0) {
        restore = await withoutConversion(cluster, namesOf(definitions));
      }
      const { objects, unreadable: [unreadable] } = await objectsOf(cluster, definitions);
      if (unreadable !== undefined) {
        throw new Failure(`Cannot uninstall "${facts.name}": ${unreadableMessage(unreadable.metadata.name)}`);
      }
      const owners = new Set(objects.map(uidOf));
      const dependents = await dependentsOf(cluster, owners);
      await this.#deleteObjects(objects);
      await this.#takeBack();
      const before = restore;
      const again = await withoutConversion(cluster, namesOf(definitions));
      restore = async () => {
        await again();
        await before();
      };
      await this.#waitForCollector(new Set([...owners, ...dependents.map(uidOf)]));
      await this.#refuseNewObjects();
    } catch (error) {
      await restore();
      throw error;
    }
  }

  async #takeBack(): Promise<void> {
    const { cluster, facts, io } = this.#with;
    for (const one of await unregister(cluster, facts)) io.out(`deleted    ${one}, which "op dev" left\n`);
  }

  async #deleteObjects(objects: readonly ScannedObject[]): Promise<void> {
    const { cluster, facts, timeout, releaseFinalizers, io } = this.#with;
    if (objects.length > 0) step(`Deleting ${counted(objects.length, "object")}, and waiting for the cleanup`, io);
    for (const { kind, object } of objects) await remove(cluster, kind, object as unknown as PlainObject);
    let left = await stillThere(cluster, objects);
    for (const late = AbortSignal.timeout(timeout); left.length > 0 && !late.aborted;) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      left = await stillThere(cluster, left);
    }
    const uids = new Set(left.map(uidOf));
    for (const one of objects) if (!uids.has(uidOf(one))) io.out(`deleted    ${shown(one.object)}\n`);
    if (left.length === 0) return;
    if (!releaseFinalizers) {
      for (const { object } of left.slice(0, MOST_NAMED)) {
        io.err(`${shown(object)} is held by ${object.metadata.finalizers?.join(", ")}\n`);
      }
      throw new Failure(
        `Cannot uninstall "${facts.name}": ${
          counted(left.length, "object was", "objects were")
        } not cleaned up within ${
          shownDuration(timeout)
        }: is the operator running? See its log, or say --release-finalizers to let them go as they are`,
      );
    }
    for (const { kind, object } of left) {
      const finalizers = (object.metadata.finalizers ?? []).filter((name) => !isItsOwn(name, facts));
      await cluster.client.patch(kind, object.metadata.name, {
        metadata: { resourceVersion: object.metadata.resourceVersion, finalizers },
      }, place(object));
      io.out(`released   ${shown(object)}\n`);
    }
    const held = await stillThere(cluster, left);
    if (held.length === 0) return;
    for (const { object } of held.slice(0, MOST_NAMED)) {
      io.err(`${shown(object)} is held by ${object.metadata.finalizers?.join(", ")}\n`);
    }
    throw new Failure(
      `Cannot uninstall "${facts.name}": ${
        counted(held.length, "object is", "objects are")
      } held by finalizers of others. Whoever set them must remove them; then run op uninstall again.`,
    );
  }

  async #waitForCollector(owners: ReadonlySet<string>): Promise<void> {
    const { cluster, facts, timeout, orphanDependents, io } = this.#with;
    const left = await untilCollected(cluster, owners, orphanDependents ? 0 : timeout);
    if (left.length === 0) return;
    for (const { object } of left.slice(0, MOST_NAMED)) {
      const { finalizers = [] } = object.metadata;
      io.err(`${shown(object)} is left${finalizers.length === 0 ? "" : `, held by ${finalizers.join(", ")}`}\n`);
    }
    if (orphanDependents) return io.err(`Warning: left without an owner: ${byKind(left)}\n`);
    throw new Failure(
      `Cannot uninstall "${facts.name}": ${byKind(left)} that the deleted objects owned ${
        left.length === 1 ? "was" : "were"
      } not deleted within ${
        shownDuration(timeout)
      }. Without the kinds, the garbage collector would never delete them. ` +
        `Check kube-controller-manager and run op uninstall again, or delete the kinds anyway with --orphan-dependents.`,
    );
  }

  /** The definition takes along all objects of its kind: those that were created meanwhile were not cleaned up. */
  async #refuseNewObjects(): Promise<void> {
    const { cluster, facts, definitions, io } = this.#with;
    const { objects } = await objectsOf(cluster, definitions);
    if (objects.length === 0) return;
    for (const { object } of objects.slice(0, MOST_NAMED)) io.err(`${shown(object)} was created meanwhile\n`);
    throw new Failure(
      `Cannot uninstall "${facts.name}": ${
        counted(objects.length, "object was", "objects were")
      } created meanwhile. Run op uninstall again.`,
    );
  }
}

/** The definition of a kind, as the operator declares it. */
type Definition = CustomResourceDefinitionManifest;

function namesOf(definitions: readonly Definition[]): string[] {
  return definitions.map(({ metadata }) => metadata.name);
}

/**
 * The objects of kinds, by a version that the API server can read: without an answer of the conversion webhook, that is the one in which they are stored.
 * Definitions none of whose versions can be read are answered apart.
 */
async function objectsOf(
  cluster: Cluster,
  definitions: readonly Definition[],
): Promise<{ readonly objects: readonly ScannedObject[]; readonly unreadable: readonly Definition[] }> {
  const lists = await Promise.all(definitions.map((definition) => readable(cluster, definition)));
  return {
    objects: lists.flatMap((list) => list ?? []),
    unreadable: definitions.filter((_, index) => lists[index] === undefined),
  };
}

async function readable(cluster: Cluster, { spec }: Definition): Promise<ScannedObject[] | undefined> {
  const { group, names, versions } = spec;
  const served = versions.filter(({ served }) => served).sort((a, b) => Number(b.storage) - Number(a.storage));
  let hasFailed = false;
  for (const { name } of served) {
    const kind = await servedKind(cluster, { apiVersion: `${group}/${name}`, kind: names.kind });
    if (kind === undefined) continue;
    try {
      return (await cluster.client.list(kind)).map((object: KubeObject) => ({ kind, object }));
    } catch (error) {
      if (!(error instanceof ApiError) || error.status < 500) throw error;
      hasFailed = true;
    }
  }
  return hasFailed ? undefined : [];
}

function unreadableMessage(definition: string): string {
  return `the objects of ${definition} cannot be read in any version: does the operator answer conversions? ` +
    `Start it, or say --release-finalizers, which deletes them without its cleanup.`;
}

async function untilDefinitionsAreGone(
  cluster: Cluster,
  definitions: readonly Definition[],
  timeout: number,
): Promise<void> {
  const late = AbortSignal.timeout(timeout);
  while (true) {
    const left = await present(cluster, definitions as unknown as PlainObject[]);
    if (left.length === 0) return;
    if (late.aborted) {
      throw new Failure(
        `Cannot delete ${left.map(shown).join(", ")} within ${shownDuration(timeout)}: objects of ${
          left.length === 1 ? "this kind are" : "these kinds are"
        } left. List them with kubectl get, and see their finalizers.`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
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

async function stillThere(cluster: Cluster, objects: readonly ScannedObject[]): Promise<ScannedObject[]> {
  const now = await Promise.all(objects.map(async ({ kind, object }) => {
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
