import assert from "node:assert/strict";
import { hasRoom, hasRoomToWatch } from "./http2_room.ts";

/** How many there is room for. */
function room(has: (taken: number) => boolean): number {
  let taken = 0;
  while (has(taken)) taken++;
  return taken;
}

const CASES: [most: number, requests: number, urgent: number, watches: number, watchesAlone: number][] = [
  [0, 0, 0, 0, 1],
  [1, 1, 1, 0, 1],
  [2, 1, 2, 0, 1],
  [3, 1, 3, 0, 1],
  [4, 2, 4, 1, 1],
  [10, 8, 10, 6, 6],
  [100, 98, 100, 60, 60],
  [250, 248, 250, 150, 150],
];
for (const [most, requests, urgent, watches, watchesAlone] of CASES) {
  Deno.test(`of ${most} requests that a server takes at once, watches leave room to others, and all to what may not wait`, () => {
    assert.deepEqual([
      room((taken) => hasRoom(most, taken, false)),
      room((taken) => hasRoom(most, taken, true)),
      room((taken) => hasRoomToWatch(most, taken, false)),
      room((taken) => hasRoomToWatch(most, taken, true)),
    ], [requests, urgent, watches, watchesAlone]);
    assert(watches === 0 || watches < requests);
  });
}
