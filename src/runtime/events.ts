/**
 * Kubernetes Events (events.k8s.io/v1). Writing them never holds a run up and never fails it: they
 * go out one by one, beside the runs; repeats become a series; what one object says too often is
 * left out.
 *
 * Source: client-go `tools/events` (series, names), `tools/record/events_cache.go` (the cap an
 * object).
 */
import type { Clock } from "../base/clock.ts";
import { shortName } from "../base/short_name.ts";
import { Event } from "../kinds/events_v1.gen.ts";
import { isStatus } from "../kube/api_error.ts";
import type { Client } from "../kube/client.ts";
import type { EventOptions } from "../parts/context.ts";
import type { Input, KubeObject } from "../resource/kind.ts";
import { microTime } from "./lease.ts";
import type { Logger } from "./logger.ts";
import { NotLeadingError } from "./elector.ts";

/** What an event says. */
export interface Report extends EventOptions {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly note: string;
}

/** Options of {@linkcode EventRecorder}. */
export interface EventRecorderOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Which process reports, at most 128 characters. */
  readonly instance: string;
  /** Told what became of each. */
  readonly onEnd?: (result: "written" | "failed" | "dropped") => void;
}

interface Told {
  readonly name: string;
  readonly namespace: string;
  count: number;
  /**
   * When it was told last, by both clocks: what the server is told is the time, what is waited for
   * goes by the clock that is never set.
   */
  last: Moment;
  /** Whether the server knows it. */
  isWritten: boolean;
  /** When the series was written last, and the count that it had. */
  written: { readonly at: number; readonly count: number };
  timer: Disposable | undefined;
}

interface Moment {
  readonly now: number;
  readonly elapsed: number;
}

interface Bucket {
  left: number;
  at: number;
}

// The API's limits, in bytes; who reports is a qualified name without a domain.
const LONGEST = { note: 1024, reason: 128, action: 128, instance: 128, controller: 63 };
// What of an object's name goes into its events' names.
const LONGEST_NAME = 220;
// client-go takes what comes again within six minutes for the same.
const SERIES = 6 * 60_000;
// How often what is forgotten is swept out.
const SWEEP = 60_000;
// How often a series that goes on is written. client-go writes half-hourly: too seldom for whoever
// watches a failure.
const REFRESH = 6 * 60_000;
// client-go's: an object may say 25 things at once, and one more each five minutes.
const BURST = 25;
const REFILL = 5 * 60_000;
// What waits to be written. Beyond it something is wrong, and events are what matters least.
const LONGEST_LINE = 1000;
// After the server said that we may not.
const FORBIDDEN_PAUSE = 5 * 60_000;

/** Writes Kubernetes Events. */
export class EventRecorder {
  /** Grows with each event that is written. */
  activity = 0;
  readonly #options: EventRecorderOptions;
  readonly #told = new Map<string, Told>();
  readonly #buckets = new Map<string, Bucket>();
  readonly #line: (() => Promise<void>)[] = [];
  #writing: Promise<void> | undefined;
  #forbiddenUntil = -Infinity;
  #serial = 0;
  #swept = -Infinity;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  /**
   * Tells something about an object. It answers at once.
   *
   * @param controller Who reports: a qualified name.
   * @param object What it is about.
   * @param report What is told.
   */
  record(controller: string, object: KubeObject, report: Report): void {
    const { clock } = this.#options;
    const last = { now: clock.now(), elapsed: clock.elapsed() };
    this.#forget(last.elapsed);
    const { uid } = object.metadata;
    const key = JSON.stringify([
      controller,
      uid,
      report.type,
      report.reason,
      report.note,
      report.action,
      report.related?.metadata.name,
    ]);
    const told = this.#told.get(key);
    if (told !== undefined && !isForgotten(told, last.elapsed)) {
      told.count++;
      told.last = last;
      this.#refresh(told);
      return;
    }
    if (!this.#mayTell(uid, last.elapsed)) return this.#options.onEnd?.("dropped");
    const namespace = object.metadata.namespace ?? "default";
    // client-go's names: unique in a namespace, and the object's beginning can be read.
    const name = `${dnsName(object.metadata.name)}.${last.now.toString(16)}${
      (this.#serial++ & 0xfffff).toString(16).padStart(5, "0")
    }`;
    const first: Told = {
      name,
      namespace,
      count: 1,
      last,
      isWritten: false,
      written: { at: -Infinity, count: 1 },
      timer: undefined,
    };
    this.#told.set(key, first);
    const event = this.#event(controller, object, report, first);
    this.#enqueue(async () => {
      await this.#options.client.create(Event, event, { namespace });
      first.isWritten = true;
    });
  }

  /** Settles when all that was told is written, or could not be. */
  async flush(): Promise<void> {
    for (const told of this.#told.values()) {
      told.timer?.[Symbol.dispose]();
      told.timer = undefined;
      if (told.count > told.written.count) this.#writeSeries(told);
    }
    await this.#writing;
  }

  #mayTell(uid: string, elapsed: number): boolean {
    const bucket = this.#buckets.get(uid) ?? { left: BURST, at: elapsed };
    const refilled = Math.floor((elapsed - bucket.at) / REFILL);
    bucket.left = Math.min(BURST, bucket.left + refilled);
    bucket.at += refilled * REFILL;
    this.#buckets.set(uid, bucket);
    if (bucket.left === 0) return false;
    bucket.left--;
    return true;
  }

  /**
   * What was not told again for a while is no series any more, and an object that was quiet for
   * long may tell all again.
   */
  #forget(elapsed: number): void {
    // Not with each event: where thousands of objects fail, to look through all of them each time
    // would be what costs.
    if (elapsed < this.#swept + SWEEP) return;
    this.#swept = elapsed;
    for (const [key, told] of this.#told) if (isForgotten(told, elapsed)) this.#told.delete(key);
    if (this.#buckets.size < 10_000) return;
    for (const [uid, { at }] of this.#buckets) if (at + BURST * REFILL <= elapsed) this.#buckets.delete(uid);
  }

  /** The first repeat is written at once, further ones together. */
  #refresh(told: Told): void {
    if (told.timer !== undefined) return;
    const { clock } = this.#options;
    const wait = Math.max(0, told.written.at + REFRESH - clock.elapsed());
    if (wait === 0) return this.#writeSeries(told);
    told.timer = clock.after(wait, () => {
      told.timer = undefined;
      this.#writeSeries(told);
    });
  }

  #writeSeries(told: Told): void {
    told.written = { at: this.#options.clock.elapsed(), count: told.count };
    const { name, namespace } = told;
    this.#enqueue(async () => {
      if (!told.isWritten) return;
      const series = { count: told.count, lastObservedTime: microTime(told.last.now) };
      await this.#options.client.patch(Event, name, { series }, { namespace });
    });
  }

  #enqueue(write: () => Promise<void>): void {
    if (this.#line.length >= LONGEST_LINE || this.#options.clock.elapsed() < this.#forbiddenUntil) {
      return this.#options.onEnd?.("dropped");
    }
    this.#line.push(write);
    this.#writing ??= this.#writeAll().finally(() => this.#writing = undefined);
  }

  /** One after the other: events never take a connection's turns from the runs. */
  async #writeAll(): Promise<void> {
    for (let write = this.#line.shift(); write !== undefined; write = this.#line.shift()) {
      this.activity++;
      try {
        await write();
        this.#options.onEnd?.("written");
      } catch (error) {
        this.#failed(error);
      }
    }
  }

  #failed(error: unknown): void {
    const { clock, log, onEnd } = this.#options;
    onEnd?.("failed");
    if (error instanceof NotLeadingError) return;
    if (!isStatus(error, 403)) return log.debug("Event not written", { error: (error as Error).message });
    this.#forbiddenUntil = clock.elapsed() + FORBIDDEN_PAUSE;
    this.#line.length = 0;
    log.warn("Events are not written", {
      error: `${error.message}: give this user the verbs create and patch on "events" of events.k8s.io`,
    });
  }

  #event(
    controller: string,
    object: KubeObject,
    report: Report,
    { name, namespace, last }: Told,
  ): Input<typeof Event> {
    const { reason, note, type, action = "Reconcile", related } = report;
    return {
      metadata: { name, namespace },
      eventTime: microTime(last.now),
      reportingController: shortName(controller, LONGEST.controller),
      reportingInstance: cutBytes(this.#options.instance, LONGEST.instance, ""),
      type,
      // The server takes neither an empty one.
      reason: cutBytes(reason || "Unknown", LONGEST.reason, ""),
      action: cutBytes(action || "Reconcile", LONGEST.action, ""),
      note: cutBytes(note, LONGEST.note, "…"),
      regarding: referenceTo(object),
      ...(related === undefined ? {} : { related: referenceTo(related as KubeObject) }),
    } as Input<typeof Event>;
  }
}

/** Whether what comes again is a new series. */
function isForgotten({ last, timer }: Told, elapsed: number): boolean {
  return last.elapsed + SERIES <= elapsed && timer === undefined;
}

function referenceTo({ apiVersion, kind, metadata }: KubeObject): Record<string, string> {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

// As of an event: what the names of other kinds may hold beside it, such as the colons of roles, is
// not for it.
const DNS_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The beginning of a name as an event may have it. */
function dnsName(name: string): string {
  const beginning = name.slice(0, LONGEST_NAME);
  if (DNS_NAME.test(beginning)) return beginning;
  return beginning.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "object";
}

/** Cut to so many bytes, at a whole character, with a mark that something is missing. */
function cutBytes(text: string, longest: number, mark: string): string {
  const encoder = new TextEncoder();
  const bytes = encoder.encode(text);
  if (bytes.length <= longest) return text;
  const left = longest - encoder.encode(mark).length;
  return `${new TextDecoder().decode(bytes.subarray(0, left), { stream: true })}${mark}`;
}
