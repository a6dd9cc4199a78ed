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
const TIMES: CertificateTimes = { authority: 1e10, server: 1e9, publish: 4000, drop: 5000, look: 4000 };
const RENEW_DEADLINE = 10_000;

const op = operator({
  name: "notes",
  parts: { notes, rules: webhook(Note, { mutate() {}, validate() {} }) },
});

// Lasts as long as the tests of the file, since replicas run side by side.
const CRYPTO = new PendingCrypto();

/** A request of a replica. */
export interface Asked {
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

/** Where a replica pauses: with a request on its way to the server, or after the response. */
export interface StandingStill {
  readonly when: "asked" | "answered";
  readonly at: Asked;
}

/** A server, and its writers. */
export class Place {
  readonly server = createApiserver();
  readonly admin: Client = clientBy((request) => this.server.fetch(request));
  /** The replica that acquired the Lease last, and its own clock's time then. */
  #holder: { readonly identity: string; readonly since: number } | undefined;

  /** All objects that receive the certificate authority. */
  static async make(): Promise<Place> {
    // Loading it takes longer than everything else.
    await import("../../src/runtime/webhooks/x509.ts");
    const place = new Place();
    const at = { place: { url: "https://127.0.0.1:1" } };
    for (const configuration of webhookConfigurations(op.name, op.parts, at)) {
      const kind = configuration.kind === "MutatingWebhookConfiguration"
        ? MutatingWebhookConfiguration
        : ValidatingWebhookConfiguration;
      await place.admin.create(kind, configuration as never);
    }
    const [definition] = withConversion([NoteV2.crd!], op.parts, at);
    await place.admin.create(CustomResourceDefinition, definition as never);
    return place;
  }

  /** Returns whether a replica holds the Lease by its own clock. */
  isLed(by: string, clock: Clock): boolean {
    return this.#holder?.identity === by && clock.elapsed() - this.#holder.since < RENEW_DEADLINE;
  }

  /** Records a request that has arrived. */
  async answer(request: Request, sent: number): Promise<Response> {
    const isLease = request.method !== "GET" && request.url.includes("/leases");
    const lease = isLease ? await request.clone().json() : undefined;
    const response = await this.server.fetch(request);
    if (response.ok && isLease) this.#holder = { identity: lease.spec.holderIdentity, since: sent };
    return response;
  }

  /** Makes the certificate authority look old. */
  async askForRenewal(): Promise<void> {
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
  readonly asked: Asked[] = [];
  /** The certificate that it serves. */
  shown: string | undefined;
  readonly #clock: OwnClock = new OwnClock();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #writes = 0;
  #still: StandingStill | undefined;
  #stopped: PromiseWithResolvers<void> | undefined;

  /**
   * @param place The server.
   * @param identity Its identity in the Lease.
   * @param still Where it pauses, once.
   */
  constructor(place: Place, identity: string, still?: StandingStill) {
    this.#still = still;
    const client = clientBy(async (request) => {
      const { method } = request;
      const { pathname: path } = new URL(request.url);
      const isGuarded = method !== "GET" && !path.includes("/leases");
      if (isGuarded) this.#writes++;
      const asked: Asked = {
        method,
        path,
        isGuarded,
        isLeading: place.isLed(identity, this.#clock),
        writes: this.#writes,
      };
      const sent = this.#clock.elapsed();
      this.asked.push(asked);
      // A request that was sent arrives even if its caller stopped waiting.
      const body = method === "GET" ? null : await request.text();
      const onItsWay = new Request(request.url, { method, headers: request.headers, body });
      await this.#stand(asked, "asked");
      const response = await place.answer(onItsWay, sent);
      asked.status = response.status;
      await this.#stand(asked, "answered");
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
      use: ({ certificate }) => this.shown = certificate,
    });
    this.#running = keeper.run(this.#stop.signal);
  }

  async #stand(asked: Asked, when: StandingStill["when"]): Promise<void> {
    if (this.#still?.when !== when || !isLike(this.#still.at, asked)) return;
    this.#stopped = Promise.withResolvers<void>();
    await this.#stopped.promise;
  }

  /** Whether it is paused. */
  get isStill(): boolean {
    return this.#stopped !== undefined;
  }

  /** Advances its clock until it pauses. Returns how much time passed. */
  async pass(milliseconds: number): Promise<number> {
    const began = this.#clock.base.now();
    const until = began + milliseconds;
    await this.#rest();
    while (!this.isStill && this.#clock.base.now() < until) {
      if (this.#clock.base.step(until)) await this.#rest();
    }
    return this.#clock.base.now() - began;
  }

  /**
   * Waits until it sends no more requests. Keys are created in threads, so turns of the event loop
   * are not enough.
   */
  async #rest(): Promise<void> {
    for (let quiet = 0, asked = -1; quiet < 3; quiet = asked === this.asked.length ? quiet + 1 : 0) {
      asked = this.asked.length;
      await CRYPTO.settle(1);
    }
  }

  /** Resumes after a delay: pending responses arrive before any timer fires. */
  wake(milliseconds: number): void {
    assert(this.#stopped !== undefined, "it does not stand still");
    this.#clock.lost += milliseconds;
    this.#stopped.resolve();
    this.#stopped = this.#still = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#stopped?.resolve();
    // Releases the Lease if it is held.
    await this.pass(1000);
    await this.#running;
  }
}

/** A clock whose timers ignore the time during a pause. */
class OwnClock implements Clock {
  readonly base = new VirtualClock();
  lost = 0;
  now(): number {
    return this.base.now() + this.lost;
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

function isLike(one: Asked, other: Asked): boolean {
  return (["method", "path", "isLeading", "writes"] as const).every((key) => one[key] === other[key]);
}
