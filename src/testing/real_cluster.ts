/**
 * A real Kubernetes API server for tests: etcd, kube-apiserver and optionally
 * kube-controller-manager, as processes on loopback. There are no nodes, so pods stay pending, and
 * no service network, so webhooks are called by URL.
 */
import { sleep, systemClock } from "../base/clock.ts";
import {
  type CertificateAccess,
  kubeconfig,
  startTokenIssuer,
  type TokenAccess,
  type TokenIssuer,
  type UserAccess,
} from "./_access.ts";
import { type AuditEvent, readAuditLog } from "./_audit.ts";
import { type Authority, createAuthority } from "./_certificates.ts";
import { type ControlPlane, findControlPlane, PROGRAMS } from "./_control_plane.ts";
import {
  apiserverReady,
  startApiserver,
  startControllerManager,
  StartError,
  startEtcd,
  writeControlPlaneFiles,
} from "./_control_plane_processes.ts";
import { watchedFolder, type WatchedProcess } from "./_watched_process.ts";

export type { AuditEvent, CertificateAccess, ControlPlane, TokenAccess, UserAccess };

/** Options for {@linkcode realCluster}. */
export interface RealClusterOptions {
  /** Folder of the programs. @default {KUBEBUILDER_ASSETS, or else the cache of this repository} */
  readonly assets?: string;
  /**
   * Version of Kubernetes to start from the cache of this repository, such as `v1.37.2`. Build it
   * with `deno run -A tools/control_plane.ts VERSION`. KUBEBUILDER_ASSETS is then ignored.
   *
   * @default {the programs in `assets`}
   */
  readonly version?: string;
  /**
   * Whether to start kube-controller-manager. `true` runs all its controllers. A list runs the
   * named controllers, such as `garbage-collector-controller`, and the service account controller.
   *
   * @default {false}
   */
  readonly controllerManager?: boolean | readonly string[];
  /** What the audit log records. @default {"writes"} */
  readonly audit?: "writes" | "everything";
  /** Additional arguments for kube-apiserver, such as `--feature-gates=...`. @default {[]} */
  readonly apiserverArgs?: readonly string[];
}

/** Options for {@linkcode RealCluster.user} and {@linkcode RealCluster.certificateUser}. */
export interface UserOptions {
  /**
   * Groups in addition to `system:authenticated`. If the name is that of a service account, its
   * groups are added, too.
   *
   * @default {[]}
   */
  readonly groups?: readonly string[];
}

/**
 * Options for {@linkcode RealCluster.stopApiserver} and {@linkcode RealCluster.restartApiserver}.
 */
export interface StopOptions {
  /** `SIGTERM` lets it finish its requests; `SIGKILL` is a crash. @default {"SIGTERM"} */
  readonly signal?: "SIGTERM" | "SIGKILL";
}

/** A running control plane. Created by {@linkcode realCluster}. */
export interface RealCluster extends AsyncDisposable {
  /** URL of the API server: `https://127.0.0.1:PORT`. */
  readonly url: string;
  /** Port of the API server. */
  readonly port: number;
  /** Certificate of the authority that signed the server's certificate, as PEM. */
  readonly caCert: string;
  /** Paths of the programs. `kubectl` is missing if the folder does not have it. */
  readonly programs: Partial<ControlPlane>;
  /**
   * Folder of the logs, such as `kube-apiserver.log`. It exists until the cluster is disposed of.
   */
  readonly folder: string;
  /** Ids of the running processes. */
  readonly pids: readonly number[];
  /** The cluster's administrator, who is in the group `system:masters`. */
  readonly admin: TokenAccess;
  /**
   * Sends a request as the administrator.
   *
   * @param request A path, or a Request. Only the path and query of its URL are used.
   * @param init Method, headers and body.
   */
  fetch(request: Request | string, init?: RequestInit): Promise<Response>;
  /**
   * Issues a token for a user, such as `system:serviceaccount:default:website-operator`. The user
   * has only the permissions that RBAC grants.
   */
  user(name: string, options?: UserOptions): Promise<TokenAccess>;
  /** Issues a client certificate for a user. */
  certificateUser(name: string, options?: UserOptions): Promise<CertificateAccess>;
  /**
   * Makes a token of {@linkcode RealCluster.user} invalid, as if it had expired. A token that was
   * never used is rejected at once. For a used one, the API server caches for ten seconds that it
   * is valid. Open watches continue.
   *
   * @returns A promise that resolves when the API server rejects the token.
   */
  expire(token: string): Promise<void>;
  /** Returns the audit log so far, in the order in which the responses were complete. */
  auditLog(): Promise<AuditEvent[]>;
  /** Stops the API server and waits until it has ended. Stored objects remain. */
  stopApiserver(options?: StopOptions): Promise<void>;
  /**
   * Starts the stopped API server, with the same port and data. @throws {Error} If it is running.
   */
  startApiserver(): Promise<void>;
  /** Stops the API server and starts it again. */
  restartApiserver(options?: StopOptions): Promise<void>;
}

/**
 * Starts a control plane, which takes about four seconds. All its processes end when it is disposed
 * of, or when this process ends for any reason.
 *
 * @param options Programs and settings.
 * @returns The control plane. Dispose of it at the end of the test.
 * @throws {Error} If a program is missing, or ends while it starts. In the second case, the message
 * contains the program's last log lines.
 *
 * @example Usage with `etcd` and `kube-apiserver` in the folder KUBEBUILDER_ASSETS
 * ```ts ignore
 * import { realCluster } from "@op/sdk/testing";
 *
 * await using cluster = await realCluster();
 * const response = await cluster.fetch("/api/v1/namespaces/default");
 * ```
 */
export async function realCluster(options: RealClusterOptions = {}): Promise<RealCluster> {
  const { controllerManager = false, audit = "writes", apiserverArgs = [] } = options;
  const { programs, requireProgram } = await findPrograms(options);
  const etcdProgram = requireProgram("etcd");
  const apiserverProgram = requireProgram("kubeApiserver");
  const managerProgram = controllerManager === false ? undefined : requireProgram("kubeControllerManager");

  await using resources = new AsyncDisposableStack();
  const folder = resources.use(await watchedFolder("control-plane-")).path;
  const tokens = resources.use(startTokenIssuer());
  const authority = await createAuthority();
  const caCert = authority.certificate;
  await writeControlPlaneFiles(folder, { authority, tokenReviewUrl: tokens.url, audit });

  const etcd = await startEtcd(etcdProgram, folder);
  resources.defer(() => etcd.stop("SIGKILL"));

  const client = resources.adopt(Deno.createHttpClient({ caCerts: [caCert] }), (client) => client.close());
  const adminToken = tokens.issue("admin", ["system:masters"]);
  const start = async (port: number): Promise<WatchedProcess> => {
    const apiserver = await startApiserver(apiserverProgram, { folder, port, args: apiserverArgs });
    try {
      const admin = tokenAccess("admin", { url: `https://127.0.0.1:${port}`, caCert, client, token: adminToken });
      await apiserverReady(apiserver, admin, `${folder}/kube-apiserver.log`);
    } catch (error) {
      await apiserver.stop("SIGKILL");
      throw error;
    }
    return apiserver;
  };
  const { apiserver, port } = await onFreePort(start);
  const cluster = new ProcessCluster({
    programs,
    folder,
    port,
    processes: { etcd, apiserver },
    start: () => start(port),
    tokens,
    authority,
    client,
    adminToken,
  });
  resources.defer(() => cluster.close());
  if (managerProgram !== undefined) {
    const controllers = typeof controllerManager === "boolean" ? ["*"] : controllerManager;
    cluster.add(await startControllerManager(managerProgram, { folder, admin: cluster.admin, controllers }));
  }
  cluster.resources = resources.move();
  return cluster;
}

/** The parts of a {@linkcode ProcessCluster}. */
interface ClusterParts {
  readonly programs: Partial<ControlPlane>;
  readonly folder: string;
  readonly port: number;
  readonly processes: { readonly etcd: WatchedProcess; readonly apiserver: WatchedProcess };
  /** Starts the API server on the same port again. */
  readonly start: () => Promise<WatchedProcess>;
  readonly tokens: TokenIssuer;
  readonly authority: Authority;
  /** HTTP client that trusts the authority. */
  readonly client: Deno.HttpClient;
  readonly adminToken: string;
}

class ProcessCluster implements RealCluster {
  readonly programs: Partial<ControlPlane>;
  readonly folder: string;
  readonly url: string;
  readonly port: number;
  readonly caCert: string;
  readonly admin: TokenAccess;
  /** The resources that were acquired before this object. They are disposed of with it. */
  resources: AsyncDisposableStack | undefined;
  readonly #parts: ClusterParts;
  /** Clients of {@linkcode ProcessCluster.certificateUser}. */
  readonly #clients: Deno.HttpClient[] = [];
  /** All processes except the API server. */
  readonly #others: WatchedProcess[];
  #apiserver: WatchedProcess;

  constructor(parts: ClusterParts) {
    this.#parts = parts;
    this.programs = parts.programs;
    this.folder = parts.folder;
    this.port = parts.port;
    this.url = `https://127.0.0.1:${parts.port}`;
    this.caCert = parts.authority.certificate;
    this.#others = [parts.processes.etcd];
    this.#apiserver = parts.processes.apiserver;
    this.admin = this.#tokenAccess("admin", parts.adminToken);
  }

  get pids(): readonly number[] {
    return [...this.#others, this.#apiserver].filter(({ running }) => running).map(({ pid }) => pid);
  }

  fetch(request: Request | string, init?: RequestInit): Promise<Response> {
    return this.admin.fetch(request, init);
  }

  user(name: string, { groups = [] }: UserOptions = {}): Promise<TokenAccess> {
    return Promise.resolve(this.#tokenAccess(name, this.#parts.tokens.issue(name, groups)));
  }

  async certificateUser(name: string, { groups = [] }: UserOptions = {}): Promise<CertificateAccess> {
    const { url, caCert } = this;
    const { certificate, key } = await this.#parts.authority.client(name, groups);
    const client = Deno.createHttpClient({ caCerts: [caCert], cert: certificate, key });
    this.#clients.push(client);
    return {
      user: name,
      certificate,
      key,
      kubeconfig: kubeconfig({ url, caCert }, {
        "client-certificate-data": btoa(certificate),
        "client-key-data": btoa(key),
      }),
      fetch: (request, init) => send(request, init, { url, client }),
    };
  }

  async expire(token: string): Promise<void> {
    this.#parts.tokens.revoke(token);
    const user = this.#tokenAccess("expired", token);
    while (await statusOf(user.fetch("/version")) !== 401) await sleep(systemClock, 100);
  }

  auditLog(): Promise<AuditEvent[]> {
    return readAuditLog(`${this.folder}/audit.log`, async (mark) => {
      const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
      const path = `/apis/authentication.k8s.io/v1/selfsubjectreviews?fieldManager=${mark}`;
      await statusOf(this.fetch(path, { method: "POST", body: JSON.stringify(review) }));
    });
  }

  async stopApiserver({ signal = "SIGTERM" }: StopOptions = {}): Promise<void> {
    await this.#apiserver.stop(signal);
  }

  async startApiserver(): Promise<void> {
    if (this.#apiserver.running) throw new Error("startApiserver(): the API server is already running");
    this.#apiserver = await this.#parts.start();
  }

  async restartApiserver(options: StopOptions = {}): Promise<void> {
    await this.stopApiserver(options);
    await this.startApiserver();
  }

  /** Adds a process that is stopped with the cluster. */
  add(process: WatchedProcess): void {
    this.#others.push(process);
  }

  /** Stops all processes except etcd, which is stopped later. */
  async close(): Promise<void> {
    for (const client of this.#clients) client.close();
    const [, ...controllers] = this.#others;
    for (const controller of controllers) await controller.stop("SIGKILL");
    await this.#apiserver.stop("SIGKILL");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.resources?.disposeAsync();
  }

  #tokenAccess(user: string, token: string): TokenAccess {
    const { url, caCert } = this;
    return tokenAccess(user, { url, caCert, client: this.#parts.client, token });
  }
}

/** Finds the programs. `requireProgram` returns the path of one, or throws if it is missing. */
async function findPrograms(
  options: RealClusterOptions,
): Promise<{ programs: Partial<ControlPlane>; requireProgram(program: keyof ControlPlane): string }> {
  const { assets, version } = options;
  const found = await findControlPlane({
    ...(assets === undefined ? {} : { assets }),
    ...(version === undefined ? {} : { version }),
  });
  const advice = version === undefined
    ? 'Run "deno run -A tools/control_plane.ts" to build them, or set KUBEBUILDER_ASSETS to a folder with them'
    : `Run "deno run -A tools/control_plane.ts ${version}" to build them`;
  if (found === undefined) throw new Error(`realCluster(): no programs of a control plane found. ${advice}`);
  return {
    programs: found.programs,
    requireProgram(program) {
      const path = found.programs[program];
      if (path !== undefined) return path;
      throw new Error(
        `realCluster(): "${found.path}" (from ${found.origin}) has no "${PROGRAMS[program]}". ${advice}`,
      );
    },
  };
}

/**
 * Starts on a free port. Another process may take the port before the API server does, so it
 * retries.
 */
async function onFreePort(
  start: (port: number) => Promise<WatchedProcess>,
): Promise<{ apiserver: WatchedProcess; port: number }> {
  for (let tries = 1;; tries++) {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    listener.close();
    try {
      return { apiserver: await start(port), port };
    } catch (error) {
      if (!(error instanceof StartError) || !error.isPortTaken || tries === 5) throw error;
    }
  }
}

interface TokenTarget {
  readonly url: string;
  readonly caCert: string;
  readonly client: Deno.HttpClient;
  readonly token: string;
}

function tokenAccess(user: string, { url, caCert, client, token }: TokenTarget): TokenAccess {
  return {
    user,
    token,
    kubeconfig: kubeconfig({ url, caCert }, { token }),
    fetch: (request, init) => send(request, init, { url, client, token }),
  };
}

interface Destination {
  readonly url: string;
  readonly client: Deno.HttpClient;
  readonly token?: string;
}

function send(
  request: Request | string,
  init: RequestInit | undefined,
  { url, client, token }: Destination,
): Promise<Response> {
  const original = typeof request === "string" ? new Request(new URL(request, url), init) : new Request(request, init);
  const { pathname, search, searchParams } = new URL(original.url);
  const headers = new Headers(original.headers);
  // The caller may have set another token.
  if (token !== undefined && !headers.has("Authorization")) headers.set("Authorization", `Bearer ${token}`);
  // kube-apiserver 1.37 compresses a watch list as several gzip members, and Deno's fetch decodes
  // only the first one.
  if (searchParams.has("watch")) headers.set("Accept-Encoding", "identity");
  // `Request` sets this type for string bodies.
  if (headers.get("Content-Type") === "text/plain;charset=UTF-8") headers.set("Content-Type", "application/json");
  return fetch(new Request(url + pathname + search, original), { headers, client });
}

async function statusOf(promise: Promise<Response>): Promise<number> {
  const response = await promise;
  await response.body?.cancel();
  return response.status;
}
