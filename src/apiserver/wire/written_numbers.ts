/**
 * Numbers that a body writes with a point or an exponent, such as `1e3`: JavaScript reads them as what they are, Go takes them for no integers and
 * quotes them as they came (`sigs.k8s.io/json`, decoding into fields of integer types).
 */

/** A number with a point or an exponent where JSON has one. Text in quotes may look so too: that costs time, no more. */
const SUSPECT = /[:,[]\s*-?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)\s*[,}\]]/;

const found = new WeakMap<object, Map<string, string>>();

/**
 * Parses JSON, and remembers how such numbers were written.
 *
 * @param text The text.
 * @throws {SyntaxError} If it is no JSON.
 */
export function parseNumbers(text: string): unknown {
  if (!SUSPECT.test(text)) return JSON.parse(text);
  return JSON.parse(
    text,
    function (this: object, key: string, value: unknown, context?: { source?: string }): unknown {
      const { source = "" } = context ?? {};
      if (typeof value === "number" && /[.eE]/.test(source)) found.set(this, notes(this).set(key, source));
      return value;
    } as (this: unknown, key: string, value: unknown) => unknown,
  );
}

function notes(holder: object): Map<string, string> {
  return found.get(holder) ?? new Map<string, string>();
}

/**
 * How such numbers of an object or a list were written, by key or index.
 *
 * @param holder What was parsed, or a part of it.
 */
export function writtenIn(holder: object): ReadonlyMap<string, string> | undefined {
  return found.get(holder);
}

/** A copy of an object whose numbers were written as those of the original. */
export function writtenAs<T extends object>(original: object, copy: T): T {
  const known = found.get(original);
  if (known !== undefined) found.set(copy, known);
  return copy;
}

/** Notes how a number was written, or that it was written as others are. */
export function noteWritten(holder: object, key: string, written: string | undefined): void {
  if (written !== undefined) found.set(holder, notes(holder).set(key, written));
  else found.get(holder)?.delete(key);
}

/**
 * Notes of what a patch was merged into, or a copy of it, what is known of the patch's own numbers.
 *
 * @param from The patch or the original.
 * @param to What was made of it.
 */
export function carryWritten(from: unknown, to: unknown): void {
  if (from === to || typeof from !== "object" || from === null || typeof to !== "object" || to === null) return;
  const known = found.get(from);
  const made = to as Readonly<Record<string, unknown>>;
  for (const [key, part] of Object.entries(from)) {
    const written = known?.get(key);
    if (written !== undefined) noteWritten(to, key, written);
    else if (Object.hasOwn(made, key)) carryWritten(part, made[key]);
  }
}
