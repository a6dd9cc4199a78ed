/**
 * Estimates the memory of a parsed JSON value. It depends on more than the length of the text:
 * `[{},{},…]` takes 21 times its length, and a list of objects with equal keys only twice its
 * length. So a limit on the text's length does not limit memory.
 *
 * The weights were measured with V8 13 and 15 (heap size before and after `JSON.parse`, each after
 * a garbage collection) and rounded up. An object is small if V8 knows its shape, which is its keys
 * in this order. Otherwise it is large, because V8 also stores a description of the shape.
 */

const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const COLON = 0x3a;
const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const DOT = 0x2e;
const SMALL_E = 0x65;
const LARGE_E = 0x45;
const ZERO = 0x30;
const NINE = 0x39;

/**
 * Number of bytes of each element. V8 reserves four properties for an empty object, and creates an
 * additional list for numeric keys.
 */
const WEIGHTS = {
  object: 36,
  emptyObject: 64,
  list: 56,
  item: 8,
  key: 12,
  newKey: 160,
  numericKey: 100,
  string: 24,
  fraction: 16,
} as const;

// Number of slots of the table of known shapes. A shape whose slot was overwritten counts as new,
// so an estimate may be too high.
const SHAPES = 4096;
const MAX_DEPTH = 256;

/** Maximum number of bytes per character of the text. */
export const MAX_BYTES_PER_CHARACTER = 28;

/**
 * Estimates the number of bytes of the value of a JSON text, without the text itself.
 *
 * @param text The text. It need not be valid JSON.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(parsedSize('"hello"'), 7 + 24);
 * assert(parsedSize(JSON.stringify(Array(1000).fill({}))) > 60_000);
 * ```
 */
export function parsedSize(text: string): number {
  const known = new Int32Array(SHAPES);
  const outer = new Int32Array(MAX_DEPTH);
  let depth = 0;
  // Hash of the current object's keys so far.
  let shape = 1;
  // Hash of the last string.
  let hash = 0;
  let isNumeric = false;
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(text, at);
        hash = hashOf(text, at + 1, end);
        isNumeric = text.charCodeAt(at + 1) >= ZERO && text.charCodeAt(at + 1) <= NINE;
        bytes += end - at > 2 ? WEIGHTS.string : 0;
        at = end;
        break;
      }
      case COLON: {
        // The string before the colon is a key, which V8 stores once.
        bytes += WEIGHTS.key - WEIGHTS.string + (isNumeric ? WEIGHTS.numericKey : 0);
        shape = Math.imul(shape ^ hash, 0x01000193) ^ (shape >>> 15);
        const slot = shape & (SHAPES - 1);
        if (known[slot] !== shape) {
          known[slot] = shape;
          bytes += WEIGHTS.newKey;
        }
        break;
      }
      case COMMA:
        bytes += WEIGHTS.item;
        break;
      case DOT:
      case SMALL_E:
      case LARGE_E:
        bytes += WEIGHTS.fraction;
        break;
      case OPEN_OBJECT:
        bytes += text.charCodeAt(at + 1) === QUOTE ? WEIGHTS.object : WEIGHTS.emptyObject;
        if (depth < MAX_DEPTH) outer[depth] = shape;
        depth++;
        shape = 1;
        break;
      case CLOSE_OBJECT:
        if (depth > 0 && --depth < MAX_DEPTH) shape = outer[depth]!;
        break;
      case OPEN_LIST:
        bytes += WEIGHTS.list;
        break;
    }
  }
  return bytes;
}

/** Returns the index of the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
  return slashes % 2 === 1;
}

// Number of characters of a key that are hashed. Longer keys are rare, and their text takes more
// memory than a shape.
const MAX_HASHED = 64;

/** Returns the FNV-1a hash of a string. */
function hashOf(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5 ^ (end - start);
  const last = Math.min(end, start + MAX_HASHED);
  for (let at = start; at < last; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}
