/** Webhook certificates are issued, renewed and repaired while the webhooks are called. */
import assert from "node:assert/strict";
import { Secret, ValidatingWebhookConfiguration } from "../../src/kinds/mod.ts";
import { VirtualClock } from "../../src/base/virtual_clock.ts";
import type { Client } from "../../src/kube/client.ts";
import { startOperator } from "../../src/operator/running.ts";
import { certificatesIn } from "../../src/runtime/webhooks/certificate_secret.ts";
import { eventually } from "../eventually.ts";
import { serverWithWebhooks, servesWebhooks } from "./_webhooks.ts";
import { op, post, QUICK, review } from "../fixtures/reviews.ts";

const REVIEWS = 20_000;
const ROTATIONS = 3;
/** Number of connections that must be opening, on average, when the certificate is replaced. */
const OPENING_CONNECTIONS = 16;
/** Number of clients that send all reviews on one connection. */
const PERSISTENT_CONNECTIONS = 8;
/** Step of the clock in milliseconds, a fraction of each delay of {@linkcode QUICK}. */
const STRIDE = 20;

Deno.test(`${REVIEWS} reviews succeed, most on new connections, while the authority and the certificate are renewed three times`, async () => {
  const { connection, client } = await serverWithWebhooks();
  await using time = startTime();
  const { clock } = time;
  await using running = startOperator(op, { connection, clock, serveWebhooks: true, certificateTimes: QUICK });
  const port = running.webhookPort!;
  await eventually(() => servesWebhooks(running));
  const bundle = await publishedBundle(client);
  const load = startLoad(client, port);
  // All clients must read a new bundle before its delay ends, even on a slow machine. So the clock
  // advances only after each client has sent a review.
  time.pace = load.allAdvanced;

  const oldAuthorities: string[] = [];
  for (let rotation = 1; rotation <= ROTATIONS; rotation++) {
    await load.reached(rotation * REVIEWS / (ROTATIONS + 1));
    const [old] = certificatesIn(await publishedBundle(client));
    oldAuthorities.push(old!);
    await requestRenewal(client);
    // Sampled until the replacement, so that the average describes the time of the replacement.
    let [samples, opening] = [0, 0];
    await eventually(async () => {
      samples++;
      opening += load.opening;
      const certificates = certificatesIn(await publishedBundle(client));
      return certificates.length === 1 && certificates[0] !== old;
    }, { pause: 5 });
    assert(opening / samples >= OPENING_CONNECTIONS, `${opening / samples} connections were opening`);
    const [newest] = certificatesIn(await publishedBundle(client));
    assert.equal(await isAllowedBy(port, newest!), true);
    for (const authority of oldAuthorities) await assert.rejects(isAllowedBy(port, authority), isUntrusted);
  }
  await load.reached(REVIEWS);
  time.pace = pause;
  const { onNew, persistent, failures } = await load.stop();
  assert.deepEqual(failures, []);
  assert(
    onNew >= REVIEWS / 2 && persistent >= REVIEWS / 5,
    `${onNew} on new connections, ${persistent} on persistent ones`,
  );
  assert.notEqual(await publishedBundle(client), bundle);
  // The metric counts new certificates, not new bundles.
  assert.match(await running.metrics.text(), new RegExp(`^op_certificate_rotations_total ${ROTATIONS}$`, "m"));
  console.log(`${onNew} reviews on new connections, ${persistent} on persistent ones, 0 failed`);
});

Deno.test("two replicas that start at once agree on one authority, and both serve certificates of it", async () => {
  const { connection, client } = await serverWithWebhooks();
  const start = () => startOperator(op, { connection, serveWebhooks: true, certificateTimes: QUICK });
  await using one = start();
  await using other = start();
  await eventually(() => servesWebhooks(one) && servesWebhooks(other));

  const bundle = await publishedBundle(client);
  assert.equal(certificatesIn(bundle).length, 1);
  for (const { webhookPort } of [one, other]) assert.equal(await isAllowedBy(webhookPort!, bundle), true);
});

Deno.test("an authority that was removed from a webhook configuration is added again", async () => {
  const { connection, client } = await serverWithWebhooks();
  await using running = startOperator(op, { connection, serveWebhooks: true, certificateTimes: QUICK });
  await eventually(() => servesWebhooks(running));
  const bundle = await publishedBundle(client);
  const webhooks = [{ name: "note-rules.notes.reviews.example.com", clientConfig: { caBundle: null } }];
  await client.patch(ValidatingWebhookConfiguration, op.name, { webhooks }, { type: "strategic" });

  await eventually(async () => assert.equal(await publishedBundle(client), bundle));
});

Deno.test("an invalid certificate Secret is replaced", async () => {
  const { connection, client } = await serverWithWebhooks();
  const data = { "ca.crt": btoa("no"), "ca.key": btoa("sense"), "tls.crt": btoa("at"), "tls.key": btoa("all") };
  const annotations = { "op/authority-since": "2026-01-01T00:00:00Z", "op/certificate-since": "2026-01-01T00:00:00Z" };
  await client.create(Secret, { metadata: { name: "notes-webhook", annotations }, data }, { namespace: "default" });
  await using running = startOperator(op, { connection, serveWebhooks: true, certificateTimes: QUICK });
  await eventually(() => servesWebhooks(running));
  assert.equal(await isAllowedBy(running.webhookPort!, await publishedBundle(client)), true);
});

/**
 * Starts a clock that advances in steps. It awaits `pace` before each step. Disposing of it stops
 * it.
 */
function startTime() {
  const clock = new VirtualClock(Date.now());
  let isOver = false;
  const time = {
    clock,
    /** Resolves when the clock may advance by {@linkcode STRIDE}. */
    pace: pause,
    async [Symbol.asyncDispose]() {
      isOver = true;
      await running;
    },
  };
  const running = (async () => {
    while (!isOver) {
      await time.pace();
      for (const until = clock.now() + STRIDE; clock.step(until););
    }
  })();
  return time;
}

/**
 * Sends reviews on new and on persistent connections until it is stopped. The clients trust the
 * published bundle, and do not retry.
 */
function startLoad(client: Client, port: number) {
  let onNew = 0;
  let persistent = 0;
  let opening = 0;
  let isOver = false;
  const failures: string[] = [];
  const waiting = new Set<{ readonly total: number; resolve(): void }>();
  const notify = (): void => {
    for (const { total, resolve } of waiting) if (onNew + persistent >= total) resolve();
  };
  const sendReview = async (httpClient: Deno.HttpClient): Promise<void> => {
    try {
      const response = await post(port, review(), httpClient);
      const { response: verdict } = await response.json();
      if (verdict.allowed !== true) failures.push(JSON.stringify(verdict));
    } catch (error) {
      failures.push(String((error as Error).cause ?? error));
    }
  };
  /** Number of reviews of each loop. */
  const reviewCounts = Array.from({ length: 2 * OPENING_CONNECTIONS + PERSISTENT_CONNECTIONS }, () => 0);
  const newConnectionLoop = async (loop: number): Promise<void> => {
    while (!isOver) {
      using httpClient = Deno.createHttpClient({ caCerts: [await publishedBundle(client)] });
      opening++;
      await sendReview(httpClient);
      opening--;
      onNew++;
      reviewCounts[loop]!++;
      notify();
    }
  };
  const persistentLoop = async (loop: number, http2: boolean): Promise<void> => {
    while (!isOver) {
      const bundle = await publishedBundle(client);
      using httpClient = Deno.createHttpClient({ caCerts: [bundle], http1: !http2, http2 });
      while (!isOver && await publishedBundle(client) === bundle) {
        // Sends about as many reviews on persistent connections as on new ones.
        if (persistent > onNew) await pause();
        reviewCounts[loop]!++;
        await sendReview(httpClient);
        persistent++;
        notify();
      }
    }
  };
  const loops = [
    ...Array.from({ length: 2 * OPENING_CONNECTIONS }, (_, i) => newConnectionLoop(i)),
    ...Array.from(
      { length: PERSISTENT_CONNECTIONS },
      (_, i) => persistentLoop(2 * OPENING_CONNECTIONS + i, i % 2 === 0),
    ),
  ];
  return {
    get opening() {
      return opening;
    },
    /** Resolves after a total number of reviews. */
    async reached(total: number): Promise<void> {
      if (onNew + persistent >= total) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.add({ total, resolve });
      await promise;
    },
    /** Resolves when each loop has sent another review, or all are stopped. */
    async allAdvanced(): Promise<void> {
      const before = [...reviewCounts];
      while (!isOver && reviewCounts.some((count, loop) => count === before[loop])) await pause();
    },
    async stop() {
      isOver = true;
      await Promise.all(loops);
      return { onNew, persistent, failures };
    },
  };
}

/** Backdates the authority, so that the operator renews it. */
async function requestRenewal(client: Client): Promise<void> {
  const annotations = { "op/authority-since": "1970-01-01T00:00:00Z" };
  await client.patch(Secret, "notes-webhook", { metadata: { annotations } }, { namespace: "default" });
}

async function publishedBundle(client: Client): Promise<string> {
  const { webhooks } = await client.get(ValidatingWebhookConfiguration, op.name);
  return atob(webhooks?.[0]?.clientConfig.caBundle ?? "");
}

/** Sends a review as a client that trusts one authority. Returns whether it is allowed. */
async function isAllowedBy(port: number, authority: string): Promise<boolean> {
  using httpClient = Deno.createHttpClient({ caCerts: [authority] });
  return (await (await post(port, review(), httpClient)).json()).response.allowed;
}

function isUntrusted(error: unknown): boolean {
  assert.match(Deno.inspect(error), /UnknownIssuer|invalid peer certificate/);
  return true;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}
