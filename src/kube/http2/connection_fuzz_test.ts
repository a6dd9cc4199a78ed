/**
 * Tests {@linkcode Http2Connection} with a hostile server that sends random frames, mutated frames
 * and random bytes. Every request must settle, every token must be sent only with its own request,
 * and memory must stay bounded.
 *
 * The seeds are fixed, so that a failure is reproducible. `deno task verify http2-fuzz` sets
 * `PROPERTY_SEED` to a new one and `PROPERTY_RUNS` to run more scenarios.
 */
import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { Random } from "../../../tests/fixtures/random.ts";
import { VirtualClock } from "../../base/virtual_clock.ts";
import { bytes, goAway, OK, Peer, request, ServerTable } from "./_peer.ts";
import { FLAG, FRAME, FrameWriter, SETTING } from "./frames.ts";

const FIRST_SEED = Number(Deno.env.get("PROPERTY_SEED") ?? 20_261_122);
const SCENARIOS = 300 * Number(Deno.env.get("PROPERTY_RUNS") ?? 1);
const STEPS = 80;

Deno.test(`every request settles with its own response or an error, whatever frames a server sends (seeds from ${FIRST_SEED})`, async () => {
  const outcomes = new Map<string, number>();
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SCENARIOS; seed++) {
    const scenario = new Scenario(seed);
    try {
      await scenario.run();
    } catch (error) {
      throw new Error(`seed ${seed} (${scenario.mode}, ends by ${scenario.ending}): ${(error as Error).message}`, {
        cause: error,
      });
    }
    for (const outcome of scenario.outcomes()) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  // The scenarios must produce responses and each kind of failure.
  const reached = ["response", "Http2Protocol", "NotProcessed", "Unanswered", "StreamReset", "aborted", "Fenced"];
  for (const outcome of reached) assert(outcomes.get(outcome)! > 0, `no request ended with ${outcome}`);
});

/** A request of a scenario and its outcome. */
interface Attempt {
  readonly abort: AbortController;
  /** Code of its error, `aborted`, or `response`; `undefined` while it is pending. */
  outcome: string | undefined;
  text: string | undefined;
}

/** One connection, with a random server and random requests. */
class Scenario {
  readonly #random: (limit: number) => number;
  readonly #clock = new VirtualClock();
  readonly #peer: Peer;
  readonly #table = new ServerTable(4096);
  readonly #attempts: Attempt[] = [];
  /** Number of client frames that were checked. */
  #checked = 0;
  /** Number of the request on each stream. */
  readonly #opened = new Map<number, number>();
  readonly mode: "valid frames" | "mutated frames" | "random bytes";
  readonly ending: "end" | "error" | "silence" | "close";

  constructor(seed: number) {
    const random = new Random(seed);
    this.#random = (limit) => random.integer(0, limit - 1);
    this.mode = this.#pick(["valid frames", "valid frames", "mutated frames", "random bytes"] as const);
    this.ending = this.#pick(["end", "error", "silence", "close"] as const);
    this.#peer = new Peer({ clock: this.#clock, maxResponseBytes: 20_000 });
  }

  async run(): Promise<void> {
    for (let i = 0; i < STEPS; i++) {
      this.#step();
      if (this.#random(3) === 0) await turn();
      this.#checkSentFrames();
    }
    await this.#end();
    this.#checkSentFrames();
    const pending = this.#attempts.filter(({ outcome }) => outcome === undefined).length;
    assert.equal(pending, 0, `${pending} of ${this.#attempts.length} requests did not settle`);
    if (this.mode === "valid frames") this.#checkResponses();
  }

  outcomes(): string[] {
    return this.#attempts.map(({ outcome }) => outcome!);
  }

  #step(): void {
    const choice = this.#random(20);
    if (choice < 5) this.#request();
    else if (choice === 5) this.#attempts[this.#random(this.#attempts.length || 1)]?.abort.abort("aborted");
    else if (choice === 6) this.#clock.step(this.#clock.now() + this.#random(3000));
    else if (choice === 7 && this.#random(20) === 0) this.#peer.block();
    else this.#send();
  }

  #request(): void {
    const number = this.#attempts.length;
    const abort = new AbortController();
    const attempt: Attempt = { abort, outcome: undefined, text: undefined };
    this.#attempts.push(attempt);
    const isFenced = this.#random(30) === 0;
    this.#peer.connection.request(request({
      method: this.#pick(["GET", "POST", "PATCH"]),
      path: `/request/${number}`,
      headers: { accept: `type/${this.#random(5)}`, authorization: `Bearer token-${number}` },
      body: this.#random(2) === 0 ? null : "x".repeat(this.#random(3) === 0 ? this.#random(200_000) : this.#random(50)),
      signal: abort.signal,
      streams: this.#random(3) === 0,
      isUrgent: this.#random(5) === 0,
      fence: isFenced ? () => assert.fail("not the leader") : undefined,
    })).then((response) => response.text()).then((text) => {
      attempt.text = text;
      attempt.outcome = "response";
    }, (error) => attempt.outcome = error === "aborted" ? "aborted" : String(error.code ?? error));
  }

  #send(): void {
    const out = new FrameWriter();
    for (let i = this.#random(4); i >= 0; i--) this.#writeFrame(out);
    const sent = out.take().slice();
    if (this.mode === "mutated frames" && this.#random(4) === 0) {
      for (let i = this.#random(3); i >= 0; i--) sent[this.#random(sent.length)] = this.#random(256);
    }
    const isGarbage = this.mode === "random bytes" && this.#random(15) === 0;
    const all = isGarbage ? Uint8Array.from({ length: this.#random(200) }, () => this.#random(256)) : sent;
    this.#peer.sendBytes(all, this.#pick([1, 7, 1000, 1 << 20]));
  }

  #writeFrame(out: FrameWriter): void {
    const streams = [...this.#opened.keys()];
    // Usually one of the newest streams; rarely one that the client may not have opened.
    const stream = this.#random(200) === 0 ? this.#random(50) : streams.at(-1 - this.#random(6)) ?? 0;
    const choice = this.#random(100);
    if (stream !== 0 && choice < 40) return this.#writeHeaders(out, stream);
    if (stream !== 0 && choice < 75) return this.#writeData(out, stream);
    if (stream !== 0 && choice < 80) return out.numbers(FRAME.reset, stream, this.#random(15));
    if (choice < 86) return out.numbers(FRAME.window, this.#random(2) === 0 ? 0 : stream, 1 + this.#random(100_000));
    if (choice < 90) return out.frame(FRAME.ping, this.#random(2) * FLAG.ack, 0, bytes("12345678"));
    if (choice < 96) {
      const id = this.#pick([...Object.values(SETTING), 99]);
      return out.settings([[id, this.#pick([0, 1, 3, 10, 100, 4096, 65_535, 2 ** 31 - 1])]]);
    }
    if (choice === 96) return out.frame(42, this.#random(256), stream, bytes("unknown"));
    // Rare, because each ends the connection.
    if (this.#random(4) > 0) return;
    if (choice === 97) return goAway(out, this.#random(40), this.#random(15), "fuzz");
    if (choice === 98) return out.numbers(FRAME.window, stream, this.#pick([0, 2 ** 31 - 1]));
    return out.frame(this.#pick([FRAME.push, FRAME.continuation]), FLAG.endHeaders, stream, OK);
  }

  #writeHeaders(out: FrameWriter, stream: number): void {
    const block = this.#pick([
      [0x88],
      [0x88],
      [0x8d],
      [0x08, 3, ...bytes("103")],
      [0x08, 3, ...bytes("429"), 0x0f, 0x26, 1, ...bytes("7")],
      [0x40, 1, ...bytes("a"), 1, ...bytes("b")],
      [0x88, 0, 1, ...bytes("a"), 100, ...bytes("b".repeat(100))],
    ]);
    const end = this.#random(3) === 0 ? FLAG.end : 0;
    if (this.#random(4) > 0) return out.frame(FRAME.headers, FLAG.endHeaders | end, stream, Uint8Array.from(block));
    out.frame(FRAME.headers, end, stream, Uint8Array.from(block.slice(0, 1)));
    out.frame(FRAME.continuation, FLAG.endHeaders, stream, Uint8Array.from(block.slice(1)));
  }

  /** Writes DATA that consists of one character, which identifies the stream. */
  #writeData(out: FrameWriter, stream: number): void {
    const content = new Uint8Array(this.#random(4) === 0 ? this.#random(8000) : this.#random(20)).fill(mark(stream));
    const end = this.#random(3) === 0 ? FLAG.end : 0;
    if (this.#random(4) > 0) return out.frame(FRAME.data, end, stream, content);
    const padding = this.#random(256);
    const padded = Uint8Array.of(padding, ...content, ...new Uint8Array(padding));
    out.frame(FRAME.data, FLAG.padded | end, stream, padded);
  }

  async #end(): Promise<void> {
    if (this.ending === "end") this.#peer.end();
    if (this.ending === "error") this.#peer.end(new Deno.errors.ConnectionReset("connection reset by peer"));
    if (this.ending === "close") this.#peer.connection.close();
    for (let i = 0; i < 10; i++) {
      // A silent server is detected by time.
      if (this.ending === "silence") this.#clock.step(this.#clock.now() + 10_000);
      await turn();
    }
  }

  /**
   * Decodes the client's headers as a server would, and checks that each token belongs to its
   * request.
   */
  #checkSentFrames(): void {
    for (const { type, stream, payload } of this.#peer.frames.slice(this.#checked)) {
      if (type !== FRAME.headers) continue;
      const headers = this.#table.read(payload);
      const number = Number(/^\/request\/(\d+)$/.exec(headers.find(([name]) => name === ":path")![1])![1]);
      const tokens = headers.filter(([, value]) => value.includes("token")).map(([name, value]) => `${name}: ${value}`);
      assert.deepEqual(tokens, [`authorization: Bearer token-${number}`]);
      assert(![...this.#opened.values()].includes(number), `request ${number} was sent twice`);
      this.#opened.set(stream, number);
    }
    this.#checked = this.#peer.frames.length;
    assert(!this.#table.entries.some(([name]) => name === "authorization"), "a token is in the dynamic table");
  }

  #checkResponses(): void {
    for (const [stream, number] of this.#opened) {
      const { text = "" } = this.#attempts[number]!;
      const expected = String.fromCharCode(mark(stream)).repeat(text.length);
      assert.equal(text, expected, `request ${number} got content of another stream`);
    }
  }

  #pick<T>(values: readonly T[]): T {
    return values[this.#random(values.length)]!;
  }
}

/** Returns a printable character for a stream. */
function mark(stream: number): number {
  return 33 + stream % 90;
}

/** Runs all microtasks. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Bytes of a flood, unless it says otherwise. */
const FLOOD = 4 << 20;
/** Largest growth of memory during a flood, in bytes, with the garbage of the test itself. */
const MAX_GROWTH = 192 << 20;

/**
 * Frames that a server sends without end. Stream 1 is streamed and not read, stream 3 is read
 * whole.
 */
const FLOODS: readonly {
  name: string;
  write: (out: FrameWriter) => void;
  /** Whether the server reads what the client sends. @default {true} */
  reads?: boolean;
  /** Whether the client must close the connection. @default {false} */
  ends?: boolean;
  /** @default {FLOOD} */
  size?: number;
}[] = [
  {
    name: "DATA of one byte that the caller does not read",
    write: (out) => out.frame(FRAME.data, 0, 1, bytes("x")),
    ends: true,
    // Ten bytes per frame, up to the window of 4 MiB.
    size: 48 << 20,
  },
  {
    name: "DATA that the caller does not read",
    size: 8 << 20,
    write: (out) => out.frame(FRAME.data, 0, 1, new Uint8Array(16_384)),
    ends: true,
  },
  { name: "DATA of a response that is too large", write: (out) => out.frame(FRAME.data, 0, 3, new Uint8Array(16_384)) },
  {
    name: "DATA of one byte of a response that is read whole",
    write: (out) => out.frame(FRAME.data, 0, 3, bytes("x")),
  },
  { name: "CONTINUATION", write: (out) => out.frame(FRAME.continuation, 0, 3, bytes("x")), ends: true },
  {
    name: "PING without reading",
    write: (out) => out.frame(FRAME.ping, 0, 0, bytes("12345678")),
    reads: false,
    ends: true,
  },
  {
    name: "SETTINGS without reading",
    write: (out) => out.settings([[SETTING.concurrent, 1]]),
    reads: false,
    ends: true,
  },
  { name: "SETTINGS that change all windows", write: (out) => out.settings([[SETTING.window, 1]]) },
  { name: "informational responses", write: (out) => out.frame(FRAME.headers, 4, 5, Uint8Array.of(8, 3, 49, 48, 51)) },
  {
    name: "headers of a stream that has ended",
    write: (out) => out.headers(7, new Uint8Array(100_000).fill(0x20), false),
  },
  { name: "GOAWAY", write: (out) => goAway(out, 2 ** 31 - 1, 0, "x".repeat(1000)) },
  { name: "WINDOW_UPDATE", write: (out) => out.numbers(FRAME.window, 7, 1) },
  { name: "unknown frames", write: (out) => out.frame(42, 0, 1, new Uint8Array(1000)) },
];

for (const { name, write, reads = true, ends = false, size = FLOOD } of FLOODS) {
  Deno.test(`memory stays bounded and requests settle when a server sends without end: ${name}`, async () => {
    const peer = new Peer({ maxResponseBytes: 1 << 20 });
    const pending = [true, false, false].map((streams) => peer.connection.request(request({ streams })));
    const settled = Promise.allSettled(pending);
    const aborted = new AbortController();
    peer.connection.request(request({ signal: aborted.signal })).catch(() => {});
    await peer.firstFrame(FRAME.headers, 7);
    peer.send((out) => {
      for (const stream of [1, 3]) out.frame(FRAME.headers, FLAG.endHeaders, stream, OK);
    });
    aborted.abort();
    if (name === "CONTINUATION") peer.send((out) => out.frame(FRAME.headers, 0, 3, OK));
    await turn();
    if (!reads) peer.block();
    const out = new FrameWriter();
    while (out.length < 1 << 19) write(out);
    const batch = out.take().slice();
    const before = memory();
    let growth = 0;
    for (let sent = 0; sent < size && !peer.isClosed; sent += batch.length) {
      peer.sendBytes(batch);
      await turn();
      peer.frames.length = 0;
      growth = Math.max(growth, memory() - before);
    }
    assert(growth < MAX_GROWTH, `memory grew by ${growth} bytes`);
    assert.equal(peer.isClosed, ends);
    peer.end();
    const [streamed] = await settled;
    if (streamed?.status === "fulfilled") await streamed.value.text().catch(() => undefined);
  });
}

function memory(): number {
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}
