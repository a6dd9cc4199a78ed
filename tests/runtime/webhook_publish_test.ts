/** Where the authority of webhooks is told, and what is left alone. */
import assert from "node:assert/strict";
import { createApiserver } from "../../src/apiserver/mod.ts";
import { CustomResourceDefinition, Lease, Secret, ValidatingWebhookConfiguration } from "../../src/kinds/mod.ts";
import { isStatus } from "../../src/kube/api_error.ts";
import { Client } from "../../src/kube/client.ts";
import { VirtualClock } from "../../src/base/virtual_clock.ts";
import { operatorLog } from "../../src/operator/log.ts";
import { USUAL_TIMES } from "../../src/runtime/webhooks/authority.ts";
import { CertificateKeeper } from "../../src/runtime/webhooks/certificate_keeper.ts";
import { readSecret, writeSecret } from "../../src/runtime/webhooks/certificate_secret.ts";
import { publish, unpublished } from "../../src/runtime/webhooks/publish.ts";
import { withConversion } from "../../src/manifests/webhooks.ts";
import { notes, NoteV2 } from "./_reviews.ts";
import { guardedServer } from "./_guarded_server.ts";

const BUNDLE = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
const signal = new AbortController().signal;
const DEFINITION = NoteV2.crd!.metadata.name;

const DEFINITIONS = [
  { name: "that calls the operator", conversion: {}, annotations: {}, isTold: true },
  { name: "that converts nothing", conversion: { strategy: "None" }, annotations: {}, isTold: false },
  {
    name: "whose conversion is developed elsewhere",
    conversion: {},
    annotations: { "op/dev-conversion-before": "{}" },
    isTold: false,
  },
];

for (const { name, conversion, annotations, isTold } of DEFINITIONS) {
  Deno.test(`the authority is ${isTold ? "" : "not "}told to a definition ${name}`, async () => {
    await using server = createApiserver();
    const client = new Client({ url: "http://api.server", fetch: (request) => server.fetch(request), close() {} });
    const [crd] = withConversion([NoteV2.crd!], { notes }, { place: { url: "https://127.0.0.1:1" } });
    const { strategy } = conversion as { strategy?: string };
    const wanted = {
      ...crd!,
      metadata: { ...crd!.metadata, annotations },
      spec: { ...crd!.spec, conversion: strategy === undefined ? crd!.spec.conversion : { strategy } },
    };
    await client.create(CustomResourceDefinition, wanted as never);
    const targets = { definitions: [DEFINITION, "others.example.com"] };
    const missing = await unpublished(client, targets, BUNDLE, signal);
    assert.deepEqual(missing.map(({ name }) => name), isTold ? [DEFINITION] : []);
    await publish(client, missing, signal);
    assert.deepEqual(await unpublished(client, targets, BUNDLE, signal), []);
    const { spec } = await client.get(CustomResourceDefinition, DEFINITION);
    const { caBundle, url } = spec.conversion?.webhook?.clientConfig ?? {};
    assert.equal(caBundle, isTold ? btoa(BUNDLE) : undefined);
    if (strategy === undefined) assert.equal(url, "https://127.0.0.1:1/convert");
  });
}

Deno.test("a webhook that is taken out while the authority is told does not come back", async () => {
  const { client } = await guardedServer();
  const missing = await unpublished(client, { validating: "notes", definitions: [] }, BUNDLE, signal);
  assert.equal(missing.length, 1);
  await client.patch(ValidatingWebhookConfiguration, "notes", { webhooks: null });
  await assert.rejects(publish(client, missing, signal), (error) => isStatus(error, 409));
  assert.equal((await client.get(ValidatingWebhookConfiguration, "notes")).webhooks, undefined);
});

Deno.test("of two that write the certificates at once, one learns that the other was quicker", async () => {
  const { client } = await guardedServer();
  const place = { name: "notes-webhook", namespace: "default" };
  const files = { certificate: BUNDLE, key: "key" };
  const held = { bundle: BUNDLE, authority: files, server: files, authoritySince: 1000, serverSince: 2000 };
  const isConflict = (error: unknown) => isStatus(error, 409);
  await writeSecret(client, place, held, undefined, signal);
  await assert.rejects(writeSecret(client, place, held, undefined, signal), isConflict);
  const stored = await readSecret(client, place, signal);
  assert.deepEqual(stored?.held, held);
  await writeSecret(client, place, { ...held, serverSince: 3000 }, stored, signal);
  await assert.rejects(writeSecret(client, place, { ...held, serverSince: 4000 }, stored, signal), isConflict);
  assert.equal((await readSecret(client, place, signal))?.held?.serverSince, 3000);
});

Deno.test("who holds the Lease makes the certificates: another waits until it has run out", async () => {
  const { client } = await guardedServer();
  const clock = new VirtualClock();
  const time = new Date(clock.now()).toISOString().replace("Z", "000Z");
  const spec = { holderIdentity: "another", leaseDurationSeconds: 15, acquireTime: time, renewTime: time };
  await client.create(Lease, { metadata: { name: "notes-webhook" }, spec } as never, { namespace: "default" });
  const keeper = new CertificateKeeper({
    client,
    clock,
    random: () => 0.5,
    log: operatorLog("keeper"),
    secret: { name: "notes-webhook", namespace: "default" },
    names: ["notes.default.svc"],
    targets: { validating: "notes", definitions: [] },
    times: USUAL_TIMES,
    identity: "keeper",
    use: () => void (isUsed = true),
  });
  let isUsed = false;
  const isMade = async () => (await client.list(Secret, { namespace: "default" })).length > 0;
  const stop = new AbortController();
  const running = keeper.run(stop.signal);
  // What is under way goes on for a moment after each tenth of a second.
  const pass = async (milliseconds: number): Promise<void> => {
    const until = clock.now() + milliseconds;
    while (clock.now() < until) {
      for (let i = 0; i < 5; i++) await new Promise((resolve) => setTimeout(resolve));
      const next = Math.min(until, clock.now() + 100);
      while (clock.step(next));
    }
  };
  const began = clock.now();
  await pass(14_000);
  assert.equal(await isMade(), false);
  while (!isUsed) await pass(100);
  assert(clock.now() - began >= 15_000);
  assert.equal(await isMade(), true);
  // The Lease is given back.
  await pass(1000);
  stop.abort();
  await running;
});
