/** An informer on a server that is a script: what it answers, and when each event comes, is chosen by the test. */
import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { VirtualClock } from "../src/base/virtual_clock.ts";
import { Client } from "../src/kube/client.ts";
import { type AnyKind, type KubeObject, resource } from "../src/resource/mod.ts";
import { s } from "../src/schema/mod.ts";
import { Informer, type InformerOptions } from "../src/watch/informer.ts";

export const Website = resource({ group: "demo.example.com", version: "v1", kind: "Website", spec: s.object({}) });

export type Line = { readonly type: string; readonly object: unknown };
export type Metadata = Partial<KubeObject["metadata"]>;

export interface Asked {
  readonly path: string;
  readonly query: Record<string, string | undefined>;
}

/** A watch as the server sees it. */
export interface Stream extends Asked {
  send(...lines: Line[]): Promise<void>;
  raw(text: string): Promise<void>;
  end(): Promise<void>;
  fail(): Promise<void>;
}

/** An informer on a server that is a script: what it answers nothing to becomes an open stream. */
export function start(
  options: Partial<InformerOptions> & { readonly kind?: AnyKind } = {},
  answer: (asked: Asked) => Response | undefined = () => undefined,
) {
  const clock = new VirtualClock();
  const requests: Asked[] = [];
  const streams: Stream[] = [];
  const fetch = (request: Request): Promise<Response> => {
    const { pathname: path, searchParams } = new URL(request.url);
    const asked: Asked = { path, query: Object.fromEntries(searchParams) };
    requests.push(asked);
    const response = isGlance(asked) ? new Response(lines(glanced)) : answer(asked);
    if (response !== undefined) return Promise.resolve(response);
    const { stream, body } = open(asked);
    streams.push(stream);
    return Promise.resolve(new Response(body));
  };
  const glanced: Line[] = [];
  const problems: (string | undefined)[] = [];
  const client = new Client({ url: "http://cluster", fetch, close() {} }, { clock });
  const informer = new Informer(client, options.kind ?? Website, {
    clock,
    random: () => 1,
    keepsFieldsOf: () => false,
    onProblem: (problem) => problems.push(problem?.message),
    ...options,
  });
  const [us, them] = [{ part: "us", key: "a" }, { part: "them", key: "a" }];
  const told: string[] = [];
  informer.listen(({ before, after }, by, initial) => {
    const name = (after ?? before)?.metadata.name;
    const [from, to] = [before?.metadata.resourceVersion, after?.metadata.resourceVersion];
    const what = from === undefined
      ? `+${name}@${to}`
      : to === undefined
      ? `-${name}@${from}`
      : `${name}@${from}->${to}`;
    told.push(what + (by === undefined ? "" : ` by ${by.part}`) + (initial ? " at first" : ""));
  });
  const stop = new AbortController();
  const ended = informer.run(stop.signal);
  // Told to whoever disposes of it.
  ended.catch(() => undefined);
  return {
    informer,
    clock,
    requests,
    problems,
    told,
    us,
    them,
    /** What another watch than the stream brings. */
    glanced,
    /** The streams, when there are so many. */
    async opened(count: number): Promise<[Stream, Stream, ...Stream[]]> {
      await turns();
      assert.equal(streams.length, count);
      return streams as [Stream, Stream, ...Stream[]];
    },
    /** The requests in words. */
    asked: () =>
      requests.map(({ query, ...asked }) =>
        isGlance({ query, ...asked })
          ? `glance ${query.resourceVersion}`
          : query.sendInitialEvents
          ? "stream"
          : query.watch
          ? `watch ${query.resourceVersion}`
          : `page ${query.continue ?? ""}`.trim()
      ),
    /** Whether it waits before it asks again. What it waits for on an open stream is longer. */
    isWaiting: () => clock.nextDue !== undefined && clock.nextDue - clock.now() < 30_000,
    /** Lets time pass, running what falls due. */
    async pass(milliseconds: number): Promise<void> {
      const until = clock.now() + milliseconds;
      while (clock.step(until)) await turns();
      await turns();
    },
    /** Lets time pass to the next timer; answers how long that was. */
    async passNext(): Promise<number> {
      const from = clock.now();
      assert(clock.nextDue !== undefined, "it waits for nothing");
      clock.step(clock.nextDue);
      await turns();
      return clock.now() - from;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      stop.abort(new Error("the test is over"));
      await ended;
    },
  };
}

export function open(asked: Asked): { stream: Stream; body: ReadableStream<Uint8Array> } {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  const raw = (text: string): Promise<void> => {
    controller.enqueue(new TextEncoder().encode(text));
    return turns();
  };
  const stream: Stream = {
    ...asked,
    raw,
    send: (...sent) => raw(lines(sent)),
    end: () => {
      controller.close();
      return turns();
    },
    fail: () => {
      controller.error(new TypeError("connection reset"));
      return turns();
    },
  };
  return { stream, body };
}

function lines(sent: readonly Line[]): string {
  return sent.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** A short watch beside the stream. */
function isGlance({ query }: Asked): boolean {
  return query.timeoutSeconds === "1";
}

export function object(name: string, version: number, more: Metadata = {}): KubeObject {
  const metadata = { name, uid: name, resourceVersion: String(version), creationTimestamp: "2030-01-01T00:00:00Z" };
  return { apiVersion: "demo.example.com/v1", kind: "Website", metadata: { ...metadata, ...more } };
}

export function added(name: string, version: number, more?: Metadata): Line {
  return { type: "ADDED", object: object(name, version, more) };
}

export function modified(name: string, version: number, more?: Metadata): Line {
  return { type: "MODIFIED", object: object(name, version, more) };
}

export function deleted(name: string, version: number): Line {
  return { type: "DELETED", object: object(name, version) };
}

export function bookmark(version: number, annotations?: Record<string, string>): Line {
  const metadata = { resourceVersion: String(version), ...(annotations && { annotations }) };
  return { type: "BOOKMARK", object: { apiVersion: "demo.example.com/v1", kind: "Website", metadata } };
}

export function mark(version: number): Line {
  return bookmark(version, { "k8s.io/initial-events-end": "true" });
}

export function list(version: number, items: KubeObject[], next?: string): Response {
  const metadata = { resourceVersion: String(version), ...(next && { continue: next }) };
  return Response.json({ metadata, items });
}

export function refusal(status: number): Response {
  return Response.json({ kind: "Status", message: "refused" }, { status });
}

/** Lets all that needs no time happen: a chunk reaches its reader in some turns of the event loop. */
export async function turns(): Promise<void> {
  for (let i = 0; i < 10; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
