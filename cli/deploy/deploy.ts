/** `op deploy`: deploys an operator with server-side apply, and waits until it is ready. */
import { join, resolve } from "node:path";
import { type AnyKind, ApiError, type KubeObject } from "@op/sdk";
import { ClusterRole } from "@op/sdk/kinds";
import { applyFailure, type Cluster, type ClusterOptions, connectCluster, ifFound, servedKind } from "../cluster.ts";
import { checkBreakingChanges } from "../crd/breaking_changes.ts";
import { warnOfDefinitions } from "../crd/definition_warnings.ts";
import { definitionsIn } from "../definitions/definition.ts";
import { durationOption } from "../duration_option.ts";
import { Failure } from "../exit_code.ts";
import { DEV_MANAGER, MANAGER } from "../field_manager.ts";
import type { Io } from "../io.ts";
import { type PlainObject, readObjects, shown } from "../objects.ts";
import { counted } from "../plural.ts";
import { takeBackFromDev } from "./dev_takeover.ts";
import { DroppedKinds } from "./dropped_kinds.ts";
import { obsoleteRoles } from "./obsolete_roles.ts";
import { checkConflicts, isOwnNamespace } from "./ownership.ts";
import { kustomize } from "../kustomize/kustomize.ts";
import { waitUntilRunning } from "./rollout.ts";
import { byNearness, NAME_LABEL, nearest } from "../internal/mod.gen.ts";
import { step } from "../progress.ts";

/** Options for {@linkcode deploy}. */
export interface DeployOptions extends ClusterOptions {
  /** The folder of the overlays. */
  readonly dir: string;
  /** Let the API server validate the changes without storing them. */
  readonly dryRun?: boolean | undefined;
  /** Apply definitions even if stored objects lose fields or become invalid. */
  readonly allowBreaking?: boolean | undefined;
  /** Take over objects that belong to another operator of the same name. */
  readonly adopt?: boolean | undefined;
  /** Remove finalizers of controllers that the new version no longer has. */
  readonly releaseFinalizers?: boolean | undefined;
  /** Take over webhooks and conversions that a running `op dev` has redirected to itself. */
  readonly takeBack?: boolean | undefined;
  /** Wait until the operator is ready. */
  readonly wait: boolean;
  /** How long to wait: a duration. */
  readonly timeout: string;
}

/** Kinds that other objects depend on. They are applied first, in this order. */
const APPLIED_FIRST = ["CustomResourceDefinition", "Namespace", "ServiceAccount", "ClusterRole", "Role"];

/**
 * Applies the objects of an overlay. Objects that others depend on are applied first.
 *
 * @param overlay The overlay's name, a folder with a kustomization, a file with objects, or `-` for
 *   standard input.
 * @param options The cluster and how to deploy.
 * @param io The terminal and the shell.
 * @throws {Failure} If an input cannot be read, an object is rejected, or the operator is not ready
 *   in time.
 */
export async function deploy(overlay: string, options: DeployOptions, io: Io): Promise<void> {
  const timeout = durationOption(options.timeout, "--timeout");
  const read = sortForApply(await objectsOf(overlay, options.dir, io));
  if (read.length === 0) {
    const source = overlay === "-" ? "standard input" : `"${overlay}"`;
    throw new Failure(`Cannot deploy ${source}: it has no objects. Name an overlay, or a folder or file with objects.`);
  }
  step("Reading the cluster", io);
  using cluster = await connectCluster(options, io);
  const served = await withoutUnservedPolicies(cluster, read, io);
  const objects = await Promise.all(served.map((object) => withNamespace(cluster, object, read)));
  if (options.adopt !== true) {
    await checkConflicts(cluster, objects, {
      action: `deploy ${operatorNames(objects)}`,
      advice: "To take the objects over, add --adopt.",
    });
  }
  const { allowBreaking } = options;
  const definitions = definitionsIn(read);
  warnOfDefinitions(definitions, io);
  await checkBreakingChanges(cluster, definitions, { allowBreaking }, io);
  // This follows all checks, so that a failed check leaves the cluster unchanged.
  const unvalidated = await takeBackFromDev(cluster, objects, options, io);
  const { releaseFinalizers = false } = options;
  const dropped = await DroppedKinds.of(cluster, objects, releaseFinalizers);
  io.out(`${options.dryRun ? "Would apply" : "Applying"} ${counted(objects.length, "object")} to ${cluster.url}\n`);
  for (const object of objects) {
    if (object.kind === "CustomResourceDefinition" && unvalidated.has(object.metadata.name)) {
      io.out(`  changed    ${shown(object)} (not validated: its conversion would be taken over first)\n`);
      continue;
    }
    io.out(`  ${await applyObject(cluster, await withNamespace(cluster, object, []), objects, options)}\n`);
  }
  for (const role of await obsoleteRoles(cluster, objects)) {
    if (!options.dryRun) await cluster.client.delete(ClusterRole, role.metadata.name);
    io.out(`  deleted    ClusterRole ${role.metadata.name} (this version does not have its kind)\n`);
  }
  if (!options.dryRun && options.wait) await waitUntilRunning(cluster, objects, timeout, io);
  await dropped.settle(releaseFinalizers && options.dryRun !== true, io);
}

/**
 * Omits the operator's admission policy if the API server does not serve admission policies, which
 * Kubernetes has since 1.30. A policy that the user added is never omitted.
 */
async function withoutUnservedPolicies(
  cluster: Cluster,
  objects: readonly PlainObject[],
  io: Io,
): Promise<PlainObject[]> {
  const served = await Promise.all(objects.map(async (object) => {
    const isPolicy = object.kind.startsWith("ValidatingAdmissionPolicy") && object.metadata.labels?.[NAME_LABEL];
    return !isPolicy || await servedKind(cluster, object) !== undefined;
  }));
  const omitted = objects.filter((_, index) => !served[index]);
  if (omitted.length > 0) {
    io.err(
      `Warning: not applied: ${
        omitted.map(shown).join(", ")
      }. The API server has no admission policies, so the operator's ` +
        `ServiceAccount may change all fields of its webhook configurations. Use Kubernetes 1.30 or later, or certificates from cert-manager.\n`,
    );
  }
  return objects.filter((_, index) => served[index]);
}

async function objectsOf(overlay: string, dir: string, io: Io): Promise<PlainObject[]> {
  if (overlay === "-") return await readObjects(overlay, io);
  const named = join(resolve(io.cwd, dir), "overlays", overlay);
  for (const path of [named, resolve(io.cwd, overlay)]) {
    const info = await Deno.stat(path).catch(() => undefined);
    if (info?.isDirectory) return await kustomize(path);
    if (info?.isFile) return await readObjects(overlay, io);
  }
  const folders = await foldersIn(join(resolve(io.cwd, dir), "overlays"));
  const existing = byNearness(overlay, folders).map((name) => `"${name}"`).join(", ");
  const similar = nearest(overlay, folders);
  throw new Failure(
    `Cannot find overlay "${overlay}": neither "${dir}/overlays/${overlay}" nor "${overlay}" exists. ` +
      (similar === undefined ? "" : `Did you mean "${similar}"? `) +
      (existing === "" ? "" : `Existing overlays: ${existing}. `) +
      `Generate it with "op generate overlay ${overlay}".`,
  );
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder)).catch(() => []);
  return entries.flatMap(({ name, isDirectory }) => isDirectory ? [name] : []).sort();
}

/**
 * Adds the namespace of the kubeconfig's context to an object without one, as kubectl does. Objects
 * of kinds whose definition is among the objects stay as they are, because the API server does not
 * serve these kinds yet.
 */
async function withNamespace(cluster: Cluster, object: PlainObject, all: readonly PlainObject[]): Promise<PlainObject> {
  const isNew = all.some(({ kind, spec }) =>
    kind === "CustomResourceDefinition" && (spec as { names?: { kind?: string } }).names?.kind === object.kind
  );
  if (object.metadata.namespace !== undefined || isNew) return object;
  const { namespaced } = await cluster.kindOf(object);
  return namespaced ? { ...object, metadata: { ...object.metadata, namespace: cluster.namespace } } : object;
}

function sortForApply(objects: readonly PlainObject[]): PlainObject[] {
  const position = ({ kind }: PlainObject) =>
    APPLIED_FIRST.includes(kind) ? APPLIED_FIRST.indexOf(kind) : APPLIED_FIRST.length;
  return [...objects].sort((a, b) => position(a) - position(b));
}

/** Applies an object and returns a line with the result. */
async function applyObject(
  cluster: Cluster,
  object: PlainObject,
  all: readonly PlainObject[],
  { dryRun = false, adopt = false }: DeployOptions,
): Promise<string> {
  const { name, namespace } = object.metadata;
  const described = shown(object);
  const kind = await cluster.kindOf(object);
  const before: KubeObject | undefined = await ifFound(() =>
    cluster.client.get(kind, name, namespace === undefined ? {} : { namespace })
  );
  // A namespace of another owner gets no labels of the operator, so that op uninstall keeps it.
  if (before !== undefined && object.kind === "Namespace" && !isOwnNamespace(before, object) && !adopt) {
    return `kept       ${described} (it belongs to another owner)`;
  }
  try {
    let after: KubeObject = await cluster.client.apply(kind, object, {
      manager: MANAGER,
      force: true,
      fieldValidation: "Strict",
      dryRun,
    });
    if (!dryRun && isAppliedByDev(before)) after = await removeDevFields(cluster, kind, object);
    if (before === undefined) return `created    ${described}`;
    return before.metadata.resourceVersion === after.metadata.resourceVersion
      ? `unchanged  ${described}`
      : `changed    ${described}`;
  } catch (error) {
    const isNew = all.some(({ kind, metadata }) => kind === "Namespace" && metadata.name === namespace);
    if (dryRun && isNew && error instanceof ApiError && error.status === 404) {
      return `created    ${described} (not validated: its namespace would be created first)`;
    }
    throw applyFailure(error, described);
  }
}

function isAppliedByDev(before: KubeObject | undefined): boolean {
  const { managedFields = [] } = before?.metadata ?? {};
  return managedFields.some(({ manager, operation }) => manager === DEV_MANAGER && operation === "Apply");
}

/** Removes the fields that only `op dev` set, by an apply that has no fields. */
async function removeDevFields(cluster: Cluster, kind: AnyKind, { metadata }: PlainObject): Promise<KubeObject> {
  const { name, namespace } = metadata;
  const empty = { metadata: { name, ...(namespace === undefined ? {} : { namespace }) } };
  return await cluster.client.apply(kind, empty, { manager: DEV_MANAGER, force: true });
}

/** Returns the names of the operators that objects belong to. */
function operatorNames(objects: readonly PlainObject[]): string {
  const names = new Set(objects.flatMap(({ metadata }) => metadata.labels?.[NAME_LABEL] ?? []));
  return names.size === 0 ? "these objects" : [...names].map((name) => `"${name}"`).join(" and ");
}
