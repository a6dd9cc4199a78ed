/** Names of Go types. */
import { EntryMap } from "./map_value.ts";
import { Failure, type Outcome } from "./outcome.ts";
import { DurationValue, List, MapValue, Optional, Timestamp, TypeValue, Uint } from "./value.ts";

/** Returns the Go type of a value, which some messages contain. */
export function goTypeOf(value: Outcome): string {
  if (value === null) return "types.Null";
  if (value instanceof Failure) return "*types.Err";
  switch (typeof value) {
    case "boolean":
      return "types.Bool";
    case "bigint":
      return "types.Int";
    case "number":
      return "types.Double";
    case "string":
      return "types.String";
  }
  if (value instanceof Uint) return "types.Uint";
  if (value instanceof Uint8Array) return "types.Bytes";
  if (value instanceof Timestamp) return "types.Timestamp";
  if (value instanceof DurationValue) return "types.Duration";
  if (value instanceof List) return value.semantics === undefined ? "*types.baseList" : "*common.unstructuredList";
  if (value instanceof EntryMap) return "*types.baseMap";
  if (value instanceof MapValue) return "*common.unstructuredMap";
  if (value instanceof Optional) return "*types.Optional";
  if (value instanceof TypeValue) return "*types.Type";
  return value.goType;
}
