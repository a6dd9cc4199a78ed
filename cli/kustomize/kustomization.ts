/** Reads a kustomization file and checks its fields. */
import { join } from "node:path";
import { isObject } from "../internal/mod.gen.ts";
import { Failure } from "../exit_code.ts";
import { yamlDocuments } from "../yaml.ts";

/**
 * Selects the objects that a patch changes. Strings are regular expressions that must match the
 * whole value.
 */
export interface Target {
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly annotationSelector?: string;
}

/** A strategic merge patch or a JSON patch. */
export interface Patch {
  readonly path?: string;
  readonly patch?: string;
  readonly target?: Target;
  readonly options?: { readonly allowNameChange?: boolean; readonly allowKindChange?: boolean };
}

/** A field to which labels are written. */
export interface FieldSpec {
  readonly path: string;
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
  readonly create?: boolean;
}

/** Labels to add. */
export interface LabelEntry {
  readonly pairs?: Readonly<Record<string, string>>;
  readonly includeSelectors?: boolean;
  readonly includeTemplates?: boolean;
  readonly fields?: readonly FieldSpec[];
}

/** Changes the image of all containers that have it. */
export interface ImageEntry {
  readonly name: string;
  readonly newName?: string;
  readonly newTag?: string;
  readonly tagSuffix?: string;
  readonly digest?: string;
}

/** Options of generated ConfigMaps and Secrets. */
export interface GeneratorOptions {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly disableNameSuffixHash?: boolean;
  readonly immutable?: boolean;
}

/** A ConfigMap or Secret to generate. */
export interface GeneratorEntry {
  readonly name: string;
  readonly namespace?: string;
  readonly behavior?: "create" | "merge" | "replace";
  readonly literals?: readonly string[];
  readonly files?: readonly string[];
  readonly envs?: readonly string[];
  readonly env?: string;
  readonly options?: GeneratorOptions;
  /** Type of a Secret. */
  readonly type?: string;
}

/** The supported fields of a kustomization. Kustomize's documentation describes each. */
export interface Kustomization {
  readonly kind: "Kustomization" | "Component";
  readonly resources: readonly string[];
  readonly components: readonly string[];
  readonly namespace?: string;
  readonly namePrefix?: string;
  readonly nameSuffix?: string;
  readonly labels: readonly LabelEntry[];
  readonly commonAnnotations: Readonly<Record<string, string>>;
  readonly patches: readonly Patch[];
  readonly patchesStrategicMerge: readonly string[];
  readonly patchesJson6902: readonly Patch[];
  readonly images: readonly ImageEntry[];
  readonly replicas: readonly { readonly name: string; readonly count: number }[];
  readonly configMapGenerator: readonly GeneratorEntry[];
  readonly secretGenerator: readonly GeneratorEntry[];
  readonly generatorOptions: GeneratorOptions;
}

const GENERATOR_OPTIONS = { labels: "map", annotations: "map", disableNameSuffixHash: "boolean", immutable: "boolean" };
const GENERATOR = {
  name: "string",
  namespace: "string",
  behavior: "string",
  literals: "strings",
  files: "strings",
  envs: "strings",
  env: "string",
  options: GENERATOR_OPTIONS,
};
const TARGET = {
  group: "string",
  version: "string",
  kind: "string",
  name: "string",
  namespace: "string",
  labelSelector: "string",
  annotationSelector: "string",
};
const PATCH = {
  path: "string",
  patch: "string",
  target: TARGET,
  options: { allowNameChange: "boolean", allowKindChange: "boolean" },
};
const IMAGE = { name: "string", newName: "string", newTag: "scalar", tagSuffix: "scalar", digest: "string" };

/** The shape of a field: a type, an object with these fields, or a list of such objects. */
type Shape = string | readonly [Shape] | { readonly [field: string]: Shape };

const FIELDS: { readonly [field: string]: Shape } = {
  apiVersion: "string",
  kind: "string",
  metadata: "object",
  resources: "strings",
  bases: "strings",
  components: "strings",
  namespace: "string",
  namePrefix: "string",
  nameSuffix: "string",
  commonLabels: "map",
  labels: [{
    pairs: "map",
    includeSelectors: "boolean",
    includeTemplates: "boolean",
    fields: [{ path: "string", group: "string", version: "string", kind: "string", create: "boolean" }],
  }],
  commonAnnotations: "map",
  patches: [PATCH],
  patchesStrategicMerge: "strings",
  patchesJson6902: [PATCH],
  images: [IMAGE],
  imageTags: [IMAGE],
  replicas: [{ name: "string", count: "number" }],
  configMapGenerator: [GENERATOR],
  secretGenerator: [{ ...GENERATOR, type: "string" }],
  generatorOptions: GENERATOR_OPTIONS,
};

const FILES = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/**
 * Reads the kustomization of a directory.
 *
 * @param folder The directory.
 * @returns The kustomization with deprecated fields converted, and the path of its file.
 * @throws {Failure} If there is no kustomization file, or it has a field that `op` does not
 *   support.
 */
export async function readKustomization(folder: string): Promise<{ file: string; kustomization: Kustomization }> {
  const { file, text } = await fileIn(folder);
  const [value = {}, ...others] = yamlDocuments(text, `"${file}"`).filter((document) => document !== null);
  if (others.length > 0) throw new Failure(`Cannot read "${file}": it has more than one YAML document`);
  if (!isObject(value)) throw new Failure(`Cannot read "${file}": a kustomization must be an object`);
  const { kind = "Kustomization" } = value;
  if (kind !== "Kustomization" && kind !== "Component") {
    throw new Failure(`Cannot read "${file}": kind "${kind}" is neither "Kustomization" nor "Component"`);
  }
  check(value, FIELDS, "", folder, file);
  const { bases = [], imageTags = [], commonLabels, ...rest } = value as Partial<Kustomization> & Deprecated;
  const labels = rest.labels ?? [];
  return {
    file,
    kustomization: {
      components: [],
      commonAnnotations: {},
      patches: [],
      patchesStrategicMerge: [],
      patchesJson6902: [],
      replicas: [],
      configMapGenerator: [],
      secretGenerator: [],
      generatorOptions: {},
      ...rest,
      kind,
      resources: [...rest.resources ?? [], ...bases],
      images: [...rest.images ?? [], ...imageTags].map(withStrings),
      labels: commonLabels === undefined ? labels : [...labels, { pairs: commonLabels, includeSelectors: true }],
    },
  };
}

/** Deprecated fields, which have newer equivalents. */
interface Deprecated {
  readonly bases?: readonly string[];
  readonly imageTags?: readonly ImageEntry[];
  readonly commonLabels?: Readonly<Record<string, string>>;
}

/** Converts the values of an image to strings, because a tag such as `7` is a number in YAML. */
function withStrings(image: ImageEntry): ImageEntry {
  return Object.fromEntries(Object.entries(image).map(([key, value]) => [key, String(value)])) as unknown as ImageEntry;
}

async function fileIn(folder: string): Promise<{ file: string; text: string }> {
  const found: { file: string; text: string }[] = [];
  for (const name of FILES) {
    const file = join(folder, name);
    try {
      found.push({ file, text: await Deno.readTextFile(file) });
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory)) throw error;
    }
  }
  const [first, second] = found;
  if (first === undefined) {
    throw new Failure(
      `Cannot read "${folder}": it has no kustomization.yaml. Create an overlay with "op generate overlay NAME".`,
    );
  }
  if (second !== undefined) {
    throw new Failure(`Cannot read "${folder}": it has both "${first.file}" and "${second.file}". Remove one.`);
  }
  return first;
}

function check(value: unknown, shape: Shape, path: string, folder: string, file: string): void {
  const fail = (expected: string): never => {
    throw new Failure(`Cannot read "${file}": "${path}" must be ${expected}, got ${JSON.stringify(value)}`);
  };
  if (value === null || value === undefined) return;
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) fail("a list");
    for (const [i, item] of (value as unknown[]).entries()) {
      if (!isObject(item)) fail("a list of objects");
      check(item, shape[0] as Shape, `${path}[${i}]`, folder, file);
    }
  } else if (typeof shape === "object") {
    if (!isObject(value)) return fail("an object");
    for (const [field, inner] of Object.entries(value)) {
      const expected = (shape as Record<string, Shape>)[field];
      const at = path === "" ? field : `${path}.${field}`;
      if (expected === undefined) {
        throw new Failure(
          `Cannot read "${file}": the field "${at}" is not supported. Run: kubectl kustomize ${folder} | op deploy -`,
        );
      }
      check(inner, expected, at, folder, file);
    }
  } else if (shape === "strings") {
    if (!Array.isArray(value) || value.some((item) => typeof item !== "string")) fail("a list of strings");
  } else if (shape === "map") {
    if (!isObject(value) || Object.values(value).some((item) => typeof item !== "string")) {
      fail("an object with strings as values (quote numbers and booleans)");
    }
  } else if (shape === "scalar") {
    if (typeof value !== "string" && typeof value !== "number") fail("a string");
  } else if (shape === "object") {
    if (!isObject(value)) fail("an object");
  } else if (
    shape === "string"
      ? typeof value !== "string"
      : shape === "number"
      ? typeof value !== "number"
      : typeof value !== "boolean"
  ) {
    fail(`a ${shape}`);
  }
}
