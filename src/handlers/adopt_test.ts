import assert from "node:assert/strict";
import { V1Job, V1ObjectMeta } from "@kubernetes/client-node";
import {
  adjustNamespace,
  adopt,
  appendOwnerReference,
  buildObjectReference,
  buildOwnerReference,
  harmonizeNaming,
  label,
  removeOwnerReference,
} from "./adopt.ts";

const owner = {
  apiVersion: "demo.example.com/v1",
  kind: "Website",
  metadata: { name: "web", namespace: "shop", uid: "0a1b2c3d", labels: { tier: "gold", app: "web" } },
};
const reference = {
  apiVersion: "demo.example.com/v1",
  kind: "Website",
  name: "web",
  uid: "0a1b2c3d",
  controller: true,
  blockOwnerDeletion: true,
};
const adopted = {
  generateName: "web-",
  namespace: "shop",
  labels: { tier: "gold", app: "web" },
  ownerReferences: [reference],
};

Deno.test("adopt sets name, namespace, labels and owner reference of objects and lists", () => {
  const [job, [deployment]] = adopt([{ kind: "Job" }, [{ kind: "Deployment" }]] as const, owner);

  assert.deepEqual(job, { kind: "Job", metadata: adopted });
  assert.deepEqual(deployment, { kind: "Deployment", metadata: adopted });
});

Deno.test("adopt keeps existing names, namespaces and labels", () => {
  const job = { kind: "Job", metadata: { name: "nightly", namespace: "shop", labels: { tier: "free" } } };

  assert.deepEqual(adopt(job, owner), {
    kind: "Job",
    metadata: {
      name: "nightly",
      namespace: "shop",
      labels: { tier: "free", app: "web" },
      ownerReferences: [reference],
    },
  });
});

Deno.test("adopt replaces names, namespaces and labels with overwrite", () => {
  const job = { metadata: { generateName: "x-", namespace: "blog", labels: { tier: "free", kept: "yes" } } };

  assert.deepEqual(adopt(job, owner, { overwrite: true, exactName: true }), {
    metadata: {
      name: "web",
      namespace: "shop",
      labels: { tier: "gold", app: "web", kept: "yes" },
      ownerReferences: [reference],
    },
  });
});

Deno.test("adopt does not modify the objects", () => {
  const job = { kind: "Job", metadata: { labels: { a: "b" } }, spec: { template: {} } };
  const before = structuredClone(job);

  adopt(job, owner, { nested: "spec.template", overwrite: true });

  assert.deepEqual(job, before);
});

Deno.test("adopt returns a name with exactName", () => {
  const { metadata: { name } } = adopt({ kind: "ConfigMap" }, owner, { exactName: true });

  assert.equal(name satisfies string, "web");
});

Deno.test("adopt leaves the namespace of children of a cluster-scoped owner", () => {
  const cluster = { ...owner, metadata: { name: "web", uid: "1" } };

  assert.equal("namespace" in adopt({}, cluster).metadata, false);
  assert.equal(adopt({ metadata: { namespace: "blog" } }, cluster).metadata.namespace, "blog");
});

Deno.test("adopt accepts objects of client libraries", () => {
  const metadata = new V1ObjectMeta();
  metadata.name = "nightly";
  const job = new V1Job();
  job.metadata = metadata;
  const model = { toJSON: () => ({ kind: "ConfigMap", data: { a: "b" } }) };

  assert.deepEqual(JSON.parse(JSON.stringify(adopt(job, owner).metadata)), {
    name: "nightly",
    namespace: "shop",
    labels: owner.metadata.labels,
    ownerReferences: [reference],
  });
  assert.deepEqual(adopt(model, { toJSON: () => owner }).data satisfies { a: string }, { a: "b" });
});

Deno.test("labels are set in nested templates that exist, and in each item of a list", () => {
  const set = {
    spec: { template: { metadata: { labels: { app: "x" } } }, volumeClaimTemplates: [{ metadata: { name: "data" } }] },
  };
  const nested = ["spec.template", ".spec.volumeClaimTemplates", "spec.jobTemplate.spec.template"];

  assert.deepEqual(label(set, { app: "web" }, { nested }), {
    metadata: { labels: { app: "web" } },
    spec: {
      template: { metadata: { labels: { app: "x" } } },
      volumeClaimTemplates: [{ metadata: { name: "data", labels: { app: "web" } } }],
    },
  });
});

Deno.test("no labels change nothing", () => {
  assert.deepEqual(label({ kind: "Job" }, {}), { kind: "Job" });
});

Deno.test("a name is a prefix, or exact, and replaces another one only with overwrite", () => {
  const named = { metadata: { name: "nightly" } };

  assert.deepEqual(harmonizeNaming({}, "web") as unknown, { metadata: { generateName: "web-" } });
  assert.deepEqual(harmonizeNaming({}, "web", { exactName: true }) as unknown, { metadata: { name: "web" } });
  assert.deepEqual(harmonizeNaming(named, "web"), named);
  assert.deepEqual(harmonizeNaming(named, "web", { overwrite: true }) as unknown, {
    metadata: { generateName: "web-" },
  });
  assert.throws(() => harmonizeNaming({}, ""), { name: "TypeError" });
});

Deno.test("a namespace replaces another one only with overwrite", () => {
  const placed = { metadata: { namespace: "blog" } };

  assert.deepEqual(adjustNamespace({}, "shop") as unknown, { metadata: { namespace: "shop" } });
  assert.deepEqual(adjustNamespace(placed, "shop"), placed);
  assert.deepEqual(adjustNamespace(placed, "shop", { overwrite: true }), { metadata: { namespace: "shop" } });
});

Deno.test("an owner reference is added once, and removed by its uid", () => {
  const other = { ...reference, uid: "9", name: "other", controller: false };
  const child = { metadata: { name: "page", ownerReferences: [other] } };

  const once = appendOwnerReference(child, owner);
  const twice = appendOwnerReference(once, { ...owner, kind: "Renamed" });

  assert.deepEqual(twice.metadata.ownerReferences, [other, reference]);
  assert.deepEqual(removeOwnerReference(twice, owner), child);
  assert.deepEqual(removeOwnerReference([appendOwnerReference({ metadata: { name: "page" } }, owner)], owner), [
    { metadata: { name: "page" } },
  ]);
});

const rejected: { name: string; child: object; owner: object }[] = [
  { name: "an owner without a uid", child: {}, owner: { ...owner, metadata: { name: "web" } } },
  { name: "an owner without a kind", child: {}, owner: { ...owner, kind: undefined } },
  { name: "an owner in another namespace", child: { metadata: { namespace: "blog" } }, owner },
  {
    name: "a second controller",
    child: { metadata: { ownerReferences: [{ ...reference, uid: "9" }] } },
    owner,
  },
];

for (const { name, child, owner } of rejected) {
  Deno.test(`${name} is rejected`, () => {
    assert.throws(() => appendOwnerReference(child, owner), { name: "TypeError" });
  });
}

Deno.test("a second owner that is not the controller is accepted", () => {
  const child = { metadata: { ownerReferences: [{ ...reference, uid: "9" }] } };

  const { metadata } = appendOwnerReference(child, owner, { controller: false, blockOwnerDeletion: false });

  assert.deepEqual(metadata.ownerReferences[1], { ...reference, controller: false, blockOwnerDeletion: false });
});

Deno.test("references have the fields of the object that exist", () => {
  assert.deepEqual(buildOwnerReference(owner), reference);
  assert.deepEqual(buildObjectReference(owner), {
    apiVersion: "demo.example.com/v1",
    kind: "Website",
    name: "web",
    namespace: "shop",
    uid: "0a1b2c3d",
  });
  assert.deepEqual(buildObjectReference({ kind: "Node", metadata: { name: "n1", uid: "" } }), {
    kind: "Node",
    name: "n1",
  });
});
