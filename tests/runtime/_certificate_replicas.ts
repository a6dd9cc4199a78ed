/**
 * Replicas that maintain the webhook certificates of one operator on a server in this process. Each
 * has its own clock and can be paused.
 */
import assert from "node:assert/strict";
import { createApiserver } from "../../src/apiserver/mod.ts";
import type { Clock } from "../../src/base/clock.ts";
import { VirtualClock } from "../../src/base/virtual_clock.ts";
import {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  Secret,
  ValidatingWebhookConfiguration,
} from "../../src/kinds/mod.ts";
import { Client } from "../../src/kube/client.ts";
import { webhookConfigurations, withConversion } from "../../src/manifests/webhooks.ts";
import { operatorLog } from "../../src/operator/log.ts";
import { publishTargets } from "../../src/operator/webhook_server.ts";
import type { CertificateTimes } from "../../src/runtime/webhooks/authority.ts";
import { CertificateKeeper } from "../../src/runtime/webhooks/certificate_keeper.ts";
import { operator, webhook } from "../../mod.ts";
import { PendingCrypto } from "./_webhooks.ts";
import { Note, notes, NoteV2 } from "../fixtures/reviews.ts";

const SECRET = { name: "notes-webhook", namespace: "default" } as const;
/** Takes each step at the next check. */
const TIMES: CertificateTimes = { authority: 1e10, server: 1e9, publish: 4000, drop: 5000, checkInterval: 4000 };
const RENEW_DEADLINE = 10_000;

const op = operator({
  name: "notes",
  parts: { notes, rules: webhook(Note, { mutate() {}, validate() {} }) },
});

// Lasts as long as the tests of the file, since replicas run side by side.
const CRYPTO = new PendingCrypto();

/** A request of a replica. */
export interface ReplicaRequest {
  readonly method: string;
  readonly path: string;
  /** Whether it writes an object that the Lease guards. */
  readonly isGuarded: boolean;
  /**
   * Whether it may write: its replica holds the Lease, and has renewed it in time by its own clock.
   */
  readonly isLeading: boolean;
  /** Number of such writes, including this one. */
  readonly writes: number;
  /** The status of the server's response. */
  status?: number;
}

/** Where a replica pauses. */
export interface Pause {
  readonly when: "before it arrives" | "after the response";
  /** The request before or after which it pauses. */
  readonly at: ReplicaRequest;
}

/** An API server with the objects that receive the certificate authority. */
export class ReplicaServer {
  readonly server = createApiserver();
  readonly admin: Client = clientBy((request) => this.server.fetch(request));
  /** The replica that acquired the Lease last, and its own clock's time then. */
  #holder: { readonly identity: string; readonly since: number } | undefined;

  /** Creates a server. */
  static async create(): Promise<ReplicaServer> {
    // Loaded here, since replicas would load it while they are measured in turns of the event loop.
    await import("../../src/runtime/webhooks/x509.ts");
    const server = new ReplicaServer();
    const at = { place: { url: "https://127.0.0.1:1" } };
    for (const configuration of webhookConfigurations(op.name, op.parts, at)) {
      const kind = configuration.kind === "MutatingWebhookConfiguration"
        ? MutatingWebhookConfiguration
        : ValidatingWebhookConfiguration;
      await server.admin.create(kind, configuration as never);
    }
    const [definition] = withConversion([NoteV2.crd!], op.parts, at);
    await server.admin.create(CustomResourceDefinition, definition as never);
    return server;
  }

  /** Returns whether a replica holds the Lease by its own clock. */
  isLedBy(identity: string, clock: Clock): boolean {
    return this.#holder?.identity === identity && clock.elapsed() - this.#holder.since < RENEW_DEADLINE;
  }

  /** Handles a request that has arrived, and records the holder of the Lease. */
  async handle(request: Request, sent: number): Promise<Response> {
    const isLease = request.method !== "GET" && request.url.includes("/leases");
    const lease = isLease ? await request.clone().json() : undefined;
    const response = await this.server.fetch(request);
    if (response.ok && isLease) this.#holder = { identity: lease.spec.holderIdentity, since: sent };
    return response;
  }

  /** Backdates the certificate authority, so that the leader renews it. */
  async requestRenewal(): Promise<void> {
    const metadata = { annotations: { "op/authority-since": "1970-01-01T00:00:00Z" } };
    await this.admin.patch(Secret, SECRET.name, { metadata }, { namespace: SECRET.namespace });
  }

  /** Returns the published bundles, one per target. */
  async bundles(): Promise<string[]> {
    const configurations = await Promise.all([
      this.admin.get(MutatingWebhookConfiguration, op.name),
      this.admin.get(ValidatingWebhookConfiguration, op.name),
    ]);
    const { spec } = await this.admin.get(CustomResourceDefinition, NoteV2.crd!.metadata.name);
    return [
      ...configurations.flatMap(({ webhooks = [] }) => webhooks.map(({ clientConfig }) => clientConfig.caBundle ?? "")),
      spec.conversion?.webhook?.clientConfig?.caBundle ?? "",
    ].map(atob);
  }
}

/** A replica. */
export class Replica implements AsyncDisposable {
  readonly requests: ReplicaRequest[] = [];
  /** The certificate that it serves. */
  certificate: string | undefined;
  readonly #clock: PausableClock = new PausableClock();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #writes = 0;
  #pause: Pause | undefined;
  #paused: PromiseWithResolvers<void> | undefined;

  /**
   * @param server The server.
   * @param identity Its identity in the Lease.
   * @param pause Where it pauses, once. @default {it does not pause}
   */
  constructor(server: ReplicaServer, identity: string, pause?: Pause) {
    this.#pause = pause;
    const client = clientBy(async (request) => {
      const { method } = request;
      const { pathname: path } = new URL(request.url);
      const isGuarded = method !== "GET" && !path.includes("/leases");
      if (isGuarded) this.#writes++;
      const recorded: ReplicaRequest = {
        method,
        path,
        isGuarded,
        isLeading: server.isLedBy(identity, this.#clock),
        writes: this.#writes,
      };
      const sent = this.#clock.elapsed();
      this.requests.push(recorded);
      // A request that was sent arrives even if its caller stopped waiting.
      const body = method === "GET" ? null : await request.text();
      const arriving = new Request(request.url, { method, headers: request.headers, body });
      await this.#pauseAt(recorded, "before it arrives");
      const response = await server.handle(arriving, sent);
      recorded.status = response.status;
      await this.#pauseAt(recorded, "after the response");
      return response;
    });
    const keeper = new CertificateKeeper({
      client,
      clock: this.#clock,
      random: () => 0.5,
      log: operatorLog(identity),
      secret: SECRET,
      names: ["notes-webhook.default.svc"],
      targets: publishTargets(op),
      times: TIMES,
      identity,
      use: ({ certificate }) => this.certificate = certificate,
    });
    this.#running = keeper.run(this.#stop.signal);
  }

  async #pauseAt(request: ReplicaRequest, when: Pause["when"]): Promise<void> {
    if (this.#pause?.when !== when || !isSame(this.#pause.at, request)) return;
    this.#paused = Promise.withResolvers<void>();
    await this.#paused.promise;
  }

  /** Whether it is paused. */
  get isPaused(): boolean {
    return this.#paused !== undefined;
  }

  /** Advances its clock until it pauses. Returns how much time passed. */
  async advance(milliseconds: number): Promise<number> {
    const began = this.#clock.base.now();
    const until = began + milliseconds;
    await this.#settle();
    while (!this.isPaused && this.#clock.base.now() < until) {
      if (this.#clock.base.step(until)) await this.#settle();
    }
    return this.#clock.base.now() - began;
  }

  /**
   * Waits until it sends no more requests. Keys are created in threads, so turns of the event loop
   * are not enough.
   */
  async #settle(): Promise<void> {
    for (let quiet = 0, sent = -1; quiet < 3; quiet = sent === this.requests.length ? quiet + 1 : 0) {
      sent = this.requests.length;
      await CRYPTO.settle(1);
    }
  }

  /**
   * Resumes after a pause. Pending responses arrive before any timer fires.
   *
   * @param milliseconds The duration of the pause.
   */
  resume(milliseconds: number): void {
    assert(this.#paused !== undefined, "the replica is not paused");
    this.#clock.paused += milliseconds;
    this.#paused.resolve();
    this.#paused = this.#pause = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#paused?.resolve();
    // Releases the Lease if it is held.
    await this.advance(1000);
    await this.#running;
  }
}

/** A clock whose timers ignore the time during a pause. */
class PausableClock implements Clock {
  readonly base = new VirtualClock();
  /** Total duration of the pauses, in milliseconds. */
  paused = 0;
  now(): number {
    return this.base.now() + this.paused;
  }
  elapsed(): number {
    return this.now();
  }
  after(delay: number, callback: () => void): Disposable {
    return this.base.after(delay, callback);
  }
}

function clientBy(fetch: (request: Request) => Promise<Response>): Client {
  return new Client({ url: "http://api.server", fetch, close() {} });
}

function isSame(one: ReplicaRequest, other: ReplicaRequest): boolean {
  return (["method", "path", "isLeading", "writes"] as const).every((key) => one[key] === other[key]);
}
