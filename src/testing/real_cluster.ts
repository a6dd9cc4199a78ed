/**
 * A real Kubernetes API server for tests: etcd, kube-apiserver and, when asked for, kube-controller-manager as processes of this machine, on loopback
 * only. There are no nodes, so that pods stay pending, and no service network, so that webhooks are called by URL.
 */
import { sleep, systemClock } from "../base/clock.ts";
import { type CertificateAccess, kubeconfig, openTokenBook, type TokenAccess, type UserAccess } from "./_access.ts";
import { type AuditEvent, readAuditLog } from "./_audit.ts";
import { createAuthority } from "./_certificates.ts";
import { type ControlPlane, findControlPlane, PROGRAMS } from "./_control_plane.ts";
import {
  apiserverReady,
  startApiserver,
  startControllerManager,
  startEtcd,
  writeControlPlaneFiles,
} from "./_control_plane_processes.ts";
import { watchedFolder, type WatchedProcess } from "./_watched_process.ts";

export type { AuditEvent, CertificateAccess, ControlPlane, TokenAccess, UserAccess };

/** Options for {@linkcode realCluster}. */
export interface RealClusterOptions {
  /** Folder of the programs. @default {KUBEBUILDER_ASSETS, else the cache of this repository} */
  readonly assets?: string;
  /**
   * Version of Kubernetes to start from the cache of this repository, such as `v1.37.2`; `deno run -A tools/control_plane.ts VERSION` builds it.
   * KUBEBUILDER_ASSETS is then ignored. @default {the programs in `assets`}
   */
  readonly version?: string;
  /**
   * Also starts kube-controller-manager: with all its controllers (garbage collection, namespaces, Deployments and so on), or with some by their names,
   * such as `garbage-collector-controller`; that of service accounts always runs. @default {false}
   */
  readonly controllerManager?: boolean | readonly string[];
  /** What the audit log records. @default {"writes"} */
  readonly audit?: "writes" | "everything";
  /** More arguments for kube-apiserver, such as `--feature-gates=...`. @default {[]} */
  readonly apiserverArgs?: readonly string[];
}

/** Options for {@linkcode RealCluster.user}. */
export interface UserOptions {
  /** Groups besides `system:authenticated`; those of a service account's name are added. @default {[]} */
  readonly groups?: readonly string[];
}

/** How to stop an apiserver. */
export interface StopOptions {
  /** `SIGTERM` lets it finish what it does; `SIGKILL` is a crash. @default {"SIGTERM"} */
  readonly signal?: "SIGTERM" | "SIGKILL";
}

/** A running control plane. */
export interface RealCluster extends AsyncDisposable {
  /** `https://127.0.0.1:PORT` */
  readonly url: string;
  /** Of the API server, on loopback. */
  readonly port: number;
  /** The authority that signed the server's certificate, as PEM. */
  readonly caCert: string;
  /** Paths of the programs; `kubectl` is there where the folder has it. */
  readonly programs: Partial<ControlPlane>;
  /** Folder of the logs, for as long as the cluster runs: `etcd.log`, `kube-apiserver.log` and so on. */
  readonly folder: string;
  /** Process ids of the programs that run. */
  readonly pids: readonly number[];
  /** The cluster's administrator, of the group `system:masters`. */
  readonly admin: TokenAccess;
  /** Sends a request as the administrator. A path is taken as relative to the cluster's URL; of a Request's URL path and query count. */
  fetch(request: Request | string, init?: RequestInit): Promise<Response>;
  /** A token for any user name, such as `system:serviceaccount:default:website-operator`. The user has no rights but those RBAC gives. */
  user(name: string, options?: UserOptions): Promise<TokenAccess>;
  /** A client certificate for any user name. */
  certificateUser(name: string, options?: UserOptions): Promise<CertificateAccess>;
  /**
   * Makes a token of {@linkcode user} invalid, as when it has expired. One that was never used is refused at once. Of one in use the apiserver
   * remembers for ten seconds that it was good; watches that run go on.
   *
   * @returns When the apiserver refuses the token.
   */
  expire(token: string): Promise<void>;
  /** What the audit log holds so far, in the order in which the answers were complete. */
  auditLog(): Promise<AuditEvent[]>;
  /** Stops the API server and waits for its end; what is stored stays. */
  stopApiserver(options?: StopOptions): Promise<void>;
  /** Starts a stopped apiserver on the same port and the same data. */
  startApiserver(): Promise<void>;
  /** Stops it and starts it again. */
  restartApiserver(options?: StopOptions): Promise<void>;
}

/**
 * Starts a control plane; it takes about four seconds. All of it ends when the answer is disposed of, and when this process ends, however it does.
 *
 * @param options Additional options.
 * @returns The control plane; to be disposed of.
 * @throws {Error} If a program is missing, or ends while starting: its last lines are then in the message.
 *
 * @example Where etcd and kube-apiserver are: in the folder KUBEBUILDER_ASSETS
 * ```ts ignore
 * import { realCluster } from "@op/sdk/testing";
 *
 * await using cluster = await realCluster();
 * const response = await cluster.fetch("/api/v1/namespaces/default");
 * ```
 */
export async function realCluster(options: RealClusterOptions = {}): Promise<RealCluster> {
  const { controllerManager = false, audit = "writes", apiserverArgs = [] } = options;
  const { programs, need } = await findPrograms(options);
  const programOf = {
    etcd: need("etcd"),
    apiserver: need("kubeApiserver"),
    controllerManager: controllerManager === false ? undefined : need("kubeControllerManager"),
  };

  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await watchedFolder("control-plane-")).path;
  const tokens = stack.use(openTokenBook());
  const authority = await createAuthority();
  const caCert = authority.certificate;
  await writeControlPlaneFiles(folder, { authority, tokenReviewUrl: tokens.url, audit });

  const etcd = await startEtcd(programOf.etcd, folder);
  stack.defer(() => etcd.stop("SIGKILL"));

  const client = stack.adopt(Deno.createHttpClient({ caCerts: [caCert] }), (client) => client.close());
  const adminToken = tokens.issue("admin", ["system:masters"]);
  const start = async (port: number): Promise<WatchedProcess> => {
    const apiserver = await startApiserver(programOf.apiserver, { folder, port, args: apiserverArgs });
    try {
      const admin = tokenAccess("admin", { url: `https://127.0.0.1:${port}`, caCert, client, token: adminToken });
      await apiserverReady(apiserver, admin, `${folder}/kube-apiserver.log`);
    } catch (error) {
      await apiserver.stop("SIGKILL");
      throw error;
    }
    return apiserver;
  };
  let { apiserver, port } = await onFreePort(start);
  stack.defer(() => apiserver.stop("SIGKILL"));

  const url = `https://127.0.0.1:${port}`;
  const admin = tokenAccess("admin", { url, caCert, client, token: adminToken });
  const running = [etcd];
  if (programOf.controllerManager !== undefined) {
    const started = await startControllerManager(programOf.controllerManager, {
      folder,
      admin,
      controllers: typeof controllerManager === "boolean" ? ["*"] : controllerManager,
    });
    stack.defer(() => started.stop("SIGKILL"));
    running.push(started);
  }

  const owned = stack.move();
  const cluster: RealCluster = {
    url,
    port,
    caCert,
    programs,
    folder,
    get pids() {
      return [...running, apiserver].filter((program) => program.running).map((program) => program.pid);
    },
    admin,
    fetch: admin.fetch,
    user(name, { groups = [] } = {}) {
      return Promise.resolve(tokenAccess(name, { url, caCert, client, token: tokens.issue(name, groups) }));
    },
    async certificateUser(name, { groups = [] } = {}) {
      const { certificate, key } = await authority.client(name, groups);
      const own = Deno.createHttpClient({ caCerts: [caCert], cert: certificate, key });
      owned.defer(() => own.close());
      return {
        user: name,
        certificate,
        key,
        kubeconfig: kubeconfig({ url, caCert }, {
          "client-certificate-data": btoa(certificate),
          "client-key-data": btoa(key),
        }),
        fetch: (request, init) => send(request, init, { url, client: own }),
      };
    },
    async expire(token) {
      tokens.revoke(token);
      const user = tokenAccess("expired", { url, caCert, client, token });
      while (await statusOf(user.fetch("/version")) !== 401) await sleep(systemClock, 100);
    },
    auditLog() {
      return readAuditLog(`${folder}/audit.log`, async (mark) => {
        const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
        const path = `/apis/authentication.k8s.io/v1/selfsubjectreviews?fieldManager=${mark}`;
        await statusOf(admin.fetch(path, { method: "POST", body: JSON.stringify(review) }));
      });
    },
    async stopApiserver({ signal = "SIGTERM" } = {}) {
      await apiserver.stop(signal);
    },
    async startApiserver() {
      if (apiserver.running) throw new Error("Cannot start the apiserver: it runs already");
      apiserver = await start(port);
    },
    async restartApiserver(options) {
      await cluster.stopApiserver(options);
      await cluster.startApiserver();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
  return cluster;
}

/** The programs, and a way to ask for one that must be there. */
async function findPrograms(
  options: RealClusterOptions,
): Promise<{ programs: Partial<ControlPlane>; need(program: keyof ControlPlane): string }> {
  const { assets, version } = options;
  const found = await findControlPlane({
    ...(assets === undefined ? {} : { assets }),
    ...(version === undefined ? {} : { version }),
  });
  const wayOut = version === undefined
    ? 'run "tools/control_plane.ts" to build them, or set KUBEBUILDER_ASSETS to a folder that has them'
    : `run "deno run -A tools/control_plane.ts ${version}" to build them`;
  if (found === undefined) {
    throw new Error(`Cannot start a cluster: there are no programs of a control plane here; ${wayOut}`);
  }
  return {
    programs: found.programs,
    need(program) {
      const path = found.programs[program];
      if (path !== undefined) return path;
      throw new Error(
        `Cannot start a cluster: "${PROGRAMS[program]}" is not in "${found.path}" (from ${found.origin}); ${wayOut}`,
      );
    },
  };
}

/** Tries ports that are free right now. Another process may take one before the apiserver does, hence more than one try. */
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
      const isTaken = error instanceof Error && error.message.includes("address already in use");
      if (!isTaken || tries === 5) throw error;
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

interface Way {
  readonly url: string;
  readonly client: Deno.HttpClient;
  readonly token?: string;
}

function send(
  request: Request | string,
  init: RequestInit | undefined,
  { url, client, token }: Way,
): Promise<Response> {
  const given = typeof request === "string" ? new Request(new URL(request, url), init) : new Request(request, init);
  const { pathname, search } = new URL(given.url);
  const headers = new Headers(given.headers);
  // A request may bring a token of its own.
  if (token !== undefined && !headers.has("Authorization")) headers.set("Authorization", `Bearer ${token}`);
  // kube-apiserver 1.37 compresses a watch list as several gzip members, and Deno's fetch decodes only the first one.
  if (new URL(given.url).searchParams.has("watch")) headers.set("Accept-Encoding", "identity");
  // What fetch says of a text that nobody gave a type.
  if (headers.get("Content-Type") === "text/plain;charset=UTF-8") headers.set("Content-Type", "application/json");
  return fetch(new Request(url + pathname + search, given), { headers, client });
}

async function statusOf(answer: Promise<Response>): Promise<number> {
  const response = await answer;
  await response.body?.cancel();
  return response.status;
}
