import assert from "node:assert/strict";
import { Client } from "./client.ts";
import { findKind } from "./discovery.ts";

type Resource = [resource: string, kind: string, shortNames?: string[], scope?: "Cluster"];

const GROUPS: Record<string, Record<string, Resource[]>> = {
  "": { v1: [["pods", "Pod", ["po"]], ["events", "Event", ["ev"]], ["namespaces", "Namespace", ["ns"], "Cluster"]] },
  apps: { v1: [["deployments", "Deployment", ["deploy"]]] },
  "events.k8s.io": { v1: [["events", "Event", ["ev"]]] },
  "demo.example.com": { v2: [["websites", "Website", ["web"]]], v1: [["websites", "Website"], ["pages", "Page"]] },
  "other.example.com": { v1: [["websites", "Website"]] },
};

const CASES: readonly { name: string; query: string; expected: string }[] = [
  { name: "by short name", query: "deploy", expected: "apps/v1 Deployment" },
  { name: "by plural", query: "deployments", expected: "apps/v1 Deployment" },
  { name: "by kind in upper case", query: "DEPLOYMENT", expected: "apps/v1 Deployment" },
  { name: "by singular with its group", query: "website.demo.example.com", expected: "demo.example.com/v2 Website" },
  {
    name: "with a version that is not preferred",
    query: "websites.v1.demo.example.com",
    expected: "demo.example.com/v1 Website",
  },
  { name: "that only an older version has", query: "pages", expected: "demo.example.com/v1 Page" },
  { name: "of the core group before other groups", query: "ev", expected: "v1 Event" },
  { name: "of another group with its group", query: "events.events.k8s.io", expected: "events.k8s.io/v1 Event" },
];

for (const { name, query, expected } of CASES) {
  Deno.test(`findKind finds a kind ${name}`, async () => {
    const kind = await findKind(cluster(), query);
    assert.equal(`${kind.apiVersion} ${kind.kind}`, expected);
  });
}

Deno.test("findKind returns all properties of a kind", async () => {
  assert.deepEqual(await findKind(cluster(), "ns"), {
    group: "",
    version: "v1",
    kind: "Namespace",
    apiVersion: "v1",
    plural: "namespaces",
    singular: "namespace",
    listKind: "NamespaceList",
    shortNames: ["ns"],
    namespaced: false,
  });
});

Deno.test("findKind rejects a kind that the cluster does not serve", async () => {
  for (const name of ["unknown", "websites.v3.demo.example.com", "pods.apps", ""]) {
    await assert.rejects(findKind(cluster(), name), {
      code: "KindNotServed",
      message: `Cannot find kind "${name}": the cluster does not serve it. ` +
        "Check that its CustomResourceDefinition is installed",
    });
  }
});

Deno.test("findKind rejects a kind that several groups have, and names the choices", async () => {
  await assert.rejects(findKind(cluster(), "website"), {
    code: "AmbiguousKind",
    message:
      'Cannot find kind "website": several groups have it. Use one of websites.demo.example.com, websites.other.example.com',
  });
});

function cluster(): Client {
  const fetch = (request: Request): Promise<Response> => {
    assert.equal(
      request.headers.get("accept"),
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    );
    const isCore = new URL(request.url).pathname === "/api";
    const groups = Object.entries(GROUPS).filter(([group]) => (group === "") === isCore);
    return Promise.resolve(Response.json({ items: groups.map(([group, versions]) => groupOf(group, versions)) }));
  };
  return new Client({ url: "http://cluster", fetch, close() {} });
}

function groupOf(group: string, versions: Record<string, Resource[]>) {
  return {
    ...(group === "" ? {} : { metadata: { name: group } }),
    versions: [
      // A group whose server is unavailable is listed without resources.
      { version: "v0", freshness: "Stale" },
      ...Object.entries(versions).map(([version, resources]) => ({
        version,
        resources: resources.map(([resource, kind, shortNames, scope = "Namespaced"]) => ({
          resource,
          responseKind: { group, version, kind },
          scope,
          singularResource: kind.toLowerCase(),
          ...(shortNames === undefined ? {} : { shortNames }),
        })),
      })),
    ],
  };
}
