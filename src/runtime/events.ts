/**
 * Kubernetes Events (events.k8s.io/v1). Writing them never delays or fails a reconcile: they are
 * written one by one in the background. Repeats become a series, and events that an object reports
 * too often are dropped.
 *
 * Source: client-go `tools/events` (series, names), `tools/record/events_cache.go` (the limit per
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

/** The content of an event. */
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
  /** Identity of the reporting process, at most 128 characters. */
  readonly instance: string;
  /** Called with the result of each event. */
  readonly onEnd?: (result: "written" | "failed" | "dropped") => void;
}

/** A recorded event and its repeats. */
interface RecordedEvent {
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  count: number;
  /**
   * When it was last reported. The wall-clock time is written to the Event; delays use the
   * monotonic time.
   */
  last: Moment;
  /** Whether it was written. */
  isWritten: boolean;
  /** When the series was last written, and its count then. */
  written: { readonly at: number; readonly count: number };
  timer: Disposable | undefined;
}

/** A time by both clocks, in milliseconds. */
interface Moment {
  readonly now: number;
  readonly elapsed: number;
}

/** A request that writes an event. */
interface EventWrite {
  readonly event: RecordedEvent;
  /** Whether it writes the series of an event that was written before. */
  readonly isSeries: boolean;
  send(): Promise<unknown>;
}

/** How many events an object may still report. */
interface Bucket {
  tokens: number;
  /** When tokens were last added, in monotonic milliseconds. */
  at: number;
}

// Limits of the API, in bytes. The controller is a qualified name without a domain.
const MAX_BYTES = { note: 1024, reason: 128, action: 128, instance: 128, controller: 63 };
// Maximum length of an object's name in the names of its events.
const MAX_NAME_LENGTH = 220;
// Events that repeat within six minutes belong to a series, as in client-go.
const SERIES = 6 * 60_000;
// Minimum time between two removals of old entries, in milliseconds.
const SWEEP = 60_000;
// How often a continuing series is written. client-go writes it every 30 minutes, which is too rare
// to follow a failure.
const REFRESH = 6 * 60_000;
// As in client-go, an object may have 25 events at once, and one more every five minutes.
const BURST = 25;
const REFILL = 5 * 60_000;
// Maximum number of events that wait to be written. Others are dropped.
const MAX_QUEUE_LENGTH = 1000;
// Pause after the API server denied a write, in milliseconds.
const FORBIDDEN_PAUSE = 5 * 60_000;

/** Writes Kubernetes Events. */
export class EventRecorder {
  /** Number of attempts to write an event. */
  activity = 0;
  readonly #options: EventRecorderOptions;
  readonly #recorded = new Map<string, RecordedEvent>();
  readonly #buckets = new Map<string, Bucket>();
  readonly #queue: EventWrite[] = [];
  #writing: Promise<void> | undefined;
  #forbiddenUntil = -Infinity;
  #serial = 0;
  #lastSweep = -Infinity;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  /**
   * Records an event. It is written later.
   *
   * @param controller The reporting controller, a qualified name.
   * @param object The object of the event.
   * @param report The content of the event.
   */
  record(controller: string, object: KubeObject, report: Report): void {
    const { clock } = this.#options;
    const last = { now: clock.now(), elapsed: clock.elapsed() };
    this.#removeOld(last.elapsed);
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
    const earlier = this.#recorded.get(key);
    if (earlier !== undefined && !isSeriesOver(earlier, last.elapsed)) {
      earlier.count++;
      earlier.last = last;
      this.#scheduleSeries(earlier);
      return;
    }
    if (!this.#canWrite() || !this.#mayReport(uid, last.elapsed)) return this.#options.onEnd?.("dropped");
    const namespace = object.metadata.namespace ?? "default";
    // Names as in client-go: unique in a namespace, with the beginning of the object's name.
    const name = `${dnsName(object.metadata.name)}.${last.now.toString(16)}${
      (this.#serial++ & 0xfffff).toString(16).padStart(5, "0")
    }`;
    const first: RecordedEvent = {
      key,
      name,
      namespace,
      count: 1,
      last,
      isWritten: false,
      written: { at: -Infinity, count: 1 },
      timer: undefined,
    };
    this.#recorded.set(key, first);
    const event = this.#toEvent(controller, object, report, first);
    this.#enqueue({
      event: first,
      isSeries: false,
      send: () => this.#options.client.create(Event, event, { namespace }),
    });
  }

  /** Writes all recorded events. Resolves when each write has succeeded or failed. */
  async flush(): Promise<void> {
    for (const event of this.#recorded.values()) {
      event.timer?.[Symbol.dispose]();
      event.timer = undefined;
      if (event.count > event.written.count) this.#writeSeries(event);
    }
    await this.#writing;
  }

  #mayReport(uid: string, elapsed: number): boolean {
    const bucket = this.#buckets.get(uid) ?? { tokens: BURST, at: elapsed };
    const refilled = Math.floor((elapsed - bucket.at) / REFILL);
    bucket.tokens = Math.min(BURST, bucket.tokens + refilled);
    bucket.at += refilled * REFILL;
    this.#buckets.set(uid, bucket);
    if (bucket.tokens === 0) return false;
    bucket.tokens--;
    return true;
  }

  /**
   * Removes series that were not repeated for a while, and limits of objects without recent events.
   */
  #removeOld(elapsed: number): void {
    // Only once per period: for each event it would be slow with thousands of failing objects.
    if (elapsed < this.#lastSweep + SWEEP) return;
    this.#lastSweep = elapsed;
    for (const [key, event] of this.#recorded) if (isSeriesOver(event, elapsed)) this.#recorded.delete(key);
    if (this.#buckets.size < 10_000) return;
    for (const [uid, { at }] of this.#buckets) if (at + BURST * REFILL <= elapsed) this.#buckets.delete(uid);
  }

  /** Writes the first repeat at once, and later ones together after a delay. */
  #scheduleSeries(event: RecordedEvent): void {
    if (event.timer !== undefined) return;
    const { clock } = this.#options;
    const wait = Math.max(0, event.written.at + REFRESH - clock.elapsed());
    if (wait === 0) return this.#writeSeries(event);
    event.timer = clock.after(wait, () => {
      event.timer = undefined;
      this.#writeSeries(event);
    });
  }

  #writeSeries(event: RecordedEvent): void {
    event.written = { at: this.#options.clock.elapsed(), count: event.count };
    const { name, namespace } = event;
    if (!this.#canWrite()) return this.#options.onEnd?.("dropped");
    this.#enqueue({
      event,
      isSeries: true,
      send: () => {
        const series = { count: event.count, lastObservedTime: microTime(event.last.now) };
        return this.#options.client.patch(Event, name, { series }, { namespace });
      },
    });
  }

  #canWrite(): boolean {
    return this.#queue.length < MAX_QUEUE_LENGTH && this.#options.clock.elapsed() >= this.#forbiddenUntil;
  }

  #enqueue(write: EventWrite): void {
    this.#queue.push(write);
    this.#writing ??= this.#writeAll().finally(() => this.#writing = undefined);
  }

  /** Writes the events one by one, so that they do not compete with requests of reconciles. */
  async #writeAll(): Promise<void> {
    for (let write = this.#queue.shift(); write !== undefined; write = this.#queue.shift()) {
      const { event, isSeries } = write;
      if (isSeries && !event.isWritten) {
        this.#options.onEnd?.("dropped");
        continue;
      }
      this.activity++;
      try {
        await write.send();
        event.isWritten = true;
        this.#options.onEnd?.("written");
      } catch (error) {
        this.#onError(event, error);
      }
    }
  }

  /**
   * Removes an event that is not in the cluster, so that its next repeat is written as a new one.
   */
  #forget(event: RecordedEvent): void {
    event.timer?.[Symbol.dispose]();
    event.timer = undefined;
    event.isWritten = false;
    if (this.#recorded.get(event.key) === event) this.#recorded.delete(event.key);
  }

  #onError(event: RecordedEvent, error: unknown): void {
    const { clock, log, onEnd } = this.#options;
    onEnd?.("failed");
    if (!event.isWritten || isStatus(error, 404)) this.#forget(event);
    if (error instanceof NotLeadingError) return;
    if (!isStatus(error, 403)) return log.debug("Event not written", { error: (error as Error).message });
    this.#forbiddenUntil = clock.elapsed() + FORBIDDEN_PAUSE;
    for (const { event, isSeries } of this.#queue.splice(0)) if (!isSeries) this.#forget(event);
    log.warn("Events not written", {
      error: `${error.message}. Grant this user the verbs create and patch on "events" of events.k8s.io`,
    });
  }

  #toEvent(
    controller: string,
    object: KubeObject,
    report: Report,
    { name, namespace, last }: RecordedEvent,
  ): Input<typeof Event> {
    const { reason, note, type, action = "Reconcile", related } = report;
    return {
      metadata: { name, namespace },
      eventTime: microTime(last.now),
      reportingController: shortName(controller, MAX_BYTES.controller),
      reportingInstance: cutBytes(this.#options.instance, MAX_BYTES.instance, ""),
      type,
      // API servers reject an empty one.
      reason: cutBytes(reason || "Unknown", MAX_BYTES.reason, ""),
      action: cutBytes(action || "Reconcile", MAX_BYTES.action, ""),
      note: cutBytes(note, MAX_BYTES.note, "…"),
      regarding: referenceTo(object),
      ...(related === undefined ? {} : { related: referenceTo(related as KubeObject) }),
    } as Input<typeof Event>;
  }
}

/** Returns whether the series of an event has ended, so that a repeat begins a new one. */
function isSeriesOver({ last, timer }: RecordedEvent, elapsed: number): boolean {
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

// Names of some objects are invalid in names of events, such as roles with colons.
const DNS_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Returns the beginning of a name in a form that is valid in the name of an event. */
function dnsName(name: string): string {
  const beginning = name.slice(0, MAX_NAME_LENGTH);
  if (DNS_NAME.test(beginning)) return beginning;
  return beginning.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "object";
}

/** Truncates a string to a number of bytes at a whole character, and appends a mark. */
function cutBytes(text: string, longest: number, mark: string): string {
  const encoder = new TextEncoder();
  const bytes = encoder.encode(text);
  if (bytes.length <= longest) return text;
  const available = longest - encoder.encode(mark).length;
  return `${new TextDecoder().decode(bytes.subarray(0, available), { stream: true })}${mark}`;
}
