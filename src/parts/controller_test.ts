import assert from "node:assert/strict";
import type { Duration } from "../base/duration.ts";
import { ClusterRole, ConfigMap, Deployment, Namespace, Secret } from "../kinds/mod.ts";
import { resource } from "../resource/mod.ts";
import { s } from "../schema/mod.ts";
import { access, type Verb } from "./access.ts";
import { type Controller, controller } from "./controller.ts";
import { PermanentError, requeue, TemporaryError } from "./outcome.ts";
import { watch } from "./watch.ts";

const Website = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Website",
  spec: s.object({ host: s.string() }),
  status: s.object({ url: s.optional(s.string()), ready: s.optional(s.integer()) }),
});
// Another group's kind of the same name and shape.
const Other = resource({ group: "other.example.com", version: "v1", kind: "Website", spec: s.object({}) });

const REFUSED: readonly { name: string; make: () => Controller; error: string; message: string }[] = [
  {
    name: "its own kind as one it owns",
    make: () => controller(Website, { owns: [Website], reconcile() {} }),
    error: "TypeError",
    message: 'Cannot make a controller of Website: "Website" is in "owns" and is its own kind: declare it once',
  },
  {
    name: "its own kind as one it reads",
    make: () => controller(Website, { reads: [Website], reconcile() {} }),
    error: "TypeError",
    message: 'Cannot make a controller of Website: "Website" is in "reads" and is its own kind: declare it once',
  },
  {
    name: "a kind that it owns twice",
    make: () => controller(Website, { owns: [ConfigMap, ConfigMap], reconcile() {} }),
    error: "TypeError",
    message: 'Cannot make a controller of Website: "ConfigMap" is in "owns" and is in "owns": declare it once',
  },
  {
    name: "a kind that it owns and reads",
    make: () => controller(Website, { owns: [ConfigMap], reads: [Secret, ConfigMap], reconcile() {} }),
    error: "TypeError",
    message: 'Cannot make a controller of Website: "ConfigMap" is in "reads" and is in "owns": declare it once',
  },
  ...([
    [
      "labels that are no selector",
      { labelSelector: "app===web" },
      '"labelSelector" is "app===web", and must be one of labels, such as "app=web" or { app: "web" }: unable to parse requirement: found \'=\', expected: identifier',
    ],
    [
      "labels of which one would be two as text",
      { labelSelector: { app: "web,tier=front" } },
      '"labelSelector" is {"app":"web,tier=front"}, and must be one of labels, such as "app=web" or { app: "web" }: values[0][app]: Invalid value: ' +
      "\"web,tier=front\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
      "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
    [
      "fields that are no selector",
      { fieldSelector: "web" },
      '"fieldSelector" is "web", and must be one of fields, such as "metadata.name=web": invalid selector: \'web\'; can\'t understand \'web\'',
    ],
    [
      "a pattern of namespaces",
      { namespaces: ["shop", "shop-*"] },
      '"namespaces" has "shop-*", which is no name of a namespace: patterns are not taken',
    ],
  ] as const).map(([name, options, why]) => ({
    name: `a watch of ${name}`,
    make: () => controller(Website, { owns: [ConfigMap], watches: [watch(ConfigMap, options)], reconcile() {} }),
    error: "TypeError",
    message: `Cannot make a controller of Website: the watch of "ConfigMap": ${why}`,
  })),
  {
    name: "a child that no owner reference reaches, as it is in no namespace, and whose changes would wake nobody",
    make: () => controller(Website, { owns: [ConfigMap, Namespace], reconcile() {} }),
    error: "TypeError",
    message:
      'Cannot make a controller of Website: it owns "Namespace", which is in no namespace, and an owner reference does not reach there: ' +
      'give its watch a "map", by a label, apply it with { owner: false }, and delete it in cleanup',
  },
  {
    name: "a child that no owner reference reaches, as it is looked at in other namespaces alone",
    make: () =>
      controller(Website, {
        owns: [ConfigMap],
        watches: [watch(Website, { namespaces: ["shop"] }), watch(ConfigMap, { namespaces: ["blog", "news"] })],
        reconcile() {},
      }),
    error: "TypeError",
    message:
      'Cannot make a controller of Website: it owns "ConfigMap", which is looked at in namespaces where no Website is, and an owner reference does not reach there: ' +
      'give its watch a "map", by a label, apply it with { owner: false }, and delete it in cleanup',
  },
  {
    name: "no more than metadata of its own kind, whose status it keeps",
    make: () => controller(Website, { watches: [watch(Website, { metadataOnly: true })], reconcile() {} }),
    error: "TypeError",
    message:
      'Cannot make a controller of Website: of its own kind it holds metadata only, so that it could not keep its status: leave "metadataOnly" out',
  },
  {
    name: "names that are looked for beside objects that are in no namespace",
    make: () => controller(Namespace, { watches: [watch(Secret, { names: ["defaults"] })], reconcile() {} }),
    error: "TypeError",
    message:
      'Cannot make a controller of Namespace: the watch of "Secret" has "names": Namespace is in no namespace, beside which they could be looked for: answer { name, namespace } by a function',
  },
  ...[0, -1, 1.5, NaN, Infinity].map((concurrency) => ({
    name: `a concurrency of ${concurrency}`,
    make: () => controller(Website, { concurrency, reconcile() {} }),
    error: "RangeError",
    message:
      `Cannot make a controller of Website: "concurrency" must be a positive integer: current value is ${concurrency}`,
  })),
  {
    name: "a finalizer that the server would refuse, as it is not qualified",
    make: () => controller(Website, { finalizer: "z", reconcile() {} }),
    error: "TypeError",
    message:
      'Cannot make a controller of Website: finalizer "z" must be a domain, a slash and a name of at most 63 characters, such as "example.com/cleanup"',
  },
  {
    name: "a timeout that is no duration, before any run",
    make: () => controller(Website, { timeout: "-5s" as Duration, reconcile() {} }),
    error: "SyntaxError",
    message: 'Cannot parse a duration: "-5s" is not a number followed by "ms", "s", "m" or "h"',
  },
];

for (const { name, make, error, message } of REFUSED) {
  Deno.test(`controller refuses ${name}`, () => assert.throws(make, { name: error, message }));
}

Deno.test("controller takes a kind of the same name in another group, and live calls on what it owns", () => {
  const part = controller(Website, {
    owns: [ConfigMap, Other],
    uses: [access(ConfigMap, "delete"), access(Website, "patch")],
    reconcile() {},
  });
  assert.deepEqual(part.owns, [ConfigMap, Other]);
});

Deno.test("controller takes children out of an owner's reach that a map tracks, and children anywhere of what is in no namespace", () => {
  const map = () => undefined;
  controller(Website, { owns: [Namespace], watches: [watch(Namespace, { map })], reconcile() {} });
  controller(Website, {
    owns: [ConfigMap],
    watches: [watch(Website, { namespaces: ["shop"] }), watch(ConfigMap, { namespaces: ["blog"], map })],
    reconcile() {},
  });
  controller(Website, {
    owns: [ConfigMap],
    watches: [watch(Website, { namespaces: ["shop"] }), watch(ConfigMap, { namespaces: ["blog", "shop"] })],
    reconcile() {},
  });
  controller(Namespace, {
    owns: [ClusterRole, ConfigMap],
    watches: [watch(Namespace, { metadataOnly: true }), watch(ConfigMap, { namespaces: ["shop"] })],
    reconcile() {},
  });
});

Deno.test("controller writes the status of own kinds that have one, and of others only with writesStatus", () => {
  const names = { group: "demo.example.com", version: "v1", spec: s.object({}) } as const;
  const Own = resource({ ...names, kind: "Own", status: s.object({}) });
  const Plain = resource({ ...names, kind: "Plain" });
  const External = resource({ ...names, kind: "External", external: true, status: s.object({}) });
  const reconcile = () => {};
  const written = [Own, Plain, External, Namespace].map((kind) => controller(kind, { reconcile }).writesStatus);
  assert.deepEqual(written, [true, false, false, false]);
  const asked = [Own, External, Namespace].map((kind) =>
    controller(kind, { writesStatus: true, reconcile }).writesStatus
  );
  assert.deepEqual(asked, [true, true, true]);
  assert.throws(() => controller(Plain, { writesStatus: true, reconcile }), {
    name: "TypeError",
    message:
      /^Controller for Plain: "writesStatus" is true, but demo\.example\.com\/v1 Plain has no status subresource\./,
  });
  assert.throws(
    () => controller(External, { writesStatus: true, watches: [watch(External, { metadataOnly: true })], reconcile }),
    /of its own kind it holds metadata only/,
  );
});

Deno.test("controller is plain data with its defaults filled in, and calls the functions as methods of the options", async () => {
  const options = {
    word: "own",
    reconcile(): undefined {
      assert.equal(this.word, "own");
    },
    cleanup(): undefined {
      assert.equal(this.word, "own");
    },
  };
  const part = controller(Website, options);
  await part.reconcile({}, {});
  await part.cleanup?.({}, {});
  assert.deepEqual(
    { ...part, reconcile: undefined, cleanup: undefined },
    {
      part: "controller",
      kind: Website,
      owns: [],
      reads: [],
      uses: [],
      watches: [],
      indexes: {},
      triggers: [],
      prune: false,
      writesStatus: true,
      sandbox: {},
      concurrency: 10,
      timeout: undefined,
      finalizer: undefined,
      reconcile: undefined,
      cleanup: undefined,
    },
  );
  assert.equal(controller(Website, { reconcile() {} }).cleanup, undefined, "no cleanup, no finalizer");
});

Deno.test("access refuses no verb and a verb that does not exist", () => {
  assert.throws(() => access(Secret), {
    name: "TypeError",
    message: "Cannot ask for access to Secret: name a verb, one of get, list, create, patch, delete",
  });
  assert.throws(() => access(Secret, "get", "watch" as Verb), {
    name: "TypeError",
    message: 'Cannot ask for access to Secret: "watch" is not one of get, list, create, patch, delete',
  });
});

Deno.test("requeue, TemporaryError and PermanentError carry when to try again", () => {
  assert.deepEqual(requeue("0s"), { after: 0 });
  assert.throws(() => requeue("later" as Duration), { name: "SyntaxError" });
  const cause = new Error("down");
  const temporary = new TemporaryError("not yet", { retry: "30s", cause });
  assert.deepEqual([temporary.name, temporary.message, temporary.after, temporary.cause], [
    "TemporaryError",
    "not yet",
    30_000,
    cause,
  ]);
  assert.equal(new TemporaryError("not yet").after, undefined);
  assert.equal(new PermanentError("never", { cause }).cause, cause);
});

// What must and must not compile. The compiler checks it: the functions are never called.
Deno.test("Context takes the kinds that are declared", () => {
  controller(Website, {
    owns: [ConfigMap],
    reads: [Deployment],
    uses: [access(Secret, "get", "create"), access(Namespace, "list", "patch"), access(ConfigMap, "delete")],
    async reconcile(site, { get, list, apply, create, patch, delete: remove, status }) {
      site.spec.host satisfies string;
      (await get(Website, "a"))?.spec.host satisfies string | undefined;
      (await get(ConfigMap, "a"))?.data?.key satisfies string | undefined;
      (await get(Deployment, "a", { namespace: "b" }))?.status?.readyReplicas satisfies number | undefined;
      (await get(Secret, "a"))?.data satisfies object | undefined;
      (await list(Namespace))[0]?.metadata.name satisfies string | undefined;
      (await apply(ConfigMap, { metadata: { name: "a" }, data: { key: "value" } })).metadata.uid satisfies string;
      await create(ConfigMap, { metadata: { generateName: "a-" } });
      await create(Secret, { metadata: { name: "a" } });
      await patch(Namespace, "a", {});
      await patch(ConfigMap, "a", {});
      await remove(ConfigMap, "a");
      status({ url: "https://a" });
      status({ ready: undefined });
    },
  });
});

Deno.test("Context refuses kinds and verbs that are not declared, and says what to declare", () => {
  controller(Website, {
    owns: [ConfigMap],
    reads: [Deployment],
    uses: [access(Secret, "get"), access(Namespace, "list")],
    async reconcile(_, { get, list, apply, create, patch, delete: remove, status, condition }) {
      // @ts-expect-error Namespace is declared for lists alone
      await get(Namespace, "a");
      // @ts-expect-error Other has the name and shape of Website, and is another kind
      await get(Other, "a");
      // @ts-expect-error Secret is declared for get alone
      await list(Secret);
      // @ts-expect-error what is read is not applied
      await apply(Deployment, { metadata: { name: "a" } });
      // @ts-expect-error the own kind is not applied
      await apply(Website, { metadata: { name: "a" }, spec: { host: "a" } });
      // @ts-expect-error a ConfigMap's data is text
      await apply(ConfigMap, { metadata: { name: "a" }, data: { key: 1 } });
      // @ts-expect-error Secret is declared for get alone
      await create(Secret, { metadata: { name: "a" } });
      // @ts-expect-error what is read is not patched
      await patch(Deployment, "a", {});
      // @ts-expect-error the own kind is not patched unless declared
      await patch(Website, "a", {});
      // @ts-expect-error owning is not deleting
      await remove(ConfigMap, "a");
      // @ts-expect-error Secret is declared for get alone
      await remove(Secret, "a");
      // @ts-expect-error the status has no such property
      status({ urll: "https://a" });
      // @ts-expect-error a url is text
      status({ url: 1 });
      // @ts-expect-error conditions have a call of their own
      status({ conditions: [] });
      // @ts-expect-error the SDK keeps it
      status({ observedGeneration: 1 });
      // @ts-expect-error a condition's status is True, False or Unknown
      condition({ type: "Ready", status: "yes", reason: "Done" });
    },
  });
});

Deno.test("Context refuses every touch where nothing is declared", () => {
  controller(Website, {
    async reconcile(_, { get, list, apply, create, patch, delete: remove }) {
      await get(Website, "a");
      // @ts-expect-error Secret is not declared here: add it to "reads"
      await get(Secret, "a");
      // @ts-expect-error Secret is not declared here: add it to "reads"
      await list(Secret);
      // @ts-expect-error Secret is not declared here: add it to "owns"
      await apply(Secret, { metadata: { name: "a" } });
      // @ts-expect-error Secret is not declared here: add it to "owns"
      await create(Secret, { metadata: { name: "a" } });
      // @ts-expect-error Secret is not declared here: add it to "owns"
      await patch(Secret, "a", {});
      // @ts-expect-error Secret is not declared here: add access(Secret, "delete") to "uses"
      await remove(Secret, "a");
    },
  });
});

Deno.test("access takes only verbs that exist, and kinds of controllers keep theirs", () => {
  access(Secret, "get", "list") satisfies { readonly verbs: readonly ("get" | "list")[] };
  // @ts-expect-error a live watch cannot be asked for
  assert.throws(() => access(Secret, "watch"));
  // @ts-expect-error a controller of one kind is not handed another kind's object
  controller(ConfigMap, { reconcile: (_: { readonly spec: { readonly host: string } }) => {} });
});
