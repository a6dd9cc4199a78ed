/**
 * Prints the memory that V8 uses for parsed JSON of many shapes, and the estimate. Needs V8's gc().
 */
import { parsedSize } from "../../src/runtime/webhooks/parsed_size.ts";

declare const gc: () => void;

const LENGTH = 2 ** 21;

/** Repeats an item until the JSON is long enough. */
function list(item: (i: number) => string, length: number): string {
  return `[${Array.from({ length: Math.floor(LENGTH / length) }, (_, i) => item(i)).join(",")}]`;
}

/** Returns an object with `count` of `total` keys, which the seed selects and orders. */
function shuffled(total: number, count: number, seed: number): string {
  const keys = Array.from(
    { length: total },
    (_, i) => String.fromCharCode(97 + i % 26) + (i >= 26 ? Math.floor(i / 26) : ""),
  );
  let state = seed * 2654435761 >>> 0;
  const chosen = Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return keys.splice(state % keys.length, 1)[0];
  });
  return `{${chosen.map((key) => `"${key}":0`).join(",")}}`;
}

/** Shapes of typical objects of a cluster. */
const TYPICAL: Readonly<Record<string, () => string>> = {
  "a list of objects with four fields": () =>
    list((i) => `{"name":"item-${i}","value":"some value ${i}","enabled":true,"count":${i}}`, 75),
  "containers": () =>
    list(
      (i) =>
        `{"name":"c${i}","image":"registry.example.com/a/b:${i}","env":[{"name":"A","value":"b"},{"name":"B","value":"c"}],"resources":{"limits":{"memory":"1Gi"}}}`,
      160,
    ),
  "one long string": () => JSON.stringify("x".repeat(LENGTH)),
};

/** Shapes that an attacker would send to fill the memory. */
const HOSTILE: Readonly<Record<string, () => string>> = {
  "empty objects": () => list(() => "{}", 3),
  "empty objects with a space": () => list(() => "{ }", 4),
  "empty lists": () => list(() => "[]", 3),
  "lists of one": () => list(() => "[0]", 4),
  "numbers": () => list(() => "1", 2),
  "fractions among strings": () => list(() => '1.5,""', 6),
  "large numbers among strings": () => list(() => '1e30,""', 8),
  "short strings": () => list((i) => `"${String(i % 10_000).padStart(4, "x")}"`, 7),
  "objects with one key": () => list(() => '{"a":0}', 8),
  "objects with a numeric key": () => list((i) => `{"${i % 10}":0}`, 8),
  "objects with a long numeric key": () => list((i) => `{"${i}":0}`, 14),
  "objects with a key each": () => list((i) => `{"k${i}":0}`, 14),
  "objects with three keys each": () => list((i) => `{"a${i}":0,"b${i}":0,"c${i}":{}}`, 40),
  "one object with many keys": () => `{${list((i) => `"k${i}":0`, 14).slice(1, -1)}}`,
  "few keys in any order": () => list((i) => shuffled(26, 6, i), 38),
  "many keys in any order": () => list((i) => shuffled(100, 4, i), 30),
};

if (import.meta.main) {
  const rows = [...Object.entries(TYPICAL), ...Object.entries(HOSTILE)].map(([name, make]) => {
    // One flat string, as it arrives from the network.
    const text = new TextDecoder().decode(new TextEncoder().encode(make()));
    gc();
    gc();
    const before = Deno.memoryUsage().heapUsed;
    const value: unknown = JSON.parse(text);
    gc();
    const used = Deno.memoryUsage().heapUsed - before;
    return {
      name,
      isTypical: name in TYPICAL,
      length: text.length,
      used,
      estimated: parsedSize(text),
      value: value === 0,
    };
  });
  console.log(JSON.stringify(rows));
}
