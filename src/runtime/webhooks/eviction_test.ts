import assert from "node:assert/strict";
import { type Evictable, evictedFor, RANK } from "./eviction.ts";

const NOW = 100_000;
const CROWD = 6;

interface Connection extends Evictable {
  readonly name: string;
}

function some(count: number, rank: number, since = 0): Connection[] {
  return Array.from({ length: count }, (_, i) => ({ name: `${i}`, rank, since: since + i }));
}

const CASES: readonly {
  readonly name: string;
  readonly of: string;
  readonly clients: Readonly<Record<string, Connection[]>>;
  readonly evicted: [client: string, index: number] | undefined;
}[] = [
  {
    name: "the client with the most connections loses its oldest",
    of: "new",
    clients: { a: some(2, RANK.idle), b: some(3, RANK.idle) },
    evicted: ["b", 0],
  },
  {
    name: "a slow connection that was never answered is closed before an idle one, however old",
    of: "new",
    clients: { a: [...some(2, RANK.idle, 0), ...some(2, RANK.unanswered, 50_000)] },
    evicted: ["a", 2],
  },
  {
    name: "a connection whose review is being answered is never closed",
    of: "new",
    clients: { a: some(9, RANK.answering), b: some(1, RANK.idle) },
    evicted: ["b", 0],
  },
  {
    name: "an idle connection is closed before a young one that was never answered",
    of: "new",
    clients: { a: [...some(1, RANK.unanswered, NOW - 100), ...some(1, RANK.idle, NOW - 50)] },
    evicted: ["a", 1],
  },
  {
    name: "no connection is closed if all are being answered",
    of: "new",
    clients: { a: some(9, RANK.answering) },
    evicted: undefined,
  },
  {
    name: "a client that has fewer connections than the new one's client loses none",
    of: "greedy",
    clients: { greedy: some(5, RANK.answering), modest: some(4, RANK.idle) },
    evicted: undefined,
  },
  {
    name: "a client with as many as others makes room itself",
    of: "a",
    clients: { a: some(4, RANK.idle), b: some(4, RANK.unanswered) },
    evicted: ["a", 0],
  },
  {
    name: "a client does not close what it just opened",
    of: "a",
    clients: { a: some(4, RANK.unanswered, NOW - 100) },
    evicted: undefined,
  },
  {
    name: "a client does not close its requests that wait for their turn",
    of: "a",
    clients: { a: some(4, RANK.waiting) },
    evicted: undefined,
  },
  {
    name: "another client does not lose what it just opened",
    of: "b",
    clients: { a: some(4, RANK.unanswered, NOW - 100), b: some(1, RANK.unanswered, NOW - 100) },
    evicted: undefined,
  },
  {
    name: "another client does not lose requests that wait for their turn",
    of: "b",
    clients: { a: [...some(2, RANK.waiting), ...some(2, RANK.sending)] },
    evicted: undefined,
  },
  {
    name: "a client with a crowd of connections loses what it just opened",
    of: "b",
    clients: { a: some(CROWD + 1, RANK.unanswered, NOW - 100), b: some(1, RANK.idle) },
    evicted: ["a", 0],
  },
];

for (const { name, of, clients, evicted } of CASES) {
  Deno.test(`eviction: ${name}`, () => {
    const expected = evicted && clients[evicted[0]]![evicted[1]];
    assert.equal(evictedFor(of, new Map(Object.entries(clients)), { now: NOW, crowd: CROWD }), expected);
  });
}
