/** Assigns identities to schemas, so that equal schemas can be found by comparing strings. */
import type { JsonSchema } from "@op/sdk/resource";

/** Keywords that may differ between the uses of a shared schema. */
export const OWN_KEYWORDS = ["title", "description", "example", "externalDocs", "default", "nullable"] as const;

/** The identity of a schema, as two opaque strings. */
export interface SchemaIdentity {
  /** Equal for equal schemas. */
  readonly whole: string;
  /** Equal for schemas that differ at most in {@linkcode OWN_KEYWORDS}. */
  readonly core: string;
}

/** Options of {@linkcode SchemaIdentities}. */
export interface IdentityOptions {
  /** Whether schemas that differ only in descriptions and examples are equal. @default {false} */
  readonly ignoreDescriptions?: boolean;
  /**
   * Returns the name of a named schema, which differs from all schemas without a name.
   * @default {no schema has a name}
   */
  readonly nameOf?: (schema: JsonSchema) => string | undefined;
}

/**
 * Assigns identities to schemas, which are comparable within one instance. The order of keywords
 * and properties is ignored.
 */
export class SchemaIdentities {
  readonly #cache = new WeakMap<JsonSchema, SchemaIdentity>();
  readonly #ids = new Map<string, string>();
  readonly #ignored: readonly string[];
  readonly #nameOf: (schema: JsonSchema) => string | undefined;

  /** @param options Additional options. */
  constructor({ ignoreDescriptions = false, nameOf = () => undefined }: IdentityOptions = {}) {
    this.#ignored = ignoreDescriptions ? ["title", "description", "example", "externalDocs"] : [];
    this.#nameOf = nameOf;
  }

  /** Returns the identity of a schema. */
  of(schema: JsonSchema): SchemaIdentity {
    const cached = this.#cache.get(schema);
    if (cached !== undefined) return cached;
    const own: [string, unknown][] = [];
    const rest: [string, unknown][] = [];
    for (const [key, value] of Object.entries(schema)) {
      if (this.#ignored.includes(key)) continue;
      ((OWN_KEYWORDS as readonly string[]).includes(key) ? own : rest).push([key, this.#value(key, value)]);
    }
    const core = this.#nameOf(schema) ?? this.#idOf(rest);
    const identity = { core, whole: this.#idOf([["core", core], ...own]) };
    this.#cache.set(schema, identity);
    return identity;
  }

  #value(key: string, value: unknown): unknown {
    if (key === "properties") {
      const entries = Object.entries(value as Record<string, JsonSchema>);
      return Object.fromEntries(entries.map(([name, child]) => [name, this.of(child).whole] as const));
    }
    if (key === "items" || (key === "additionalProperties" && typeof value === "object")) {
      return this.of(value as JsonSchema).whole;
    }
    return key === "required" ? [...value as string[]].sort() : value;
  }

  /**
   * Returns a short ID for keywords and their values. Without it, the identity of a schema would
   * contain the identities of all schemas in it.
   */
  #idOf(entries: readonly [string, unknown][]): string {
    const text = JSON.stringify(Object.fromEntries(entries), sortKeys);
    const existing = this.#ids.get(text);
    if (existing !== undefined) return existing;
    const id = `#${this.#ids.size}`;
    this.#ids.set(text, id);
    return id;
  }
}

/** A replacer for `JSON.stringify` that sorts the keys of objects. */
function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
