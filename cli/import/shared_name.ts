/** Names of constants for schemas that are used by properties with different names. */
import type { JsonSchema } from "@op/sdk/resource";
import type { SchemaGroup } from "./schema_index.ts";
import { camelCase, counted, ownName, words, wordsOf } from "./words.ts";

/**
 * Returns a name for a schema that is used under several names, none of which is used most. It is
 * the words that end them (`probe` of `livenessProbe` and `startupProbe`), or the type to which a
 * rule converts the value (`duration`), or the alternatives (`secretOrConfigMap`), or the object
 * that contains all uses (`nameConstraint`).
 *
 * @param group The equal schemas.
 * @returns The name, or `undefined` if most uses have the same name or none of these exists.
 */
export function sharedName({ uses }: SchemaGroup): string | undefined {
  const names = uses.map(({ path }) => words(ownName(path)));
  if (Math.max(...counted(names.map(camelCase)).values()) > uses.length / 2) return undefined;
  const { schema } = uses[0]!;
  return endingOf(names) ?? conversionName(schema) ?? choiceName(schema) ?? parentName(uses);
}

/** The share of uses that a name must fit. */
const MOST = 2 / 3;

/** Words that mean too little as a name. */
const EMPTY_WORDS: readonly string[] = ["ref", "name", "type", "spec", "key", "value", "item", "config"];

function endingOf(names: readonly (readonly string[])[]): string | undefined {
  const endings = counted(names.flatMap((words) => words.map((_, i) => words.slice(i).join(" "))));
  const [longest] = [...endings].filter(([, count]) => count >= names.length * MOST)
    .map(([ending]) => ending.split(" "))
    .sort((a, b) => b.length - a.length);
  return longest === undefined || EMPTY_WORDS.includes(longest.join(" ")) ? undefined : camelCase(longest);
}

/** Returns the type to which a rule converts a string. */
function conversionName({ type, "x-kubernetes-validations": rules = [] }: JsonSchema): string | undefined {
  if (type !== "string") return undefined;
  const [, name] = /\b(cidr|duration|ip|quantity|semver|timestamp|url)\(self\)/.exec(rules[0]?.rule ?? "") ?? [];
  return name;
}

/** Longer names are hard to read. */
const LONGEST_CHOICE = { properties: 3, words: 4 };

function choiceName({ properties = {}, required = [], oneOf, not }: JsonSchema): string | undefined {
  const names = Object.keys(properties).map(wordsOf);
  if (required.length > 0 || names.length < 2 || names.length > LONGEST_CHOICE.properties) return undefined;
  if (names.flat().length > LONGEST_CHOICE.words || names.some(({ length }) => length === 0)) return undefined;
  const isChoice = oneOf !== undefined || not !== undefined ||
    Object.values(properties).every((property) => property.type === "object" && property.properties !== undefined);
  return isChoice ? camelCase(names.flatMap((words, i) => (i === 0 ? words : ["or", ...words]))) : undefined;
}

/**
 * Returns the singular of the object that contains all uses, or `undefined` if its name is not a
 * plural, or it is the item of a list, which has that name itself.
 */
function parentName(uses: SchemaGroup["uses"]): string | undefined {
  const parents = uses.map(({ path }) => path.slice(0, path.length - ownName(path).length));
  const names = new Set(parents.map((path) => camelCase(words([...ownName(path), "*"]))));
  const [name] = names;
  if (names.size > 1 || parents.some((path) => path.length < 3 || path.at(-1) === "*")) return undefined;
  return name!.endsWith("Item") ? undefined : name;
}
