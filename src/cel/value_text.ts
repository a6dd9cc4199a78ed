/** Formats values in messages, as Go's `fmt` prints cel-go's values with `%v`. */
import { shortestText } from "./number_text.ts";
import { calendarOf, spanInUnit } from "./time.ts";
import { formatType } from "./type.ts";
import { DurationValue, List, MapValue, Optional, Timestamp, TypeValue, Uint, type Value } from "./value.ts";

/** Formats a value in a message. */
export function valueText(value: Value): string {
  if (typeof value === "number") return shortestText(value);
  // cel-go's null is a number type.
  if (value === null) return "0";
  if (typeof value !== "object") return String(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return `[${value.join(" ")}]`;
  if (value instanceof List) return `[${value.items.map(valueText).join(", ")}]`;
  if (value instanceof MapValue) {
    return `{${[...value.keys()].map((key) => `${valueText(key)}: ${valueText(value.get(key) ?? null)}`).join(", ")}}`;
  }
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof DurationValue) return durationText(value);
  if (value instanceof Optional) {
    return value.value === undefined ? "optional.none()" : `optional(${valueText(value.value)})`;
  }
  return formatType(value instanceof TypeValue ? value.type : value.type);
}

function timestampText(time: Timestamp): string {
  const { year, month, day, hour, minute, second } = calendarOf(time, 0);
  const [date, clock] = [[year, month, day], [hour, minute, second]].map((parts) =>
    parts.map((part) => String(part).padStart(2, "0"))
  );
  const fraction = String(time.nanoseconds).padStart(9, "0").replace(/0+$/, "");
  return `${date!.join("-").padStart(10, "0")} ${clock!.join(":")}${fraction && `.${fraction}`} +0000 UTC`;
}

/** Formats a duration as Go's `time.Duration` does: `1h0m0s`, `1.5ms`. */
function durationText(span: DurationValue): string {
  const { nanoseconds } = span;
  if (nanoseconds === 0n) return "0s";
  const sign = nanoseconds < 0n ? "-" : "";
  const size = new DurationValue(nanoseconds < 0n ? -nanoseconds : nanoseconds);
  if (size.nanoseconds < 1_000n) return `${sign}${size.nanoseconds}ns`;
  if (size.nanoseconds < 1_000_000n) return `${sign}${spanInUnit(size, 1_000n)}µs`;
  if (size.nanoseconds < 1_000_000_000n) return `${sign}${spanInUnit(size, 1_000_000n)}ms`;
  const minutes = size.nanoseconds / 60_000_000_000n;
  const seconds = `${spanInUnit(new DurationValue(size.nanoseconds % 60_000_000_000n), 1_000_000_000n)}s`;
  if (minutes === 0n) return `${sign}${seconds}`;
  return minutes < 60n ? `${sign}${minutes}m${seconds}` : `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}
