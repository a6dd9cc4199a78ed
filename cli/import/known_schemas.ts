/**
 * Types of Kubernetes in the schemas of others: they are imported from `@op/sdk/schemas`, not
 * written again.
 */
import type { JsonSchema } from "@op/sdk/resource";
import { type Descriptions, shortened } from "./descriptions.ts";
import { nodesIn } from "./nodes.ts";
import { children, mapped } from "./schema_index.ts";
import { OWN_KEYWORDS, SchemaIdentities } from "./schema_identities.ts";

/** Schemas that need not be written. */
export interface KnownSchemas {
  /** Where they are imported from. */
  readonly module: string;
  /** By name, with as much of their descriptions as is asked for. */
  readonly schemas: Schemas;
  /** By name, with all of their descriptions. */
  readonly described: Schemas;
}

/** Schemas by name. */
interface Schemas {
  readonly [name: string]: JsonSchema;
}

/**
 * The types of Kubernetes with as much of their descriptions as is asked for.
 *
 * @param descriptions How much.
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
 * The types of Kubernetes for some definitions: as much of their descriptions as is asked for, and
 * none where the definitions themselves leave them out. With them a definition would become several
 * times as large as it was.
 *
 * @param descriptions How much.
 * @param roots The schemas of the definitions.
 */
export async function schemasKnownIn(roots: readonly JsonSchema[], descriptions: Descriptions): Promise<KnownSchemas> {
  const known = await kubernetesSchemas(descriptions);
  const recognition = new Recognition(descriptions, known);
  return roots.some((root) => recognition.isDescribedIn(root)) ? known : await kubernetesSchemas("none");
}

/**
 * Of fewer schemas, two types may be the same by chance: then their descriptions tell whether they
 * are.
 */
const TOO_LARGE_FOR_CHANCE = 8;

/**
 * Puts known schemas in the place of those that are the same, and leaves of descriptions what is
 * asked for.
 */
export class Recognition {
  readonly #descriptions: Descriptions;
  readonly #known: KnownSchemas | undefined;
  readonly #identities = new SchemaIdentities({ ignoreDescriptions: true });
  readonly #names = new Map<string, string[]>();
  readonly #found = new WeakMap<JsonSchema, string>();

  /**
   * @param descriptions How much of the descriptions is left.
   * @param known The known schemas. Only objects are looked for.
   * @param taken Names that something else has.
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

  /** The name of a known schema that was put in the place of another. */
  nameOf(schema: JsonSchema): string | undefined {
    return this.#found.get(schema);
  }

  /**
   * A schema with known ones in it, each with the description and the default that stood in its
   * place.
   *
   * @param schema The schema. It stays as it is.
   */
  replaced(schema: JsonSchema): JsonSchema {
    const name = this.#match(schema);
    if (name === undefined) return mapped(shortened(schema, this.#descriptions), (child) => this.replaced(child));
    const own = Object.fromEntries(Object.entries(schema).filter(([key]) => isOwn(key)));
    const replaced = { ...this.#known!.schemas[name], ...shortened(own, this.#descriptions) };
    this.#found.set(replaced, name);
    return replaced;
  }

  /** Whether a known schema stands in another, there with descriptions of its parts. */
  isDescribedIn(schema: JsonSchema): boolean {
    const parts = children(schema).map(([, child]) => child);
    return parts.some(this.#match(schema) === undefined ? (part) => this.isDescribedIn(part) : isDescribed);
  }

  #match(schema: JsonSchema): string | undefined {
    if (schema.properties === undefined) return undefined;
    const names = this.#names.get(this.#identities.of(schema).core) ?? [];
    if (names.length === 1 && nodesIn(schema) > TOO_LARGE_FOR_CHANCE) return names[0];
    return names.find((name) => saysTheSame(schema, this.#known!.described[name]!));
  }
}

function isDescribed(schema: JsonSchema): boolean {
  return schema.description !== undefined || children(schema).some(([, child]) => isDescribed(child));
}

function isOwn(key: string): boolean {
  return (OWN_KEYWORDS as readonly string[]).includes(key);
}

/** Whether most of the properties are described in the same words, wherever the lines break. */
function saysTheSame(schema: JsonSchema, known: JsonSchema): boolean {
  const words = (text: string | undefined) => text?.split(/\s+/).join(" ");
  const entries = Object.entries(schema.properties ?? {});
  const same = entries.filter(([name, { description }]) =>
    description !== undefined && words(description) === words(known.properties?.[name]?.description)
  );
  return same.length > entries.length / 2;
}
