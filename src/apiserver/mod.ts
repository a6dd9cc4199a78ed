/**
 * A Kubernetes API server as a function: `(Request) => Promise<Response>`. It keeps its objects in memory, does by itself what a cluster's garbage
 * collector and controllers of namespaces and service accounts do, and reads no time but that of the clock it is given.
 */
import { type Clock, systemClock } from "../base/clock.ts";
import { Access } from "./access/access.ts";
import type { User } from "./access/user.ts";
import { autoscalerRules } from "./builtin/autoscaler_rules.ts";
import { eventRules } from "./builtin/event_rules.ts";
import { builtinRules } from "./builtin/rules.ts";
import { serviceRules, SERVICES } from "./builtin/service_addresses.ts";
import { giveDefaultAccounts } from "./controllers/default_accounts.ts";
import { Garbage } from "./controllers/garbage.ts";
import { createInitialObjects } from "./controllers/initial_objects.ts";
import { createInitialRoles } from "./controllers/initial_roles.ts";
import { createInitialNamespaces, emptiedNamespace, emptyNamespace, NAMESPACES } from "./controllers/namespaces.ts";
import { aggregateRoles } from "./controllers/role_aggregation.ts";
import { Background } from "./core/background.ts";
import type { Core } from "./core/core.ts";
import { Definitions } from "./definitions/definitions.ts";
import { definitionRules } from "./definitions/rules.ts";
import { answer } from "./http.ts";
import { builtinKinds, DEFINITIONS, Kinds, type Rules, type ServedKind } from "./objects/kinds.ts";
import { Store } from "./objects/store.ts";
import { builtinColumns } from "./tables/builtin_columns.ts";
import { type Disturbance, Watches } from "./verbs/watch.ts";
import type { ServiceCaller } from "./webhooks/call.ts";
import { statusResponse } from "./wire/formats.ts";
import { internalError, requestTooLarge, type StatusError } from "./wire/status_error.ts";

/** Options for {@linkcode createApiserver}. */
export interface ApiserverOptions {
  /** Whose time it is. @default {systemClock} */
  readonly clock?: Clock;
  /** Where uids come from. @default {crypto.randomUUID} */
  readonly uid?: () => string;
  /** How many changes are remembered, for watches that begin in the past. @default {10_000} */
  readonly history?: number;
  /**
   * Whether who may do what is decided by Roles, ClusterRoles and their bindings, of which there are then those that every cluster begins with.
   * Who sends no token is `system:anonymous`, and may next to nothing. Otherwise everybody may do everything.
   *
   * @default {false}
   */
  readonly rbac?: boolean;
  /**
   * With `rbac`, whether owner references are changed only by who may delete what is owned, and block a deletion only by who may set the owner's
   * finalizers, as the admission plugin OwnerReferencesPermissionEnforcement has it.
   *
   * @default {false}
   */
  readonly checksOwners?: boolean;
  /** Users by the bearer tokens that they show, besides the service accounts with their own. @default {none} */
  readonly tokens?: Readonly<Record<string, User>>;
  /** Answers for the services that webhooks are behind; nothing for one that is not there. Webhooks with a URL are called there. @default {there are none} */
  readonly service?: ServiceCaller;
}

/** What the server is told of a request besides what is in it. */
export interface FetchOptions {
  /** Who sent it, where the caller knows, say from a certificate; the request's token is then not looked at. @default {whom the request's token says} */
  readonly user?: User;
  /** Whether a server that enforces no roles answers a request without a token that it knows. @default {true} */
  readonly anonymous?: boolean;
}

/** An API server. */
export interface Apiserver extends AsyncDisposable {
  /** Answers a request: everything goes through here. */
  fetch(request: Request, options?: FetchOptions): Promise<Response>;
  /** Grows with each request begun or ended, each event of a watch, each step done in the background. */
  readonly activity: number;
  /** Requests that run now, open watches not counted, and steps in the background not yet done. Zero: nothing will change by itself. */
  readonly busy: number;
  /** Open watches. */
  readonly watches: number;
  /** Forgets all changes so far, as an etcd does when it is compacted: a watch or list from before now is answered 410. */
  compact(): void;
  /**
   * Does to an open watch what a network or a server may do.
   *
   * @param request The request that opened it.
   * @param how What befalls it.
   * @returns Whether it was still open.
   */
  disturb(request: Request, how: Disturbance): boolean;
  /** Whether the watch that a request opened is still open. */
  isWatching(request: Request): boolean;
  /** Breaks all open watches, as a server does that goes down; what is stored stays. */
  cut(): void;
  /** Ends all open watches and refuses what comes. */
  stop(): Promise<void>;
}

/**
 * Makes an API server.
 *
 * @param options Additional options.
 * @returns The server; to be disposed of.
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
  const { clock = systemClock, uid = () => crypto.randomUUID() } = options;
  let activity = 0;
  let running = 0;
  let isStopped = false;
  const happened = () => void activity++;
  const store = new Store(options.history === undefined ? {} : { history: options.history });
  const base = { clock, store, kinds: new Kinds(), background: new Background(happened), uid, happened };
  const { rbac = false, checksOwners = false, tokens = {} } = options;
  const core: Core = {
    ...base,
    access: new Access(base, { rbac, checksOwners, tokens }),
    caller: { clock, service: options.service },
  };
  for (const kind of builtinKinds((each) => rulesFor(core, each), builtinColumns)) core.kinds.set(kind);
  const watches = new Watches(core);
  new Definitions(core);
  new Garbage(core);
  emptyNamespaces(core);
  createInitialNamespaces(core);
  createInitialObjects(core);
  giveDefaultAccounts(core);
  aggregateRoles(core);
  if (rbac) createInitialRoles(core);

  async function fetch(request: Request, caller: FetchOptions = {}): Promise<Response> {
    if (isStopped) throw new TypeError(`Cannot answer "${request.url}": the API server has stopped`);
    running++;
    happened();
    try {
      return await answer(core, watches, request, caller);
    } catch (error) {
      const { status, code } = failureOf(error);
      return statusResponse(status, code);
    } finally {
      running--;
      happened();
    }
  }

  function stop(): Promise<void> {
    isStopped = true;
    watches.close();
    return Promise.resolve();
  }

  return {
    fetch,
    get activity() {
      return activity;
    },
    get busy() {
      return running + core.background.size;
    },
    get watches() {
      return watches.size;
    },
    compact: () => store.compact(),
    disturb: ({ signal }, how) => watches.disturb(signal, how),
    isWatching: ({ signal }) => watches.signals.includes(signal),
    cut: () => watches.signals.forEach((signal) => void watches.disturb(signal, "cut")),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const AUTOSCALERS = "autoscaling/horizontalpodautoscalers";

function rulesFor(core: Core, kind: ServedKind): Rules {
  const rules = builtinRules(kind);
  if (kind.collection === SERVICES) return serviceRules(rules, core.store);
  if (kind.collection === DEFINITIONS) return definitionRules(rules);
  if (kind.collection === AUTOSCALERS) return autoscalerRules(rules, kind.version === "v1");
  return kind.collection === "/events" ? eventRules(rules, kind.group !== "") : rules;
}

/** Sees to it that a namespace that is deleted goes, and its contents with it. */
function emptyNamespaces(core: Core): void {
  const ask = (name: string) => core.background.add(`namespace ${name}`, () => emptyNamespace(core, name));
  core.store.listen(({ type, collection, object }) => {
    if (collection === NAMESPACES) {
      if (type !== "DELETED" && object.metadata.deletionTimestamp !== undefined) ask(object.metadata.name);
      return;
    }
    const namespace = emptiedNamespace(core, object);
    if (namespace !== undefined) ask(namespace);
  });
}

/** What nobody foresaw. An object of thousands of levels is more than our call stack takes; the real server's grows. */
function failureOf(error: unknown): StatusError {
  if (error instanceof RangeError && /call stack/.test(error.message)) {
    return requestTooLarge("it is nested too deep for this server");
  }
  return internalError(error instanceof Error ? error.message : String(error));
}
