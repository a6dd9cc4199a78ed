/**
 * A Kubernetes API server as a function: `(Request) => Promise<Response>`. It stores objects in
 * memory, includes the garbage collector and the controllers for namespaces, service accounts and
 * aggregated roles, and reads the time only from the clock that it receives.
 */
import { type Clock, systemClock } from "../base/clock.ts";
import { isStackOverflow } from "../base/deno_errors.ts";
import { Access } from "./access/access.ts";
import type { User } from "./access/user.ts";
import { autoscalerRules } from "./builtin/autoscaler_rules.ts";
import { eventRules } from "./builtin/event_rules.ts";
import { builtinRules } from "./builtin/rules.ts";
import { serviceRules, SERVICES } from "./builtin/service_addresses.ts";
import { createDefaultAccounts } from "./controllers/default_accounts.ts";
import { Garbage } from "./controllers/garbage.ts";
import { createInitialObjects } from "./controllers/initial_objects.ts";
import { createInitialRoles } from "./controllers/initial_roles.ts";
import { createInitialNamespaces, deletingNamespaceOf, emptyNamespace, NAMESPACES } from "./controllers/namespaces.ts";
import { aggregateRoles } from "./controllers/role_aggregation.ts";
import { Background } from "./core/background.ts";
import type { Core } from "./core/core.ts";
import { Definitions } from "./definitions/definitions.ts";
import { definitionRules } from "./definitions/rules.ts";
import { respond, type RespondOptions } from "./http.ts";
import { builtinKinds, DEFINITIONS, Kinds, type Rules, type ServedKind } from "./objects/kinds.ts";
import { Store } from "./objects/store.ts";
import { builtinColumns } from "./tables/builtin_columns.ts";
import { Watches, type WatchFault } from "./verbs/watch.ts";
import type { ServiceCaller } from "./webhooks/call.ts";
import { statusResponse } from "./wire/formats.ts";
import { internalError, requestTooLarge, type StatusError } from "./wire/status_error.ts";

/** Options for {@linkcode createApiserver}. */
export interface ApiserverOptions {
  /** Source of the current time. @default {systemClock} */
  readonly clock?: Clock;
  /** Returns a new uid for each call. @default {crypto.randomUUID} */
  readonly uid?: () => string;
  /** Number of changes that are retained for watches that start in the past. @default {10_000} */
  readonly history?: number;
  /**
   * Whether the server authorizes requests with RBAC. If `true`, it starts with the default roles
   * of a new cluster, and a request without a token acts as `system:anonymous`, which can read
   * little more than the version and health endpoints. If `false`, every request is allowed.
   *
   * @default {false}
   */
  readonly rbac?: boolean;
  /**
   * Whether the admission plugin OwnerReferencesPermissionEnforcement is enabled. With `rbac`,
   * changing an owner reference then requires the RBAC permission to delete the owned object, and
   * setting `blockOwnerDeletion` requires the RBAC permission to update the owner's finalizers.
   *
   * @default {false}
   */
  readonly ownerReferencesPermissionEnforcement?: boolean;
  /**
   * Users by bearer token. Tokens issued for service accounts are always accepted.
   *
   * @default {{}}
   */
  readonly tokens?: Readonly<Record<string, User>>;
  /**
   * Calls the Service that a webhook's client configuration names; returns `undefined` if the
   * Service does not exist. Webhooks with a URL are called at that URL.
   *
   * @default {no Service exists}
   */
  readonly service?: ServiceCaller;
}

/** Options for {@linkcode Apiserver.fetch}. */
export interface FetchOptions {
  /**
   * User who sends the request, if the caller authenticated it, for example with a client
   * certificate. The token of the request is then ignored.
   *
   * @default {the user of the request's token}
   */
  readonly user?: User;
  /**
   * Whether a server without `rbac` accepts requests that have no known token.
   *
   * @default {true}
   */
  readonly anonymous?: boolean;
}

/** An API server. */
export interface Apiserver extends AsyncDisposable {
  /**
   * Responds to a request.
   *
   * @param request The request. Abort its signal to end a watch.
   * @param options Additional options.
   * @returns The response. Errors are responses with a `Status` object.
   * @throws {TypeError} If the server has stopped.
   */
  fetch(request: Request, options?: FetchOptions): Promise<Response>;
  /**
   * Counter that increases when a request begins or ends, a watch sends an event, or a background
   * step completes.
   */
  readonly activity: number;
  /**
   * Number of requests in progress plus background steps that are not done. Open watches do not
   * count. If it is zero, only the next request can change the state.
   */
  readonly busy: number;
  /** Number of open watches. */
  readonly watches: number;
  /**
   * Drops the history of changes, as a compaction of etcd does. A watch or list at an earlier
   * resourceVersion then gets 410 Gone.
   */
  compact(): void;
  /**
   * Injects a fault into an open watch.
   *
   * @param request The request that opened the watch.
   * @param fault The fault to inject.
   * @returns Whether the watch was open.
   */
  injectWatchFault(request: Request, fault: WatchFault): boolean;
  /** Returns whether the watch that a request opened is still open. */
  isWatching(request: Request): boolean;
  /**
   * Breaks the connections of all open watches, as a crash of the server does. Stored objects are
   * not affected.
   */
  cutWatches(): void;
  /** Ends all open watches. {@linkcode Apiserver.fetch} rejects from then on. */
  stop(): Promise<void>;
}

/**
 * Creates an API server.
 *
 * @param options Additional options.
 * @returns The server. Dispose of it after use.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { createApiserver } from "@op/sdk/testing";
 *
 * await using apiserver = createApiserver();
 * const response = await apiserver.fetch(new Request("http://apiserver/api/v1/namespaces/default"));
 * const { metadata } = await response.json();
 * assert.equal(metadata.name, "default");
 * ```
 */
export function createApiserver(options: ApiserverOptions = {}): Apiserver {
  return new InMemoryApiserver(options);
}

class InMemoryApiserver implements Apiserver {
  readonly #core: Core;
  readonly #watches: Watches;
  /**
   * Value of {@linkcode Apiserver.activity}. `settle()` in tests compares two readings to detect
   * activity.
   */
  #activity = 0;
  /**
   * Number of requests without a response yet. A watch has a response as soon as it is open.
   */
  #requests = 0;
  #isStopped = false;

  constructor(options: ApiserverOptions) {
    const { clock = systemClock, uid = () => crypto.randomUUID(), history, service } = options;
    const { rbac = false, ownerReferencesPermissionEnforcement = false, tokens = {} } = options;
    const countActivity = () => void this.#activity++;
    const store = new Store(history === undefined ? {} : { history });
    const base = { clock, store, kinds: new Kinds(), background: new Background(countActivity), uid, countActivity };
    const core: Core = {
      ...base,
      access: new Access(base, { rbac, ownerReferencesPermissionEnforcement, tokens }),
      caller: { clock, service },
    };
    this.#core = core;
    for (const kind of builtinKinds((each) => rulesFor(core, each), builtinColumns)) core.kinds.set(kind);
    this.#watches = new Watches(core);
    new Definitions(core);
    new Garbage(core);
    emptyDeletedNamespaces(core);
    createInitialNamespaces(core);
    createInitialObjects(core);
    createDefaultAccounts(core);
    aggregateRoles(core);
    if (rbac) createInitialRoles(core);
  }

  async fetch(request: Request, options: RespondOptions = {}): Promise<Response> {
    if (this.#isStopped) {
      throw new TypeError(`Request to "${request.url}" failed: the API server has stopped. Create another one.`);
    }
    this.#requests++;
    this.#activity++;
    try {
      return await respond(this.#core, this.#watches, request, options);
    } catch (error) {
      const { status, code } = unexpectedError(error);
      return statusResponse(status, code);
    } finally {
      this.#requests--;
      this.#activity++;
    }
  }

  get activity(): number {
    return this.#activity;
  }

  get busy(): number {
    return this.#requests + this.#core.background.size;
  }

  get watches(): number {
    return this.#watches.size;
  }

  compact(): void {
    this.#core.store.compact();
  }

  injectWatchFault({ signal }: Request, fault: WatchFault): boolean {
    return this.#watches.inject(signal, fault);
  }

  isWatching({ signal }: Request): boolean {
    return this.#watches.signals.includes(signal);
  }

  cutWatches(): void {
    for (const signal of this.#watches.signals) this.#watches.inject(signal, "cut");
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    this.#watches.close();
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

const AUTOSCALERS = "autoscaling/horizontalpodautoscalers";

function rulesFor(core: Core, kind: ServedKind): Rules {
  const rules = builtinRules(kind);
  if (kind.collection === SERVICES) return serviceRules(rules, core.store);
  if (kind.collection === DEFINITIONS) return definitionRules(rules);
  if (kind.collection === AUTOSCALERS) return autoscalerRules(rules, kind.version === "v1");
  return kind.collection === "/events" ? eventRules(rules, kind.group !== "") : rules;
}

/** Deletes the contents of a namespace that is being deleted, and then the namespace. */
function emptyDeletedNamespaces(core: Core): void {
  const enqueue = (name: string) => core.background.add(`namespace ${name}`, () => emptyNamespace(core, name));
  core.store.listen(({ type, collection, object }) => {
    if (collection === NAMESPACES) {
      if (type !== "DELETED" && object.metadata.deletionTimestamp !== undefined) enqueue(object.metadata.name);
      return;
    }
    const namespace = deletingNamespaceOf(core, object);
    if (namespace !== undefined) enqueue(namespace);
  });
}

/**
 * Converts an unexpected error into a StatusError. The real server accepts objects with thousands
 * of levels, because Go's stack grows; the stack of JavaScript overflows.
 */
function unexpectedError(error: unknown): StatusError {
  if (isStackOverflow(error)) return requestTooLarge("it is nested too deep for this server");
  return internalError(error instanceof Error ? error.message : String(error));
}
