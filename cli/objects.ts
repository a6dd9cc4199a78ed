/** Reads Kubernetes objects from files with YAML or JSON. */
import { resolve } from "node:path";
import { GO_YAML, type GoYaml } from "./internal/mod.gen.ts";
import { Failure } from "./exit_code.ts";
import type { Io } from "./io.ts";
import { yamlDocuments } from "./yaml.ts";

/** An object of any kind. */
export interface PlainObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: { readonly [key: string]: string };
    readonly annotations?: { readonly [key: string]: string };
  };
  readonly [field: string]: unknown;
}

/** An object's kind and name. */
export type NamedObject = Pick<PlainObject, "kind" | "metadata">;

/** Returns an object's kind and name as messages show them: `ConfigMap default/site`. */
export function shown({ kind, metadata: { name, namespace } }: NamedObject): string {
  return `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}

/** Returns the namespace of an object as options for calls of the client. */
export function namespaceOptions({ metadata }: Pick<PlainObject, "metadata">): { namespace?: string } {
  return metadata.namespace === undefined ? {} : { namespace: metadata.namespace };
}

/**
 * Reads objects from a file. Objects in lists are returned one by one.
 *
 * @param source A file, or `-` for standard input.
 * @param io The terminal and the shell.
 * @throws {Failure} If it cannot be read, or a document is not a Kubernetes object.
 */
export async function readObjects(source: string, io: Io): Promise<PlainObject[]> {
  const shown = source === "-" ? "standard input" : `"${source}"`;
  let text: string;
  try {
    text = source === "-"
      ? await new Response(Deno.stdin.readable).text()
      : await Deno.readTextFile(resolve(io.cwd, source));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new Failure(`Cannot read ${shown}: the file does not exist.`, { cause: error });
    }
    if (error instanceof Deno.errors.IsADirectory) {
      throw new Failure(`Cannot read ${shown}: it is a folder. Name the files in it.`, { cause: error });
    }
    throw new Failure(`Cannot read ${shown}: ${(error as Error).message}`, { cause: error });
  }
  return objectsIn(text, shown);
}

/**
 * Reads objects from YAML documents or JSON. Objects in lists are returned one by one.
 *
 * @param text The documents.
 * @param shown The name of the source in errors, with quotes.
 * @param dialect How scalars are resolved. @default {as kubectl does}
 * @throws {Failure} If the text is not YAML, or a document is not a Kubernetes object.
 */
export function objectsIn(text: string, shown: string, dialect: GoYaml = GO_YAML): PlainObject[] {
  return yamlDocuments(text, shown, dialect).flatMap((value) => value === null ? [] : withoutLists(value, shown));
}

function withoutLists(value: unknown, shown: string): PlainObject[] {
  const object = value as Partial<PlainObject> | undefined;
  // A glob such as "config/rbac/*.yaml" also names the kustomization file, which is not an object
  // for the cluster.
  if (object?.apiVersion?.startsWith?.("kustomize.config.k8s.io/")) return [];
  if (typeof object?.kind !== "string" || typeof object.apiVersion !== "string") {
    throw new Failure(
      `Cannot read ${shown}: "apiVersion" or "kind" is missing in a document. Both are required and must be strings.`,
    );
  }
  if (Array.isArray(object.items) && object.kind.endsWith("List")) {
    return object.items.flatMap((item) => withoutLists(item, shown));
  }
  if (typeof object.metadata?.name !== "string") {
    throw new Failure(`Cannot read ${shown}: "metadata.name" of a ${object.kind} must be a string.`);
  }
  return [object as PlainObject];
}
