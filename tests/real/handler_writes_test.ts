/** Writes of objects by handlers, in the audit log of a real API server. */
import type { Operator } from "@op/sdk";
import { Namespace } from "@op/sdk/kinds";
import type { Client, Connection } from "@op/sdk/client";
import { sleep, systemClock } from "../../src/base/clock.ts";
import { CustomResourceDefinition } from "../../src/kinds/mod.ts";
import { type RealCluster, realCluster } from "../../src/testing/real_cluster.ts";
import { eventually } from "../eventually.ts";
import {
  checkHandlerWrites,
  Draft,
  HANDLER_WRITES,
  OPERATOR,
  type SentRequest,
  Site,
  type WritesServer,
} from "../fixtures/handler_writes.ts";
import { untilServed } from "../fixtures/install.ts";
import { adminClient } from "../fixtures/watched.ts";

/** How long an operator must send no write. A watch that ended is started again within a second. */
const QUIET_TIME = 2500;

const EXPIRED = {
  apiVersion: "v1",
  kind: "Status",
  status: "Failure",
  reason: "Expired",
  code: 410,
  message: "too old resource version",
};

/** A namespace with an operator of its own, so that cases run at the same time. */
class RealWrites implements WritesServer {
  readonly client: Client;
  readonly namespace: string;
  readonly #cluster: RealCluster;
  #watches = new AbortController();
  #isExpired = false;

  constructor(cluster: RealCluster, client: Client, namespace: string) {
    this.#cluster = cluster;
    this.client = client;
    this.namespace = namespace;
  }

  start(op: Operator): Promise<AsyncDisposable> {
    const connection: Connection = {
      url: this.#cluster.url,
      close() {},
      fetch: (request) => this.#fetch(request),
    };
    const stop = new AbortController();
    const { signal } = stop;
    const ended = op.run({
      connection,
      signal,
      namespaces: [this.namespace],
      checkAccess: false,
      leaderElection: false,
    });
    return Promise.resolve({
      async [Symbol.asyncDispose]() {
        stop.abort();
        await ended;
      },
    });
  }

  async relist(): Promise<void> {
    this.#isExpired = true;
    this.#watches.abort(new TypeError("connection reset"));
    this.#watches = new AbortController();
    await eventually(() => !this.#isExpired);
  }

  async idle(isReached: () => Promise<boolean>): Promise<void> {
    // The case reports missing writes.
    await eventually(isReached, { limit: 30_000, pause: 200 }).catch(() => {});
    await sleep(systemClock, QUIET_TIME);
  }

  async writes(): Promise<readonly SentRequest[]> {
    const log = await this.#cluster.auditLog();
    return log.flatMap(({ verb, userAgent, objectRef }) =>
      userAgent?.startsWith(`${OPERATOR}/`) && objectRef !== undefined ? [{ ...objectRef, verb }] : []
    );
  }

  async #fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    if (!searchParams.has("watch")) return await this.#cluster.fetch(request);
    if (this.#isExpired && !searchParams.has("sendInitialEvents")) {
      this.#isExpired = false;
      return Response.json(EXPIRED, { status: 410 });
    }
    const signal = AbortSignal.any([request.signal, this.#watches.signal]);
    return await this.#cluster.fetch(new Request(request, { signal }));
  }
}

Deno.test("handlers write an object as on the in-process API server", async (t) => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  for (const kind of [Site, Draft]) await client.create(CustomResourceDefinition, kind.crd as never);
  await untilServed(client);
  await Promise.all(HANDLER_WRITES.map((handlerWrites, index) =>
    t.step({
      name: handlerWrites.name,
      sanitizeOps: false,
      sanitizeResources: false,
      sanitizeExit: false,
      async fn() {
        const namespace = `case-${index}`;
        await client.create(Namespace, { metadata: { name: namespace } });
        await checkHandlerWrites(new RealWrites(cluster, client, namespace), handlerWrites);
      },
    })
  ));
});
