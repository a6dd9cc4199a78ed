/** Webhook certificates are issued and renewed during requests. */
import assert from "node:assert/strict";
import { Secret, ValidatingWebhookConfiguration } from "../../src/kinds/mod.ts";
import { VirtualClock } from "../../src/base/virtual_clock.ts";
import type { Client } from "../../src/kube/client.ts";
import { type Running, startOperator } from "../../src/operator/running.ts";
import { certificatesIn } from "../../src/runtime/webhooks/certificate_secret.ts";
import { eventually } from "../eventually.ts";
import { serverWithWebhooks } from "./_webhooks.ts";
import { op, post, QUICK, review } from "../fixtures/reviews.ts";

const REVIEWS = 20_000;
const ROTATIONS = 3;
const OPENING = 16;
const KEPT = 8;
/** In milliseconds: a part of what {@linkcode QUICK} has for each step. */
const STRIDE = 20;

Deno.test(`${REVIEWS} reviews succeed, most on new connections, while authority and certificate are renewed three times`, async () => {
  const { connection, client } = await serverWithWebhooks();
  await using time = startTime();
  const { clock } = time;
  await using running = startOperator(op, { connection, clock, serveWebhooks: true, certificateTimes: QUICK });
  const port = running.webhookPort!;
  await eventually(() => isServed(running));
  const bundle = await publishedBundle(client);
  const load = startLoad(client, port);
  // A bundle is published for so long that clients notice it. How long that takes is the machine's: so time is theirs.
  time.pace = load.turnover;

  const dropped: string[] = [];
  for (let rotation = 1; rotation <= ROTATIONS; rotation++) {
    await load.reached(rotation * REVIEWS / (ROTATIONS + 1));
    const [old] = certificatesIn(await publishedBundle(client));
    dropped.push(old!);
    await askForRenewal(client);
    // Looked at all the time: whenever the certificate is swapped, so many connections are being opened, on average.
    let [looks, opening] = [0, 0];
    await eventually(async () => {
      looks++;
      opening += load.opening;
      const certificates = certificatesIn(await publishedBundle(client));
      return certificates.length === 1 && certificates[0] !== old;
    }, { pause: 5 });
    assert(opening / looks >= OPENING, `${opening / looks} connections were being opened`);
    const [newest] = certificatesIn(await publishedBundle(client));
    assert.equal(await verdictBy(port, newest!), true);
    for (const one of dropped) await assert.rejects(verdictBy(port, one), isUntrusted);
  }
  await load.reached(REVIEWS);
  time.pace = breath;
  const { fresh, kept, failures } = await load.stop();
  assert.deepEqual(failures, []);
  assert(fresh >= REVIEWS / 2 && kept >= REVIEWS / 5, `${fresh} fresh, ${kept} kept`);
  assert.notEqual(await publishedBundle(client), bundle);
  // Another bundle alone is none.
  assert.match(await running.metrics.text(), new RegExp(`^op_certificate_rotations_total ${ROTATIONS}$`, "m"));
  console.log(`${fresh} on fresh connections, ${kept} on kept ones, 0 failed`);
});

Deno.test("two replicas that start at once agree on one authority, and both serve certificates of it", async () => {
  const { connection, client } = await serverWithWebhooks();
  const start = () => startOperator(op, { connection, serveWebhooks: true, certificateTimes: QUICK });
  await using one = start();
  await using other = start();
  await eventually(() => isServed(one) && isServed(other));

  const bundle = await publishedBundle(client);
  assert.equal(certificatesIn(bundle).length, 1);
  for (const { webhookPort } of [one, other]) assert.equal(await verdictBy(webhookPort!, bundle), true);
});

Deno.test("an authority that was removed from a webhook configuration is added again", async () => {
  const { connection, client } = await serverWithWebhooks();
  await using running = startOperator(op, { connection, serveWebhooks: true, certificateTimes: QUICK });
  await eventually(() => isServed(running));
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
  await eventually(() => isServed(running));
  assert.equal(await verdictBy(running.webhookPort!, await publishedBundle(client)), true);
});

/** A clock that moves on by some milliseconds whenever its pace says so. Disposing of it stops it. */
function startTime() {
  const clock = new VirtualClock(Date.now());
  let isOver = false;
  const time = {
    clock,
    pace: breath,
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

/** Reviews that go on until they are stopped, on fresh connections and on kept ones, by clients that trust what is published and try nothing twice. */
function startLoad(client: Client, port: number) {
  let fresh = 0;
  let kept = 0;
  let opening = 0;
  let isOver = false;
  const failures: string[] = [];
  const waiting = new Set<{ readonly at: number; resolve(): void }>();
  const count = (): void => {
    for (const one of waiting) if (fresh + kept >= one.at) one.resolve();
  };
  const ask = async (way: Deno.HttpClient): Promise<void> => {
    try {
      const response = await post(port, review(), way);
      const { response: verdict } = await response.json();
      if (verdict.allowed !== true) failures.push(JSON.stringify(verdict));
    } catch (error) {
      failures.push(String((error as Error).cause ?? error));
    }
  };
  /** How many reviews each loop has asked for. */
  const turns = Array.from({ length: 2 * OPENING + KEPT }, () => 0);
  const freshLoop = async (loop: number): Promise<void> => {
    while (!isOver) {
      using way = Deno.createHttpClient({ caCerts: [await publishedBundle(client)] });
      opening++;
      await ask(way);
      opening--;
      fresh++;
      turns[loop]!++;
      count();
    }
  };
  const keptLoop = async (loop: number, http2: boolean): Promise<void> => {
    while (!isOver) {
      const bundle = await publishedBundle(client);
      using way = Deno.createHttpClient({ caCerts: [bundle], http1: !http2, http2 });
      while (!isOver && await publishedBundle(client) === bundle) {
        // Half and half, whatever is quicker.
        if (kept > fresh) await breath();
        turns[loop]!++;
        await ask(way);
        kept++;
        count();
      }
    }
  };
  const loops = [
    ...Array.from({ length: 2 * OPENING }, (_, i) => freshLoop(i)),
    ...Array.from({ length: KEPT }, (_, i) => keptLoop(2 * OPENING + i, i % 2 === 0)),
  ];
  return {
    get opening() {
      return opening;
    },
    async reached(at: number): Promise<void> {
      if (fresh + kept >= at) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.add({ at, resolve });
      await promise;
    },
    /** Settles when each loop has ended what it asks now, or all are stopped. */
    async turnover(): Promise<void> {
      const before = [...turns];
      while (!isOver && turns.some((count, loop) => count === before[loop])) await breath();
    },
    async stop() {
      isOver = true;
      await Promise.all(loops);
      return { fresh, kept, failures };
    },
  };
}

/** Backdates the authority. */
async function askForRenewal(client: Client): Promise<void> {
  const annotations = { "op/authority-since": "1970-01-01T00:00:00Z" };
  await client.patch(Secret, "notes-webhook", { metadata: { annotations } }, { namespace: "default" });
}

async function publishedBundle(client: Client): Promise<string> {
  const { webhooks } = await client.get(ValidatingWebhookConfiguration, op.name);
  return atob(webhooks?.[0]?.clientConfig.caBundle ?? "");
}

async function verdictBy(port: number, authority: string): Promise<boolean> {
  using way = Deno.createHttpClient({ caCerts: [authority] });
  return (await (await post(port, review(), way)).json()).response.allowed;
}

function isUntrusted(error: unknown): boolean {
  const told = Deno.inspect(error);
  assert.match(told, /UnknownIssuer|invalid peer certificate/);
  return true;
}

function isServed(running: Running): boolean {
  return running.readiness().some(({ name, isReady }) => name === "webhooks" && isReady);
}

function breath(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}
