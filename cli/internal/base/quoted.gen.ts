// Made by tools/cli_internal.ts from src/base/quoted.ts: do not edit.
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\x07", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
]);
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

export function quoted(text: string): string {
  let result = '"';
  for (const character of text) {
    result += ESCAPES.get(character) ?? (PRINTABLE.test(character) ? character : escaped(character.codePointAt(0)!));
  }
  return `${result}"`;
}

export function strayByte(byte: number): string {
  return String.fromCharCode(0xdc00 + byte);
}

function escaped(code: number): string {
  if (code < 0x80) return `\\x${hex(code, 2)}`;
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${hex(code - 0xdc00, 2)}`;
  return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}
