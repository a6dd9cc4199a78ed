/** Replicas that keep the certificates of one operator's webhooks on a server in this process: each has a clock of its own, and can be made to stand still. */
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
import { CryptoWork } from "./_own_work.ts";
import { Note, notes, NoteV2 } from "./_reviews.ts";

const SECRET = { name: "notes-webhook", namespace: "default" } as const;
/** Each step at the next look. */
const TIMES: CertificateTimes = { authority: 1e10, server: 1e9, publish: 4000, drop: 5000, look: 4000 };
const RENEW_DEADLINE = 10_000;

const op = operator({
  name: "notes",
  parts: { notes, rules: webhook(Note, { mutate() {}, validate() {} }) },
});

// For as long as the tests of the file run: replicas live side by side.
const WORK = new CryptoWork();

/** A request of a replica. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  /** Whether it writes what the Lease guards. */
  readonly isGuarded: boolean;
  /** Whether it may: its replica holds the Lease, and has renewed it in time by its own clock. */
  readonly isLeading: boolean;
  /** How many such writes there were, with it. */
  readonly writes: number;
  /** Of the server's answer. */
  status?: number;
}

/** Where a replica stands still: at a request on its way to the server, or with the answer in hand. */
export interface StandingStill {
  readonly when: "asked" | "answered";
  readonly at: Asked;
}

/** A server, and who writes to it. */
export class Place {
  readonly server = createApiserver();
  readonly admin: Client = clientBy((request) => this.server.fetch(request));
  /** Who took the Lease last, and when by his own clock. */
  #holder: { readonly identity: string; readonly since: number } | undefined;

  /** With all that the authority is told to. */
  static async make(): Promise<Place> {
    // To load it takes longer than all else.
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

  /** Whether a replica holds the Lease, by its own clock. */
  isLed(by: string, clock: Clock): boolean {
    return this.#holder?.identity === by && clock.elapsed() - this.#holder.since < RENEW_DEADLINE;
  }

  /** A request that has arrived. */
  async answer(request: Request, sent: number): Promise<Response> {
    const isLease = request.method !== "GET" && request.url.includes("/leases");
    const lease = isLease ? await request.clone().json() : undefined;
    const response = await this.server.fetch(request);
    if (response.ok && isLease) this.#holder = { identity: lease.spec.holderIdentity, since: sent };
    return response;
  }

  /** As if the authority had been made long ago. */
  async askForRenewal(): Promise<void> {
    const metadata = { annotations: { "op/authority-since": "1970-01-01T00:00:00Z" } };
    await this.admin.patch(Secret, SECRET.name, { metadata }, { namespace: SECRET.namespace });
  }

  /** The bundles that are told, one of each target. */
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

/** One replica. */
export class Replica implements AsyncDisposable {
  readonly asked: Asked[] = [];
  /** The certificate that it shows. */
  shown: string | undefined;
  readonly #clock: OwnClock = new OwnClock();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #writes = 0;
  #still: StandingStill | undefined;
  #stopped: PromiseWithResolvers<void> | undefined;

  /**
   * @param place Where.
   * @param identity Who it is.
   * @param still Where it stands still, once.
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
      // What is on its way arrives, whoever stopped waiting for it.
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

  /** Whether it stands still. */
  get isStill(): boolean {
    return this.#stopped !== undefined;
  }

  /** Lets its time pass, until it stands still; answers how much passed. */
  async pass(milliseconds: number): Promise<number> {
    const began = this.#clock.base.now();
    const until = began + milliseconds;
    await this.#rest();
    while (!this.isStill && this.#clock.base.now() < until) {
      if (this.#clock.base.step(until)) await this.#rest();
    }
    return this.#clock.base.now() - began;
  }

  /** Until it asks for nothing more. Keys are made aside, so that turns alone do not tell. */
  async #rest(): Promise<void> {
    for (let quiet = 0, asked = -1; quiet < 3; quiet = asked === this.asked.length ? quiet + 1 : 0) {
      asked = this.asked.length;
      await WORK.rest(1);
    }
  }

  /** Goes on after so long: what it waited for is there before a timer rings. */
  wake(milliseconds: number): void {
    assert(this.#stopped !== undefined, "it does not stand still");
    this.#clock.lost += milliseconds;
    this.#stopped.resolve();
    this.#stopped = this.#still = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#stopped?.resolve();
    // The Lease that is held is given back.
    await this.pass(1000);
    await this.#running;
  }
}

/** A clock whose timers know nothing of the time that was lost. */
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
