import assert from "node:assert/strict";
import { mayOpen, mayWatch } from "./request_queue.ts";

/** Counts how many streams are allowed. */
function count(isAllowed: (open: number) => boolean): number {
  let open = 0;
  while (isAllowed(open)) open++;
  return open;
}

const CASES: [limit: number, requests: number, urgent: number, watches: number, watchesAlone: number][] = [
  [0, 0, 0, 0, 1],
  [1, 1, 1, 0, 1],
  [2, 1, 2, 0, 1],
  [3, 1, 3, 0, 1],
  [4, 2, 4, 1, 1],
  [10, 8, 10, 6, 6],
  [100, 98, 100, 60, 60],
  [250, 248, 250, 150, 150],
];
for (const [limit, requests, urgent, watches, watchesAlone] of CASES) {
  Deno.test(`with a limit of ${limit} streams, some are reserved for requests and for urgent requests`, () => {
    assert.deepEqual([
      count((open) => mayOpen(limit, open, false)),
      count((open) => mayOpen(limit, open, true)),
      count((open) => mayWatch(limit, open, false)),
      count((open) => mayWatch(limit, open, true)),
    ], [requests, urgent, watches, watchesAlone]);
    assert(watches === 0 || watches < requests);
  });
}
