/** Controllers as plain data. */
import { type Duration, milliseconds } from "../base/duration.ts";
import type { AnyKind, Infer } from "../resource/kind.ts";
import { hasStatus, ownsStatus } from "../resource/ownership.ts";
import type { Access } from "./access.ts";
import type { Context, IndexMap, WritesStatus } from "./context.ts";
import type { Conversion } from "./conversion.ts";
import type { ReconcileResult } from "./outcome.ts";
import type { SandboxPermissions } from "./sandbox.ts";
import { choiceFault } from "./selectors.ts";
import type { Trigger } from "./trigger.ts";
import type { Watch } from "./watch.ts";
import type { Webhook } from "./webhook.ts";

/** Options of {@linkcode controller}. Lists of which nothing is said are empty. */
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
  /** Kinds it makes: watched, applied, owned. */
  readonly owns?: Owns;
  /** Kinds it reads and never writes: watched, cached. */
  readonly reads?: Reads;
  /** Live calls, by exact verbs. */
  readonly uses?: Uses;
  /** How kinds are watched, and other kinds whose changes wake objects. */
  readonly watches?: Watches;
  /** Indexes of live objects, by name. */
  readonly indexes?: Indexes;
  /** What wakes objects beside changes in the cluster. */
  readonly triggers?: readonly Trigger[];
  /** Whether `applyAll` deletes what this controller applied for an object, of the kinds in `owns`, and does not want any more. @default {false} */
  readonly prune?: boolean;
  /**
   * Set to `true` in an operator that implements a built-in or external kind, such as an ingress controller: `status()` and `condition()` then write
   * the status of its objects, and the role allows it. The SDK adds no `Ready` condition, as it does in the status of own kinds.
   * @default {only the status of own kinds is written}
   */
  readonly writesStatus?: Writes;
  /** What it reaches beyond the API server. @default {nothing} */
  readonly sandbox?: SandboxPermissions;
  /** How many objects are reconciled at once. @default {10} */
  readonly concurrency?: number;
  /** How long a run may take before its signal is aborted. @default {no limit} */
  readonly timeout?: Duration;
  /** The finalizer's name, where `cleanup` is given. @default {`<group>/<operator>.<controller>`} */
  readonly finalizer?: string;
  /** Makes the world as the object wants it. Called again and again: it must do nothing when there is nothing to do. */
  reconcile(
    object: Infer<Own>,
    context: Context<StatusKind<Own, Writes>, Owns, readonly [...Reads, ...KindsOf<Watches>], Uses, Indexes, Services>,
  ): Promise<ReconcileResult> | ReconcileResult;
  /** Undoes what Kubernetes does not collect by itself, before the object goes. Being there is what asks for a finalizer. */
  cleanup?(
    object: Infer<Own>,
    context: Context<StatusKind<Own, Writes>, Owns, readonly [...Reads, ...KindsOf<Watches>], Uses, Indexes, Services>,
  ): Promise<ReconcileResult> | ReconcileResult;
}

/** The own kind as the context's types have it: marked where the controller writes the status of a kind that others define. */
type StatusKind<Own extends AnyKind, Writes extends true> = [Writes] extends [never] ? Own : WritesStatus<Own>;

/** The kinds of watches: they may be read as those of `reads`. */
type KindsOf<Watches extends readonly Watch[]> = { readonly [I in keyof Watches]: Watches[I]["kind"] };

declare const needs: unique symbol;

/**
 * A controller: plain data. An operator runs it, and its declarations become watches, access and permissions.
 *
 * @typeParam Services What its runs take of the operator's services.
 */
// deno-lint-ignore no-explicit-any -- whoever does not ask takes any
export interface Controller<Services = any> {
  /** The services that it takes: for the compiler alone, nothing stands there. */
  readonly [needs]?: (services: Services) => void;
  /** Tells it from webhooks and conversions. */
  readonly part: "controller";
  /** The kind whose objects it reconciles. */
  readonly kind: AnyKind;
  /** Kinds that it applies, and that its objects own. */
  readonly owns: readonly AnyKind[];
  /** Kinds that it reads from a live copy. */
  readonly reads: readonly AnyKind[];
  /** What it does by live calls besides. */
  readonly uses: readonly Access[];
  /** What wakes it besides its own objects and those that they own. */
  readonly watches: readonly Watch[];
  /** Indexes of live copies, by their names. */
  readonly indexes: IndexMap;
  /** What wakes it that is no change of the cluster. */
  readonly triggers: readonly Trigger[];
  /** Whether it may delete what its objects own. */
  readonly prune: boolean;
  /** Whether it writes the status of its objects: that of own kinds, and of others with the option `writesStatus`. */
  readonly writesStatus: boolean;
  /** What it may reach beyond the API server. */
  readonly sandbox: SandboxPermissions;
  /** How many objects are reconciled at once. */
  readonly concurrency: number;
  /** How long a run may take; as long as it likes where nothing is said. */
  readonly timeout: Duration | undefined;
  /** The finalizer's name, where another one than the usual was said. */
  readonly finalizer: string | undefined;
  /** Makes the world as an object wants it. */
  // deno-lint-ignore no-explicit-any -- controllers of different kinds stand in one list
  reconcile(object: any, context: any): Promise<ReconcileResult> | ReconcileResult;
  /** What is done before an object goes; where it is there, objects carry a finalizer. */
  // deno-lint-ignore no-explicit-any
  readonly cleanup: ((object: any, context: any) => Promise<ReconcileResult> | ReconcileResult) | undefined;
}

/** Whatever an operator runs or serves. */
// deno-lint-ignore no-explicit-any
export type Part<Services = any> = Controller<Services> | Webhook<Services> | Conversion;

/**
 * Declares a controller.
 *
 * @param kind The kind whose objects it reconciles.
 * @param options What it touches, and its functions.
 * @returns Plain data. Nothing is started.
 * @throws {TypeError} If `writesStatus` is set for a kind without a status subresource; if a kind is declared twice, or is its own child, or no owner reference reaches it and no `map` stands in for one; if a watch wakes nobody,
 *   or holds less than the controller needs, or chooses by what is no selector; if an index is of a kind that is not watched, or the finalizer is not a qualified name.
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
 *     await apply(ConfigMap, { metadata: { name: note.metadata.name }, data: { text: note.spec.text } });
 *   },
 * });
 * ```
 *
 * @example What is outside the cluster
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
 *     if (!response.ok) throw new TemporaryError(`The storage answered ${response.status}`, { retry: "30s" });
 *     status({ url });
 *     return requeue("10m"); // nobody tells when it is taken away
 *   },
 *   async cleanup({ metadata, spec }, { signal }) {
 *     await fetch(`https://storage.example.com/${spec.region}/${metadata.name}`, { method: "DELETE", signal });
 *   },
 * });
 * ```
 */
export const controller: ControllerFactory = Object.assign(make, { with: () => controller }) as ControllerFactory;

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
   * Declares controllers that use services: what the operator makes at its start and hands to each run.
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
   * const op = operator({ name: "names", parts: { namespaces }, services: () => ({ names: new Set<string>() }) });
   * ```
   */
  with<T>(): ControllerFactory<T>;
}

// deno-lint-ignore no-explicit-any -- the types are those of ControllerFactory
function make(kind: AnyKind, options: ControllerOptions<any, any, any, any, any, any, any, any>): Controller {
  const { owns = [], reads = [], uses = [], watches = [], indexes = {}, triggers = [], prune = false } = options;
  const { sandbox = {}, concurrency = 10, timeout, finalizer } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new RangeError(
      `Cannot make a controller of ${kind.kind}: "concurrency" must be a positive integer: current value is ${concurrency}`,
    );
  }
  if (options.writesStatus === true) refuseWithoutStatus(kind);
  const writesStatus = ownsStatus(kind) || options.writesStatus === true;
  refuseTwice(kind, owns, reads);
  refuseWatches(kind, [kind, ...owns, ...reads], watches, writesStatus);
  refuseOutOfReach(kind, owns, watches);
  const held = watches.filter(({ options }: Watch) => options.names === undefined);
  refuseIndexes(kind, [kind, ...owns, ...reads, ...held.map(({ kind }: Watch) => kind)], indexes);
  // Found out here, and not at each run.
  if (timeout !== undefined) milliseconds(timeout);
  if (finalizer !== undefined) refuseFinalizer(kind, finalizer);
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

function refuseTwice(kind: AnyKind, owns: readonly AnyKind[], reads: readonly AnyKind[]): void {
  const declared = new Map([[identity(kind), "its own kind"]]);
  for (const [list, name] of [[owns, "owns"], [reads, "reads"]] as const) {
    for (const other of list) {
      const before = declared.get(identity(other));
      if (before !== undefined) {
        throw new TypeError(
          `Cannot make a controller of ${kind.kind}: "${other.kind}" is in "${name}" and is ${before}: declare it once`,
        );
      }
      declared.set(identity(other), `in "${name}"`);
    }
  }
}

/** What an owner reference never reaches would be refused with each run, and a change of it would wake nobody. */
function refuseOutOfReach(kind: AnyKind, owns: readonly AnyKind[], watches: readonly Watch[]): void {
  const optionsOf = (of: AnyKind) => watches.find((watch) => identity(watch.kind) === identity(of))?.options;
  const own = optionsOf(kind)?.namespaces;
  for (const owned of owns) {
    const options = optionsOf(owned);
    if (!kind.namespaced || options?.map !== undefined) continue;
    const isApart = own !== undefined && options?.namespaces?.every((namespace) => !own.includes(namespace)) === true;
    if (owned.namespaced && !isApart) continue;
    const place = owned.namespaced ? `is looked at in namespaces where no ${kind.kind} is` : "is in no namespace";
    throw new TypeError(
      `Cannot make a controller of ${kind.kind}: it owns "${owned.kind}", which ${place}, and an owner reference does not reach there: ` +
        `give its watch a "map", by a label, apply it with { owner: false }, and delete it in cleanup`,
    );
  }
}

/** Of a built-in kind only the API server knows. */
function refuseWithoutStatus(kind: AnyKind): void {
  if (kind.crd === undefined || hasStatus(kind)) return;
  throw new TypeError(
    `Controller for ${kind.kind}: "writesStatus" is true, but ${kind.apiVersion} ${kind.kind} has no status subresource. ` +
      `Remove "writesStatus", or change the object with patch().`,
  );
}

function refuseWatches(
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
        `Cannot make a controller of ${kind.kind}: "${watched.kind}" is in "watches" twice: say it once`,
      );
    }
    if (options.names !== undefined) refuseNamed(kind, watched, options, isDeclared);
    else if (!isDeclared && options.map === undefined) {
      throw new TypeError(
        `Cannot make a controller of ${kind.kind}: whom does a change of "${watched.kind}" wake? Give its watch a "map" or "names", or add the kind to "owns" or "reads"`,
      );
    }
    const fault = choiceFault(options);
    if (fault !== undefined) {
      throw new TypeError(`Cannot make a controller of ${kind.kind}: the watch of "${watched.kind}": ${fault}`);
    }
    if (options.metadataOnly && identity(watched) === identity(kind) && writesStatus) {
      throw new TypeError(
        `Cannot make a controller of ${kind.kind}: of its own kind it holds metadata only, so that it could not keep its status: leave "metadataOnly" out`,
      );
    }
    seen.add(identity(watched));
  }
}

function refuseNamed(kind: AnyKind, watched: AnyKind, options: Watch["options"], isDeclared: boolean): void {
  const refuse = (why: string): never => {
    throw new TypeError(`Cannot make a controller of ${kind.kind}: the watch of "${watched.kind}" has "names": ${why}`);
  };
  if (isDeclared) {
    refuse(
      'its own kind and those in owns and reads are watched whole: leave "names" out, and let "map" name by an index whom a change wakes',
    );
  }
  for (const option of ["labelSelector", "fieldSelector", "namespaces", "map"] as const) {
    if (options[option] !== undefined) refuse(`"${option}" does not go with it`);
  }
  if (Array.isArray(options.names) && watched.namespaced && !kind.namespaced) {
    refuse(
      `${kind.kind} is in no namespace, beside which they could be looked for: answer { name, namespace } by a function`,
    );
  }
  if (Array.isArray(options.names) && (options.names.length === 0 || options.names.includes(""))) {
    refuse("a list of them must have one, and none that is empty");
  }
}

function refuseIndexes(kind: AnyKind, declared: readonly AnyKind[], indexes: IndexMap): void {
  for (const [name, { kind: indexed }] of Object.entries(indexes)) {
    if (declared.some((other) => identity(other) === identity(indexed))) continue;
    throw new TypeError(
      `Cannot make a controller of ${kind.kind}: index "${name}" is of "${indexed.kind}", which it does not watch whole: add it to "reads"`,
    );
  }
}

// Kubernetes' qualified name, with the domain that it demands of finalizers.
const FINALIZER = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

function refuseFinalizer(kind: AnyKind, finalizer: string): void {
  if (FINALIZER.test(finalizer)) return;
  throw new TypeError(
    `Cannot make a controller of ${kind.kind}: finalizer "${finalizer}" must be a domain, a slash and a name of at most 63 characters, such as "example.com/cleanup"`,
  );
}

function identity(kind: AnyKind): string {
  return `${kind.kind}.${kind.version}.${kind.group}`;
}
