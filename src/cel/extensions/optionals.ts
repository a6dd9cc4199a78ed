/** Optional values: `optional.of`, `a.?b`, `orValue` (cel-go, cel/library.go, `OptionalTypes`). */
import type { FunctionDeclaration, Overload } from "../function.ts";
import type { Library } from "../library.ts";
import { EntryMap } from "../map_value.ts";
import { type Macro, MacroError, type MacroSite } from "../macro.ts";
import type { Expression } from "../syntax_tree.ts";
import { BOOL, type CelType, DYN, INT, listOf, mapOf, optionalOf, parameter, STRING, typeOf } from "../type.ts";
import { CelError, DurationValue, List, Optional, Timestamp, TypeValue, Uint, type Value } from "../value.ts";
import { FIRST_SECOND } from "../time.ts";
import { valueText } from "../value_text.ts";

const K = parameter("K");
const V = parameter("V");
const OPTIONAL = optionalOf(V);
const LIST = listOf(V);
const MAP = mapOf(K, V);

/** The library. `plan.ts` implements indexing and `or`; this library declares their types. */
export const OPTIONALS_LIBRARY: Library = {
  name: "cel.lib.optional",
  constants: [{
    name: "optional_type",
    type: typeOf(OPTIONAL),
    value: new TypeValue(OPTIONAL),
  }],
  functions: [
    single("optional.of", global("optional_of", [V], OPTIONAL, (value) => new Optional(value))),
    single(
      "optional.ofNonZeroValue",
      global("optional_ofNonZeroValue", [V], OPTIONAL, (value) => isZero(value!) ? Optional.NONE : new Optional(value)),
    ),
    single("optional.none", global("optional_none", [], OPTIONAL, () => Optional.NONE)),
    single("value", member("optional_value", [OPTIONAL], V, valueOf)),
    single(
      "hasValue",
      member("optional_hasValue", [OPTIONAL], BOOL, (value) => (value as Optional).value !== undefined),
    ),
    single("or", member("optional_or_optional", [OPTIONAL, OPTIONAL], OPTIONAL, notImplemented)),
    single("orValue", member("optional_orValue_value", [OPTIONAL, V], V, notImplemented)),
    single("_?._", global("select_optional_field", [DYN, STRING], OPTIONAL, notImplemented)),
    {
      name: "_[?_]",
      overloads: [
        global("list_optindex_optional_int", [LIST, INT], OPTIONAL, notImplemented),
        global("optional_list_optindex_optional_int", [optionalOf(LIST), INT], OPTIONAL, notImplemented),
        global("map_optindex_optional_value", [MAP, K], OPTIONAL, notImplemented),
        global("optional_map_optindex_optional_value", [optionalOf(MAP), K], OPTIONAL, notImplemented),
      ],
    },
    {
      name: "_[_]",
      overloads: [
        global("optional_list_index_int", [optionalOf(LIST), INT], OPTIONAL, notImplemented),
        global("optional_map_index_value", [optionalOf(MAP), K], OPTIONAL, notImplemented),
      ],
    },
    single("last", member("list_last", [LIST], OPTIONAL, (list) => optionalItem(list as List, -1))),
    single("first", member("list_first", [LIST], OPTIONAL, (list) => optionalItem(list as List, 0))),
    single("optional.unwrap", global("optional_unwrap", [listOf(OPTIONAL)], LIST, unwrap)),
    single("unwrapOpt", member("optional_unwrapOpt", [listOf(OPTIONAL)], LIST, unwrap)),
  ],
  macros: [mappingMacro("optMap", true), mappingMacro("optFlatMap", false)],
};

function single(name: string, overload: Overload): FunctionDeclaration {
  return { name, overloads: [overload] };
}

function global(
  id: string,
  parameters: readonly CelType[],
  result: CelType,
  call: (...values: Value[]) => Value,
): Overload {
  return { id, isMember: false, parameters, result, call };
}

function member(
  id: string,
  parameters: readonly CelType[],
  result: CelType,
  call: (...values: Value[]) => Value,
): Overload {
  return { id, isMember: true, parameters, result, call };
}

function notImplemented(): Value {
  throw new CelError("no such overload");
}

function valueOf(optional?: Value): Value {
  const { value } = optional as Optional;
  if (value === undefined) throw new CelError("optional.none() dereference");
  return value;
}

function optionalItem(list: List, index: number): Optional {
  const item = list.items.at(index);
  return item === undefined ? Optional.NONE : new Optional(item);
}

function unwrap(list?: Value): Value {
  const items = (list as List).items.map((item) => {
    if (!(item instanceof Optional)) throw new CelError(`value ${valueText(item)} is not optional`);
    return item.value;
  });
  return new List(items.filter((item) => item !== undefined));
}

/** Returns whether a value is the zero value of its type: 0, an empty string, an empty list. */
function isZero(value: Value): boolean {
  switch (typeof value) {
    case "bigint":
      return value === 0n;
    case "number":
      return value === 0;
    case "string":
      return value === "";
    case "boolean":
      return !value;
  }
  if (value === null) return true;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Uint8Array) return value.length === 0;
  // Lists and maps of stored objects are never zero in cel-go, because their types define no zero
  // value.
  if (value instanceof List) return value.items.length === 0 && value.semantics === undefined;
  if (value instanceof EntryMap) return value.size === 0;
  if (value instanceof DurationValue) return value.nanoseconds === 0n;
  if (value instanceof Timestamp) return value.seconds === FIRST_SECOND && value.nanoseconds === 0;
  return false;
}

/** `a.optMap(x, value)`: replaces the value of `a`, if it has one. */
function mappingMacro(name: string, wraps: boolean): Macro {
  return {
    name,
    isMember: true,
    operands: 2,
    expand(site: MacroSite, [variable, value]: readonly Expression[], target: Expression | undefined) {
      if (variable!.kind !== "identifier") {
        throw new MacroError(`${name}() variable name must be a simple identifier`, variable!.offset);
      }
      const inner = site.memberCall("value", site.factory.copy(target!));
      const bound = site.bind(variable!.name, inner, value!);
      return site.call(
        "_?_:_",
        site.memberCall("hasValue", target!),
        wraps ? site.call("optional.of", bound) : bound,
        site.call("optional.none"),
      );
    },
  };
}
