/** Arguments and files of a control plane's programs, and how to know that one is up. */
import { sleep, systemClock } from "../base/clock.ts";
import { kubeconfig, type TokenAccess, type UserAccess } from "./_access.ts";
import { auditPolicy } from "./_audit.ts";
import { type Authority, signingKeys } from "./_certificates.ts";
import { startWatched, type WatchedProcess } from "./_watched_process.ts";

/** In a pod the apiserver is `kubernetes.default.svc`; the client dials the name. */
const SERVER_NAMES = ["127.0.0.1", "localhost", "kubernetes.default.svc", "kubernetes.default", "kubernetes"];

// These guard against hangs only: it takes four seconds on a quiet machine, and a minute or more on one at a load of 30.
const START_LIMIT = 300_000;
const ANSWER_LIMIT = 60_000;
const POLL = 25;

/** Writes what the programs read into their folder. */
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

/** Starts etcd on a socket in the folder. Data is not synced to the disk: it need not survive the machine. */
export async function startEtcd(program: string, folder: string): Promise<WatchedProcess> {
  const log = `${folder}/etcd.log`;
  const etcd = await startWatched(program, {
    log,
    args: [
      `--data-dir=${folder}/etcd`,
      `--listen-client-urls=unix://${folder}/etcd.sock`,
      // Nobody reads what it advertises, but it must have the form host:port.
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

/** Starts an apiserver on a port. It is up once {@linkcode apiserverReady} says so. */
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
      // It would refuse pods until kube-controller-manager has made their service account.
      "--disable-admission-plugins=ServiceAccount",
      `--audit-policy-file=${folder}/audit-policy.json`,
      `--audit-log-path=${folder}/audit.log`,
      "--audit-log-mode=blocking-strict",
      "--profiling=false",
      ...args,
    ],
  });
}

/** Waits until an apiserver is ready and has made the namespace `default`. */
export async function apiserverReady(apiserver: WatchedProcess, admin: UserAccess, log: string): Promise<void> {
  for (const path of ["/readyz", "/api/v1/namespaces/default"]) {
    await until(async () => {
      const response = await admin.fetch(path, { signal: AbortSignal.timeout(ANSWER_LIMIT) });
      await response.body?.cancel();
      return response.ok;
    }, { program: apiserver, log });
  }
}

/** Starts kube-controller-manager, and waits until the controller of service accounts has shown itself. */
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

/** Polls on the machine's clock, as what it waits for is a process; gives up when that has ended. Errors count as "not yet". */
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
    if (code !== undefined) {
      throw new Error(
        `Cannot start a control plane: it ended with code ${code}; its log ends with\n${await lastLines(log)}`,
      );
    }
  }
  throw new Error(
    `Cannot start a control plane: it is not ready after ${START_LIMIT / 1000} s; its log ends with\n${await lastLines(
      log,
    )}`,
    { cause },
  );
}

async function lastLines(path: string): Promise<string> {
  return (await Deno.readTextFile(path).catch(() => "")).trimEnd().split("\n").slice(-15).join("\n");
}
