/** Applies `validate`, `applyDefaults` and `prune` to a value without a server. */
import { applyDefaults, prune, validate } from "../../src/schema/mod.ts";
import { isObject } from "../../src/base/json.ts";
import type { Sample } from "./_samples.ts";
import { causeText } from "./_verdict.ts";

/** The results without a server. */
export interface Local {
  /** Unknown fields. */
  readonly dropped: readonly string[];
  /** The errors, one line each, sorted. */
  readonly causes: readonly string[];
  /** The resulting `spec` or `status`. */
  readonly value: unknown;
}

/** Returns the results for a value without a server. */
export function local({ kind, text }: Sample): Local {
  const { at, group, schema } = kind;
  const object = {
    apiVersion: `${group}/v1`,
    kind: kind.kind,
    metadata: { name: "a" },
    [at]: JSON.parse(text) as unknown,
  };
  const pruned = prune(schema, object);
  const filled = applyDefaults(schema, pruned.value);
  const value = isObject(filled) ? filled[at] : undefined;
  const errors = at === "spec"
    ? validate(schema, filled, { isResource: true })
    : value === undefined
    ? []
    : validate(schema.properties!.status!, value, { path: "status" });
  return { dropped: pruned.dropped, causes: errors.map(causeText).sort(), value };
}
