/**
 * Recognizes types of Kubernetes, such as `LabelSelector`, in imported schemas. The generated
 * module imports them from `@op/sdk/schemas`.
 */
import type { JsonSchema } from "@op/sdk/resource";
import { type Descriptions, shortened } from "./descriptions.ts";
import { nodesIn } from "./nodes.ts";
import { children, mapped } from "./schema_index.ts";
import { OWN_KEYWORDS, SchemaIdentities } from "./schema_identities.ts";

/** Schemas that can be imported. */
export interface KnownSchemas {
  /** The module that exports them. */
  readonly module: string;
  /** Schemas by name, with descriptions of the requested length. */
  readonly schemas: Schemas;
  /** Schemas by name, with full descriptions. */
  readonly described: Schemas;
}

/** Schemas by name. */
interface Schemas {
  readonly [name: string]: JsonSchema;
}

/**
 * Returns the types of Kubernetes with descriptions of the requested length.
 *
 * @param descriptions The length of the descriptions.
 */
export async function kubernetesSchemas(descriptions: Descriptions): Promise<KnownSchemas> {
  const described = await import("@op/sdk/schemas/full");
  switch (descriptions) {
    case "none":
      return { module: "@op/sdk/schemas", schemas: await import("@op/sdk/schemas"), described };
    case "short":
      return {
        module: "@op/sdk/schemas/short",
        schemas: await import("@op/sdk/schemas/short"),
        described,
      };
    case "full":
      return { module: "@op/sdk/schemas/full", schemas: described, described };
  }
}

/**
 * Returns the types of Kubernetes to use for some definitions. They have no descriptions if the
 * definitions have none, because descriptions would make the definitions several times as large.
 *
 * @param roots The schemas of the definitions.
 * @param descriptions The length of the descriptions.
 */
export async function schemasKnownIn(roots: readonly JsonSchema[], descriptions: Descriptions): Promise<KnownSchemas> {
  const known = await kubernetesSchemas(descriptions);
  const recognition = new Recognition(descriptions, known);
  return roots.some((root) => recognition.isDescribedIn(root)) ? known : await kubernetesSchemas("none");
}

/**
 * Types with at most this many schemas may be equal by chance. Descriptions of these are compared
 * as well.
 */
const MAX_CHANCE_MATCH = 8;

/** Replaces schemas with equal known schemas, and shortens descriptions. */
export class Recognition {
  readonly #descriptions: Descriptions;
  readonly #known: KnownSchemas | undefined;
  readonly #identities = new SchemaIdentities({ ignoreDescriptions: true });
  readonly #names = new Map<string, string[]>();
  readonly #found = new WeakMap<JsonSchema, string>();

  /**
   * @param descriptions The length of the descriptions.
   * @param known The known schemas. Only objects are recognized.
   * @param taken Names that the module already uses.
   */
  constructor(descriptions: Descriptions, known?: KnownSchemas, taken: readonly string[] = []) {
    this.#descriptions = descriptions;
    this.#known = known;
    for (const [name, schema] of Object.entries(known?.schemas ?? {})) {
      if (Object.keys(schema.properties ?? {}).length === 0 || taken.includes(name)) continue;
      const id = this.#identities.of(schema).core;
      this.#names.set(id, [...this.#names.get(id) ?? [], name]);
    }
  }

  /** Returns the name of a known schema that {@linkcode replaceKnown} inserted, or `undefined`. */
  nameOf(schema: JsonSchema): string | undefined {
    return this.#found.get(schema);
  }

  /**
   * Returns a schema in which known schemas replace equal ones. Each has the description and the
   * default of the schema that it replaces.
   *
   * @param schema The schema, which is not changed.
   */
  replaceKnown(schema: JsonSchema): JsonSchema {
    const name = this.#match(schema);
    if (name === undefined) return mapped(shortened(schema, this.#descriptions), (child) => this.replaceKnown(child));
    const own = Object.fromEntries(Object.entries(schema).filter(([key]) => isOwnKeyword(key)));
    const replaced = { ...this.#known!.schemas[name], ...shortened(own, this.#descriptions) };
    this.#found.set(replaced, name);
    return replaced;
  }

  /**
   * Returns whether a schema contains a known schema, and any schema inside that has a description.
   */
  isDescribedIn(schema: JsonSchema): boolean {
    const parts = children(schema).map(([, child]) => child);
    return parts.some(this.#match(schema) === undefined ? (part) => this.isDescribedIn(part) : isDescribed);
  }

  #match(schema: JsonSchema): string | undefined {
    if (schema.properties === undefined) return undefined;
    const names = this.#names.get(this.#identities.of(schema).core) ?? [];
    if (names.length === 1 && nodesIn(schema) > MAX_CHANCE_MATCH) return names[0];
    return names.find((name) => hasSameDescriptions(schema, this.#known!.described[name]!));
  }
}

function isDescribed(schema: JsonSchema): boolean {
  return schema.description !== undefined || children(schema).some(([, child]) => isDescribed(child));
}

function isOwnKeyword(key: string): boolean {
  return (OWN_KEYWORDS as readonly string[]).includes(key);
}

/** Returns whether most properties have the same description, apart from line breaks. */
function hasSameDescriptions(schema: JsonSchema, known: JsonSchema): boolean {
  const words = (text: string | undefined) => text?.split(/\s+/).join(" ");
  const entries = Object.entries(schema.properties ?? {});
  const same = entries.filter(([name, { description }]) =>
    description !== undefined && words(description) === words(known.properties?.[name]?.description)
  );
  return same.length > entries.length / 2;
}
