// Made by tools/cli_internal.ts from src/base/own.ts: do not edit.
export function own<T>(object: { readonly [key: string]: T } | undefined, key: string): T | undefined {
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;
}

export function withKeys<T>(
  object: { readonly [key: string]: T },
  changes: Iterable<readonly [string, T | undefined]>,
): { [key: string]: T } {
  const result = { ...object };
  for (const [key, value] of changes) {
    if (value === undefined) delete result[key];
    else setOwn(result, key, value);
  }
  return result;
}

export function setOwn<T>(object: { [key: string]: T }, key: string, value: T): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else object[key] = value;
}
