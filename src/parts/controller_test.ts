import assert from "node:assert/strict";
import type { Duration } from "../base/duration.ts";
import { ClusterRole, ConfigMap, Deployment, Namespace, Secret } from "../kinds/mod.ts";
import { resource } from "../resource/mod.ts";
import { s } from "../schema/mod.ts";
import { access } from "./access.ts";
import { controller } from "./controller.ts";
import { PermanentError, requeue, TemporaryError } from "./outcome.ts";
import { watch } from "./watch.ts";

const Website = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Website",
  spec: s.object({ host: s.string() }),
  status: s.object({ url: s.optional(s.string()), ready: s.optional(s.integer()) }),
});
// A kind of another group that has the same name.
const Other = resource({ group: "other.example.com", version: "v1", kind: "Website", spec: s.object({}) });

Deno.test("controller accepts an owned kind that has the name of its own kind but another group, and direct calls on owned kinds", () => {
  const part = controller(Website, {
    owns: [ConfigMap, Other],
    uses: [access(ConfigMap, "delete"), access(Website, "patch")],
    reconcile() {},
  });
  assert.deepEqual(part.owns, [ConfigMap, Other]);
});

Deno.test("controller accepts children that cannot have an owner reference if their watch has a map, and children in any namespace of a cluster-scoped kind", () => {
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

Deno.test("controller writes the status of own kinds with a status, and of other kinds only with writesStatus", () => {
  const names = { group: "demo.example.com", version: "v1", spec: s.object({}) } as const;
  const Own = resource({ ...names, kind: "Own", status: s.object({}) });
  const Plain = resource({ ...names, kind: "Plain" });
  const External = resource({ ...names, kind: "External", external: true, status: s.object({}) });
  const reconcile = () => {};
  const byDefault = [Own, Plain, External, Namespace].map((kind) => controller(kind, { reconcile }).writesStatus);
  assert.deepEqual(byDefault, [true, false, false, false]);
  const withOption = [Own, External, Namespace].map((kind) =>
    controller(kind, { writesStatus: true, reconcile }).writesStatus
  );
  assert.deepEqual(withOption, [true, true, true]);
  assert.throws(() => controller(Plain, { writesStatus: true, reconcile }), {
    name: "TypeError",
    message:
      /^Controller for Plain: "writesStatus" is true, but demo\.example\.com\/v1 Plain has no status subresource\./,
  });
  assert.throws(
    () => controller(External, { writesStatus: true, watches: [watch(External, { metadataOnly: true })], reconcile }),
    { name: "TypeError", message: /"metadataOnly"/ },
  );
});

Deno.test("controller returns plain data with defaults, and calls the functions as methods of the options", async () => {
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

Deno.test("requeue returns the delay in milliseconds, and TemporaryError and PermanentError store delay and cause", () => {
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

// Only the compiler checks the following functions. They are never called.
Deno.test("Context accepts declared kinds and verbs", () => {
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

Deno.test("Context rejects kinds and verbs that are not declared, and suggests a declaration", () => {
  controller(Website, {
    owns: [ConfigMap],
    reads: [Deployment],
    uses: [access(Secret, "get"), access(Namespace, "list")],
    async reconcile(_, { get, list, apply, create, patch, delete: remove, status, condition }) {
      // @ts-expect-error Namespace is declared with the verb list only
      await get(Namespace, "a");
      // @ts-expect-error Other has the name and shape of Website, but another group
      await get(Other, "a");
      // @ts-expect-error Secret is declared with the verb get only
      await list(Secret);
      // @ts-expect-error a kind in "reads" cannot be applied
      await apply(Deployment, { metadata: { name: "a" } });
      // @ts-expect-error the controller's own kind cannot be applied
      await apply(Website, { metadata: { name: "a" }, spec: { host: "a" } });
      // @ts-expect-error values of a ConfigMap are strings
      await apply(ConfigMap, { metadata: { name: "a" }, data: { key: 1 } });
      // @ts-expect-error Secret is declared with the verb get only
      await create(Secret, { metadata: { name: "a" } });
      // @ts-expect-error a kind in "reads" cannot be patched
      await patch(Deployment, "a", {});
      // @ts-expect-error patching the own kind requires access(Website, "patch")
      await patch(Website, "a", {});
      // @ts-expect-error "owns" does not permit deleting
      await remove(ConfigMap, "a");
      // @ts-expect-error Secret is declared with the verb get only
      await remove(Secret, "a");
      // @ts-expect-error the status has no such property
      status({ urll: "https://a" });
      // @ts-expect-error a url is a string
      status({ url: 1 });
      // @ts-expect-error conditions are set with condition()
      status({ conditions: [] });
      // @ts-expect-error the SDK maintains observedGeneration
      status({ observedGeneration: 1 });
      // @ts-expect-error a condition's status is True, False or Unknown
      condition({ type: "Ready", status: "yes", reason: "Done" });
    },
  });
});

Deno.test("Context rejects all calls on other kinds if the controller declares none", () => {
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

Deno.test("access accepts only existing verbs, and a controller's reconcile receives objects of its kind", () => {
  access(Secret, "get", "list") satisfies { readonly verbs: readonly ("get" | "list")[] };
  // @ts-expect-error "watch" is not among the verbs
  assert.throws(() => access(Secret, "watch"));
  // @ts-expect-error a controller of ConfigMap receives ConfigMaps
  controller(ConfigMap, { reconcile: (_: { readonly spec: { readonly host: string } }) => {} });
});
