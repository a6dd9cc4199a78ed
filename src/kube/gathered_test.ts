import assert from "node:assert/strict";
import { Gathered } from "./gathered.ts";

Deno.test("Gathered holds what was added, in order, however large the pieces are", () => {
  for (const sizes of [[], [0], [1, 1, 1], [40_000, 1, 40_000], [1, 200_000, 0, 7], Array(5000).fill(13)]) {
    const gathered = new Gathered();
    const all: number[] = [];
    sizes.forEach((size, i) => {
      const piece = new Uint8Array(size).fill(i % 251);
      gathered.add(piece);
      for (const byte of piece) all.push(byte);
      // Who gave it reads over it.
      piece.fill(255);
    });
    assert.equal(gathered.length, all.length);
    assert.deepEqual(gathered.bytes, Uint8Array.from(all));
  }
});
