/** The certificate authority of webhooks: where it is published, and which replica writes it. */
import assert from "node:assert/strict";
import { createApiserver } from "../../src/apiserver/mod.ts";
import { CustomResourceDefinition, Lease, Secret, ValidatingWebhookConfiguration } from "../../src/kinds/mod.ts";
import { isStatus } from "../../src/kube/api_error.ts";
import { Client } from "../../src/kube/client.ts";
import { VirtualClock } from "../../src/base/virtual_clock.ts";
import { operatorLog } from "../../src/operator/log.ts";
import { DEFAULT_TIMES } from "../../src/runtime/webhooks/authority.ts";
import { CertificateKeeper, type CertificateKeeperOptions } from "../../src/runtime/webhooks/certificate_keeper.ts";
import { readSecret, writeSecret } from "../../src/runtime/webhooks/certificate_secret.ts";
import { publish, unpublished } from "../../src/runtime/webhooks/publish.ts";
import { withConversion } from "../../src/manifests/webhooks.ts";
import { notes, NoteV2 } from "../fixtures/reviews.ts";
import { PendingCrypto, serverWithWebhooks } from "./_webhooks.ts";

const BUNDLE = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
const signal = new AbortController().signal;
const DEFINITION = NoteV2.crd!.metadata.name;

const DEFINITIONS = [
  { name: "whose conversion calls the operator", conversion: {}, annotations: {}, isPublished: true },
  { name: "without a conversion", conversion: { strategy: "None" }, annotations: {}, isPublished: false },
  {
    name: "whose conversion op dev serves",
    conversion: {},
    annotations: { "op/dev-conversion-before": "{}" },
    isPublished: false,
  },
];

for (const { name, conversion, annotations, isPublished } of DEFINITIONS) {
  Deno.test(`the certificate authority is ${isPublished ? "" : "not "}published to a CustomResourceDefinition ${name}`, async () => {
    await using server = createApiserver();
    const client = new Client({ url: "http://api.server", fetch: (request) => server.fetch(request), close() {} });
    const [crd] = withConversion([NoteV2.crd!], { notes }, { place: { url: "https://127.0.0.1:1" } });
    const { strategy } = conversion as { strategy?: string };
    const definition = {
      ...crd!,
      metadata: { ...crd!.metadata, annotations },
      spec: { ...crd!.spec, conversion: strategy === undefined ? crd!.spec.conversion : { strategy } },
    };
    await client.create(CustomResourceDefinition, definition as never);
    const targets = { definitions: [DEFINITION, "others.example.com"] };
    const missing = await unpublished(client, targets, BUNDLE, signal);
    assert.deepEqual(missing.map(({ name }) => name), isPublished ? [DEFINITION] : []);
    await publish(client, missing, signal);
    assert.deepEqual(await unpublished(client, targets, BUNDLE, signal), []);
    const { spec } = await client.get(CustomResourceDefinition, DEFINITION);
    const { caBundle, url } = spec.conversion?.webhook?.clientConfig ?? {};
    assert.equal(caBundle, isPublished ? btoa(BUNDLE) : undefined);
    if (strategy === undefined) assert.equal(url, "https://127.0.0.1:1/convert");
  });
}

Deno.test("publishing does not add back a webhook that was removed meanwhile", async () => {
  const { client } = await serverWithWebhooks();
  const missing = await unpublished(client, { validating: "notes", definitions: [] }, BUNDLE, signal);
  assert.equal(missing.length, 1);
  await client.patch(ValidatingWebhookConfiguration, "notes", { webhooks: null });
  await assert.rejects(publish(client, missing, signal), (error) => isStatus(error, 409));
  assert.equal((await client.get(ValidatingWebhookConfiguration, "notes")).webhooks, undefined);
});

Deno.test("of two concurrent writes of the certificates, one fails with a conflict", async () => {
  const { client } = await serverWithWebhooks();
  const secret = { name: "notes-webhook", namespace: "default" };
  const files = { certificate: BUNDLE, key: "key" };
  const certificates = { bundle: BUNDLE, authority: files, server: files, authoritySince: 1000, serverSince: 2000 };
  const isConflict = (error: unknown) => isStatus(error, 409);
  await writeSecret(client, secret, certificates, undefined, signal);
  await assert.rejects(writeSecret(client, secret, certificates, undefined, signal), isConflict);
  const stored = await readSecret(client, secret, signal);
  assert.deepEqual(stored?.certificates, certificates);
  await writeSecret(client, secret, { ...certificates, serverSince: 3000 }, stored, signal);
  await assert.rejects(writeSecret(client, secret, { ...certificates, serverSince: 4000 }, stored, signal), isConflict);
  assert.equal((await readSecret(client, secret, signal))?.certificates?.serverSince, 3000);
});

Deno.test("only the Lease holder issues certificates; another replica waits until the Lease expires", async () => {
  const { client } = await serverWithWebhooks();
  const clock = new VirtualClock();
  const time = new Date(clock.now()).toISOString().replace("Z", "000Z");
  const spec = { holderIdentity: "another", leaseDurationSeconds: 15, acquireTime: time, renewTime: time };
  await client.create(Lease, { metadata: { name: "notes-webhook" }, spec } as never, { namespace: "default" });
  let isUsed = false;
  const isIssued = async () => (await client.list(Secret, { namespace: "default" })).length > 0;
  await using _ = startKeeper(client, clock, { use: () => void (isUsed = true) });
  const began = clock.now();
  await advance(clock, 14_000);
  assert.equal(await isIssued(), false);
  while (!isUsed) await advance(clock, 100);
  assert(clock.now() - began >= 15_000);
  assert.equal(await isIssued(), true);
  // The keeper releases the Lease.
  await advance(clock, 1000);
});

Deno.test("a certificate is used only after its authority was published for the full delay, also if the bundle was removed meanwhile", async () => {
  const { client } = await serverWithWebhooks();
  const clock = new VirtualClock();
  const times = { ...DEFAULT_TIMES, authority: 300_000 };
  const used: { server: string; at: number }[] = [];
  await using _ = startKeeper(client, clock, {
    times,
    use: ({ certificate }) => {
      if (used.at(-1)?.server !== certificate) used.push({ server: certificate, at: clock.now() });
    },
  });
  const bundle = async () =>
    atob((await client.get(ValidatingWebhookConfiguration, "notes")).webhooks?.[0]?.clientConfig.caBundle ?? "");
  const authorities = async () => (await bundle()).split("BEGIN CERTIFICATE").length - 1;
  while (await authorities() < 2) await advance(clock, 1000, 1000);
  assert.equal(used.length, 1);
  await advance(clock, times.publish / 2, 1000);
  const { webhooks } = await client.get(ValidatingWebhookConfiguration, "notes");
  const emptied = webhooks!.map((webhook) => ({
    ...webhook,
    clientConfig: { ...webhook.clientConfig, caBundle: null },
  }));
  await client.patch(ValidatingWebhookConfiguration, "notes", { webhooks: emptied } as never);
  const removedAt = clock.now();
  while (await authorities() < 2) await advance(clock, 1000, 1000);
  while (used.length < 2) await advance(clock, 1000, 1000);
  assert(used[1]!.at - removedAt >= times.publish, `${used[1]!.at - removedAt} ms`);
});

/** Starts a keeper of certificates. Disposing of it stops it. */
function startKeeper(
  client: Client,
  clock: VirtualClock,
  more: Pick<CertificateKeeperOptions, "use"> & Partial<CertificateKeeperOptions>,
): AsyncDisposable {
  const keeper = new CertificateKeeper({
    client,
    clock,
    random: () => 0.5,
    log: operatorLog("keeper"),
    secret: { name: "notes-webhook", namespace: "default" },
    names: ["notes.default.svc"],
    targets: { validating: "notes", definitions: [] },
    times: DEFAULT_TIMES,
    identity: "keeper",
    ...more,
  });
  const stop = new AbortController();
  const running = keeper.run(stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

/** Advances the clock in steps. Pending work ends before each step. */
async function advance(clock: VirtualClock, milliseconds: number, stride = 100): Promise<void> {
  // Keys are generated in other threads, which take as long as they need.
  using work = new PendingCrypto();
  const until = clock.now() + milliseconds;
  while (clock.now() < until) {
    await work.settle(5);
    const next = Math.min(until, clock.now() + stride);
    while (clock.step(next));
  }
}
