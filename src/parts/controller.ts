/** Controllers as plain data. */
import { type Duration, milliseconds } from "../base/duration.ts";
import type { AnyKind, Infer } from "../resource/kind.ts";
import { hasStatus, ownsStatus } from "../resource/ownership.ts";
import type { Access } from "./access.ts";
import type { Context, IndexMap, WritesStatus } from "./context.ts";
import type { Conversion } from "./conversion.ts";
import type { Handler } from "./handlers/handler.ts";
import type { ReconcileResult } from "./outcome.ts";
import type { SandboxPermissions } from "./sandbox.ts";
import { watchSelectorError } from "./selectors.ts";
import type { Trigger } from "./trigger.ts";
import type { Watch } from "./watch.ts";
import type { Webhook } from "./webhook.ts";

/** Options of {@linkcode controller}. Omitted lists default to `[]`. */
export interface ControllerOptions<
  Own extends AnyKind = AnyKind,
  Owns extends readonly AnyKind[] = readonly AnyKind[],
  Reads extends readonly AnyKind[] = readonly AnyKind[],
  Uses extends readonly Access[] = readonly Access[],
  Watches extends readonly Watch[] = readonly Watch[],
  Indexes extends IndexMap = IndexMap,
  Services = unknown,
  Writes extends true = never,
> {
  /**
   * Kinds that the controller creates. They are watched and cached, may be applied, and get an
   * owner reference.
   */
  readonly owns?: Owns;
  /** Kinds that the controller only reads. They are watched and cached. */
  readonly reads?: Reads;
  /** Direct calls to the API server, by verb. */
  readonly uses?: Uses;
  /** How kinds are watched, and other kinds whose changes trigger reconciles. */
  readonly watches?: Watches;
  /** Indexes of cached objects, by name. */
  readonly indexes?: Indexes;
  /** Triggers of reconciles other than changes in the cluster. */
  readonly triggers?: readonly Trigger[];
  /**
   * Whether `applyAll` deletes objects of the kinds in `owns` that this controller applied for the
   * object earlier and that are not in the list any more. @default {false}
   */
  readonly prune?: boolean;
  /**
   * Set to `true` in an operator that implements a built-in or external kind, such as an ingress
   * controller: `status()` and `condition()` then write the status of its objects, and the role
   * allows it. Unlike for own kinds, the SDK adds no `Ready` condition.
   *
   * @default {only the status of own kinds is written}
   */
  readonly writesStatus?: Writes;
  /** Sandbox permissions in addition to the API server. @default {none} */
  readonly sandbox?: SandboxPermissions;
  /** The number of objects that are reconciled at once. @default {10} */
  readonly concurrency?: number;
  /** The time limit of a reconcile, after which its signal is aborted. @default {no limit} */
  readonly timeout?: Duration;
  /** The name of the finalizer that `cleanup` adds. @default {`<group>/<operator>.<controller>`} */
  readonly finalizer?: string;
  /**
   * Brings the world into the state that the object declares. It is called repeatedly, so it must
   * be idempotent.
   */
  reconcile(
    object: Infer<Own>,
    context: Context<StatusKind<Own, Writes>, Owns, readonly [...Reads, ...KindsOf<Watches>], Uses, Indexes, Services>,
  ): Promise<ReconcileResult> | ReconcileResult;
  /** Cleans up external state before the object is deleted. Defining it adds a finalizer. */
  cleanup?(
    object: Infer<Own>,
    context: Context<StatusKind<Own, Writes>, Owns, readonly [...Reads, ...KindsOf<Watches>], Uses, Indexes, Services>,
  ): Promise<ReconcileResult> | ReconcileResult;
}

/**
 * The own kind in the types of the context, marked if the controller writes the status of a kind
 * that others define.
 */
type StatusKind<Own extends AnyKind, Writes extends true> = [Writes] extends [never] ? Own : WritesStatus<Own>;

/** The kinds in `watches`, which may be read like those in `reads`. */
type KindsOf<Watches extends readonly Watch[]> = { readonly [I in keyof Watches]: Watches[I]["kind"] };

declare const needs: unique symbol;

/**
 * A controller: plain data. An operator runs it, and derives watches, RBAC permissions and the
 * sandbox from its declarations.
 *
 * @typeParam Services The services of the operator that its reconciles use.
 */
// deno-lint-ignore no-explicit-any -- a controller without a type argument fits every operator
export interface Controller<Services = any> {
  /** The type of the services. It exists for the compiler only and has no value. */
  readonly [needs]?: (services: Services) => void;
  /** Distinguishes controllers from webhooks and conversions. */
  readonly part: "controller";
  /** The kind whose objects are reconciled. */
  readonly kind: AnyKind;
  /** Kinds that the controller applies and its objects own. */
  readonly owns: readonly AnyKind[];
  /** Kinds that the controller reads from a cache. */
  readonly reads: readonly AnyKind[];
  /** Direct calls to the API server. */
  readonly uses: readonly Access[];
  /** How kinds are watched, and other kinds whose changes trigger reconciles. */
  readonly watches: readonly Watch[];
  /** Indexes of cached objects, by name. */
  readonly indexes: IndexMap;
  /** Triggers other than changes in the cluster. */
  readonly triggers: readonly Trigger[];
  /** Whether `applyAll` deletes unwanted children. */
  readonly prune: boolean;
  /**
   * Whether the controller writes the status of its objects: that of own kinds, and of others with
   * the option `writesStatus`.
   */
  readonly writesStatus: boolean;
  /** Sandbox permissions in addition to the API server. */
  readonly sandbox: SandboxPermissions;
  /** The number of objects that are reconciled at once. */
  readonly concurrency: number;
  /** The time limit of a reconcile, or `undefined` for none. */
  readonly timeout: Duration | undefined;
  /** The name of the finalizer, or `undefined` for the default name. */
  readonly finalizer: string | undefined;
  /** Brings the world into the state that the object declares. */
  // deno-lint-ignore no-explicit-any -- one list contains controllers of different kinds
  reconcile(object: any, context: any): Promise<ReconcileResult> | ReconcileResult;
  /** Cleans up before the object is deleted. If it is defined, objects have a finalizer. */
  // deno-lint-ignore no-explicit-any
  readonly cleanup: ((object: any, context: any) => Promise<ReconcileResult> | ReconcileResult) | undefined;
}

/** A part of an operator: a controller, a handler, a webhook or a conversion. */
// deno-lint-ignore no-explicit-any
export type Part<Services = any> = Controller<Services> | Handler<Services> | Webhook<Services> | Conversion;

/**
 * Declares a controller.
 *
 * @param kind The kind whose objects are reconciled.
 * @param options Declarations and functions.
 * @returns The controller as plain data. It does not run until an operator includes it.
 * @throws {TypeError} If declarations contradict each other: a kind is declared twice, an owned
 *   kind cannot have an owner reference and its watch has no `map`, a watch does not say which
 *   objects to reconcile, an index is of a kind that is not watched, or `writesStatus` is set for a
 *   kind without a status subresource. Also if a selector or the finalizer is invalid.
 * @throws {SyntaxError} If `timeout` is not a duration.
 * @throws {RangeError} If `concurrency` is not a positive integer.
 *
 * @example Usage
 * ```ts
 * import { controller, resource, s } from "@op/sdk";
 * import { ConfigMap } from "@op/sdk/kinds";
 *
 * const Note = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Note",
 *   spec: s.object({ text: s.string() }),
 * });
 *
 * const notes = controller(Note, {
 *   owns: [ConfigMap],
 *   async reconcile(note, { apply }) {
 *     const { name } = note.metadata;
 *     await apply(ConfigMap, { metadata: { name }, data: { text: note.spec.text } });
 *   },
 * });
 * ```
 *
 * @example State outside the cluster
 * ```ts
 * import { controller, requeue, resource, s, TemporaryError } from "@op/sdk";
 *
 * const Bucket = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Bucket",
 *   spec: s.object({ region: s.string() }),
 *   status: s.object({ url: s.optional(s.string()) }),
 * });
 *
 * const buckets = controller(Bucket, {
 *   sandbox: { net: ["storage.example.com"] },
 *   async reconcile({ metadata, spec }, { status, signal }) {
 *     const url = `https://storage.example.com/${spec.region}/${metadata.name}`;
 *     const response = await fetch(url, { method: "PUT", signal });
 *     if (!response.ok) {
 *       throw new TemporaryError(`Storage: status ${response.status}`, { retry: "30s" });
 *     }
 *     status({ url });
 *     return requeue("10m"); // no event reports when the bucket is deleted
 *   },
 *   async cleanup({ metadata, spec }, { signal }) {
 *     const url = `https://storage.example.com/${spec.region}/${metadata.name}`;
 *     await fetch(url, { method: "DELETE", signal });
 *   },
 * });
 * ```
 */
export const controller: ControllerFactory = Object.assign(create, {
  with: () => controller,
}) as ControllerFactory;

/** Declares controllers whose context has services of a type. */
export interface ControllerFactory<Services = unknown> {
  <
    Own extends AnyKind,
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const Uses extends readonly Access[] = readonly [],
    const Watches extends readonly Watch[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
    Writes extends true = never,
  >(
    kind: Own,
    options: ControllerOptions<Own, Owns, Reads, Uses, Watches, Indexes, Services, Writes>,
  ): Controller<Services>;
  /**
   * Declares controllers that use services: values that the operator creates at start and passes to
   * each reconcile.
   *
   * @example Usage
   * ```ts
   * import { controller, operator } from "@op/sdk";
   * import { Namespace } from "@op/sdk/kinds";
   *
   * interface Services {
   *   readonly names: Set<string>;
   * }
   *
   * const namespaces = controller.with<Services>()(Namespace, {
   *   reconcile: ({ metadata }, { services }) => void services.names.add(metadata.name),
   * });
   * const op = operator({
   *   name: "names",
   *   parts: { namespaces },
   *   services: () => ({ names: new Set<string>() }),
   * });
   * ```
   */
  with<T>(): ControllerFactory<T>;
}

// deno-lint-ignore no-explicit-any -- the types are those of ControllerFactory
function create(kind: AnyKind, options: ControllerOptions<any, any, any, any, any, any, any, any>): Controller {
  const { owns = [], reads = [], uses = [], watches = [], indexes = {}, triggers = [], prune = false } = options;
  const { sandbox = {}, concurrency = 10, timeout, finalizer } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new RangeError(
      `Controller for ${kind.kind}: "concurrency" must be a positive integer, got ${concurrency}.`,
    );
  }
  if (options.writesStatus === true) checkStatusSubresource(kind);
  const writesStatus = ownsStatus(kind) || options.writesStatus === true;
  checkDeclaredOnce(kind, owns, reads);
  checkWatches(kind, [kind, ...owns, ...reads], watches, writesStatus);
  checkOwnerReferences(kind, owns, watches);
  const watchesOfAll = watches.filter(({ options }: Watch) => options.names === undefined);
  checkIndexes(kind, [kind, ...owns, ...reads, ...watchesOfAll.map(({ kind }: Watch) => kind)], indexes);
  // Parsed here, so that an invalid duration fails at declaration and not in the first reconcile.
  if (timeout !== undefined) milliseconds(timeout);
  if (finalizer !== undefined) checkFinalizer(kind, finalizer);
  return {
    part: "controller",
    kind,
    owns,
    reads,
    uses,
    watches,
    indexes,
    triggers,
    prune,
    writesStatus,
    sandbox,
    concurrency,
    timeout,
    finalizer,
    reconcile: (object, context) => options.reconcile(object, context),
    cleanup: options.cleanup && ((object, context) => options.cleanup!(object, context)),
  };
}

function checkDeclaredOnce(kind: AnyKind, owns: readonly AnyKind[], reads: readonly AnyKind[]): void {
  const declared = new Map([[identity(kind), "the controller's own kind"]]);
  for (const [list, name] of [[owns, "owns"], [reads, "reads"]] as const) {
    for (const other of list) {
      const earlier = declared.get(identity(other));
      if (earlier !== undefined) {
        throw new TypeError(
          `Controller for ${kind.kind}: "${other.kind}" is in "${name}" and is ${earlier}. Declare it once.`,
        );
      }
      declared.set(identity(other), `in "${name}"`);
    }
  }
}

/**
 * Rejects owned kinds that cannot have an owner reference: `apply` would fail in each reconcile,
 * and changes of the child would not trigger one.
 */
function checkOwnerReferences(kind: AnyKind, owns: readonly AnyKind[], watches: readonly Watch[]): void {
  const watchOptions = (of: AnyKind) => watches.find((watch) => identity(watch.kind) === identity(of))?.options;
  const ownNamespaces = watchOptions(kind)?.namespaces;
  for (const owned of owns) {
    const options = watchOptions(owned);
    if (!kind.namespaced || options?.map !== undefined) continue;
    const hasNoCommonNamespace = ownNamespaces !== undefined &&
      options?.namespaces?.every((namespace) => !ownNamespaces.includes(namespace)) === true;
    if (owned.namespaced && !hasNoCommonNamespace) continue;
    const obstacle = owned.namespaced ? `is watched in other namespaces than ${kind.kind}` : "is cluster-scoped";
    throw new TypeError(
      `Controller for ${kind.kind}: it owns "${owned.kind}", which ${obstacle}, so an owner reference is not possible. ` +
        `Apply it with { owner: false } and a label, give its watch a "map" that reads the label, and delete it in cleanup.`,
    );
  }
}

/**
 * Rejects own kinds without a status subresource. Built-in kinds are not checked, because only the
 * API server knows their subresources.
 */
function checkStatusSubresource(kind: AnyKind): void {
  if (kind.crd === undefined || hasStatus(kind)) return;
  throw new TypeError(
    `Controller for ${kind.kind}: "writesStatus" is true, but ${kind.apiVersion} ${kind.kind} has no status subresource. ` +
      `Remove "writesStatus", or change the object with patch().`,
  );
}

function checkWatches(
  kind: AnyKind,
  declared: readonly AnyKind[],
  watches: readonly Watch[],
  writesStatus: boolean,
): void {
  const seen = new Set<string>();
  for (const { kind: watched, options } of watches) {
    const isDeclared = declared.some((other) => identity(other) === identity(watched));
    if (seen.has(identity(watched))) {
      throw new TypeError(
        `Controller for ${kind.kind}: "${watched.kind}" is in "watches" twice. Merge the two watches.`,
      );
    }
    if (options.names !== undefined) checkNamedWatch(kind, watched, options, isDeclared);
    else if (!isDeclared && options.map === undefined) {
      throw new TypeError(
        `Controller for ${kind.kind}: the watch on "${watched.kind}" does not say which objects to reconcile. Add "map" or "names", or add the kind to "owns" or "reads".`,
      );
    }
    const selectorError = watchSelectorError(options);
    if (selectorError !== undefined) {
      throw new TypeError(`Controller for ${kind.kind}: the watch on "${watched.kind}": ${selectorError}`);
    }
    if (options.metadataOnly && identity(watched) === identity(kind) && writesStatus) {
      throw new TypeError(
        `Controller for ${kind.kind}: the watch on its own kind has "metadataOnly", but the controller writes the status and needs the whole object. Remove "metadataOnly".`,
      );
    }
    seen.add(identity(watched));
  }
}

function checkNamedWatch(kind: AnyKind, watched: AnyKind, options: Watch["options"], isDeclared: boolean): void {
  const reject = (why: string): never => {
    throw new TypeError(`Controller for ${kind.kind}: the watch on "${watched.kind}" has "names": ${why}`);
  };
  if (isDeclared) {
    reject(
      'all objects of the own kind and of the kinds in "owns" and "reads" are watched. Remove "names", and use "map" with an index to select which objects to reconcile.',
    );
  }
  for (const option of ["labelSelector", "fieldSelector", "namespaces", "map"] as const) {
    if (options[option] !== undefined) reject(`it cannot be combined with "${option}". Remove one of the two.`);
  }
  if (Array.isArray(options.names) && watched.namespaced && !kind.namespaced) {
    reject(
      `${kind.kind} is cluster-scoped, so the namespace of the names is unknown. Use a function that returns { name, namespace }.`,
    );
  }
  if (Array.isArray(options.names) && (options.names.length === 0 || options.names.includes(""))) {
    reject("the list must have at least one name and no empty name.");
  }
}

function checkIndexes(kind: AnyKind, declared: readonly AnyKind[], indexes: IndexMap): void {
  for (const [name, { kind: indexed }] of Object.entries(indexes)) {
    if (declared.some((other) => identity(other) === identity(indexed))) continue;
    throw new TypeError(
      `Controller for ${kind.kind}: index "${name}" is of "${indexed.kind}", but the controller does not watch all objects of that kind. Add it to "reads".`,
    );
  }
}

// A finalizer is a qualified name of Kubernetes whose domain is required.
const FINALIZER = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

function checkFinalizer(kind: AnyKind, finalizer: string): void {
  if (FINALIZER.test(finalizer)) return;
  throw new TypeError(
    `Controller for ${kind.kind}: "finalizer" must be a domain, a slash and a name of at most 63 characters, such as "example.com/cleanup", got "${finalizer}".`,
  );
}

function identity(kind: AnyKind): string {
  return `${kind.kind}.${kind.version}.${kind.group}`;
}
