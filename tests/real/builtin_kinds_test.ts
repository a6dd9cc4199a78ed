/**
 * Facts about built-in kinds that neither discovery nor OpenAPI describes: the generated rules of
 * `src/openapi/registry.gen.ts`, and tables such as the groups that accept each finalizer.
 */
import assert from "node:assert/strict";
import { memoryCluster } from "@op/sdk/testing";
import { subjectOf } from "../../cli/new/webhook_subject.ts";
import { type BuiltinResource, resources } from "../../src/openapi/kubernetes.gen.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";

const matchConstraints = {
  resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
};

/** Sample objects of the kinds that have no sample for `op new webhook`. */
const MORE_SAMPLES: Readonly<Record<string, object>> = {
  MutatingAdmissionPolicy: {
    spec: {
      matchConstraints,
      reinvocationPolicy: "Never",
      mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{}" } }],
    },
  },
  MutatingAdmissionPolicyBinding: { spec: { policyName: "a" } },
  ValidatingAdmissionPolicy: { spec: { matchConstraints, validations: [{ expression: "true" }] } },
  ValidatingAdmissionPolicyBinding: { spec: { policyName: "a", validationActions: ["Warn"] } },
};

/** Changes where it is not obvious whether the server increments the generation. */
const CHANGES: Readonly<Record<string, object>> = {
  CSIDriver: { spec: { requiresRepublish: true } },
  DeviceClass: { spec: { extendedResourceName: "example.com/device" } },
  EndpointSlice: { ports: [{ port: 80 }] },
  PodTemplate: { template: { spec: { hostNetwork: true } } },
  PriorityClass: { description: "changed" },
  PersistentVolume: { spec: { mountOptions: ["ro"] } },
};

/** Sends a request to a server. */
type Fetch = (path: string, init: RequestInit) => Promise<Response>;

interface ServerResponse {
  readonly status: number;
  readonly body: {
    readonly kind?: string;
    readonly message?: string;
    readonly metadata?: { readonly generation?: number };
  };
}

/** Sends the requests for one kind to a server, and returns how it handled them. */
async function behavior(fetch: Fetch, resource: BuiltinResource): Promise<Record<string, unknown>> {
  const { group, version, plural, kind, namespaced, verbs } = resource;
  const apiVersion = group === "" ? version : `${group}/${version}`;
  const collection = `/${group === "" ? "api" : "apis"}/${apiVersion}${
    namespaced ? "/namespaces/default" : ""
  }/${plural}`;
  const subject = subjectOf({ kind, group, apiVersion, isBuiltin: true } as never, { samples: [] } as never);
  const object = (name: string) => ({
    ...subject?.object,
    ...MORE_SAMPLES[kind],
    apiVersion,
    kind,
    metadata: { name, ...(namespaced && { namespace: "default" }) },
  });
  const send = async (method: string, path: string, body?: unknown): Promise<ServerResponse> => {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const init = {
      method,
      headers: { "content-type": type },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    };
    const response = await fetch(`${collection}${path}`, init);
    return { status: response.status, body: await response.json() };
  };
  const generation = ({ status, body }: ServerResponse): number | undefined => {
    assert(status < 300, `${kind}: ${body.message}`);
    return body.metadata?.generation;
  };
  const found: Record<string, unknown> = {};
  if (verbs.includes("list")) found["warning of a list"] = (await fetch(collection, {})).headers.get("warning");
  if (verbs.includes("update")) {
    found["PUT creates"] = (await send("PUT", "/absent", object("absent"))).status !== 404;
  }
  if (subject === undefined || !verbs.includes("delete")) return found;
  found["generation of a new object"] = generation(await send("POST", "", object("a")));
  const patched = (metadata: object) => send("PATCH", "/a", { metadata });
  found["generation with a new label"] = generation(await patched({ labels: { a: "b" } }));
  found["generation with a new annotation"] = generation(await patched({ annotations: { a: "b" } }));
  const change = CHANGES[kind];
  if (change !== undefined) found["generation with a change"] = generation(await send("PATCH", "/a", change));
  const { body } = await send("GET", "/a");
  const without = { ...body, metadata: { ...body.metadata, resourceVersion: undefined } };
  found["PUT without resourceVersion"] = (await send("PUT", "/a", without)).status;
  found["finalizer without domain"] = (await patched({ finalizers: ["plain"] })).status;
  await patched({ finalizers: null });
  found["DELETE returns"] = (await send("DELETE", "/a?gracePeriodSeconds=0")).body.kind === "Status"
    ? "Status"
    : "object";
  return found;
}

Deno.test("the in-process API server responds for each built-in kind like a real one", async (t) => {
  await using real = await realCluster();
  await using memory = await memoryCluster();
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } };
  await real.fetch("/api/v1/namespaces/default/serviceaccounts", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(account),
  });
  for (const resource of resources) {
    const { group, version, plural } = resource;
    await t.step(`${group}/${version} ${plural}`, async () => {
      const theirs = await behavior((path, init) => real.fetch(path, init), resource);
      const ours = await behavior(
        (path, init) => memory.fetch(new Request(`http://memory.cluster${path}`, init)),
        resource,
      );
      assert.deepEqual(ours, theirs);
    });
  }
});
