/**
 * Rejects changes of CustomResourceDefinitions that break stored objects. The API server accepts
 * such changes: objects then lose fields that the new schema does not have, or become invalid.
 */
import { type AnyKind, ApiError, type KubeObject } from "@op/sdk";
import { CustomResourceDefinition } from "@op/sdk/kinds";
import { prune, validate } from "@op/sdk/validation";
import type { Cluster } from "../cluster.ts";
import { checkDefinition, type DefinedVersion, type Definition } from "../definitions/definition.ts";
import { Failure } from "../exit_code.ts";
import { counted } from "../plural.ts";
import type { Io } from "../io.ts";
import { type DefinitionChange, definitionChanges } from "./definition_changes.ts";

/** Options for {@linkcode checkBreakingChanges}. */
export interface BreakingOptions {
  /**
   * Whether objects may lose fields or become invalid. Removing a version in which objects are
   * stored is always rejected. @default {false}
   */
  readonly allowBreaking?: boolean | undefined;
  /** Cancels the requests. */
  readonly signal?: AbortSignal;
}

/**
 * Compares CustomResourceDefinitions with those of a cluster, and rejects changes that break stored
 * objects. Each definition costs one GET. Objects are listed, page by page, only if a change may
 * break them.
 *
 * @param cluster The cluster.
 * @param definitions The definitions to apply, with the conversion that the cluster will have.
 * @param options Whether breaking changes are accepted.
 * @param io Receives warnings about accepted breaking changes, and about changes that only break
 *   clients.
 * @throws {Failure} If a stored version would be removed, or if objects would break and
 *   `allowBreaking` is not set.
 */
export async function checkBreakingChanges(
  cluster: Cluster,
  definitions: readonly Definition[],
  { allowBreaking = false, signal }: BreakingOptions,
  io: Io,
): Promise<void> {
  const reports: BrokenKind[] = [];
  for (const definition of definitions) {
    const live = await liveDefinition(cluster, definition.metadata.name, signal);
    if (live === undefined) continue;
    await checkStoredVersions(cluster, live, definition, signal);
    const changes = definitionChanges([live], [definition]);
    const broken = await brokenVersions(cluster, live, definition, changes, signal);
    if (broken.length > 0) reports.push({ name: definition.metadata.name, versions: broken });
    else warnAboutClients(changes, io);
  }
  if (reports.length === 0) return;
  const described = reports.map(describe).join("");
  if (allowBreaking) return io.err(`Warning: ${described}`);
  throw new Failure(
    `Cannot apply breaking changes: ${described}` +
      "Change the definition so that these objects still fit, put the change into a new version with a conversion, or accept the loss with --allow-breaking.",
  );
}

/** A definition in a cluster. */
type LiveDefinition = Definition & { readonly status?: { readonly storedVersions?: readonly string[] } };

/** Objects of one version that a change breaks. */
interface BrokenVersion {
  readonly version: string;
  readonly objects: number;
  readonly broken: number;
  /** The problems, by field. */
  readonly fields: readonly BrokenField[];
  /** The reason if the objects could not be read. */
  readonly uncounted?: string;
}

interface BrokenField {
  /** The problem, such as `spec.host is dropped`. */
  readonly problem: string;
  readonly example: string;
  count: number;
}

interface BrokenKind {
  readonly name: string;
  readonly versions: readonly BrokenVersion[];
}

async function liveDefinition(
  { client }: Cluster,
  name: string,
  signal: AbortSignal | undefined,
): Promise<LiveDefinition | undefined> {
  try {
    const live = await client.get(CustomResourceDefinition, name, signal === undefined ? {} : { signal });
    const { spec } = live as unknown as LiveDefinition;
    // Definitions that were created as v1beta1 may have no schema, or preserve unknown fields.
    const open = spec.preserveUnknownFields === true ? { "x-kubernetes-preserve-unknown-fields": true as const } : {};
    const versions = spec.versions.map((version): DefinedVersion => {
      const { openAPIV3Schema = {} } = (version as Partial<DefinedVersion>).schema ?? {};
      return { ...version, schema: { openAPIV3Schema: { ...openAPIV3Schema, ...open } } };
    });
    return checkDefinition({ ...(live as unknown as LiveDefinition), spec: { ...spec, versions } });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

/**
 * Checks that no stored version is removed. The API server rejects this too, but without advice.
 */
async function checkStoredVersions(
  cluster: Cluster,
  live: LiveDefinition,
  definition: Definition,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { versions } = definition.spec;
  const [removed] = (live.status?.storedVersions ?? []).filter((stored) =>
    !versions.some(({ name }) => name === stored)
  );
  if (removed === undefined) return;
  const { name } = live.metadata;
  const storage = versions.find((version) => version.storage)?.name ?? "";
  const count = await countOf(cluster, live, signal);
  throw new Failure(
    `Cannot apply CustomResourceDefinition "${name}": objects may be stored in version "${removed}", which the new definition does not have` +
      `${count === undefined ? "" : ` (${counted(count, "object")} in the cluster)`}. ` +
      `Keep "${removed}" in the definition ("served: false" hides it). To remove it, migrate the stored objects first: apply a definition that has both ` +
      `versions and stores "${storage}", rewrite every object (kubectl get ${name} -A -o json | kubectl replace -f -), then run: ` +
      `kubectl patch crd ${name} --subresource=status --type=merge -p '{"status":{"storedVersions":["${storage}"]}}'`,
  );
}

/** Returns the number of objects, or `undefined` if they cannot be counted. */
async function countOf(
  { client }: Cluster,
  live: LiveDefinition,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const version = live.spec.versions.find(({ served, storage }) => served && storage) ??
    live.spec.versions.find(({ served }) => served);
  if (version === undefined) return undefined;
  const kind = kindOf(live, version.name);
  try {
    let count = 0;
    let from: string | undefined;
    do {
      const page = await client.page(kind, from, { metadataOnly: true, ...(signal === undefined ? {} : { signal }) });
      count += page.items.length;
      from = page.continue;
    } while (from !== undefined);
    return count;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

async function brokenVersions(
  cluster: Cluster,
  live: LiveDefinition,
  definition: Definition,
  changes: readonly DefinitionChange[],
  signal: AbortSignal | undefined,
): Promise<BrokenVersion[]> {
  const stored = live.spec.versions.find(({ storage }) => storage)!;
  const newStored = definition.spec.versions.find(({ storage }) => storage)!;
  const broken: BrokenVersion[] = [];
  for (const { name, served } of live.spec.versions) {
    // Without a conversion, the next write drops fields that the new storage version does not have.
    const isStoredElsewhere = name === stored.name && newStored.name !== name && !isConverted(definition);
    const isChanged = changes.some(({ version, severity }) => version === name && severity === "breaking");
    const isKept = definition.spec.versions.some((version) => version.name === name);
    if (!(isChanged && isKept) && !isStoredElsewhere) continue;
    if (!served) {
      if (name !== stored.name) continue;
      broken.push(unreadableVersion(name, "the version is stored but not served, so its objects cannot be read"));
      continue;
    }
    const newVersions = [...(isKept ? [name] : []), ...(isStoredElsewhere ? [newStored.name] : [])];
    const result = await validateObjects(cluster, live, definition, name, newVersions, signal);
    if (result.broken > 0 || result.uncounted !== undefined) broken.push(result);
  }
  return broken;
}

function isConverted({ spec }: Definition): boolean {
  return spec.conversion?.strategy === "Webhook";
}

function unreadableVersion(version: string, uncounted: string): BrokenVersion {
  return { version, objects: 0, broken: 0, fields: [], uncounted };
}

/** Reads the objects of a version, and validates each with the new schemas of several versions. */
async function validateObjects(
  { client }: Cluster,
  live: LiveDefinition,
  definition: Definition,
  version: string,
  newVersions: readonly string[],
  signal: AbortSignal | undefined,
): Promise<BrokenVersion> {
  const before = kindOf(live, version);
  const kinds = newVersions.map((name) => kindOf(definition, name));
  const fields = new Map<string, BrokenField>();
  let objects = 0;
  let broken = 0;
  try {
    let from: string | undefined;
    do {
      const page = await client.page(before, from, signal === undefined ? {} : { signal });
      for (const object of page.items as KubeObject[]) {
        objects++;
        const problems = new Set(kinds.flatMap((kind) => newProblems(kind, before, object)));
        if (problems.size > 0) broken++;
        for (const problem of problems) {
          const field = fields.get(problem) ?? { problem, example: shown(object), count: 0 };
          field.count++;
          fields.set(problem, field);
        }
      }
      from = page.continue;
    } while (from !== undefined);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return unreadableVersion(version, error.message);
  }
  return { version, objects, broken, fields: [...fields.values()] };
}

/** Returns the problems that an object has with a new schema and not with the old one. */
function newProblems(kind: AnyKind, before: AnyKind, object: KubeObject): string[] {
  const renamed = { ...object, apiVersion: kind.apiVersion };
  const dropped = prune(kind, renamed).dropped.map((path) => `${withoutIndexes(path)} is dropped`);
  const problems = validate(kind, renamed);
  if (problems.length === 0) return dropped;
  const known = new Set(validate(before, object).map(({ field, message }) => `${field} ${message}`));
  const added = problems.filter(({ field, message }) => !known.has(`${field} ${message}`));
  return [...dropped, ...added.map(({ field, message }) => `${withoutIndexes(field)} is not valid: ${message}`)];
}

/**
 * Removes the indexes of lists from a path, so that objects with the same problem are counted
 * together.
 */
function withoutIndexes(path: string): string {
  return path.replace(/\[\d+\]/g, "[]");
}

function kindOf(definition: Definition, version: string): AnyKind {
  const { group, names, scope } = definition.spec;
  return {
    group,
    version,
    kind: names.kind,
    apiVersion: `${group}/${version}`,
    plural: names.plural,
    singular: names.singular ?? "",
    listKind: names.listKind ?? `${names.kind}List`,
    shortNames: names.shortNames ?? [],
    namespaced: scope === "Namespaced",
    crd: definition as unknown as NonNullable<AnyKind["crd"]>,
  };
}

function shown({ kind, metadata: { name, namespace } }: KubeObject): string {
  return `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}

// The maximum number of fields that a message names.
const MAX_NAMED = 10;

function describe({ name, versions }: BrokenKind): string {
  return versions.map(({ version, objects, broken, fields, uncounted }) => {
    if (uncounted !== undefined) {
      return `the new CustomResourceDefinition "${name}" may break objects of ${version}, which could not be checked: ${uncounted}.\n`;
    }
    const lines = fields.slice(0, MAX_NAMED).map(({ problem, count, example }) =>
      `  ${problem}: ${counted(count, "object")}, for example ${example}\n`
    );
    if (fields.length > MAX_NAMED) lines.push(`  and ${fields.length - MAX_NAMED} more\n`);
    return `${broken} of ${
      counted(objects, "stored object")
    } would break with the new CustomResourceDefinition "${name}" (${version}):\n${lines.join("")}`;
  }).join("");
}

/** Warns about changes that only affect clients that write new objects. */
function warnAboutClients(changes: readonly DefinitionChange[], io: Io): void {
  for (const { severity, kind, version, path, message: change } of changes) {
    if (severity !== "breaking") continue;
    const location = [kind, version, path].filter((part) => part !== undefined && part !== "").join(" ");
    io.err(`Warning: breaking change for clients, no stored object is affected: ${location}: ${change}\n`);
  }
}
