/**
 * Source text of numbers with a point or an exponent, such as `1e3`. JavaScript parses such a
 * number as an integer; Go does not, and its messages quote the source (`sigs.k8s.io/json`).
 */

/**
 * Finds a number with a point or an exponent in JSON. A match inside a string is harmless: it only
 * costs time.
 */
const NON_INTEGER = /[:,[]\s*-?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)\s*[,}\]]/;

/**
 * Source texts by object or list, then by key or index. Entries are set when an object is parsed or
 * patched, and objects are not changed afterwards.
 */
const sources = new WeakMap<object, Map<string, string>>();

/**
 * Parses JSON, and records the source text of numbers with a point or an exponent.
 *
 * @param text The JSON.
 * @throws {SyntaxError} If it is malformed.
 */
export function parseNumbers(text: string): unknown {
  if (!NON_INTEGER.test(text)) return JSON.parse(text);
  return JSON.parse(
    text,
    function (this: object, key: string, value: unknown, context?: { source?: string }): unknown {
      const { source = "" } = context ?? {};
      if (typeof value === "number" && /[.eE]/.test(source)) sources.set(this, sourcesOf(this).set(key, source));
      return value;
    } as (this: unknown, key: string, value: unknown) => unknown,
  );
}

function sourcesOf(holder: object): Map<string, string> {
  return sources.get(holder) ?? new Map<string, string>();
}

/**
 * Returns the recorded source texts of the numbers in an object or list, by key or index.
 *
 * @param holder The parsed object or list.
 */
export function numberSourcesIn(holder: object): ReadonlyMap<string, string> | undefined {
  return sources.get(holder);
}

/** Copies the recorded source texts of an object to its copy, and returns the copy. */
export function withNumberSources<T extends object>(original: object, copy: T): T {
  const recorded = sources.get(original);
  if (recorded !== undefined) sources.set(copy, recorded);
  return copy;
}

/** Records the source text of a number, or removes the record if it has none. */
export function setNumberSource(holder: object, key: string, numberSource: string | undefined): void {
  if (numberSource !== undefined) sources.set(holder, sourcesOf(holder).set(key, numberSource));
  else sources.get(holder)?.delete(key);
}

/**
 * Copies the recorded source texts of a patch to the object that it was merged into, or those of an
 * object to its copy.
 *
 * @param from The patch, or the original.
 * @param to The merged object, or the copy.
 */
export function copyNumberSources(from: unknown, to: unknown): void {
  if (from === to || typeof from !== "object" || from === null || typeof to !== "object" || to === null) return;
  const recorded = sources.get(from);
  const target = to as Readonly<Record<string, unknown>>;
  for (const [key, part] of Object.entries(from)) {
    const numberSource = recorded?.get(key);
    if (numberSource !== undefined) setNumberSource(to, key, numberSource);
    else if (Object.hasOwn(target, key)) copyNumberSources(part, target[key]);
  }
}
