import assert from "node:assert/strict";
import { type AnyKind, resource, s, type Schema } from "@op/sdk";
import type { Client } from "@op/sdk/client";
import { CustomResourceDefinition } from "@op/sdk/kinds";
import { faults, type MemoryCluster, memoryCluster } from "@op/sdk/testing";
import { RecordedIo } from "../_recorded_io.ts";
import type { Cluster } from "../cluster.ts";
import { type Definition, definitionsIn } from "../definitions/definition.ts";
import { type BreakingOptions, checkBreakingChanges } from "./breaking_changes.ts";

// deno-lint-ignore no-explicit-any
type SpecSchema = Schema<any, any>;

function website(spec: SpecSchema, options: { readonly version?: string; readonly versions?: AnyKind[] } = {}) {
  const { version = "v1", versions } = options;
  return resource({
    group: "demo.example.com",
    version,
    kind: "Website",
    spec: spec as never,
    ...(versions === undefined ? {} : { versions: versions as never }),
  });
}

const HOST = s.object({ host: s.string(), size: s.optional(s.string()) });

/** Creates a cluster with a kind and objects of it. */
async function clusterOf(kind: AnyKind, specs: readonly unknown[]): Promise<MemoryCluster> {
  const cluster = await memoryCluster({ kinds: [kind] });
  for (const [i, spec] of specs.entries()) await cluster.create(kind, `w${i + 1}`, { spec });
  return cluster;
}

function definitionOf({ crd }: AnyKind): Definition[] {
  return definitionsIn([JSON.parse(JSON.stringify(crd))]);
}

async function check(
  client: Client,
  definitions: readonly Definition[],
  options: BreakingOptions = {},
): Promise<{ readonly rejection: string | undefined; readonly warnings: string }> {
  const io = new RecordedIo();
  const cluster = { client } as Cluster;
  try {
    await checkBreakingChanges(cluster, definitions, options, io);
    return { rejection: undefined, warnings: io.stderr };
  } catch (error) {
    return { rejection: (error as Error).message, warnings: io.stderr };
  }
}

const THREE = [{ host: "a" }, { host: "bb", size: "small" }, { host: "ccc", size: "large" }];

const CHANGES: readonly { readonly name: string; readonly spec: SpecSchema; readonly lines: readonly string[] }[] = [
  {
    name: "a renamed field, which is dropped and missing",
    spec: s.object({ hostname: s.string(), size: s.optional(s.string()) }),
    lines: [
      '3 of 3 stored objects would break with the new CustomResourceDefinition "websites.demo.example.com" (v1):',
      "  spec.host is dropped: 3 objects, for example Website default/w1",
      "  spec.hostname is not valid: Required value: 3 objects, for example Website default/w1",
    ],
  },
  {
    name: "a removed field that only some objects have",
    spec: s.object({ host: s.string() }),
    lines: [
      '2 of 3 stored objects would break with the new CustomResourceDefinition "websites.demo.example.com" (v1):',
      "  spec.size is dropped: 2 objects, for example Website default/w2",
    ],
  },
  {
    name: "a bound that one object exceeds",
    spec: s.object({ host: s.string({ maxLength: 2 }), size: s.optional(s.string()) }),
    lines: [
      '1 of 3 stored objects would break with the new CustomResourceDefinition "websites.demo.example.com" (v1):',
      "  spec.host is not valid: Too long: may not be more than 2 bytes: 1 object, for example Website default/w3",
    ],
  },
  {
    name: "an enum without the value of an object",
    spec: s.object({ host: s.string(), size: s.optional(s.enum(["small", "medium"])) }),
    lines: [
      '1 of 3 stored objects would break with the new CustomResourceDefinition "websites.demo.example.com" (v1):',
      '  spec.size is not valid: Unsupported value: "large": supported values: "small", "medium": 1 object, for example Website default/w3',
    ],
  },
  {
    name: "a CEL rule that an object breaks",
    spec: s.object({ host: s.string(), size: s.optional(s.string()) }, {
      validations: [{ rule: "self.host != 'a'", message: "not a" }],
    }),
    lines: [
      '1 of 3 stored objects would break with the new CustomResourceDefinition "websites.demo.example.com" (v1):',
      "  spec is not valid: Invalid value: not a: 1 object, for example Website default/w1",
    ],
  },
  {
    name: "another type",
    spec: s.object({ host: s.integer(), size: s.optional(s.string()) }),
    lines: [
      '3 of 3 stored objects would break with the new CustomResourceDefinition "websites.demo.example.com" (v1):',
      '  spec.host is not valid: Invalid value: "string": spec.host in body must be of type integer: "string": 3 objects, for example Website default/w1',
    ],
  },
];

for (const { name, spec, lines } of CHANGES) {
  Deno.test(`the check for breaking changes counts the stored objects that break: ${name}`, async () => {
    await using cluster = await clusterOf(website(HOST), THREE);
    const { rejection = "" } = await check(cluster.client, definitionOf(website(spec)));
    assert.match(rejection, /^Cannot apply breaking changes: \d of 3 [^]*accept the loss with --allow-breaking\.$/);
    const reported = rejection.replace("Cannot apply breaking changes: ", "").split("\n").slice(0, -1);
    assert.deepEqual(reported, lines);

    const allowed = await check(cluster.client, definitionOf(website(spec)), { allowBreaking: true });
    assert.equal(allowed.rejection, undefined);
    assert.equal(allowed.warnings, `Warning: ${lines.join("\n")}\n`);
  });
}

Deno.test("the check for breaking changes sends one request for a kind that is new in the cluster", async () => {
  await using cluster = await memoryCluster();
  const before = cluster.requests.length;
  assert.deepEqual(await check(cluster.client, definitionOf(website(HOST))), { rejection: undefined, warnings: "" });
  assert.deepEqual(cluster.requests.slice(before).map(({ verb, resource }) => `${verb} ${resource}`), [
    "get customresourcedefinitions",
  ]);
});

Deno.test("the check for breaking changes reads no objects for a change that breaks none", async () => {
  await using cluster = await clusterOf(website(HOST), THREE);
  const wider = s.object({ host: s.string(), size: s.optional(s.string()), replicas: s.integer({ default: 1 }) });
  assert.deepEqual(await check(cluster.client, definitionOf(website(wider))), { rejection: undefined, warnings: "" });
  assert.deepEqual(cluster.sent({ verb: "list", kind: website(HOST) }), []);
});

Deno.test("the check for breaking changes accepts a breaking change that affects no stored object, and warns of it", async () => {
  await using cluster = await clusterOf(website(HOST), [{ host: "a" }]);
  const { rejection, warnings } = await check(cluster.client, definitionOf(website(s.object({ host: s.string() }))));
  assert.equal(rejection, undefined);
  assert.equal(
    warnings,
    "Warning: breaking change for clients, no stored object is affected: " +
      "websites.demo.example.com v1 .spec.size: was removed, so its values are dropped\n",
  );
});

Deno.test("the check for breaking changes does not count values that the installed definition already rejects", async () => {
  await using cluster = await clusterOf(website(HOST), THREE);
  const narrow = website(s.object({ host: s.string({ maxLength: 2 }), size: s.optional(s.string()) }));
  await cluster.client.apply(CustomResourceDefinition, narrow.crd as never, { manager: "test", force: true });
  const next = s.object({ host: s.string({ maxLength: 2 }), size: s.optional(s.string({ maxLength: 20 })) });
  assert.equal((await check(cluster.client, definitionOf(website(next)))).rejection, undefined);
});

Deno.test("the check for breaking changes reads a large list page by page", async () => {
  const specs = Array.from({ length: 501 }, (_, i) => ({ host: i === 500 ? "long" : "a" }));
  await using cluster = await clusterOf(website(HOST), specs);
  const narrow = s.object({ host: s.string({ maxLength: 2 }), size: s.optional(s.string()) });
  const { rejection = "" } = await check(cluster.client, definitionOf(website(narrow)));
  assert.match(rejection, /1 of 501 stored objects/);
  const lists = cluster.sent({ verb: "list", kind: website(HOST) });
  assert.deepEqual(lists.map(({ path }) => /[?&]limit=500/.test(path)), [true, true]);
});

Deno.test("the check for breaking changes rejects a change if it may not read the objects, and reports the reason", async () => {
  await using cluster = await clusterOf(website(HOST), THREE);
  cluster.inject(faults.status(403), { verb: "list", kind: website(HOST) });
  const { rejection = "" } = await check(cluster.client, definitionOf(website(s.object({ host: s.string() }))));
  assert.match(rejection, /may break objects of v1, which could not be checked: Cannot list .*403/);
});

Deno.test("the check for breaking changes finds fields that a new storage version without a conversion does not have", async () => {
  await using cluster = await clusterOf(website(HOST), THREE);
  const next = website(s.object({ host: s.string() }), { version: "v2", versions: [website(HOST)] });
  const { rejection = "" } = await check(cluster.client, definitionOf(next));
  assert.match(
    rejection,
    /2 of 3 stored objects [^]*spec\.size is dropped: 2 objects, for example Website default\/w2/,
  );

  const converted = definitionOf(next).map((definition) => ({
    ...definition,
    spec: { ...definition.spec, conversion: { strategy: "Webhook" } },
  }));
  assert.equal((await check(cluster.client, converted)).rejection, undefined);
});

Deno.test("the check for breaking changes always rejects the removal of a stored version, and reports how to migrate", async () => {
  await using cluster = await clusterOf(website(HOST), THREE);
  const next = definitionOf(website(HOST, { version: "v2" }));
  for (const allowBreaking of [false, true]) {
    const { rejection = "" } = await check(cluster.client, next, { allowBreaking });
    assert.match(
      rejection,
      /^Cannot apply CustomResourceDefinition "websites\.demo\.example\.com": objects may be stored in version "v1", which the new definition does not have \(3 objects in the cluster\)\. /,
    );
    assert.match(rejection, /--type=merge -p '\{"status":\{"storedVersions":\["v2"\]\}\}'$/);
  }
});
