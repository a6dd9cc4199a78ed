/** Declares handlers. */
import { type Duration, milliseconds } from "../../base/duration.ts";
import { objectMatcher } from "../../handlers/filters.ts";
import type { Cause } from "../../handlers/handler_set.ts";
import { parsePath } from "../../handlers/path.ts";
import type { RetryOptions } from "../../handlers/steps.ts";
import { timerInterval } from "../../handlers/timer_schedule.ts";
import type { AnyKind } from "../../resource/kind.ts";
import { fieldError } from "./field_error.ts";
import type { CronTime, Handler, HandlerSubject, HandlerType, TypeOptions } from "./handler.ts";
import type { On, OnKind } from "./on_types.ts";
import type { HandlerOptions, KindOptions } from "./options.ts";

// deno-lint-ignore no-explicit-any -- the types are those of On
type Options = HandlerOptions<any, any, any, any, any> & KindOptions & TypeOptions;
// deno-lint-ignore no-explicit-any -- the types are those of On
type HandlerFunction = (object: any, context: any) => unknown;

const CAUSES: readonly Cause[] = ["create", "update", "delete", "resume"];
const NONE: HandlerSubject = { type: "none" };
const OBJECT: HandlerSubject = { type: "object" };

/**
 * Declares handlers: functions that are called when objects of a kind are created, changed or
 * deleted. All handlers of a kind run together. Each is called again until it succeeds, also after
 * a restart.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { on, operator, resource, s } from "@op/sdk";
 * import { ConfigMap } from "@op/sdk/kinds";
 * import { memoryCluster } from "@op/sdk/testing";
 *
 * const Website = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Website",
 *   spec: s.object({ replicas: s.integer() }),
 *   status: s.object({ size: s.optional(s.integer()) }),
 * });
 *
 * const shop = operator({
 *   name: "shop",
 *   parts: {
 *     provision: on.create(Website, async (site, { apply }) => {
 *       await apply(ConfigMap, { metadata: { name: site.metadata.name } });
 *     }, { owns: [ConfigMap] }),
 *     resize: on.field(Website, ".spec.replicas", (_site, { old = 0, current = 0, status }) => {
 *       status({ size: current - old });
 *     }),
 *   },
 * });
 *
 * await using cluster = await memoryCluster({ operator: shop });
 * await cluster.create(Website, "blog", { spec: { replicas: 2 } });
 * await cluster.settle();
 * await cluster.patch(Website, "blog", { spec: { replicas: 5 } });
 * await cluster.settle();
 * assert.equal((await cluster.get(Website, "blog")).status?.size, 3);
 * ```
 */
export const on: On = /* @__PURE__ */ createOn();

function createOn(): On {
  const of = (kind: AnyKind) => new KindHandlers(kind, {});
  const functions = {
    create: (kind: AnyKind, fn: HandlerFunction, options?: Options) => of(kind).create(fn, options),
    update: (kind: AnyKind, fn: HandlerFunction, options?: Options) => of(kind).update(fn, options),
    delete: (kind: AnyKind, fn: HandlerFunction, options?: Options) => of(kind).delete(fn, options),
    afterDelete: (kind: AnyKind, fn: HandlerFunction, options?: Options) => of(kind).afterDelete(fn, options),
    resume: (kind: AnyKind, fn: HandlerFunction, options?: Options) => of(kind).resume(fn, options),
    field: (kind: AnyKind, path: string, fn: HandlerFunction, options?: Options) => of(kind).field(path, fn, options),
    change: (kind: AnyKind, select: (object: unknown) => unknown, fn: HandlerFunction, options?: Options) =>
      of(kind).change(select, fn, options),
    item: (kind: AnyKind, path: string, key: (item: unknown) => string, fn: HandlerFunction, options?: Options) =>
      of(kind).item(path, key, fn, options),
    anyOf: (causes: readonly Cause[], kind: AnyKind, fn: HandlerFunction, options?: Options) =>
      of(kind).anyOf(causes, fn, options),
    timer: (kind: AnyKind, schedule: Duration | CronTime, fn: HandlerFunction, options?: Options) =>
      of(kind).timer(schedule, fn, options),
    for: (kind: AnyKind, options: Options = {}) => new KindHandlers(kind, options),
    with: () => functions,
  };
  return functions as unknown as On;
}

/** Declares handlers of a kind that share options. The functions are bound. */
class KindHandlers implements Record<keyof OnKind<AnyKind>, unknown> {
  readonly #kind: AnyKind;
  readonly #shared: Options;

  constructor(kind: AnyKind, shared: Options) {
    this.#kind = kind;
    this.#shared = shared;
  }

  readonly create = (fn: HandlerFunction, options?: Options): Handler =>
    this.#handler("create", ["create"], NONE, fn, options);

  readonly update = (fn: HandlerFunction, options?: Options): Handler =>
    this.#handler("update", ["update"], OBJECT, fn, options);

  readonly delete = (fn: HandlerFunction, options?: Options): Handler =>
    this.#handler("delete", ["delete"], NONE, fn, options);

  readonly afterDelete = (fn: HandlerFunction, options?: Options): Handler =>
    this.#handler("afterDelete", [], NONE, fn, options);

  readonly resume = (fn: HandlerFunction, options?: Options): Handler =>
    this.#handler("resume", ["resume"], NONE, fn, options);

  readonly field = (path: string, fn: HandlerFunction, options?: Options): Handler =>
    this.#handler("field", ["create", "update"], { type: "field", path }, fn, options);

  readonly change = (select: (object: unknown) => unknown, fn: HandlerFunction, options?: Options): Handler =>
    this.#handler("change", ["create", "update"], { type: "computed", select }, fn, options);

  readonly item = (
    path: string,
    key: (item: unknown) => string,
    fn: HandlerFunction,
    options?: Options,
  ): Handler => this.#handler("item", ["create", "update"], { type: "items", path, key }, fn, options);

  readonly anyOf = (causes: readonly Cause[], fn: HandlerFunction, options?: Options): Handler => {
    const unknown = causes.find((cause) => !CAUSES.includes(cause));
    if (unknown !== undefined) {
      throw new TypeError(
        `on.anyOf(${this.#kind.kind}): "${unknown}" is not a cause. Use one of ${CAUSES.join(", ")}.`,
      );
    }
    if (causes.length === 0) {
      throw new TypeError(`on.anyOf(${this.#kind.kind}): no cause is given. Add at least one of ${CAUSES.join(", ")}.`);
    }
    return this.#handler("anyOf", causes, causes.includes("update") ? OBJECT : NONE, fn, options);
  };

  readonly timer = (schedule: Duration | CronTime, fn: HandlerFunction, options: Options = {}): Handler => {
    const handler = this.#handler("timer", [], NONE, fn, options);
    checkTimer(`on.timer(${this.#kind.kind})`, schedule, handler.options);
    return { ...handler, schedule };
  };

  #handler(
    type: HandlerType,
    causes: readonly Cause[],
    subject: HandlerSubject,
    fn: HandlerFunction,
    options: Options = {},
  ): Handler {
    const where = `on.${type}(${this.#kind.kind})`;
    if (typeof fn !== "function") throw new TypeError(`${where}: the handler must be a function, got ${typeof fn}.`);
    checkOptions(where, options);
    checkOptions(where, this.#shared);
    if (subject.type === "field" || subject.type === "items") checkField(where, this.#kind, subject);
    return {
      part: "handler",
      type,
      kind: this.#kind,
      causes,
      subject,
      options: merged(this.#shared, options),
      filters: [this.#shared, options],
      handle: (object, context) => fn(object, context),
    };
  }
}

/** Combines shared options with those of a handler. */
function merged(shared: Options, own: Options): Options {
  const concat = <T>(one: readonly T[] = [], other: readonly T[] = []) => [...new Set([...one, ...other])];
  return {
    ...shared,
    ...own,
    owns: concat(shared.owns, own.owns),
    reads: concat(shared.reads, own.reads),
    uses: concat(shared.uses, own.uses),
    indexes: { ...shared.indexes, ...own.indexes },
  };
}

function checkOptions(where: string, options: Options): void {
  checkRetries(where, options);
  objectMatcher([options]);
  for (const path of options.ignoredFields ?? []) parsePath(path);
  for (const name of ["owns", "reads", "uses"] as const) {
    if (options[name] !== undefined && !Array.isArray(options[name])) {
      throw new TypeError(`${where}: "${name}" must be a list.`);
    }
  }
}

/** Rejects invalid limits at declaration, and not in the first failure. */
function checkRetries(where: string, { retries, totalTimeout, timeout, backoff }: RetryOptions): void {
  if (retries !== undefined && (!Number.isInteger(retries) || retries < 1)) {
    throw new RangeError(`${where}: "retries" must be a positive integer, got ${retries}. 1 means a single attempt.`);
  }
  const delays = typeof backoff === "object" ? backoff : { first: backoff, longest: backoff };
  for (const [name, duration] of Object.entries({ totalTimeout, timeout, ...delays })) {
    if (duration !== undefined && milliseconds(duration) === 0) {
      throw new RangeError(`${where}: "${name}" must be greater than zero, got "${duration}".`);
    }
  }
}

function checkTimer(where: string, schedule: Duration | CronTime, options: TypeOptions): void {
  const { fixedRate, idle, initialDelay } = options;
  if (typeof schedule === "object") {
    if (typeof schedule.cron !== "string") throw new TypeError(`${where}: "cron" must be a string.`);
    if (fixedRate) throw new TypeError(`${where}: "fixedRate" needs an interval. Remove it: cron times are fixed.`);
  } else timerInterval(schedule);
  for (const delay of [idle, initialDelay]) if (typeof delay === "string") milliseconds(delay);
}

function checkField(where: string, kind: AnyKind, { type, path }: HandlerSubject & { readonly path: string }): void {
  const error = fieldError(kind, parsePath(path));
  if (error !== undefined) throw new TypeError(`${where}: ${error}.`);
  if (type === "items" && path === "") throw new TypeError(`${where}: the path of a list is required.`);
}
