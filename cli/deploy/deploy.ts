/** `op deploy`: puts an operator into a cluster by server-side apply, and waits until it runs. */
import { join, resolve } from "node:path";
import { type AnyKind, ApiError, type KubeObject } from "@op/sdk";
import { applyFailure, type Cluster, type ClusterOptions, connectCluster, servedKind } from "../cluster.ts";
import { refuseBreakingChanges } from "../crd/breaking_changes.ts";
import { warnOfDefinitions } from "../crd/definition_warnings.ts";
import { definitionsIn } from "../definitions/definition.ts";
import { durationOption } from "../duration_option.ts";
import { Failure } from "../exit_code.ts";
import { MANAGER } from "../field_manager.ts";
import type { Io } from "../io.ts";
import { type PlainObject, readObjects, shown } from "../objects.ts";
import { counted } from "../plural.ts";
import { takeBackFromDev } from "./developed.ts";
import { DroppedKinds } from "./dropped_kinds.ts";
import { isOwnNamespace, refuseConflicts } from "./ownership.ts";
import { kustomize } from "../kustomize/kustomize.ts";
import { waitUntilRunning } from "./rollout.ts";
import { byNearness, NAME_LABEL, nearest } from "../internal/mod.gen.ts";
import { step } from "../progress.ts";

/** Options for {@linkcode deploy}. */
export interface DeployOptions extends ClusterOptions {
  /** The folder that overlays are in. */
  readonly dir: string;
  /** Ask the server what would be, and change nothing. */
  readonly dryRun?: boolean | undefined;
  /** Apply definitions though stored objects lose fields or no longer fit. */
  readonly allowBreaking?: boolean | undefined;
  /** Take over objects that belong to another operator of the same name. */
  readonly adopt?: boolean | undefined;
  /** Remove finalizers of controllers that the new version does not have. */
  readonly releaseFinalizers?: boolean | undefined;
  /** Take webhooks and conversions from an `op dev` that is running. */
  readonly takeBack?: boolean | undefined;
  /** Wait until it runs. */
  readonly wait: boolean;
  /** How long to wait: a duration. */
  readonly timeout: string;
}

/** What others need comes first: kinds, namespaces, accounts, roles. */
const ORDER = ["CustomResourceDefinition", "Namespace", "ServiceAccount", "ClusterRole", "Role"];

/**
 * Applies the objects of an overlay, in an order in which each finds what it needs.
 *
 * @param overlay The overlay's name, a folder with a kustomization, a file with objects, or `-` for standard input.
 * @param options Which cluster, and how.
 * @param io The terminal and the shell.
 * @throws {Failure} If something cannot be read, is refused, or does not run in time.
 */
export async function deploy(overlay: string, options: DeployOptions, io: Io): Promise<void> {
  const timeout = durationOption(options.timeout, "--timeout");
  const read = inOrder(await objectsOf(overlay, options.dir, io));
  if (read.length === 0) {
    const source = overlay === "-" ? "standard input" : `"${overlay}"`;
    throw new Failure(
      `Cannot deploy ${source}: there is no object in it; name an overlay, a folder or a file that has some`,
    );
  }
  step("Looking at the cluster", io);
  using cluster = await connectCluster(options, io);
  const known = await withoutUnservedPolicies(cluster, read, io);
  const objects = await Promise.all(known.map((object) => placed(cluster, object, read)));
  if (options.adopt !== true) {
    await refuseConflicts(cluster, objects, {
      what: `deploy ${named(objects)}`,
      adopting: "To take the objects over, say --adopt.",
    });
  }
  const { allowBreaking } = options;
  const definitions = definitionsIn(read);
  warnOfDefinitions(definitions, io);
  await refuseBreakingChanges(cluster, definitions, { allowBreaking }, io);
  // The checks come first: a deploy that fails has changed nothing.
  const held = await takeBackFromDev(cluster, objects, options, io);
  const { releaseFinalizers = false } = options;
  const dropped = await DroppedKinds.of(cluster, objects, releaseFinalizers);
  io.out(`${options.dryRun ? "Would apply" : "Applying"} ${counted(objects.length, "object")} to ${cluster.url}\n`);
  for (const object of objects) {
    if (object.kind === "CustomResourceDefinition" && held.has(object.metadata.name)) {
      io.out(`  changed    ${shown(object)} (unchecked: its conversion is taken back first)\n`);
      continue;
    }
    io.out(`  ${await applied(cluster, await placed(cluster, object, []), objects, options)}\n`);
  }
  if (!options.dryRun && options.wait) await waitUntilRunning(cluster, objects, timeout, io);
  await dropped.settle(releaseFinalizers && options.dryRun !== true, io);
}

/** Leaves out an operator's admission policy where the API server has none: those are in Kubernetes since 1.30. What a user adds is applied, or fails. */
async function withoutUnservedPolicies(
  cluster: Cluster,
  objects: readonly PlainObject[],
  io: Io,
): Promise<PlainObject[]> {
  const served = await Promise.all(objects.map(async (object) => {
    const isPolicy = object.kind.startsWith("ValidatingAdmissionPolicy") && object.metadata.labels?.[NAME_LABEL];
    return !isPolicy || await servedKind(cluster, object) !== undefined;
  }));
  const left = objects.filter((_, index) => !served[index]);
  if (left.length > 0) {
    io.err(
      `Warning: not applied: ${
        left.map(shown).join(", ")
      }. The API server has no admission policies, so the operator's ` +
        `service account may change all fields of its webhook configurations. Use Kubernetes 1.30 or later, or certificates of cert-manager.\n`,
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
  const known = byNearness(overlay, folders);
  const hint = known.length === 0 ? "" : ` (there is ${known.map((name) => `"${name}"`).join(", ")})`;
  const near = nearest(overlay, folders);
  const make = `make it with "op generate overlay ${overlay}"`;
  throw new Failure(
    `Cannot find overlay "${overlay}": neither "${dir}/overlays/${overlay}"${hint} nor "${overlay}" is there; ${
      near === undefined ? make : `did you mean "${near}"? Otherwise ${make}`
    }`,
  );
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder)).catch(() => []);
  return entries.flatMap(({ name, isDirectory }) => isDirectory ? [name] : []).sort();
}

/** What names no namespace goes into that of the kubeconfig's context, as with kubectl. A kind that comes along is not known yet. */
async function placed(cluster: Cluster, object: PlainObject, all: readonly PlainObject[]): Promise<PlainObject> {
  const isComing = all.some(({ kind, spec }) =>
    kind === "CustomResourceDefinition" && (spec as { names?: { kind?: string } }).names?.kind === object.kind
  );
  if (object.metadata.namespace !== undefined || isComing) return object;
  const { namespaced } = await cluster.kindOf(object);
  return namespaced ? { ...object, metadata: { ...object.metadata, namespace: cluster.namespace } } : object;
}

function inOrder(objects: readonly PlainObject[]): PlainObject[] {
  const place = ({ kind }: PlainObject) => ORDER.includes(kind) ? ORDER.indexOf(kind) : ORDER.length;
  return [...objects].sort((a, b) => place(a) - place(b));
}

/** Applies one object, and says what came of it. */
async function applied(
  cluster: Cluster,
  object: PlainObject,
  all: readonly PlainObject[],
  { dryRun = false, adopt = false }: DeployOptions,
): Promise<string> {
  const { namespace } = object.metadata;
  const described = shown(object);
  const kind = await cluster.kindOf(object);
  const before = await found(cluster, kind, object);
  // Without its labels it is not the operator's, so that uninstalling the operator leaves it.
  if (before !== undefined && object.kind === "Namespace" && !isOwnNamespace(before, object) && !adopt) {
    return `kept       ${described} (not its own)`;
  }
  try {
    const after: KubeObject = await cluster.client.apply(kind, object, {
      manager: MANAGER,
      force: true,
      fieldValidation: "Strict",
      dryRun,
    });
    if (before === undefined) return `created    ${described}`;
    return before.metadata.resourceVersion === after.metadata.resourceVersion
      ? `unchanged  ${described}`
      : `changed    ${described}`;
  } catch (error) {
    const isComing = all.some(({ kind, metadata }) => kind === "Namespace" && metadata.name === namespace);
    if (dryRun && isComing && error instanceof ApiError && error.status === 404) {
      return `created    ${described} (unchecked: its namespace comes with it)`;
    }
    throw applyFailure(error, described);
  }
}

/** The operators that objects are of, as messages name them. */
function named(objects: readonly PlainObject[]): string {
  const names = new Set(objects.flatMap(({ metadata }) => metadata.labels?.[NAME_LABEL] ?? []));
  return names.size === 0 ? "these objects" : [...names].map((name) => `"${name}"`).join(" and ");
}

async function found(cluster: Cluster, kind: AnyKind, { metadata }: PlainObject): Promise<KubeObject | undefined> {
  const { name, namespace } = metadata;
  try {
    return await cluster.client.get(kind, name, namespace === undefined ? {} : { namespace });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
