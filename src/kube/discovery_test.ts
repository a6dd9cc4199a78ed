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

const FOUND: readonly { name: string; asked: string; expected: string }[] = [
  { name: "by short name", asked: "deploy", expected: "apps/v1 Deployment" },
  { name: "by plural", asked: "deployments", expected: "apps/v1 Deployment" },
  { name: "by kind in any case", asked: "DEPLOYMENT", expected: "apps/v1 Deployment" },
  { name: "by singular with its group", asked: "website.demo.example.com", expected: "demo.example.com/v2 Website" },
  {
    name: "of a version that is not preferred",
    asked: "websites.v1.demo.example.com",
    expected: "demo.example.com/v1 Website",
  },
  { name: "that only an older version has", asked: "pages", expected: "demo.example.com/v1 Page" },
  { name: "of the core group before others", asked: "ev", expected: "v1 Event" },
  { name: "of another group when it is named", asked: "events.events.k8s.io", expected: "events.k8s.io/v1 Event" },
];

for (const { name, asked, expected } of FOUND) {
  Deno.test(`findKind finds a kind ${name}`, async () => {
    const kind = await findKind(cluster(), asked);
    assert.equal(`${kind.apiVersion} ${kind.kind}`, expected);
  });
}

Deno.test("findKind answers all that calls need to know of a kind", async () => {
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

Deno.test("findKind says that a kind is not there", async () => {
  for (const name of ["nothing", "websites.v3.demo.example.com", "pods.apps", ""]) {
    await assert.rejects(findKind(cluster(), name), {
      message:
        `Cannot find a kind "${name}": the cluster serves none by that name: is its CustomResourceDefinition installed?`,
    });
  }
});

Deno.test("findKind names the choices when several groups have a kind", async () => {
  await assert.rejects(findKind(cluster(), "website"), {
    message: 'Cannot tell which kind "website" is: say one of websites.demo.example.com, websites.other.example.com',
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
      // A group whose server is away is listed without resources.
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
