/**
 * What all versions of a kind say alike stands once, in front of them: `resource({ ...site,
 * version: "v1" })`.
 */
import { call, type CallExpression, type Expression, type RecordExpression } from "./expression.ts";

/** The versions of a kind, and what they have in common. */
export interface CommonParts {
  /** What stands in front of them; nothing where they have no more in common than their names. */
  readonly common?: RecordExpression;
  /** The versions without it. */
  readonly expressions: readonly Expression[];
}

/** What every version says of itself, or in a few words. */
const NAMES: readonly string[] = ["group", "kind", "plural", "singular", "listKind", "scope", "external"];

/**
 * Takes out of the versions of a kind what all of them say.
 *
 * @param versions Each as the call of `resource()` that makes it.
 * @param name What the common part is called.
 */
export function commonParts(versions: readonly CallExpression[], name: string): CommonParts {
  const [first, ...others] = versions.map(optionsIn);
  const entries = first!.filter(([key, value]) => others.every((other) => isSame(other, key, value)));
  if (others.length === 0 || entries.every(([key]) => NAMES.includes(key))) return { expressions: versions };
  const keys = new Set(entries.map(([key]) => key));
  return {
    common: { is: "record", entries },
    expressions: versions.map((version) => {
      const own = optionsIn(version).filter(([key]) => !keys.has(key));
      return call(version.callee, { is: "record", spread: name, entries: own });
    }),
  };
}

type Entries = RecordExpression["entries"];

function optionsIn({ args: [options] }: CallExpression): Entries {
  return options?.is === "record" ? options.entries : [];
}

function isSame(entries: Entries, key: string, value: Expression): boolean {
  const [, other] = entries.find(([name]) => name === key) ?? [];
  return JSON.stringify(other) === JSON.stringify(value);
}
