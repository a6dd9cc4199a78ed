/** The roles made from the declarations are all that the operator needs, and each verb in them is needed: shown on a real API server. */
import assert from "node:assert/strict";
import { DIRECTORY } from "../../examples/01_website/controller.ts";
import op from "../../examples/01_website/main.ts";
import { Website } from "../../examples/01_website/website.ts";
import { ClusterRole, CustomResourceDefinition, Namespace } from "../../src/kinds/mod.ts";
import { isStatus } from "../../src/kube/api_error.ts";
import type { Client } from "../../src/kube/client.ts";
import { installOf } from "../../src/manifests/install.ts";
import type { Right } from "../../src/manifests/rights.ts";
import { accessManifests } from "../../src/manifests/roles.ts";
import type { RealCluster } from "../../src/testing/real_cluster.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient, type Watched, watched } from "../_watched.ts";
import { connectAs, createAccess, tokenOf } from "./_service_account.ts";
import { soon } from "./_soon.ts";

const RIGHTS = op.rights();
const SYSTEM = `${op.name}-system`;
const USER = `system:serviceaccount:${SYSTEM}:${op.name}`;
const IN_DEFAULT = { namespace: "default" };

Deno.test("the generated roles suffice, and without any one verb of them something fails", async (t) => {
  await using cluster = await realCluster({
    audit: "everything",
    apiserverArgs: [
      // Servers without streaming lists are asked for lists; clusters may check who makes owners that block a deletion.
      "--feature-gates=WatchList=false",
      "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
    ],
  });
  const client = adminClient(cluster);
  for (const name of [DIRECTORY, SYSTEM]) await client.create(Namespace, { metadata: { name } });
  await install(client);
  const token = await tokenOf(cluster, SYSTEM, op.name);
  await using sites = await watched(client, Website);

  await t.step("with all of them nothing is refused, and all are used", async () => {
    assert.equal(await lifeOfSite({ cluster, client, token, sites }), "published and gone");
    const asked = (await cluster.auditLog()).filter(({ user }) => user.username === USER);
    // An apply that makes an object is a patch, and needs both rights.
    const used = new Set(
      asked.flatMap(({ verb, objectRef, responseStatus }) =>
        (responseStatus?.code === 201 ? [verb, "create"] : [verb]).map((verb) => `${verb} ${resourceOf(objectRef)}`)
      ),
    );
    // Nobody sends a request to `finalizers`: the right is asked for when an owner is named.
    const sent = RIGHTS.filter(({ resource }) => !resource.endsWith("/finalizers"));
    assert.deepEqual(sent.map(({ verb, resource }) => `${verb} ${resource}`).filter((right) => !used.has(right)), []);
  });

  for (const right of RIGHTS) {
    await t.step(`without "${right.verb}" on "${right.resource}" it is refused that`, async () => {
      await give(client, RIGHTS.filter((other) => other !== right));
      await soon(async () => assert.equal(await isAllowed(cluster, right), false));
      const refused = await lifeOfSite({ cluster, client, token, sites });
      const expected = right.resource.endsWith("/finalizers")
        ? "an ownerReference refers to a resource you can't set finalizers on"
        : `cannot ${right.verb} resource "${right.resource}"`;
      assert(refused.includes(expected), `${expected} is not in: ${refused}`);
    });
  }
});

/** Puts in the definitions, the account and its roles. */
async function install(client: Client): Promise<void> {
  for (const crd of op.crds()) await client.create(CustomResourceDefinition, crd as never);
  await createAccess(client, op.manifests().rbac);
  await using definitions = await watched(client, CustomResourceDefinition);
  await definitions.until((all) =>
    all.some(({ status }) =>
      status?.conditions?.some(({ type, status }) => type === "Established" && status === "True")
    )
  );
}

/** Makes the role what it is with these rights. */
async function give(client: Client, rights: readonly Right[]): Promise<void> {
  const role = accessManifests(op.name, rights, installOf(op, {})).find(({ kind }) => kind === "ClusterRole");
  assert(role);
  await client.patch(ClusterRole, op.name, { rules: role.rules });
}

async function isAllowed(cluster: RealCluster, { group, resource: whole, verb }: Right): Promise<boolean> {
  const [resource, subresource] = whole.split("/");
  const response = await cluster.fetch("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
    method: "POST",
    body: JSON.stringify({
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: { user: USER, resourceAttributes: { group, resource, subresource, verb } },
    }),
  });
  return (await response.json()).status.allowed;
}

interface World {
  readonly cluster: RealCluster;
  readonly client: Client;
  readonly token: string;
  readonly sites: Watched<typeof Website>;
}

let count = 0;

/** Runs the operator while a site comes and goes. Answers what was refused first. */
async function lifeOfSite({ cluster, client, token, sites }: World): Promise<string> {
  const name = `site-${count++}`;
  await client.create(Website, { metadata: { name }, spec: { host: "a.example.com" } }, IN_DEFAULT);
  using connection = connectAs(cluster, token);
  const refused = Promise.withResolvers<string>();
  connection.onRefused = refused.resolve;
  const stop = new AbortController();
  const running = op.run({ connection, signal: stop.signal });
  const life = async (): Promise<string> => {
    await sites.until((all) => all.some(({ metadata, status }) => metadata.name === name && status?.url !== undefined));
    await client.delete(Website, name, IN_DEFAULT);
    await sites.until((all) => all.every(({ metadata }) => metadata.name !== name));
    return "published and gone";
  };
  try {
    return await Promise.race([life(), refused.promise]);
  } finally {
    stop.abort();
    await running;
    await removeSite(client, name);
  }
}

/** Takes a site away as it is: the operator that would clean up may not. */
async function removeSite(client: Client, name: string): Promise<void> {
  for (
    const request of [
      () => client.delete(Website, name, IN_DEFAULT),
      () => client.patch(Website, name, { metadata: { finalizers: null } }, IN_DEFAULT),
    ]
  ) {
    await request().catch((error) => {
      if (!isStatus(error, 404)) throw error;
    });
  }
}

function resourceOf(reference: { readonly resource?: string; readonly subresource?: string } | undefined): string {
  return [reference?.resource, reference?.subresource].filter((part) => part !== undefined && part !== "").join("/");
}
