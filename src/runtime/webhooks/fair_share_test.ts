import assert from "node:assert/strict";
import { FairShare } from "./fair_share.ts";

const NEVER = new AbortController().signal;

/** Waits for an amount, and records the order of the grants. */
function takeInOrder(share: FairShare, order: string[], name: string, amount: number): Promise<Disposable> {
  const taken = share.take(name, amount, NEVER);
  assert(taken !== undefined);
  return taken.then((granted) => {
    order.push(name);
    return granted;
  });
}

Deno.test("a single client may hold all of a FairShare, and no more", () => {
  const share = new FairShare({ total: 10 });
  const first = share.tryTake("a", 10);
  assert(first !== undefined);
  assert.equal(share.tryTake("a", 1), undefined);
  assert.equal(share.tryTake("b", 1), undefined);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  assert.equal(share.held, 0);
  assert.notEqual(share.tryTake("b", 10), undefined);
});

Deno.test("a FairShare grants a returned amount to the waiting client that holds least, not to the first", async () => {
  const share = new FairShare({ total: 4 });
  const held = [1, 2, 3, 4].map(() => share.tryTake("greedy", 1)!);
  const order: string[] = [];
  const waiting = [
    takeInOrder(share, order, "greedy", 1),
    takeInOrder(share, order, "greedy", 1),
    takeInOrder(share, order, "modest", 1),
  ];
  held[0]![Symbol.dispose]();
  await waiting[2];
  held[1]![Symbol.dispose]();
  await waiting[0];
  assert.deepEqual(order, ["modest", "greedy"]);
  held[2]![Symbol.dispose]();
  await Promise.all(waiting);
  assert.equal(share.waiting, 0);
  assert.equal(share.held, 4);
});

Deno.test("clients that hold equal amounts take turns", async () => {
  const share = new FairShare({ total: 1 });
  const first = share.tryTake("x", 1)!;
  const order: string[] = [];
  const all = ["a", "a", "a", "b", "b"].map((name) =>
    takeInOrder(share, order, name, 1).then((granted) => granted[Symbol.dispose]())
  );
  first[Symbol.dispose]();
  await Promise.all(all);
  assert.deepEqual(order, ["a", "b", "a", "b", "a"]);
});

Deno.test("a client that waits for more than `queue` is rejected, and others are not", () => {
  const share = new FairShare({ total: 1, queue: 2 });
  share.tryTake("a", 1);
  share.take("a", 1, NEVER);
  share.take("a", 1, NEVER);
  assert.equal(share.take("a", 1, NEVER), undefined);
  assert.notEqual(share.take("b", 1, NEVER), undefined);
});

Deno.test("when a client stops waiting, the next ones in the queue are granted their amounts", async () => {
  const share = new FairShare({ total: 4 });
  const held = share.tryTake("a", 2)!;
  const giveUp = new AbortController();
  const large = share.take("b", 4, giveUp.signal)!;
  const small = share.take("c", 1, NEVER)!;
  giveUp.abort(new Error("too late"));
  await assert.rejects(large, /too late/);
  (await small)[Symbol.dispose]();
  held[Symbol.dispose]();
  assert.deepEqual([share.held, share.waiting], [0, 0]);
});

Deno.test("tryTakePart leaves an amount for other clients", () => {
  const share = new FairShare({ total: 100 });
  const takeMaximum = (name: string): number => {
    let taken = 0;
    while (share.tryTakePart(name, 1) !== undefined) taken++;
    return taken;
  };
  assert.deepEqual(["a", "b", "c"].map(takeMaximum), [50, 25, 12]);
});
