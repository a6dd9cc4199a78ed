/**
 * What `op generate` makes, put together as kustomize would: resources, images, replicas, namespace, patches. What of kustomize is not among
 * that is refused by name, and never left out silently.
 */
import { dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import { applyJsonPatch, isObject, type JsonPatchOperation } from "@op/sdk/definitions";
import { Failure } from "../exit_code.ts";
import { objectsIn, type PlainObject } from "../objects.ts";
import { strategicMerge } from "./strategic_merge.ts";

interface Kustomization {
  readonly resources?: readonly string[];
  readonly images?: readonly {
    readonly name: string;
    readonly newName?: string;
    readonly newTag?: string | number;
    readonly digest?: string;
  }[];
  readonly replicas?: readonly { readonly name: string; readonly count: number }[];
  readonly namespace?: string;
  readonly patches?: readonly { readonly path?: string; readonly patch?: string; readonly target?: Target }[];
}

interface Target {
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
}

const FIELDS = ["apiVersion", "kind", "metadata", "resources", "images", "replicas", "namespace", "patches"];
const TARGET = ["group", "version", "kind", "name", "namespace"];
const FILES = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/**
 * The objects of a folder with a kustomization.
 *
 * @param folder The folder.
 * @throws {Failure} If something in it cannot be read, or is not understood here.
 */
export async function kustomize(folder: string): Promise<PlainObject[]> {
  const { file, text } = await kustomizationIn(folder);
  const kustomization = checked(parse(text) ?? {}, file);
  const lists = await Promise.all((kustomization.resources ?? []).map((name) => resource(folder, name)));
  const objects = lists.flat();
  let patched: PlainObject[] = objects;
  for (const { path, patch, target } of kustomization.patches ?? []) {
    const text = patch ?? (path === undefined ? "" : await Deno.readTextFile(join(folder, path)));
    if (target !== undefined) refuseOthers(target, TARGET, `${file}, patches.target`);
    patched = withPatch(patched, parse(text), target, file);
  }
  return patched.map((object) => placed(withReplicas(withImages(object, kustomization), kustomization), kustomization));
}

async function kustomizationIn(folder: string): Promise<{ file: string; text: string }> {
  for (const name of FILES) {
    const file = join(folder, name);
    try {
      return { file, text: await Deno.readTextFile(file) };
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  throw new Failure(
    `Cannot read "${folder}": there is no kustomization.yaml in it; make it with "op generate overlay NAME"`,
  );
}

async function resource(folder: string, name: string): Promise<PlainObject[]> {
  const path = resolve(folder, name);
  const info = await Deno.stat(path).catch(() => undefined);
  if (info === undefined) throw new Failure(`Cannot read "${path}": "${folder}" names it, and it is not there`);
  return info.isDirectory ? await kustomize(path) : objectsIn(await Deno.readTextFile(path), `"${path}"`);
}

function checked(value: unknown, file: string): Kustomization {
  if (!isObject(value)) throw new Failure(`Cannot put together ${file}: it is no object`);
  return refuseOthers(value, FIELDS, file) as Kustomization;
}

function refuseOthers<T>(value: T, known: readonly string[], place: string): T {
  const other = Object.keys(value as object).find((field) => !known.includes(field));
  if (other === undefined) return value;
  throw new Failure(
    `Cannot put together ${place}: "${other}" is not understood here; say: kubectl kustomize ${
      dirname(place)
    } | op deploy -`,
  );
}

/** A patch by operations, or by a part of an object, which without a target says itself whose part it is. */
function withPatch(
  objects: readonly PlainObject[],
  patch: unknown,
  target: Target | undefined,
  file: string,
): PlainObject[] {
  if (Array.isArray(patch)) {
    if (target === undefined) throw new Failure(`Cannot put together ${file}: a patch by operations needs a target`);
    const operations = patch as JsonPatchOperation[];
    return objects.map((object) =>
      isMeant(object, target) ? applyJsonPatch(object, operations) as PlainObject : object
    );
  }
  if (!isObject(patch)) {
    throw new Failure(`Cannot put together ${file}: a patch in it is neither operations nor an object`);
  }
  const { apiVersion, kind, metadata, ...rest } = patch as unknown as PlainObject;
  const { name, namespace, ...meta } = metadata ?? {};
  const isIt = (object: PlainObject) =>
    target === undefined
      ? object.apiVersion === apiVersion && object.kind === kind && object.metadata.name === name &&
        object.metadata.namespace === namespace
      : isMeant(object, target);
  if (target === undefined && !objects.some(isIt)) {
    const place = namespace === undefined ? name : `${namespace}/${name}`;
    throw new Failure(`Cannot put together ${file}: a patch in it is for ${kind} "${place}", which is not there`);
  }
  const part = { ...rest, metadata: meta };
  return objects.map((object) => isIt(object) ? strategicMerge(object, part) as unknown as PlainObject : object);
}

/** Names are regular expressions, as kustomize has them. */
function isMeant({ apiVersion, kind, metadata }: PlainObject, target: Target): boolean {
  const [version, group = ""] = apiVersion.split("/").reverse();
  const fits = (wanted: string | undefined, value: string | undefined) =>
    wanted === undefined || new RegExp(`^(?:${wanted})$`).test(value ?? "");
  return fits(target.group, group) && fits(target.version, version) && fits(target.kind, kind) &&
    fits(target.name, metadata.name) && fits(target.namespace, metadata.namespace);
}

interface Container {
  readonly image?: string;
}

function withImages(object: PlainObject, { images = [] }: Kustomization): PlainObject {
  const replaced = (container: Container): Container => {
    const [, name, tag = "", digest = ""] = /^([^@]*?)(:[^:/@]+)?(@.+)?$/.exec(container.image ?? "") ?? [];
    const found = images.find((image) => image.name === name);
    if (found === undefined) return container;
    const { newName = name, newTag, digest: newDigest } = found;
    const behind = newDigest !== undefined ? `@${newDigest}` : newTag !== undefined ? `:${newTag}` : `${tag}${digest}`;
    return { ...container, image: `${newName}${behind}` };
  };
  return inPods(object, (containers) => containers.map(replaced)) as PlainObject;
}

/** Changes the lists of containers, wherever they are in an object. */
function inPods(value: unknown, change: (containers: readonly Container[]) => readonly Container[]): unknown {
  if (Array.isArray(value)) return value.map((item) => inPods(item, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      (key === "containers" || key === "initContainers") && Array.isArray(inner)
        ? change(inner)
        : inPods(inner, change),
    ]),
  );
}

function withReplicas(object: PlainObject, { replicas = [] }: Kustomization): PlainObject {
  const found = replicas.find(({ name }) => name === object.metadata.name);
  if (found === undefined || !["Deployment", "StatefulSet", "ReplicaSet"].includes(object.kind)) return object;
  return { ...object, spec: { ...(object.spec as object), replicas: found.count } };
}

const CLUSTER_WIDE = ["ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "Namespace"];

/** All in one namespace, the accounts that bindings name as well, and the namespace itself. */
function placed(object: PlainObject, { namespace }: Kustomization): PlainObject {
  if (namespace === undefined) return object;
  const { kind, metadata } = object;
  if (kind === "Namespace") return { ...object, metadata: { ...metadata, name: namespace } };
  const subjects = object.subjects as readonly Record<string, unknown>[] | undefined;
  return {
    ...object,
    metadata: CLUSTER_WIDE.includes(kind) ? metadata : { ...metadata, namespace },
    ...(subjects === undefined ? {} : {
      subjects: subjects.map((subject) => subject.kind === "ServiceAccount" ? { ...subject, namespace } : subject),
    }),
  };
}
