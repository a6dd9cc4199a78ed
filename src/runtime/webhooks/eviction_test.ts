import assert from "node:assert/strict";
import { type Evictable, evictedFor, RANK } from "./eviction.ts";

const NOW = 100_000;
const CROWD = 6;

interface Connection extends Evictable {
  readonly name: string;
}

function connections(count: number, rank: number, since = 0): Connection[] {
  return Array.from({ length: count }, (_, i) => ({ name: `${i}`, rank, since: since + i }));
}

const CASES: readonly {
  readonly name: string;
  /** The client that opens a connection. */
  readonly client: string;
  readonly clients: Readonly<Record<string, Connection[]>>;
  readonly evicted: [client: string, index: number] | undefined;
}[] = [
  {
    name: "the client with the most connections loses its oldest",
    client: "new",
    clients: { a: connections(2, RANK.idle), b: connections(3, RANK.idle) },
    evicted: ["b", 0],
  },
  {
    name: "a slow connection without a response is closed before an older idle one",
    client: "new",
    clients: { a: [...connections(2, RANK.idle, 0), ...connections(2, RANK.unserved, 50_000)] },
    evicted: ["a", 2],
  },
  {
    name: "a connection whose review is being handled is never closed",
    client: "new",
    clients: { a: connections(9, RANK.handling), b: connections(1, RANK.idle) },
    evicted: ["b", 0],
  },
  {
    name: "an idle connection is closed before a new one without a response",
    client: "new",
    clients: { a: [...connections(1, RANK.unserved, NOW - 100), ...connections(1, RANK.idle, NOW - 50)] },
    evicted: ["a", 1],
  },
  {
    name: "no connection is closed if all are being handled",
    client: "new",
    clients: { a: connections(9, RANK.handling) },
    evicted: undefined,
  },
  {
    name: "a client loses no connection to a client that has more connections",
    client: "greedy",
    clients: { greedy: connections(5, RANK.handling), modest: connections(4, RANK.idle) },
    evicted: undefined,
  },
  {
    name: "a client with as many connections as others loses one of its own",
    client: "a",
    clients: { a: connections(4, RANK.idle), b: connections(4, RANK.unserved) },
    evicted: ["a", 0],
  },
  {
    name: "a client does not lose its own new connections",
    client: "a",
    clients: { a: connections(4, RANK.unserved, NOW - 100) },
    evicted: undefined,
  },
  {
    name: "a client does not lose its own connections with queued requests",
    client: "a",
    clients: { a: connections(4, RANK.waiting) },
    evicted: undefined,
  },
  {
    name: "a client does not lose new connections to another client",
    client: "b",
    clients: { a: connections(4, RANK.unserved, NOW - 100), b: connections(1, RANK.unserved, NOW - 100) },
    evicted: undefined,
  },
  {
    name: "a client does not lose connections with queued requests to another client",
    client: "b",
    clients: { a: [...connections(2, RANK.waiting), ...connections(2, RANK.sending)] },
    evicted: undefined,
  },
  {
    name: "a client with more connections than the crowd limit loses its new connections",
    client: "b",
    clients: { a: connections(CROWD + 1, RANK.unserved, NOW - 100), b: connections(1, RANK.idle) },
    evicted: ["a", 0],
  },
];

for (const { name, client, clients, evicted } of CASES) {
  Deno.test(`eviction: ${name}`, () => {
    const expected = evicted && clients[evicted[0]]![evicted[1]];
    assert.equal(evictedFor(client, new Map(Object.entries(clients)), { now: NOW, crowd: CROWD }), expected);
  });
}
