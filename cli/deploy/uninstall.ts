/**
 * `op uninstall`: deletes the objects of an operator's kinds from a cluster, and then the operator.
 * External kinds and their objects remain.
 */
import { type AnyKind, ApiError, type KubeObject } from "@op/sdk";
import type { CustomResourceDefinitionManifest } from "@op/sdk/resource";
import type { ScannedObject } from "../cluster_scan.ts";
import { type Cluster, type ClusterOptions, connectCluster, ifFound, servedKind } from "../cluster.ts";
import { Failure, UsageError } from "../exit_code.ts";
import { durationOption, shownDuration } from "../duration_option.ts";
import { factsOf, NO_IMAGE, type PlaceOptions } from "../generate/generate.ts";
import type { OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { type NamedObject, namespaceOptions, type PlainObject, shown } from "../objects.ts";
import { counted } from "../plural.ts";
import { step } from "../progress.ts";
import { withoutConversion } from "./conversion.ts";
import { byKind, dependentsOf, uidOf, untilCollected } from "./dependents.ts";
import {
  checkForeignFinalizers,
  foreignFinalizedObjects,
  isOperatorFinalizer,
  releaseForeignObjects,
} from "./foreign_finalizers.ts";
import { obsoleteRoles } from "./obsolete_roles.ts";
import { otherContents } from "./namespace_contents.ts";
import { checkConflicts, isOwnNamespace } from "./ownership.ts";
import { devLeaseName, devSession } from "../run/dev_lease.ts";
import { isWebhookConfiguration, registeredIn, unregister } from "../run/webhook_registration.ts";

/** Options for {@linkcode uninstall}. */
export interface UninstallOptions extends ClusterOptions, PlaceOptions {
  /** Delete the objects. Otherwise the command only prints what it would delete. */
  readonly yes?: boolean | undefined;
  /** Also delete objects that belong to another operator of the same name. */
  readonly adopt?: boolean | undefined;
  /** Keep the kinds and their objects. */
  readonly keepObjects?: boolean | undefined;
  /**
   * Remove the operator's finalizers from objects that it did not clean up in time, and from
   * objects of other kinds.
   */
  readonly releaseFinalizers?: boolean | undefined;
  /** Delete the kinds even if dependents of their objects still exist after the timeout. */
  readonly orphanDependents?: boolean | undefined;
  /** How long to wait for the cleanup, and again for the garbage collector: a duration. */
  readonly timeout: string;
}

/** The pause between two requests, in milliseconds. */
const PAUSE = 500;

/**
 * How long to repeat requests until the API server no longer calls suspended webhooks, in
 * milliseconds. It notices such a change within two seconds.
 */
const SUSPENSION_TIMEOUT = 15_000;

/** The maximum number of objects that a message names. */
const MAX_NAMED = 20;

/**
 * Deletes the objects of the operator's kinds while the operator still runs, so that it cleans up.
 * Waits until the dependents of these objects are deleted. Then deletes the operator and its kinds.
 *
 * @param file The file whose default export is the operator.
 * @param options The cluster and what to delete.
 * @param io The terminal and the shell.
 * @throws {Failure} If objects still exist after the timeout, or objects of other kinds have a
 *   finalizer of the operator and `releaseFinalizers` is not set. The operator is not deleted then.
 */
export async function uninstall(file: string, options: UninstallOptions, io: Io): Promise<void> {
  const timeout = durationOption(options.timeout, "--timeout");
  const facts = await factsOf(file, { ...options, image: NO_IMAGE }, io);
  using cluster = await connectCluster(options, io);
  const { keepObjects = false, releaseFinalizers = false, orphanDependents = false } = options;
  if (options.adopt !== true) {
    await checkConflicts(cluster, installedObjects(facts, keepObjects), {
      action: `uninstall "${facts.name}"`,
      advice: "To delete all of them anyway, add --adopt.",
    });
  }
  const declared = installedObjects(facts, keepObjects);
  const obsolete = (await obsoleteRoles(cluster, declared)) as unknown as PlainObject[];
  const parts = [...obsolete, ...await existingParts(cluster, declared)];
  const definitions = keepObjects
    ? []
    : parts.filter(({ kind }) => kind === "CustomResourceDefinition") as unknown as Definition[];
  if (options.yes !== true) return await preview(cluster, facts, { parts, definitions, releaseFinalizers }, io);
  if (!releaseFinalizers) await checkForeignFinalizers(cluster, facts);
  const removal = new Removal({ cluster, facts, definitions, timeout, releaseFinalizers, orphanDependents, io });
  await removal.run();
  const kept = await namespacesToKeep(cluster, facts, parts);
  for (const part of parts) {
    if (removal.hasDeleted(part)) continue;
    const reason = part.kind === "Namespace" ? kept.get(part.metadata.name) : undefined;
    if (reason !== undefined) {
      io.out(`kept       ${shown(part)}: ${reason}\n`);
      continue;
    }
    await remove(cluster, await cluster.kindOf(part), part);
    io.out(`deleted    ${shown(part)}\n`);
  }
  // After the roles were deleted, because the operator cannot add its finalizers again without
  // them.
  await releaseForeignObjects(cluster, facts, timeout, io);
  await untilDefinitionsDeleted(cluster, definitions, timeout);
}

/**
 * Returns the operator's namespaces that contain objects of other owners, with a description of
 * these objects.
 */
async function namespacesToKeep(
  cluster: Cluster,
  facts: OperatorFacts,
  parts: readonly PlainObject[],
): Promise<ReadonlyMap<string, string>> {
  const kept = new Map<string, string>();
  for (const { kind, metadata: { name } } of parts) {
    const reason = kind === "Namespace" ? await otherContents(cluster, name, facts, parts) : undefined;
    if (reason !== undefined) kept.set(name, reason);
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
  const registered = await registeredIn(cluster, facts);
  const finalized = await foreignFinalizedObjects(cluster, facts);
  for (const { object } of finalized) {
    const verb = releaseFinalizers ? "would keep" : "blocked by";
    io.out(`${verb} ${shown(object)}, which has a finalizer of the operator\n`);
  }
  for (const { shown } of registered) io.out(`would delete ${shown}, left by "op dev"\n`);
  const kept = await namespacesToKeep(cluster, facts, parts);
  const isKept = ({ kind, metadata: { name } }: NamedObject) => kind === "Namespace" && kept.has(name);
  for (const one of [...objects.map(({ object }) => object), ...parts]) {
    io.out(isKept(one) ? `would keep ${shown(one)}: ${kept.get(one.metadata.name)}\n` : `would delete ${shown(one)}\n`);
  }
  const owners = new Set(objects.map(uidOf));
  const dependents = (await dependentsOf(cluster, owners)).filter((one) => !owners.has(uidOf(one)));
  if (dependents.length > 0) io.out(`would delete their dependents: ${byKind(dependents)}\n`);
  for (const { metadata } of unreadable) io.err(`${unreadableMessage(metadata.name)}\n`);
  if (registered.length + objects.length + parts.length + finalized.length === 0) {
    return io.out(`Nothing to delete: "${facts.name}" is not in ${cluster.url}\n`);
  }
  throw new UsageError(
    `No object was deleted. --yes would delete ${counted(objects.length, "object")} of the operator's kinds, ${
      counted(dependents.length, "dependent")
    } of these, and ${
      counted(registered.length + parts.length - kept.size, "object")
    } of "${facts.name}" itself from ${cluster.url}.`,
  );
}

interface RemovalOptions {
  readonly cluster: Cluster;
  readonly facts: OperatorFacts;
  readonly definitions: readonly Definition[];
  /** In milliseconds, for each of the two waits: the cleanup and the garbage collector. */
  readonly timeout: number;
  readonly releaseFinalizers: boolean;
  readonly orphanDependents: boolean;
  readonly io: Io;
}

/** Deletes the objects of an operator's kinds, and their dependents. */
class Removal {
  readonly #options: RemovalOptions;

  /** Functions that restore the suspended conversions, to be called in reverse order. */
  readonly #restores: (() => Promise<void>)[] = [];

  /**
   * The deleted webhook configurations, as messages name them; `undefined` while the operator's
   * webhooks and conversions are not suspended.
   */
  #suspended: Set<string> | undefined;

  constructor(options: RemovalOptions) {
    this.#options = options;
  }

  /**
   * Deletes the objects and waits for their dependents.
   *
   * @throws {Failure} If an object still exists. Conversions are restored then.
   */
  async run(): Promise<void> {
    const { cluster, facts, definitions } = this.#options;
    // The webhooks of an op dev that has ended would block requests. A running op dev keeps its
    // webhooks for now, because it may have to clean up.
    const session = await devSession(cluster, devLeaseName(facts), Date.now());
    if (!session?.isAlive) await this.#unregister();
    try {
      if (this.#options.releaseFinalizers && (await objectsOf(cluster, definitions)).unreadable.length > 0) {
        await this.#suspendConversions();
      }
      const { objects, unreadable: [unreadable] } = await objectsOf(cluster, definitions);
      if (unreadable !== undefined) {
        throw new Failure(`Cannot uninstall "${facts.name}": ${unreadableMessage(unreadable.metadata.name)}`);
      }
      const owners = new Set(objects.map(uidOf));
      const dependents = await dependentsOf(cluster, owners);
      await this.#deleteObjects(objects);
      await this.#unregister();
      await this.#suspendConversions();
      await this.#waitForCollector(new Set([...owners, ...dependents.map(uidOf)]));
      await this.#checkNewObjects();
    } catch (error) {
      for (const restore of this.#restores.toReversed()) await restore();
      throw error;
    }
  }

  /** Returns whether the removal deleted an object of the installation. */
  hasDeleted(part: PlainObject): boolean {
    return this.#suspended?.has(shown(part)) === true;
  }

  async #suspendConversions(): Promise<void> {
    this.#restores.push(await withoutConversion(this.#options.cluster, namesOf(this.#options.definitions)));
  }

  /**
   * Sends a request that the operator's own webhooks or conversions may block, because no process
   * serves them. With `releaseFinalizers`, they are suspended then.
   */
  async #sendUnblocked(send: () => Promise<unknown>): Promise<void> {
    for (const deadline = AbortSignal.timeout(SUSPENSION_TIMEOUT);;) {
      try {
        await send();
        return;
      } catch (error) {
        const isBlocked = error instanceof ApiError && error.status >= 500;
        if (!isBlocked || !this.#options.releaseFinalizers || deadline.aborted) throw error;
      }
      if (this.#suspended === undefined) await this.#suspendWebhooks();
      else await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }

  /**
   * Deletes the webhook configurations, which the uninstall deletes anyway, and suspends
   * conversions.
   */
  async #suspendWebhooks(): Promise<void> {
    const { cluster, facts, io } = this.#options;
    this.#suspended = new Set();
    const configurations = facts.manifests.webhook.filter(({ kind }) => isWebhookConfiguration(kind));
    for (const one of await existingParts(cluster, configurations as unknown as PlainObject[])) {
      await remove(cluster, await cluster.kindOf(one), one);
      io.out(`deleted    ${shown(one)}, because it does not respond\n`);
      this.#suspended.add(shown(one));
    }
    await this.#suspendConversions();
  }

  async #unregister(): Promise<void> {
    const { cluster, facts, io } = this.#options;
    for (const one of await unregister(cluster, facts)) io.out(`deleted    ${one}, left by "op dev"\n`);
  }

  async #deleteObjects(objects: readonly ScannedObject[]): Promise<void> {
    const { cluster, facts, timeout, releaseFinalizers, io } = this.#options;
    if (objects.length > 0) step(`Deleting ${counted(objects.length, "object")} and waiting for the cleanup`, io);
    for (const { kind, object } of objects) {
      await this.#sendUnblocked(() => remove(cluster, kind, object as unknown as PlainObject));
    }
    let remaining = await stillExisting(cluster, objects);
    for (const deadline = AbortSignal.timeout(timeout); remaining.length > 0 && !deadline.aborted;) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      remaining = await stillExisting(cluster, remaining);
    }
    const uids = new Set(remaining.map(uidOf));
    for (const one of objects) if (!uids.has(uidOf(one))) io.out(`deleted    ${shown(one.object)}\n`);
    if (remaining.length === 0) return;
    if (!releaseFinalizers) {
      for (const { object } of remaining.slice(0, MAX_NAMED)) {
        io.err(`${shown(object)} has finalizers: ${object.metadata.finalizers?.join(", ")}\n`);
      }
      throw new Failure(
        `Cannot uninstall "${facts.name}": the operator did not clean up ${
          counted(remaining.length, "object")
        } within ${
          shownDuration(timeout)
        }. Check its log. If it does not run, deploy it or run op dev. To delete the objects without a cleanup, add --release-finalizers.`,
      );
    }
    for (const { kind, object } of remaining) {
      const finalizers = (object.metadata.finalizers ?? []).filter((name) => !isOperatorFinalizer(name, kind, facts));
      const { name, resourceVersion } = object.metadata;
      const patch = { metadata: { resourceVersion, finalizers } };
      await this.#sendUnblocked(() => cluster.client.patch(kind, name, patch, namespaceOptions(object)));
      io.out(`released   ${shown(object)}\n`);
    }
    const finalized = await stillExisting(cluster, remaining);
    if (finalized.length === 0) return;
    for (const { object } of finalized.slice(0, MAX_NAMED)) {
      io.err(`${shown(object)} has finalizers: ${object.metadata.finalizers?.join(", ")}\n`);
    }
    throw new Failure(
      `Cannot uninstall "${facts.name}": ${
        counted(finalized.length, "object has", "objects have")
      } finalizers of other programs. Wait until these remove them, then run op uninstall again.`,
    );
  }

  async #waitForCollector(owners: ReadonlySet<string>): Promise<void> {
    const { cluster, facts, timeout, orphanDependents, io } = this.#options;
    const remaining = await untilCollected(cluster, owners, orphanDependents ? 0 : timeout);
    if (remaining.length === 0) return;
    for (const { object } of remaining.slice(0, MAX_NAMED)) {
      const { finalizers = [] } = object.metadata;
      io.err(
        `${shown(object)} still exists${finalizers.length === 0 ? "" : `, with finalizers ${finalizers.join(", ")}`}\n`,
      );
    }
    if (orphanDependents) return io.err(`Warning: left without an owner: ${byKind(remaining)}\n`);
    throw new Failure(
      `Cannot uninstall "${facts.name}": dependents of the deleted objects (${byKind(remaining)}) still exist after ${
        shownDuration(timeout)
      }. Without the kinds, the garbage collector would never delete them. ` +
        `Check kube-controller-manager and run op uninstall again, or delete the kinds anyway with --orphan-dependents.`,
    );
  }

  /**
   * Checks that no objects were created during the uninstall. Deleting the definition would delete
   * them without a cleanup.
   */
  async #checkNewObjects(): Promise<void> {
    const { cluster, facts, definitions, io } = this.#options;
    const { objects } = await objectsOf(cluster, definitions);
    if (objects.length === 0) return;
    for (const { object } of objects.slice(0, MAX_NAMED)) {
      io.err(`${shown(object)} was created during the uninstall\n`);
    }
    throw new Failure(
      `Cannot uninstall "${facts.name}": ${
        counted(objects.length, "object was", "objects were")
      } created during the uninstall. Run op uninstall again.`,
    );
  }
}

/** A CustomResourceDefinition, as the operator declares it. */
type Definition = CustomResourceDefinitionManifest;

function namesOf(definitions: readonly Definition[]): string[] {
  return definitions.map(({ metadata }) => metadata.name);
}

/**
 * Returns the objects of kinds, in a version that the API server can read. If the conversion
 * webhook does not respond, that is the storage version. Definitions whose objects cannot be read
 * in any version are returned as `unreadable`.
 */
async function objectsOf(
  cluster: Cluster,
  definitions: readonly Definition[],
): Promise<{ readonly objects: readonly ScannedObject[]; readonly unreadable: readonly Definition[] }> {
  const lists = await Promise.all(definitions.map((definition) => readableObjects(cluster, definition)));
  return {
    objects: lists.flatMap((list) => list ?? []),
    unreadable: definitions.filter((_, index) => lists[index] === undefined),
  };
}

async function readableObjects(cluster: Cluster, { spec }: Definition): Promise<ScannedObject[] | undefined> {
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
  return `the objects of ${definition} cannot be read in any version, because the conversion webhook does not respond. ` +
    `Start the operator, or delete the objects without its cleanup with --release-finalizers.`;
}

async function untilDefinitionsDeleted(
  cluster: Cluster,
  definitions: readonly Definition[],
  timeout: number,
): Promise<void> {
  const deadline = AbortSignal.timeout(timeout);
  while (true) {
    const remaining = await existingParts(cluster, definitions as unknown as PlainObject[]);
    if (remaining.length === 0) return;
    if (deadline.aborted) {
      throw new Failure(
        `${remaining.map(shown).join(", ")} not deleted within ${shownDuration(timeout)}: objects of ${
          remaining.length === 1 ? "this kind" : "these kinds"
        } still exist. List them with kubectl get, and check their finalizers.`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

/**
 * Returns the objects of an installation in the order of deletion. The Deployment comes before the
 * roles, which the operator needs until it ends.
 */
function installedObjects({ manifests, reconciled }: OperatorFacts, keepObjects: boolean): PlainObject[] {
  const { crd, namespace, rbac, manager, networkPolicy, webhook } = manifests;
  const kinds = keepObjects ? [] : crd.filter(({ metadata }) => reconciled.includes(metadata.name));
  // Webhook configurations come before the Service that they call, so that they block no request.
  return [
    ...webhook.toReversed(),
    ...manager,
    ...networkPolicy,
    ...rbac,
    ...kinds,
    ...namespace,
  ] as unknown as PlainObject[];
}

async function existingParts(cluster: Cluster, parts: readonly PlainObject[]): Promise<PlainObject[]> {
  const found = await Promise.all(parts.map(async (part) => {
    const kind = await servedKind(cluster, part);
    if (kind === undefined) return [];
    const live: KubeObject | undefined = await ifFound(() =>
      cluster.client.get(kind, part.metadata.name, namespaceOptions(part))
    );
    // A namespace of another owner is not deleted.
    return live === undefined || (part.kind === "Namespace" && !isOwnNamespace(live, part)) ? [] : [part];
  }));
  return found.flat();
}

async function stillExisting(cluster: Cluster, objects: readonly ScannedObject[]): Promise<ScannedObject[]> {
  const now = await Promise.all(objects.map(async ({ kind, object }) => {
    const live: KubeObject | undefined = await ifFound(() =>
      cluster.client.get(kind, object.metadata.name, namespaceOptions(object))
    );
    return live !== undefined && live.metadata.uid === object.metadata.uid ? [{ kind, object: live }] : [];
  }));
  return now.flat();
}

async function remove(cluster: Cluster, kind: AnyKind, object: PlainObject): Promise<void> {
  await ifFound(() => cluster.client.delete(kind, object.metadata.name, namespaceOptions(object)));
}
