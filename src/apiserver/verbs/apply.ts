/** Server-side apply (KEP-555). */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { required } from "../../schema/field_error.ts";
import { writeAdmitted, writeOf } from "../admission/admitted.ts";
import { pathText } from "../apply/field_set.ts";
import { conflictsBesidesLastApplied, KUBECTL, withLastApplied } from "../apply/last_applied.ts";
import {
  decodeManaged,
  emptyObject,
  encodeManaged,
  identity,
  ignoredFields,
  versionLookup,
  withoutManaged,
  withoutServerFields,
} from "../apply/managed_fields.ts";
import { typeErrors } from "../apply/typed.ts";
import { applyFields, type Conflict, ConflictError, type Managers, updateManagers } from "../apply/updater.ts";
import type { Core } from "../core/core.ts";
import { checkName, createSteps, updateSteps } from "../core/persist.ts";
import type { Outcome, Target } from "../core/target.ts";
import { decodeBody } from "../objects/decode_body.ts";
import { keyOf } from "../objects/key.ts";
import type { ServedKind } from "../objects/kinds.ts";
import {
  type Draft,
  type ManagedFieldsEntry,
  metadataOf,
  type StoredObject,
  timestamp,
  withMetadata,
} from "../objects/objects.ts";
import type { WriteOptions } from "../objects/options.ts";
import { applyConflict, badRequest, conflict, invalid, notFound, StatusError } from "../wire/status_error.ts";
import { parseYamlWithDuplicates } from "../wire/yaml.ts";
import { guardOf } from "./write_guard.ts";
import { jsonTypeName } from "../wire/go_value.ts";

/**
 * Applies the configuration in the body of a PATCH. Creates the object if it does not exist, and
 * updates it otherwise.
 *
 * @param core The server.
 * @param target Target of the request.
 * @param text The body: YAML, which includes JSON.
 * @param options Options of the request.
 * @throws {StatusError} If the configuration is rejected.
 */
export async function applyObject(core: Core, target: Target, text: string, options: WriteOptions): Promise<Outcome> {
  const { kind, namespace, name = "", subresource, query, warnings } = target;
  if (!query.get("fieldManager")) {
    const error = required("fieldManager", "is required for apply patch");
    throw invalid({ group: "meta.k8s.io", kind: "PatchOptions" }, "", [error]);
  }
  const { config, duplicates } = await parseConfig(kind, text);
  const live = core.store.get(kind.collection, keyOf(namespace, name));
  if (live === undefined) {
    if (subresource !== undefined) throw notFound(kind, name);
    return await applyNew(core, target, config, duplicates, options);
  }
  let areDuplicatesChecked = false;
  let managers: Managers = new Map();
  let times: ReadonlyMap<string, string> = new Map();
  const request = {
    namespace,
    name,
    dryRun: options.dryRun,
    ...guardOf(core, target),
    ...(subresource && { subresource }),
    track: (next: StoredObject) => {
      // Fields that defaults and the server's own rules set have no manager.
      return withMetadata(next, { managedFields: encodeManaged({ managers, times }) });
    },
  };
  const steps = updateSteps(core, kind, request, (old) => {
    const result = applyConfig(core, target, old, config, options);
    if (!areDuplicatesChecked) checkDuplicates(duplicates, options, warnings);
    areDuplicatesChecked = true;
    managers = result.managers;
    times = result.times;
    if (!result.isChanged) return old;
    const draft = decodeBody(kind, result.object, { fieldValidation: "Ignore", warnings: [], applied: config });
    checkName(draft, name);
    return draft;
  });
  const { object, warnings: added } = await writeAdmitted(core, writeOf(target, "UPDATE", options), steps);
  warnings.push(...added);
  return { code: 200, object };
}

/**
 * Parses the configuration in the body of an apply.
 *
 * @throws {StatusError} If the body is not a configuration of this kind.
 */
export async function parseConfig(
  kind: ServedKind,
  text: string,
): Promise<{ readonly config: Draft; readonly duplicates: readonly string[] }> {
  const { value, duplicates } = await parseYamlWithDuplicates(text, "error decoding YAML: ");
  const config = value ?? {};
  if (!isObject(config)) {
    const detail = `cannot unmarshal ${jsonTypeName(config)} into Go value of type map[string]interface {}`;
    throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: json: ${detail}`);
  }
  const [apiVersion, name] = [String(own(config, "apiVersion") ?? ""), String(own(config, "kind") ?? "")];
  if (apiVersion !== kind.apiVersion || name !== kind.kind) {
    const version = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
    throw badRequest(`invalid object type: ${version}, Kind=${name}`);
  }
  if (metadataOf(config).managedFields !== undefined) throw badRequest("metadata.managedFields must be nil");
  return { config, duplicates };
}

/**
 * Warns about duplicate keys or rejects them. Called after the apply, because other errors take
 * precedence.
 */
function checkDuplicates(
  duplicates: readonly string[],
  { fieldValidation }: WriteOptions,
  warnings: string[],
): void {
  if (fieldValidation === "Ignore" || duplicates.length === 0) return;
  if (fieldValidation === "Warn") return void warnings.push(...duplicates);
  const list = duplicates.map((line) => `  ${line}`).join("\n");
  throw badRequest(`error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n${list}`);
}

async function applyNew(
  core: Core,
  target: Target,
  config: Draft,
  duplicates: readonly string[],
  options: WriteOptions,
): Promise<Outcome> {
  const { kind, namespace, name = "", warnings } = target;
  if (metadataOf(config).uid) {
    const detail = `uid mismatch: the provided object specified uid ${
      metadataOf(config).uid
    }, and no existing object was found`;
    throw conflict(kind, name, detail);
  }
  core.access.checkCreate(target.user, kind, { namespace, name });
  const empty = {
    ...emptyObject(kind) as Draft,
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: {},
  } as unknown as StoredObject;
  const { object, managers, times } = applyConfig(core, target, empty, config, options);
  checkDuplicates(duplicates, options, warnings);
  const draft = decodeBody(kind, object, { fieldValidation: "Ignore", warnings: [], applied: config });
  checkName(draft, name);
  const created = await writeAdmitted(
    core,
    writeOf(target, "CREATE", options),
    createSteps(core, kind, draft, {
      namespace,
      dryRun: options.dryRun,
      isApplied: true,
      ...guardOf(core, target),
      track: (next) => withMetadata(next, { managedFields: encodeManaged({ managers, times }) }),
    }),
  );
  warnings.push(...created.warnings);
  return { code: 201, object: created.object };
}

/** Result of {@linkcode applyConfig}. */
export interface ApplyResult {
  readonly object: Draft;
  readonly managers: Managers;
  readonly times: ReadonlyMap<string, string>;
  readonly isChanged: boolean;
}

/**
 * Applies a configuration to an object.
 *
 * @throws {StatusError} If fields belong to other managers.
 */
export function applyConfig(
  core: Core,
  target: Pick<Target, "kind" | "subresource">,
  live: StoredObject,
  config: Draft,
  options: Pick<WriteOptions, "manager" | "force">,
): ApplyResult {
  const { kind, subresource } = target;
  const { schema, apiVersion } = kind;
  checkTypes(kind, config);
  const ignored = ignoredFields(kind, subresource);
  const start = decodeManaged(live.metadata.managedFields ?? []) ?? { managers: new Map(), times: new Map() };
  const before = withoutManaged(live);
  const wanted = { ...config, metadata: own(config, "metadata") ?? {} };
  // If the object has no managers yet, its fields get the manager `before-first-apply`.
  const tracked = start.managers.size > 0 || !live.metadata.uid
    ? start
    : managersBeforeFirstApply(core, kind, live, subresource);
  const id = identity({ manager: options.manager, operation: "Apply", ...(subresource && { subresource }) });
  const change = { schema, apiVersion, manager: id, ignored, ...versionLookup(core, kind) };
  let result;
  try {
    result = applyFields(before, wanted, tracked.managers, change, options.force);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    const conflicts = options.manager === KUBECTL
      ? conflictsBesidesLastApplied(kind, before, error.conflicts)
      : error.conflicts;
    if (conflicts.length > 0) throw conflictStatus(conflicts);
    // All conflicts are about fields that kubectl wrote with client-side apply and that have not
    // changed since, so it may take them over.
    result = applyFields(before, wanted, tracked.managers, change, true);
  }
  const managers = new Map(result.managers);
  const entry = managers.get(id);
  if (entry !== undefined) {
    const set = withoutServerFields(entry.set);
    if (set.isEmpty) managers.delete(id);
    else managers.set(id, { ...entry, set });
  }
  const times = new Map(tracked.times);
  if (result.isChanged) times.set(id, timestamp(core.clock.now()));
  const object = options.manager === KUBECTL ? withLastApplied(result.object as Draft, config) : result.object as Draft;
  return { object, managers, times, isChanged: result.isChanged || object !== result.object };
}

/**
 * Returns the managers of an object that has no `managedFields` yet: `before-first-apply` owns all
 * fields that the path of the apply can write.
 */
function managersBeforeFirstApply(
  core: Core,
  kind: ServedKind,
  live: StoredObject,
  subresource: string | undefined,
): { managers: Managers; times: ReadonlyMap<string, string> } {
  const id = identity({
    manager: "before-first-apply",
    operation: "Update",
    apiVersion: kind.apiVersion,
    ...(subresource && { subresource }),
  });
  const change = {
    schema: kind.schema,
    apiVersion: kind.apiVersion,
    manager: id,
    ignored: ignoredFields(kind, subresource),
    ...versionLookup(core, kind),
  };
  const managers = new Map(updateManagers(emptyObject(kind), withoutManaged(live), new Map(), change));
  const entry = managers.get(id);
  if (entry !== undefined) managers.set(id, { ...entry, set: withoutServerFields(entry.set) });
  return { managers, times: new Map([[id, timestamp(core.clock.now())]]) };
}

function checkTypes(kind: ServedKind, config: Draft): void {
  const errors = typeErrors(kind.schema, config);
  if (errors.length === 0) return;
  const name = metadataOf(config).name ?? "";
  const id = `${metadataOf(config).namespace ?? ""}/${name}; ${kind.group}/${kind.version}, Kind=${kind.kind}`;
  const text = errors.length === 1 ? errors[0] : `errors:\n${errors.map((error) => `  ${error}`).join("\n")}`;
  throw new StatusError(500, undefined, `failed to create typed patch object (${id}): ${text}`);
}

function conflictStatus(conflicts: readonly Conflict[]): StatusError {
  const causes = conflicts.map(({ manager, path }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${describeManager(manager)}`,
    field: pathText(path),
  }));
  const [first] = conflicts;
  if (conflicts.length === 1 && first !== undefined) {
    const text = `conflict with ${describeManager(first.manager)}: ${pathText(first.path)}`;
    return applyConflict(`Apply failed with 1 conflict: ${text}`, causes);
  }
  const lines = [...new Set(conflicts.map(({ manager }) => manager))].sort().flatMap((manager) => [
    `conflicts with ${describeManager(manager)}:`,
    ...conflicts.filter((each) => each.manager === manager).map(({ path }) => `- ${pathText(path)}`),
  ]);
  return applyConflict(`Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`, causes);
}

/** Formats a manager for messages. If it owns fields by updates, its apiVersion is included. */
function describeManager(id: string): string {
  const { manager, operation, apiVersion, subresource } = JSON.parse(id) as ManagedFieldsEntry;
  const name = JSON.stringify(manager);
  const part = subresource ? ` with subresource ${JSON.stringify(subresource)}` : "";
  return operation === "Update" ? `${name}${part} using ${apiVersion}` : `${name}${part}`;
}
