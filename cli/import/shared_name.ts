/** Names of constants for schemas that are used by properties with different names. */
import type { JsonSchema } from "@op/sdk/resource";
import type { SchemaGroup } from "./schema_index.ts";
import { camelCase, counted, ownName, words, wordsOf } from "./words.ts";

/**
 * Returns a name for a schema that several properties with different names use. The first of these
 * that exists is used:
 *
 * - the words at the end of most names: `probe` for `livenessProbe` and `startupProbe`;
 * - the type to which a rule converts the value: `duration`;
 * - the alternatives: `secretOrConfigMap`;
 * - the singular of the object that contains all uses: `nameConstraint`.
 *
 * @param group The equal schemas.
 * @returns The name, or `undefined` if more than half of the uses have the same name, or none of
 *   the above exists.
 */
export function sharedName({ uses }: SchemaGroup): string | undefined {
  const names = uses.map(({ path }) => words(ownName(path)));
  if (Math.max(...counted(names.map(camelCase)).values()) > uses.length / 2) return undefined;
  const { schema } = uses[0]!;
  return commonEnding(names) ?? conversionName(schema) ?? choiceName(schema) ?? parentName(uses);
}

/** The share of property names that must have a common ending. */
const MIN_SHARE = 2 / 3;

/** Words that are too vague to be a name. */
const VAGUE_WORDS: readonly string[] = ["ref", "name", "type", "spec", "key", "value", "item", "config"];

function commonEnding(names: readonly (readonly string[])[]): string | undefined {
  const endings = counted(names.flatMap((words) => words.map((_, i) => words.slice(i).join(" "))));
  const [ending] = [...endings].filter(([, count]) => count >= names.length * MIN_SHARE)
    .map(([ending]) => ending.split(" "))
    .sort((a, b) => b.length - a.length);
  return ending === undefined || VAGUE_WORDS.includes(ending.join(" ")) ? undefined : camelCase(ending);
}

/** Returns the type to which a rule converts a string. */
function conversionName({ type, "x-kubernetes-validations": rules = [] }: JsonSchema): string | undefined {
  if (type !== "string") return undefined;
  const [, name] = /\b(cidr|duration|ip|quantity|semver|timestamp|url)\(self\)/.exec(rules[0]?.rule ?? "") ?? [];
  return name;
}

/** Limits for names such as `secretOrConfigMap`. Longer names are hard to read. */
const MAX_CHOICE = { properties: 3, words: 4 };

function choiceName({ properties = {}, required = [], oneOf, not }: JsonSchema): string | undefined {
  const names = Object.keys(properties).map(wordsOf);
  if (required.length > 0 || names.length < 2 || names.length > MAX_CHOICE.properties) return undefined;
  if (names.flat().length > MAX_CHOICE.words || names.some(({ length }) => length === 0)) return undefined;
  const isChoice = oneOf !== undefined || not !== undefined ||
    Object.values(properties).every((property) => property.type === "object" && property.properties !== undefined);
  return isChoice ? camelCase(names.flatMap((words, i) => (i === 0 ? words : ["or", ...words]))) : undefined;
}

/**
 * Returns the singular of the name of the object that contains all uses. Returns `undefined` if
 * that name is not a plural, or if the object is an item of a list, because the singular then names
 * the item.
 */
function parentName(uses: SchemaGroup["uses"]): string | undefined {
  const parents = uses.map(({ path }) => path.slice(0, path.length - ownName(path).length));
  const names = new Set(parents.map((path) => camelCase(words([...ownName(path), "*"]))));
  const [name] = names;
  if (names.size > 1 || parents.some((path) => path.length < 3 || path.at(-1) === "*")) return undefined;
  return name!.endsWith("Item") ? undefined : name;
}
