import assert from "node:assert/strict";
import { type AnyKind, conversion, operator, resource, s, webhook } from "@op/sdk";
import { Client } from "@op/sdk/client";
import {
  CustomResourceDefinition,
  EndpointSlice,
  MutatingWebhookConfiguration,
  Namespace,
  ValidatingWebhookConfiguration,
} from "@op/sdk/kinds";
import { createApiserver } from "../../src/apiserver/mod.ts";
import type { Cluster } from "../cluster.ts";
import { blockingConfigurations, register, registeredIn, unregister } from "./webhook_registration.ts";

const names = { group: "dev.example.com", kind: "Note" } as const;
const NoteV1 = resource({ ...names, version: "v1", spec: s.object({ text: s.string() }) });
const Note = resource({ ...names, version: "v2", spec: s.object({ text: s.string() }), versions: [NoteV1] });
const DEFINITION = "notes.dev.example.com";
const KINDS: Readonly<Record<string, AnyKind>> = { MutatingWebhookConfiguration, ValidatingWebhookConfiguration };

const noteV1 = conversion(NoteV1, Note, { up: ({ spec }) => ({ spec }), down: ({ spec }) => ({ spec }) });
const factsOf = (parts: Parameters<typeof operator>[0]["parts"]) => ({
  name: "notes",
  manifests: operator({ name: "notes", parts }).manifests(),
});
const BOTH_WEBHOOKS = factsOf({ noteV1, rules: webhook(Note, { mutate() {}, validate() {} }) });
const VALIDATING_WEBHOOK = factsOf({ noteV1, rules: webhook(Note, { validate() {} }) });
const HERE = { url: "https://127.0.0.1:1", caCert: "here" };
const THERE = { url: "https://127.0.0.1:2/", caCert: "there" };

/** A cluster in which the operator's definition is installed, calling its Service. */
async function installedCluster(): Promise<Cluster & AsyncDisposable> {
  const server = createApiserver();
  const client = new Client({ url: "http://api.server", fetch: (request) => server.fetch(request), close() {} });
  await client.create(CustomResourceDefinition, BOTH_WEBHOOKS.manifests.crd[0] as never);
  await client.create(Namespace, { metadata: { name: "notes-system" } });
  return {
    client,
    url: "http://api.server",
    namespace: "default",
    kindOf: ({ kind }) => Promise.resolve(KINDS[kind]!),
    [Symbol.dispose]() {},
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function stateOf({ client }: Cluster) {
  const { spec, metadata } = await client.get(CustomResourceDefinition, DEFINITION);
  const urls = async (kind: typeof ValidatingWebhookConfiguration) =>
    (await client.list(kind)).flatMap(({ metadata: { name }, webhooks = [] }) =>
      webhooks.map(({ clientConfig }) => [name, clientConfig.url, atob(clientConfig.caBundle ?? "")])
    );
  return {
    configurations: [
      ...await urls(MutatingWebhookConfiguration as never),
      ...await urls(ValidatingWebhookConfiguration),
    ],
    conversion: spec.conversion?.webhook?.clientConfig,
    marks: Object.keys(metadata.annotations ?? {}),
  };
}

Deno.test("unregister restores the state before the first of several registrations", async () => {
  await using cluster = await installedCluster();
  const before = await stateOf(cluster);
  assert.equal(before.conversion?.service?.path, "/convert");

  await register(cluster, BOTH_WEBHOOKS, HERE);
  assert.deepEqual(await register(cluster, BOTH_WEBHOOKS, HERE), []);
  // The next op dev has another certificate authority at the same address.
  assert.equal((await register(cluster, BOTH_WEBHOOKS, { ...HERE, caCert: "newer" })).length, 3);
  assert.equal((await stateOf(cluster)).conversion?.caBundle, btoa("newer"));
  await register(cluster, BOTH_WEBHOOKS, THERE);
  const { configurations, conversion } = await stateOf(cluster);
  assert.deepEqual(configurations, [
    ["notes-dev", "https://127.0.0.1:2/mutate/rules", "there"],
    ["notes-dev", "https://127.0.0.1:2/validate/rules", "there"],
  ]);
  assert.deepEqual([conversion?.url, conversion?.service], ["https://127.0.0.1:2/convert", undefined]);

  const expected = [
    "MutatingWebhookConfiguration notes-dev",
    "ValidatingWebhookConfiguration notes-dev",
    `the conversion of ${DEFINITION}`,
  ];
  assert.deepEqual((await registeredIn(cluster, BOTH_WEBHOOKS)).map(({ shown }) => shown), expected);
  assert.deepEqual(await unregister(cluster, BOTH_WEBHOOKS), expected);
  assert.deepEqual(await stateOf(cluster), before);
  assert.deepEqual(await unregister(cluster, BOTH_WEBHOOKS), []);
});

Deno.test("register removes configurations that are no longer declared, and unregister removes all", async () => {
  await using cluster = await installedCluster();
  await register(cluster, BOTH_WEBHOOKS, HERE);
  assert.deepEqual(await register(cluster, VALIDATING_WEBHOOK, HERE), ["MutatingWebhookConfiguration notes-dev"]);
  assert.deepEqual((await stateOf(cluster)).configurations, [[
    "notes-dev",
    "https://127.0.0.1:1/validate/rules",
    "here",
  ]]);
  await register(cluster, BOTH_WEBHOOKS, HERE);
  // The declarations of the last restart have only one of the two.
  await unregister(cluster, VALIDATING_WEBHOOK);
  assert.deepEqual((await stateOf(cluster)).configurations, []);
});

Deno.test("unregister keeps configurations of other owners, and installed ones", async () => {
  await using cluster = await installedCluster();
  const { client } = cluster;
  for (const name of ["notes", "notes-dev"]) {
    await client.create(ValidatingWebhookConfiguration, { metadata: { name } });
  }
  assert.deepEqual(await registeredIn(cluster, BOTH_WEBHOOKS), []);
  assert.deepEqual(await unregister(cluster, BOTH_WEBHOOKS), []);
  const remaining = await client.list(ValidatingWebhookConfiguration);
  assert.deepEqual(remaining.map(({ metadata: { name } }) => name), ["notes", "notes-dev"]);
});

Deno.test("unregister restores the conversion even if another program has changed it, and removes the annotation", async () => {
  await using cluster = await installedCluster();
  const { client } = cluster;
  await register(cluster, BOTH_WEBHOOKS, HERE);
  await client.patch(CustomResourceDefinition, DEFINITION, {
    spec: { conversion: { webhook: { clientConfig: { url: "https://127.0.0.1:9/convert" } } } },
  });
  await unregister(cluster, BOTH_WEBHOOKS);
  const { conversion, marks } = await stateOf(cluster);
  assert.deepEqual([conversion?.url, conversion?.service?.name, marks], [undefined, "notes-webhook", []]);
});

Deno.test("webhook configurations of a deployed operator without ready pods block requests", async () => {
  await using cluster = await installedCluster();
  assert.deepEqual(await blockingConfigurations(cluster, BOTH_WEBHOOKS), []);
  for (const manifest of BOTH_WEBHOOKS.manifests.webhook) {
    const kind = KINDS[manifest.kind];
    if (kind !== undefined) await cluster.client.create(kind, manifest as never);
  }
  await register(cluster, BOTH_WEBHOOKS, HERE);
  assert.deepEqual(await blockingConfigurations(cluster, BOTH_WEBHOOKS), [
    "MutatingWebhookConfiguration notes",
    "ValidatingWebhookConfiguration notes",
  ]);

  await cluster.client.create(EndpointSlice, {
    metadata: { name: "pods", namespace: "notes-system", labels: { "kubernetes.io/service-name": "notes-webhook" } },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.0.0.1"], conditions: { ready: true } }],
  });
  assert.deepEqual(await blockingConfigurations(cluster, BOTH_WEBHOOKS), []);
});
