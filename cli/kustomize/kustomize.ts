/**
 * Builds a kustomization as `kubectl kustomize` does. Unsupported fields are errors that name the
 * field.
 *
 * https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/
 */
import { join, resolve } from "node:path";
import { KUSTOMIZE_YAML } from "../internal/mod.gen.ts";
import { type BuiltinSchemas, builtinSchemas } from "./builtin_schemas.ts";
import { Failure } from "../exit_code.ts";
import { objectsIn, type PlainObject } from "../objects.ts";
import { generated, nameHash, needsHash, type ReadFile } from "./generators.ts";
import { type GeneratorEntry, type Kustomization, type Patch, readKustomization } from "./kustomization.ts";
import { type LoadedPatch, patched } from "./patches.ts";
import { updateReferences } from "./references.ts";
import { type Identity, Resource, sameIdentity, shownIdentity } from "./resource.ts";
import { addAffixes, addAnnotations, addLabels, setImages, setNamespace, setReplicas } from "./transformers.ts";

/**
 * Builds the objects of a directory with a kustomization.
 *
 * @param folder The directory.
 * @returns The objects, in the order of the files.
 * @throws {Failure} If a file cannot be read, or a field is not supported.
 */
export async function kustomize(folder: string): Promise<PlainObject[]> {
  const builtin = await builtinSchemas();
  const resources = await buildDirectory(resolve(folder), [], { builtin, parents: [], kind: "Kustomization" });
  for (const resource of resources) {
    if (!resource.needsHash) continue;
    const { object } = resource;
    const name = `${object.metadata.name}-${nameHash(object)}`;
    resource.change({ ...object, metadata: { ...object.metadata, name } });
  }
  updateReferences(resources);
  return resources.map(({ object }) => object).filter((object) => !isLocal(object));
}

/** Returns whether an object only configures tools, and must not be applied to a cluster. */
function isLocal({ metadata }: PlainObject): boolean {
  const { annotations } = metadata as { annotations?: Readonly<Record<string, unknown>> };
  const value = annotations?.["config.kubernetes.io/local-config"];
  return value !== undefined && value !== "false";
}

interface BuildContext {
  readonly builtin: BuiltinSchemas;
  /** Directories that are being built, the outermost first. */
  readonly parents: readonly string[];
  /** Whether the directory must be a kustomization or a component. */
  readonly kind: Kustomization["kind"];
}

/** Builds a directory. A component also receives the existing resources, which it may change. */
async function buildDirectory(folder: string, given: readonly Resource[], context: BuildContext): Promise<Resource[]> {
  const { builtin, parents } = context;
  if (parents.includes(folder)) {
    throw new Failure(
      `Cannot build "${parents[0]}": "${folder}" includes itself: ${[...parents, folder].join(" -> ")}`,
    );
  }
  const { file, kustomization } = await readKustomization(folder);
  if (kustomization.kind !== context.kind) {
    throw new Failure(
      context.kind === "Component"
        ? `Cannot build "${file}": "components" must list components. Set "kind: Component", or list it under "resources".`
        : `Cannot build "${file}": a component cannot be a resource. List it under "components".`,
    );
  }
  const inner = { builtin, parents: [...parents, folder] };
  let resources = [...given];
  for (const path of kustomization.resources) {
    for (const resource of await loadResource(folder, path, inner, file)) add(resources, resource, file);
  }
  await generate(resources, kustomization, { folder, file, builtin });
  for (const path of kustomization.components) {
    resources = await buildDirectory(resolve(folder, path), resources, { ...inner, kind: "Component" });
  }
  return await transform(resources, kustomization, { folder, file, builtin });
}

interface Source {
  readonly folder: string;
  readonly file: string;
  readonly builtin: BuiltinSchemas;
}

/** Loads a resource, which is a file or a directory with another kustomization. */
async function loadResource(
  folder: string,
  path: string,
  context: Omit<BuildContext, "kind">,
  file: string,
): Promise<Resource[]> {
  if (/^[a-z]+:\/\/|^git@|^github\.com\//.test(path)) {
    throw new Failure(
      `Cannot build "${file}": the resource "${path}" is remote, which is not supported. ` +
        `Run: kubectl kustomize ${folder} | op deploy -`,
    );
  }
  const target = resolve(folder, path);
  const info = await Deno.stat(target).catch(() => undefined);
  if (info === undefined) throw new Failure(`Cannot build "${file}": the resource "${path}" does not exist`);
  if (info.isDirectory) return await buildDirectory(target, [], { ...context, kind: "Kustomization" });
  const text = new TextDecoder().decode(await fileReader(folder, file)(path));
  return objectsIn(text, `"${target}"`, KUSTOMIZE_YAML).map((object) => new Resource(object, context.builtin));
}

function add(resources: Resource[], resource: Resource, file: string): void {
  if (resources.some((one) => sameIdentity(one.identity, resource.identity))) {
    throw new Failure(
      `Cannot build "${file}": ${shownIdentity(resource.identity)} exists twice. Remove one of the two.`,
    );
  }
  resources.push(resource);
}

/** Returns a function that only reads files in or below the directory, as kustomize does. */
function fileReader(folder: string, file: string): ReadFile {
  return async (path) => {
    const target = resolve(folder, path);
    const real = await Deno.realPath(target).catch(() => {
      throw new Failure(`Cannot build "${file}": "${path}" does not exist`);
    });
    if (!real.startsWith(`${await Deno.realPath(folder)}/`)) {
      throw new Failure(`Cannot build "${file}": "${path}" is outside of its directory. Move it there, or use a base.`);
    }
    try {
      return await Deno.readFile(real);
    } catch (error) {
      throw new Failure(`Cannot build "${file}": "${path}" cannot be read: ${(error as Error).message}`, {
        cause: error,
      });
    }
  };
}

async function generate(
  resources: Resource[],
  { configMapGenerator, secretGenerator, generatorOptions }: Kustomization,
  { folder, file, builtin }: Source,
): Promise<void> {
  const read = fileReader(folder, file);
  const entries = [
    ...configMapGenerator.map((entry) => ["ConfigMap", entry] as const),
    ...secretGenerator.map((entry) => ["Secret", entry] as const),
  ];
  for (const [kind, entry] of entries) {
    const resource = new Resource(await generated(kind, entry, generatorOptions, read), builtin);
    resource.needsHash = needsHash(entry, generatorOptions);
    addGenerated(resources, resource, entry, file);
  }
}

/**
 * Adds a generated object, or merges it into an object that a base generated. After a merge, the
 * options of the base determine whether the name gets a hash.
 */
function addGenerated(resources: Resource[], resource: Resource, entry: GeneratorEntry, file: string): void {
  const { behavior = "create", name } = entry;
  if (behavior === "create") return add(resources, resource, file);
  if (behavior !== "merge" && behavior !== "replace") {
    throw new Failure(`Cannot build "${file}": behavior "${behavior}" of "${name}" must be create, merge or replace`);
  }
  const { kind, namespace } = resource.identity;
  const isTarget = (identity: Identity) =>
    identity.kind === kind && identity.group === "" && identity.name === name && identity.namespace === namespace;
  const existing = resources.find(({ identities }) => identities.some(isTarget));
  if (existing === undefined) {
    throw new Failure(
      `Cannot build "${file}": ${kind} "${name}" does not exist, so behavior "${behavior}" is not possible. Use create.`,
    );
  }
  const before = existing.object as Generated;
  const now = resource.object as Generated;
  const both = (field: "data" | "binaryData") =>
    behavior === "merge" && (before[field] ?? now[field]) !== undefined
      ? { [field]: { ...before[field], ...now[field] } }
      : {};
  const metadata = (field: "labels" | "annotations") => {
    const merged = { ...before.metadata[field], ...now.metadata[field] };
    return Object.keys(merged).length === 0 ? {} : { [field]: merged };
  };
  existing.change({
    ...now,
    ...both("data"),
    ...both("binaryData"),
    metadata: { ...before.metadata, ...metadata("labels"), ...metadata("annotations") },
  });
}

/** A ConfigMap or a Secret. */
interface Generated extends PlainObject {
  readonly metadata: PlainObject["metadata"] & {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

/** Applies the transformers of a kustomization in kustomize's order. */
async function transform(
  given: readonly Resource[],
  kustomization: Kustomization,
  source: Source,
): Promise<Resource[]> {
  const { namespace, namePrefix = "", nameSuffix = "", labels, commonAnnotations, images, replicas } = kustomization;
  let resources = [...given];
  const patch = async (entry: Patch) => {
    resources = patched(resources, await loadPatch(entry, source), source.builtin);
  };
  for (const entry of kustomization.patchesStrategicMerge) {
    await patch(/\n|^\s*\{/.test(entry) ? { patch: entry } : { path: entry });
  }
  for (const entry of kustomization.patches) await patch(entry);
  if (namespace) { for (const resource of resources) setNamespace(resource, namespace); }
  for (const resource of resources) {
    addAffixes(resource, namePrefix, nameSuffix);
    for (const entry of labels) addLabels(resource, entry);
    addAnnotations(resource, commonAnnotations);
  }
  for (const entry of kustomization.patchesJson6902) await patch(entry);
  for (const { name, count } of replicas) setReplicas(resources, name, count, source.file);
  for (const resource of resources) setImages(resource, images);
  const duplicate = resources.find((one, i) =>
    resources.slice(0, i).some((other) => sameIdentity(one.identity, other.identity))
  );
  if (duplicate !== undefined) {
    throw new Failure(
      `Cannot build "${source.file}": ${
        shownIdentity(duplicate.identity)
      } exists twice after names and namespaces are changed`,
    );
  }
  return resources;
}

async function loadPatch(entry: Patch, { folder, file }: Source): Promise<LoadedPatch> {
  const { path, patch } = entry;
  if ((path === undefined) === (patch === undefined)) {
    throw new Failure(`Cannot build "${file}": a patch needs either "path" or "patch", got ${JSON.stringify(entry)}`);
  }
  if (patch !== undefined) return { ...entry, text: patch, shown: `a patch in "${file}"` };
  const text = new TextDecoder().decode(await fileReader(folder, file)(path!));
  return { ...entry, text, shown: `the patch "${join(folder, path!)}"` };
}
