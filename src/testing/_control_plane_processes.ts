/** Starts the programs of a control plane, and waits until they are ready. */
import { sleep, systemClock } from "../base/clock.ts";
import { kubeconfig, type TokenAccess, type UserAccess } from "./_access.ts";
import { auditPolicy } from "./_audit.ts";
import { type Authority, signingKeys } from "./_certificates.ts";
import { startWatched, type WatchedProcess } from "./_watched_process.ts";

/** Pods reach the API server as `kubernetes.default.svc`. */
const SERVER_NAMES = ["127.0.0.1", "localhost", "kubernetes.default.svc", "kubernetes.default", "kubernetes"];

// In milliseconds. Starting takes four seconds on an idle machine, and over a minute at a load of
// 30. The limits only guard against hangs.
const START_LIMIT = 300_000;
const ANSWER_LIMIT = 60_000;
const POLL = 25;

/** Writes certificates and configuration of the programs into their folder. */
export async function writeControlPlaneFiles(
  folder: string,
  options: { authority: Authority; tokenReviewUrl: string; audit: "writes" | "everything" },
): Promise<void> {
  const { authority, tokenReviewUrl, audit } = options;
  const server = await authority.server(SERVER_NAMES);
  const tokenKeys = await signingKeys();
  const files = {
    "ca.crt": authority.certificate,
    "server.crt": server.certificate,
    "server.key": server.key,
    "service-account.key": tokenKeys.key,
    "service-account.pub": tokenKeys.publicKey,
    "audit-policy.json": auditPolicy(audit),
    "token-review.yaml": kubeconfig({ url: tokenReviewUrl }, {}),
  };
  await Promise.all(Object.entries(files).map(([name, text]) => Deno.writeTextFile(`${folder}/${name}`, text)));
}

/**
 * Starts etcd on a socket in the folder, and waits until it is ready. Data is not synced to the
 * disk.
 */
export async function startEtcd(program: string, folder: string): Promise<WatchedProcess> {
  const log = `${folder}/etcd.log`;
  const etcd = await startWatched(program, {
    log,
    args: [
      `--data-dir=${folder}/etcd`,
      `--listen-client-urls=unix://${folder}/etcd.sock`,
      // This address is not used, but must have the form host:port.
      "--advertise-client-urls=http://127.0.0.1:1",
      `--listen-peer-urls=unix://${folder}/peer.sock`,
      "--unsafe-no-fsync",
      "--log-level=warn",
    ],
  });
  try {
    await until(async () => (await Deno.stat(`${folder}/etcd.sock`)).isSocket ?? false, { program: etcd, log });
  } catch (error) {
    await etcd.stop("SIGKILL");
    throw error;
  }
  return etcd;
}

/** Starts kube-apiserver on a port. {@linkcode apiserverReady} waits until it is ready. */
export function startApiserver(
  program: string,
  options: { folder: string; port: number; args: readonly string[] },
): Promise<WatchedProcess> {
  const { folder, port, args } = options;
  return startWatched(program, {
    log: `${folder}/kube-apiserver.log`,
    args: [
      `--etcd-servers=unix://${folder}/etcd.sock`,
      `--secure-port=${port}`,
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      "--endpoint-reconciler-type=none",
      "--service-cluster-ip-range=10.0.0.0/24",
      `--tls-cert-file=${folder}/server.crt`,
      `--tls-private-key-file=${folder}/server.key`,
      `--client-ca-file=${folder}/ca.crt`,
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${folder}/service-account.pub`,
      `--service-account-signing-key-file=${folder}/service-account.key`,
      `--authentication-token-webhook-config-file=${folder}/token-review.yaml`,
      "--authentication-token-webhook-version=v1",
      "--authentication-token-webhook-cache-ttl=1s",
      "--authorization-mode=RBAC",
      "--allow-privileged=true",
      // It rejects pods until kube-controller-manager has created their service account.
      "--disable-admission-plugins=ServiceAccount",
      `--audit-policy-file=${folder}/audit-policy.json`,
      `--audit-log-path=${folder}/audit.log`,
      "--audit-log-mode=blocking-strict",
      "--profiling=false",
      ...args,
    ],
  });
}

/** Waits until kube-apiserver is ready and has created the namespace `default`. */
export async function apiserverReady(apiserver: WatchedProcess, admin: UserAccess, log: string): Promise<void> {
  for (const path of ["/readyz", "/api/v1/namespaces/default"]) {
    await until(async () => {
      const response = await admin.fetch(path, { signal: AbortSignal.timeout(ANSWER_LIMIT) });
      await response.body?.cancel();
      return response.ok;
    }, { program: apiserver, log });
  }
}

/** Starts kube-controller-manager, and waits until its service account controller works. */
export async function startControllerManager(
  program: string,
  options: { folder: string; admin: TokenAccess; controllers: readonly string[] },
): Promise<WatchedProcess> {
  const { folder, admin, controllers } = options;
  const log = `${folder}/kube-controller-manager.log`;
  await Deno.writeTextFile(`${folder}/admin.yaml`, admin.kubeconfig);
  const started = await startWatched(program, {
    log,
    args: [
      `--kubeconfig=${folder}/admin.yaml`,
      `--controllers=${[...controllers, "serviceaccount-controller"]}`,
      "--leader-elect=false",
      "--secure-port=0",
      `--service-account-private-key-file=${folder}/service-account.key`,
      `--root-ca-file=${folder}/ca.crt`,
      "--kube-api-qps=500",
      "--kube-api-burst=1000",
    ],
  });
  try {
    await until(async () => {
      const response = await admin.fetch("/api/v1/namespaces/default/serviceaccounts/default");
      await response.body?.cancel();
      return response.ok;
    }, { program: started, log });
  } catch (error) {
    await started.stop("SIGKILL");
    throw error;
  }
  return started;
}

/** Thrown if a program of a control plane ends, or is not ready in time. */
export class StartError extends Error {
  override name = "StartError";
  /** Whether another process has the port. kube-apiserver reports this only in its log. */
  readonly isPortTaken: boolean;

  constructor(problem: string, logTail: string, options?: ErrorOptions) {
    super(`realCluster(): ${problem}. The log ends with:\n${logTail}`, options);
    this.isPortTaken = logTail.includes("address already in use");
  }
}

/**
 * Polls in real time until a check returns `true`. A check that throws is repeated.
 *
 * @throws {StartError} If the program ends, or if the check fails for too long.
 */
async function until(
  check: () => Promise<boolean>,
  { program, log }: { program: WatchedProcess; log: string },
): Promise<void> {
  let code: number | undefined;
  program.ended.then((ended) => code = ended);
  let cause: unknown;
  for (const end = systemClock.elapsed() + START_LIMIT; systemClock.elapsed() < end; await sleep(systemClock, POLL)) {
    try {
      if (await check()) return;
    } catch (error) {
      cause = error;
    }
    if (code !== undefined) throw new StartError(`a program ended with code ${code}`, await lastLines(log));
  }
  throw new StartError(`a program was not ready after ${START_LIMIT / 1000} s`, await lastLines(log), { cause });
}

async function lastLines(path: string): Promise<string> {
  return (await Deno.readTextFile(path).catch(() => "")).trimEnd().split("\n").slice(-15).join("\n");
}
