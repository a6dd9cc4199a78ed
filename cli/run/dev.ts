/**
 * `op dev`: runs an operator on this machine as its own ServiceAccount, and restarts it when one of
 * its files is saved.
 *
 * Each start uses a new process, so that no state remains. The operator sends its requests through
 * this process, which keeps watches open across restarts and caches their objects. So a restarted
 * operator gets all objects from the cache, without new lists from the API server. Webhook calls
 * also arrive at this process, and wait during a restart (`dev_webhooks.ts`).
 */
import { dirname, relative } from "node:path";
import { Lease } from "@op/sdk/kinds";
import { createApiserver, kubeconfigFor, localCertificate, serveApiserver } from "@op/sdk/testing";
import { type Cluster, connectCluster, ifReadable } from "../cluster.ts";
import { checkBreakingChanges } from "../crd/breaking_changes.ts";
import { warnOfDefinitions } from "../crd/definition_warnings.ts";
import { definitionsIn } from "../definitions/definition.ts";
import { type SourceFile, sourceFile } from "../deno.ts";
import { Failure, UsageError } from "../exit_code.ts";
import { factsOf, NO_IMAGE } from "../generate/generate.ts";
import { isColored } from "../global_options.ts";
import type { OperatorFacts } from "../inspect.ts";
import { leaseAnnotations } from "../internal/mod.gen.ts";
import { type Io, withoutInterrupts } from "../io.ts";
import { temporaryFolder } from "../temporary_folder.ts";
import { forwardTo, openProxy } from "../proxy/proxy.ts";
import { WatchCache } from "../proxy/watch_cache.ts";
import { untilStopped } from "../apiserver/stop.ts";
import { checkWebhookOptions, type DevWebhookOptions, DevWebhooks } from "./dev_webhooks.ts";
import { DevLease, devLeaseName, userOnHost } from "./dev_lease.ts";
import { healthArguments } from "./health_port.ts";
import { accountOf, checkOwnership, install } from "./install.ts";
import { localModules } from "./local_modules.ts";
import { type OperatorProcess, startOperatorProcess } from "./operator_process.ts";
import { electionLease, runningOperator } from "./running_operator.ts";
import {
  checkPriority,
  startArguments,
  type StartOptions,
  TAKE_OVER_PRIORITY,
  takeOverArguments,
  takeOverMessage,
} from "./start.ts";
import { TypeChecks } from "./type_check.ts";
import { withLiveConversion } from "./webhook_registration.ts";

/** Options for {@linkcode dev}. */
export interface DevOptions extends StartOptions, Omit<DevWebhookOptions, "skipWebhookServer"> {
  /** Use an API server in this process. */
  readonly local?: boolean | undefined;
  /** Run even if the operator also runs in the cluster. */
  readonly alongside?: boolean | undefined;
  /** Take over objects that belong to another operator of the same name. */
  readonly adopt?: boolean | undefined;
  /** Use the RBAC permissions of the kubeconfig instead of those of the ServiceAccount. */
  readonly asMe?: boolean | undefined;
  /** Apply definitions even if stored objects lose fields or become invalid. */
  readonly allowBreaking?: boolean | undefined;
  /** Check types while the operator runs. @default {true} */
  readonly check?: boolean | undefined;
}

/**
 * How long to wait for further changes, in milliseconds. Editors save in several steps, and several
 * files at once.
 */
const DEBOUNCE_TIME = 100;

/** How long running reconciles may take before the process is killed, in milliseconds. */
const STOP_TIMEOUT = 2000;

/**
 * Runs an operator until it is stopped.
 *
 * @param file The file whose default export is the operator.
 * @param options The cluster and how to run.
 * @param io The terminal and the shell.
 * @throws {Failure} If the operator cannot be loaded at the start, or the cluster rejects an object
 *   that the operator needs.
 */
export async function dev(file: string, options: DevOptions, io: Io): Promise<void> {
  checkCluster(options);
  checkPriority(options);
  checkWebhookOptions(options);
  const source = await sourceFile(file, io);
  const loadedAt = Date.now();
  const facts = await factsOf(file, { ...options, ...ON_THIS_MACHINE }, io);
  await using stack = new AsyncDisposableStack();
  const temporary = stack.use(temporaryFolder("op-dev-", io));
  const { path: folder } = temporary;
  const local = options.local === true ? await localCluster(folder, stack) : undefined;
  using cluster = await connectCluster(local === undefined ? options : { kubeconfig: local }, io);
  io.out(
    `Developing "${facts.name}" on ${cluster.url}${local === undefined ? "" : ", an API server in this process"}\n`,
  );
  if (local !== undefined) io.out(`\n   export KUBECONFIG=${local}\n   kubectl get namespaces\n\n`);

  const stop = new AbortController();
  const { user, namespace } = accountOf(facts);
  using cache = new WatchCache(
    forwardTo(cluster.client.connection, options.asMe ? {} : { "impersonate-user": user }),
  );
  const firstRequest = new FirstRequest();
  await using proxy = openProxy({
    forward(request) {
      firstRequest.notify();
      return cache.forward(request);
    },
    namespace,
  });
  const kubeconfig = `${folder}/operator`;
  await Deno.writeTextFile(kubeconfig, proxy.kubeconfig, { mode: 0o600 });
  const { context: _, ...rest } = options;
  const args = [
    "start",
    ...await startArguments(source, { ...rest, kubeconfig }, io),
    ...takeOverArguments(facts, options),
  ];
  // This check is first, so that another operator of the same name does not count as a second
  // instance.
  if (options.adopt !== true) await checkOwnership(cluster, facts);
  if (local === undefined) await checkNotRunning(cluster, facts, options, io);
  await using lease = new DevLease(cluster, devLeaseName(facts));
  await using webhooks = new DevWebhooks(options, folder, cluster, io);
  await using types = new TypeChecks(source, folder, io);
  const session = new Session({
    source,
    file,
    options,
    folder,
    io: withoutInterrupts(io),
    cluster,
    cache,
    webhooks,
    firstRequest,
    lease,
    types,
    args,
    stop: stop.signal,
    loadedAt,
  });
  temporary.ignoreInterrupts();
  const stopped = untilStopped(io, ["SIGINT", "SIGTERM", "SIGHUP"]);
  const developing = session.run(facts, options.asMe ? "you" : user);
  try {
    await Promise.race([stopped, developing]);
  } finally {
    stop.abort();
    // A restart may be in progress.
    await developing.catch(() => {});
    await webhooks.end().finally(() => session.end());
  }
}

function checkCluster({ local = false, kubeconfig, context }: DevOptions): void {
  const other = kubeconfig !== undefined ? "--kubeconfig" : context !== undefined ? "--context" : undefined;
  if (!local || other === undefined) return;
  throw new UsageError(
    `Cannot use --local with ${other}: --local starts its own API server. Remove one of the two.`,
  );
}

/**
 * Fails if the operator already runs in the cluster, because two instances undo each other's
 * changes.
 */
async function checkNotRunning(
  cluster: Cluster,
  facts: OperatorFacts,
  options: DevOptions,
  io: Io,
): Promise<void> {
  const { processes, remedy, leader } = await runningOperator(cluster, facts, Date.now());
  if (processes.length === 0) return;
  const running = `"${facts.name}" already runs there: ${processes.join("; ")}`;
  if (options.alongside === true) return io.err(`Warning: ${running}. Both write the same objects.\n`);
  if (options.takeOver === true && leader !== undefined) return io.err(takeOverMessage(leader, options));
  const unable = options.takeOver === true ? "None of them holds the Lease, so none can stand by. " : "";
  throw new Failure(
    `Cannot develop on ${cluster.url}: ${running}. Both would write the same objects. ${unable}` +
      `Stop the other one first${remedy === undefined ? "" : ` (${remedy})`}, ${
        leader === undefined ? "" : "add --take-over to make it stand by until op dev ends, "
      }or add --alongside.`,
  );
}

/**
 * Settings for an operator on this machine. It has no image and no mounted certificate, so it
 * issues the certificate of its webhooks itself.
 */
const ON_THIS_MACHINE = { image: NO_IMAGE, certificates: "self" } as const;

/** Starts an API server in this process, and returns the path of its administrator's kubeconfig. */
async function localCluster(folder: string, stack: AsyncDisposableStack): Promise<string> {
  const token = crypto.randomUUID();
  const user = { name: "kubernetes-admin", groups: ["system:masters"] };
  const server = stack.use(createApiserver({ rbac: true, tokens: { [token]: user } }));
  // kubectl sends tokens only over HTTPS.
  const certificate = await localCertificate(["127.0.0.1", "localhost"]);
  const served = stack.use(serveApiserver(server, { certificate }));
  const path = `${folder}/kubeconfig`;
  await Deno.writeTextFile(path, kubeconfigFor(served.url, { name: "op-dev", token, caCert: certificate.caCert }), {
    mode: 0o600,
  });
  return path;
}

/** Adds the external kinds, because no other project installs them on a local API server. */
function withExternalKinds(facts: OperatorFacts): OperatorFacts {
  return { ...facts, manifests: { ...facts.manifests, crd: [...facts.manifests.crd, ...facts.externalCrds] } };
}

interface SessionOptions {
  readonly source: SourceFile;
  readonly file: string;
  readonly options: DevOptions;
  /** A temporary folder. */
  readonly folder: string;
  readonly io: Io;
  readonly cluster: Cluster;
  readonly cache: WatchCache;
  readonly webhooks: DevWebhooks;
  readonly firstRequest: FirstRequest;
  readonly lease: DevLease;
  readonly types: TypeChecks;
  readonly args: readonly string[];
  readonly stop: AbortSignal;
  /** When the operator's declarations were read, in milliseconds since the epoch. */
  readonly loadedAt: number;
}

/** Runs one operator process after another. */
class Session {
  readonly #options: SessionOptions;
  /** The manifests that were applied last, as JSON. */
  #manifests = "";
  /** The definitions for which warnings were printed, as JSON. */
  #definitions = "";
  /** The roles and definitions at the last start, as JSON. */
  #rbac = "";
  /** When the files of the running operator were read, in milliseconds since the epoch. */
  #loadedAt: number;
  #process: OperatorProcess | undefined;
  /** Whether the line "Running as ..." was printed. */
  #isAnnounced = false;
  #user = "";

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#loadedAt = options.loadedAt;
  }

  /** Starts the operator, and restarts it after each change of one of its files. */
  async run(facts: OperatorFacts, user: string): Promise<void> {
    const { source, stop, webhooks, lease, folder } = this.#options;
    await webhooks.clear(facts);
    await this.#install(facts);
    await lease.take();
    this.#user = user;
    await this.#start(facts);
    this.#checkTypes();
    while (!stop.aborted) {
      const files = new Set(await localModules(source, folder));
      const changed = await nextChange(files, this.#loadedAt, stop);
      if (stop.aborted) return;
      await this.#restart(changed);
    }
  }

  /** Stops the operator, and kills it after a timeout. */
  async end(): Promise<void> {
    const process = this.#process;
    this.#process = undefined;
    if (process === undefined) return;
    process.signal("SIGTERM");
    const timer = setTimeout(() => process.signal("SIGKILL"), STOP_TIMEOUT);
    await process.ended;
    clearTimeout(timer);
  }

  async #restart(changed: string): Promise<void> {
    const { file, options, io, types } = this.#options;
    this.#loadedAt = Date.now();
    types.cancel();
    let facts: OperatorFacts | undefined;
    try {
      facts = await factsOf(file, { ...options, ...ON_THIS_MACHINE }, io);
      await this.#install(facts);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      // If the file could not be loaded, the error has been printed.
      if (facts !== undefined) this.#checkTypes();
      return io.err(`${error.message}\nThe earlier version keeps running. Save the file again to retry.\n`);
    }
    io.out(`${relative(io.cwd, changed)} was saved, restarting\n`);
    this.#options.webhooks.hold();
    await this.#reserveLease(facts);
    await this.end();
    if (this.#options.stop.aborted) return;
    await this.#start(facts);
    this.#checkTypes();
  }

  /**
   * Requests the Lease for the next process of the operator. The deployed operator respects the
   * request until it expires. Without it, the deployed operator would lead between the processes.
   */
  async #reserveLease(facts: OperatorFacts): Promise<void> {
    const { cluster: { client }, options: { takeOver, priority = TAKE_OVER_PRIORITY } } = this.#options;
    const lease = electionLease(facts);
    if (takeOver !== true || lease === undefined) return;
    const request = { by: userOnHost(), priority, renewed: new Date().toISOString() };
    const annotations = leaseAnnotations(facts.name, { takeOver: request }) as Record<string, string>;
    await ifReadable(() =>
      client.patch(Lease, lease.name, { metadata: { annotations } }, { namespace: lease.namespace })
    );
  }

  /** Starts the type check after the operator, which must not wait for it. */
  #checkTypes(): void {
    if (this.#options.options.check !== false) this.#options.types.start();
  }

  /** Applies the manifests if they changed: most changes of the code do not affect them. */
  async #install(declared: OperatorFacts): Promise<void> {
    const { cluster, cache, io, stop, options: { adopt, allowBreaking, local } } = this.#options;
    const facts = local === true ? withExternalKinds(declared) : declared;
    const text = JSON.stringify(facts.manifests);
    if (text === this.#manifests) return;
    const definitions = JSON.stringify(facts.manifests.crd);
    if (definitions !== this.#definitions) warnOfDefinitions(facts.manifests.crd, io);
    this.#definitions = definitions;
    await checkBreakingChanges(cluster, definitionsIn(facts.manifests.crd), { allowBreaking, signal: stop }, io);
    for (const changed of await install(cluster, await withLiveConversion(cluster, facts), { signal: stop, adopt })) {
      io.out(`applied ${changed}\n`);
    }
    const rbac = JSON.stringify([facts.manifests.rbac, facts.manifests.crd]);
    // An open watch continues after its permission was removed. The cache must not outlive the
    // permission.
    if (this.#rbac !== "" && rbac !== this.#rbac) cache.clear();
    this.#manifests = text;
    this.#rbac = rbac;
  }

  async #start(facts: OperatorFacts): Promise<void> {
    const { source, options, folder, io, webhooks, stop } = this.#options;
    const args = [...this.#options.args, ...healthArguments(facts, io), ...await webhooks.prepare(facts)];
    const request = this.#options.firstRequest.next();
    const process = this.#process = await startOperatorProcess(source, {
      args,
      isColored: isColored(options, io),
      folder,
    }, io);
    process.ended.then((code) => {
      if (this.#process !== process) return;
      this.#process = undefined;
      // Ctrl-C in a terminal interrupts both processes.
      if (!stop.aborted) io.err(`The operator exited with code ${code}. Save a file to restart it.\n`);
    });
    await webhooks.follow(process, stop);
    // If the terminal is closed, the next output ends the command.
    this.#announce(process, facts, request).catch(() => {});
  }

  /** Prints that the operator runs after its first request, which shows that it has started. */
  async #announce(process: OperatorProcess, facts: OperatorFacts, request: Promise<void>): Promise<void> {
    // An operator with only webhooks may send no request, but serves them by now.
    const runsControllers = facts.controlled.length > 0 && this.#options.options.skipControllers !== true;
    if (runsControllers) await Promise.race([request, process.ended]);
    if (this.#process !== process || this.#isAnnounced || this.#options.stop.aborted) return;
    this.#isAnnounced = true;
    this.#options.io.out(`Running as ${this.#user}. Save a file to restart; press Ctrl-C to stop\n`);
  }
}

/** Resolves a promise when the operator sends its first request after a start. */
class FirstRequest {
  #next = Promise.withResolvers<void>();

  /** Reports a request. */
  notify(): void {
    this.#next.resolve();
  }

  /** Returns a promise of the next request. */
  next(): Promise<void> {
    this.#next = Promise.withResolvers();
    return this.#next.promise;
  }
}

/**
 * Waits until one of the files has changed since a time, and no further change follows.
 *
 * @returns The file, or an empty string if `stop` was aborted.
 */
async function nextChange(files: ReadonlySet<string>, since: number, stop: AbortSignal): Promise<string> {
  // An event listener is not called if the signal was aborted before.
  if (stop.aborted) return "";
  using watcher = Deno.watchFs([...new Set([...files].map((path) => dirname(path)))], { recursive: false });
  const close = (): void => watcher.close();
  stop.addEventListener("abort", close, { once: true });
  try {
    // A file may have been saved before the watcher was created.
    let changed = await savedSince(files, since);
    if (changed !== "") return changed;
    let timer: ReturnType<typeof setTimeout> | undefined;
    for await (const { kind, paths } of watcher) {
      const path = paths.find((path) => files.has(path));
      if (path === undefined || kind === "access") continue;
      changed = path;
      clearTimeout(timer);
      timer = setTimeout(close, DEBOUNCE_TIME);
    }
    clearTimeout(timer);
    return changed;
  } catch (error) {
    if (stop.aborted) return "";
    throw error;
  } finally {
    stop.removeEventListener("abort", close);
  }
}

async function savedSince(files: Iterable<string>, since: number): Promise<string> {
  for (const path of files) {
    const { mtime } = await Deno.stat(path).catch(() => ({ mtime: null }));
    if (mtime !== null && mtime.getTime() > since) return path;
  }
  return "";
}
