/**
 * Extracts the options that all versions of a kind share into a constant: `resource({ ...site,
 * version: "v1" })`.
 */
import { call, type CallExpression, type Expression, type RecordExpression } from "./expression.ts";

/** The versions of a kind, and the options that they share. */
export interface CommonParts {
  /** The shared options. `undefined` if the versions share only short options. */
  readonly common?: RecordExpression;
  /** The versions, without the shared options. */
  readonly expressions: readonly Expression[];
}

/** Short options. If the versions share only these, a constant would not shorten the module. */
const SHORT_OPTIONS: readonly string[] = ["group", "kind", "plural", "singular", "listKind", "scope", "external"];

/**
 * Extracts the options that all versions of a kind share.
 *
 * @param versions The call of `resource()` for each version.
 * @param name The name of the constant with the shared options.
 */
export function commonParts(versions: readonly CallExpression[], name: string): CommonParts {
  const [first, ...others] = versions.map(optionsIn);
  const entries = first!.filter(([key, value]) => others.every((other) => isSame(other, key, value)));
  if (others.length === 0 || entries.every(([key]) => SHORT_OPTIONS.includes(key))) return { expressions: versions };
  const keys = new Set(entries.map(([key]) => key));
  return {
    common: { type: "record", entries },
    expressions: versions.map((version) => {
      const own = optionsIn(version).filter(([key]) => !keys.has(key));
      return call(version.callee, { type: "record", spread: name, entries: own });
    }),
  };
}

type Entries = RecordExpression["entries"];

function optionsIn({ args: [options] }: CallExpression): Entries {
  return options?.type === "record" ? options.entries : [];
}

function isSame(entries: Entries, key: string, value: Expression): boolean {
  const [, other] = entries.find(([name]) => name === key) ?? [];
  return JSON.stringify(other) === JSON.stringify(value);
}
