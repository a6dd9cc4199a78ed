import assert from "node:assert/strict";
import type { KubeObject } from "../resource/kind.ts";
import { isApplied } from "./applied.ts";

/**
 * An applied object, the object in the cluster, and the fields that the server recorded for the
 * manager. Shortened from the responses of a kube-apiserver 1.36.
 */
interface Case {
  // deno-lint-ignore no-explicit-any -- cases change any part of it
  wanted: any;
  // deno-lint-ignore no-explicit-any
  live: any;
  // deno-lint-ignore no-explicit-any
  fields: any;
}

const OWNER = {
  apiVersion: "demo.example.com/v1",
  kind: "Website",
  name: "blog",
  uid: "u1",
  controller: true,
  blockOwnerDeletion: true,
};

function deployment(): Case {
  const spec = (container: object) => ({
    replicas: 2,
    selector: { matchLabels: { app: "blog" } },
    template: { metadata: { labels: { app: "blog" } }, spec: { containers: [container] } },
  });
  return {
    wanted: {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "blog", namespace: "shop", labels: { app: "blog" }, ownerReferences: [OWNER] },
      spec: spec({ name: "web", image: "nginx:1", args: ["-a", "-b"], ports: [{ containerPort: 80 }] }),
    },
    live: {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: {
        name: "blog",
        namespace: "shop",
        uid: "u2",
        resourceVersion: "7",
        generation: 1,
        labels: { app: "blog", team: "another manager" },
        annotations: { "deployment.kubernetes.io/revision": "1" },
        ownerReferences: [OWNER],
      },
      spec: {
        ...spec({
          name: "web",
          image: "nginx:1",
          args: ["-a", "-b"],
          imagePullPolicy: "IfNotPresent",
          ports: [{ containerPort: 80, protocol: "TCP" }],
        }),
        revisionHistoryLimit: 10,
      },
      status: { readyReplicas: 2 },
    },
    fields: {
      "f:metadata": { "f:labels": { "f:app": {} }, "f:ownerReferences": { 'k:{"uid":"u1"}': {} } },
      "f:spec": {
        "f:replicas": {},
        "f:selector": {},
        "f:template": {
          "f:metadata": { "f:labels": { "f:app": {} } },
          "f:spec": {
            "f:containers": {
              'k:{"name":"web"}': {
                ".": {},
                "f:args": {},
                "f:image": {},
                "f:name": {},
                "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, "f:containerPort": {} } },
              },
            },
          },
        },
      },
    },
  };
}

function ports(wanted: object[], live: object[], keys: Record<string, object>): Case {
  const object = (list: object[]) => ({ apiVersion: "v1", kind: "Service", metadata: { name: "a" }, ports: list });
  return { wanted: object(wanted), live: object(live), fields: { "f:ports": keys } };
}

function container(part: { spec: { template: { spec: { containers: unknown[] } } } }): Record<string, unknown> {
  return part.spec.template.spec.containers[0] as Record<string, unknown>;
}

const TCP = 'k:{"containerPort":53,"protocol":"TCP"}';
const UDP = 'k:{"containerPort":53,"protocol":"UDP"}';

const UNCHANGED: readonly { name: string; given: () => Case }[] = [
  { name: "a Deployment with additional fields of other managers", given: deployment },
  {
    name: "applied fields that are undefined",
    given: () => changed(({ wanted }) => (wanted.spec.strategy = undefined)),
  },
  {
    name: "a list map, in any order of its recorded keys",
    given: () =>
      ports(
        [{ containerPort: 53 }, { containerPort: 53, protocol: "UDP" }],
        [{ containerPort: 53, protocol: "TCP" }, { containerPort: 53, protocol: "UDP" }],
        { [UDP]: { ".": {}, "f:containerPort": {}, "f:protocol": {} }, [TCP]: { ".": {}, "f:containerPort": {} } },
      ),
  },
  {
    name: "a set with items of other managers",
    given: () => ({
      wanted: { apiVersion: "v1", kind: "Thing", metadata: { name: "a", finalizers: ["x/one"] } },
      live: { apiVersion: "v1", kind: "Thing", metadata: { name: "a", finalizers: ["y/two", "x/one"] } },
      fields: { "f:metadata": { "f:finalizers": { ".": {}, 'v:"x/one"': {} } } },
    }),
  },
  {
    name: "keys that all JavaScript objects inherit",
    given: () => ({
      wanted: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { constructor: "x" } },
      live: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { constructor: "x" } },
      fields: { "f:data": { "f:constructor": {} } },
    }),
  },
];

const CHANGED: readonly { name: string; given: () => Case }[] = [
  { name: "a value that was changed in the cluster", given: () => changed(({ live }) => (live.spec.replicas = 3)) },
  { name: "a changed value to apply", given: () => changed(({ wanted }) => (wanted.spec.replicas = 3)) },
  { name: "a new field to apply", given: () => changed(({ wanted }) => (wanted.spec.paused = true)) },
  { name: "a field that is no longer applied", given: () => changed(({ wanted }) => delete wanted.spec.replicas) },
  {
    name: "a field with an equal value that another manager owns",
    given: () => changed(({ fields }) => delete fields["f:spec"]["f:replicas"]),
  },
  { name: "a field that was removed", given: () => changed(({ live }) => delete live.spec.replicas) },
  {
    name: "an atomic list with an item of another manager",
    given: () => changed(({ live }) => (container(live).args = ["-a", "-b", "-c"])),
  },
  {
    name: "an atomic object with a key of another manager",
    given: () => changed(({ live }) => (live.spec.selector.matchLabels.team = "x")),
  },
  { name: "an item that was removed", given: () => changed(({ live }) => (live.spec.template.spec.containers = [])) },
  {
    name: "an item with another name",
    given: () => changed(({ wanted }) => (container(wanted).name = "other")),
  },
  {
    name: "an owner reference without blockOwnerDeletion",
    given: () => changed(({ live }) => (live.metadata.ownerReferences[0].blockOwnerDeletion = false)),
  },
  { name: "an applied label that was removed", given: () => changed(({ live }) => delete live.metadata.labels.app) },
  {
    name: "fields that were recorded for another API version",
    given: () => changed(({ wanted }) => (wanted.apiVersion = "apps/v2")),
  },
  {
    name: "a changed item next to one that omits a key with a default",
    given: () =>
      ports(
        [{ containerPort: 53 }, { containerPort: 53, protocol: "UDP", name: "dns" }],
        [{ containerPort: 53, protocol: "TCP" }, { containerPort: 53, protocol: "UDP" }],
        { [TCP]: { ".": {}, "f:containerPort": {} }, [UDP]: { ".": {}, "f:containerPort": {}, "f:protocol": {} } },
      ),
  },
  {
    name: "a changed item that is recorded before one that omits a key with a default",
    given: () =>
      ports(
        [{ containerPort: 53 }, { containerPort: 53, protocol: "UDP", name: "dns" }],
        [{ containerPort: 53, protocol: "TCP" }, { containerPort: 53, protocol: "UDP" }],
        { [UDP]: { ".": {}, "f:containerPort": {}, "f:protocol": {} }, [TCP]: { ".": {}, "f:containerPort": {} } },
      ),
  },
  {
    name: "items in another order, which matters for init containers",
    given: () =>
      ports([{ name: "b" }, { name: "a" }], [{ name: "a" }, { name: "b" }], {
        'k:{"name":"a"}': { ".": {}, "f:name": {} },
        'k:{"name":"b"}': { ".": {}, "f:name": {} },
      }),
  },
  {
    name: "an item of a set that is no longer applied",
    given: () => ({
      wanted: { apiVersion: "v1", kind: "Thing", metadata: { name: "a", finalizers: ["x/one"] } },
      live: { apiVersion: "v1", kind: "Thing", metadata: { name: "a", finalizers: ["x/one", "x/two"] } },
      fields: { "f:metadata": { "f:finalizers": { 'v:"x/one"': {}, 'v:"x/two"': {} } } },
    }),
  },
  {
    name: "a recorded key that is not valid JSON",
    given: () => ports([{ name: "a" }], [{ name: "a" }], { "k:{": { ".": {}, "f:name": {} } }),
  },
  {
    name: "an item that is recorded by index, which is not supported",
    given: () => ports([{ name: "a" }], [{ name: "a" }], { "i:0": { "f:name": {} } }),
  },
];

for (const [cases, expected] of [[UNCHANGED, true], [CHANGED, false]] as const) {
  for (const { name, given } of cases) {
    Deno.test(`isApplied returns ${expected} for ${name}`, () => {
      assert.equal(isApplied(given().wanted, recorded(given(), "me"), "me"), expected);
    });
  }
}

const RECORDS: readonly { name: string; entry: Record<string, unknown> }[] = [
  { name: "of another manager", entry: { manager: "other" } },
  { name: "of an update, not an apply", entry: { operation: "Update" } },
  { name: "of a subresource", entry: { subresource: "status" } },
  { name: "without fields", entry: { fieldsV1: undefined } },
];

for (const { name, entry } of RECORDS) {
  Deno.test(`isApplied returns false if the only entry of managedFields is one ${name}`, () => {
    const given = deployment();
    assert.equal(isApplied(given.wanted, recorded(given, "me", entry), "me"), false);
  });
}

function changed(change: (given: Case) => unknown): Case {
  // Copied, so that the applied object and the live one share no values.
  const given = JSON.parse(JSON.stringify(deployment()));
  change(given);
  return given;
}

function recorded({ wanted, live, fields }: Case, manager: string, more: Record<string, unknown> = {}): KubeObject {
  const apiVersion = live.apiVersion ?? wanted.apiVersion;
  const entry = { manager, operation: "Apply", apiVersion, fieldsType: "FieldsV1", fieldsV1: fields, ...more };
  return { ...live, metadata: { ...live.metadata, managedFields: [entry] } };
}
