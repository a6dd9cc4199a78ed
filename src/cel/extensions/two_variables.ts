/** Loops with two variables: index and item, or key and value (cel-go, ext/comprehensions.go). */
import type { FunctionDeclaration } from "../function.ts";
import type { Library } from "../library.ts";
import {
  allOf,
  collect,
  type LoopParts,
  type Macro,
  MacroError,
  type MacroSite,
  oneOf,
  someOf,
  variableName,
} from "../macro.ts";
import { LoopMap } from "../fold.ts";
import { EntryMap } from "../map_value.ts";
import { ACCUMULATOR, type Expression } from "../syntax_tree.ts";
import { mapOf, parameter } from "../type.ts";
import { CelError, type MapValue, type Value } from "../value.ts";
import { valueText } from "../value_text.ts";

const K = parameter("K");
const V = parameter("V");
const MAP = mapOf(K, V);
const INSERT = "cel.@mapInsert";

/** The library: macros with two variables, and the functions that build their maps. */
export const TWO_VARIABLES_LIBRARY: Library = {
  name: "cel.lib.ext.comprev2",
  functions: [insertFunction()],
  macros: [
    loop("all", 3, (site, [, , predicate]) => allOf(site, predicate!)),
    loop("exists", 3, (site, [, , predicate]) => someOf(site, predicate!)),
    loop("existsOne", 3, (site, [, , predicate]) => oneOf(site, predicate!)),
    loop("exists_one", 3, (site, [, , predicate]) => oneOf(site, predicate!)),
    ...transform("transformList", (site, value) => {
      return collect(site, site.list(), site.call("_+_", site.accumulator(), site.list(value)));
    }),
    ...transform("transformMap", (site, value, key) => {
      return collect(site, site.map(), site.call(INSERT, site.accumulator(), site.identifier(key), value));
    }),
    ...transform("transformMapEntry", (site, value) => {
      return collect(site, site.map(), site.call(INSERT, site.accumulator(), value));
    }),
  ],
};

function loop(
  name: string,
  operands: number,
  parts: (site: MacroSite, operands: readonly Expression[], key: string) => LoopParts,
): Macro {
  return {
    name,
    isMember: true,
    operands,
    expand(site, callOperands, target) {
      const variables = variablesOf(callOperands);
      return site.loop(target!, variables, parts(site, callOperands, variables[0]!));
    },
  };
}

/** A transformation with an optional filter. */
function transform(
  name: string,
  parts: (site: MacroSite, value: Expression, key: string) => LoopParts,
): readonly Macro[] {
  return [
    loop(name, 3, (site, [, , value], key) => parts(site, value!, key)),
    loop(name, 4, (site, [, , filter, value], key) => {
      const unfiltered = parts(site, value!, key);
      return { ...unfiltered, step: site.call("_?_:_", filter!, unfiltered.step, site.accumulator()) };
    }),
  ];
}

function variablesOf([first, second]: readonly Expression[]): readonly string[] {
  const names = [first!, second!].map((operand) => {
    if (operand.kind === "identifier") return operand.name;
    throw new MacroError("argument must be a simple name", operand.offset);
  });
  if (names[0] === names[1]) throw new MacroError(`duplicate variable name: ${names[0]}`, second!.offset);
  return [first!, second!].map((operand) => variableName(operand, ACCUMULATOR));
}

function insertFunction(): FunctionDeclaration {
  return {
    name: INSERT,
    overloads: [
      {
        id: "@mapInsert_map_key_value",
        isMember: false,
        parameters: [MAP, K, V],
        result: MAP,
        call: (map, key, value) => insertEntries(map as MapValue, [[key!, value!]]),
      },
      {
        id: "@mapInsert_map_map",
        isMember: false,
        parameters: [MAP, MAP],
        result: MAP,
        call: (map, added) => insertEntries(map as MapValue, entriesOf(added as MapValue)),
      },
    ],
  };
}

function* entriesOf(map: MapValue): Iterable<readonly [Value, Value]> {
  for (const key of map.keys()) yield [key, map.get(key)!];
}

function insertEntries(map: MapValue, entries: Iterable<readonly [Value, Value]>): MapValue {
  const target = map instanceof LoopMap ? map : new EntryMap(entriesOf(map));
  for (const [key, value] of entries) {
    if (target.get(key) !== undefined) throw new CelError(`insert failed: key ${valueText(key)} already exists`);
    target.set(key, value);
  }
  return target;
}
