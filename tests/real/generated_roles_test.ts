/** The roles made from the declarations are all that the operator needs, and each verb in them is needed: shown on a real API server. */
import assert from "node:assert/strict";
import { DIRECTORY } from "../../examples/01_website/controller.ts";
import op from "../../examples/01_website/main.ts";
import { Website } from "../../examples/01_website/website.ts";
import { ClusterRole, Lease, Namespace, Role } from "../../src/kinds/mod.ts";
import { Event } from "../../src/kinds/events_v1.gen.ts";
import { isStatus } from "../../src/kube/api_error.ts";
import type { Client } from "../../src/kube/client.ts";
import { installOf } from "../../src/manifests/install.ts";
import type { RbacRule } from "../../src/manifests/rbac.ts";
import { accessManifests } from "../../src/manifests/roles.ts";
import type { RealCluster } from "../../src/testing/real_cluster.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient, type Watched, watched } from "../fixtures/watched.ts";
import { install } from "../fixtures/install.ts";
import { connectAs, createAccess, hasRight, tokenOf } from "../fixtures/service_account.ts";
import { eventually } from "../eventually.ts";

const RIGHTS = op.rbac();
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
  await installWithRoles(client);
  const token = await tokenOf(cluster, SYSTEM, op.name);
  await using sites = await watched(client, Website);
  await using events = await watched(client, Event);

  await t.step("with all of them nothing is refused, and all are used", async () => {
    await eventually(async () => {
      for (const right of RIGHTS) {
        assert(await hasRight(cluster, USER, right, SYSTEM), `${right.verb} ${right.resource}`);
      }
    });
    assert.equal(await lifeOfSite({ cluster, client, token, sites, events }), "published and gone");
    // Nobody sends a request to `finalizers`: the right is asked for when an owner is named.
    const sent = RIGHTS.filter(({ resource }) => !resource.endsWith("/finalizers"));
    // The log has a watch once the server has noticed its end.
    await eventually(async () => {
      const asked = (await cluster.auditLog()).filter(({ user }) => user.username === USER);
      // An apply that makes an object is a patch, and needs both rights.
      const used = new Set(
        asked.flatMap(({ verb, objectRef, responseStatus }) =>
          (responseStatus?.code === 201 ? [verb, "create"] : [verb]).map((verb) => `${verb} ${resourceOf(objectRef)}`)
        ),
      );
      assert.deepEqual(sent.map(({ verb, resource }) => `${verb} ${resource}`).filter((right) => !used.has(right)), []);
    });
  });

  for (const right of RIGHTS) {
    await t.step(`without "${right.verb}" on "${right.resource}" it is refused that`, async () => {
      await give(client, RIGHTS.filter((other) => other !== right));
      await eventually(async () => {
        for (const other of RIGHTS) assert.equal(await hasRight(cluster, USER, other, SYSTEM), other !== right);
      });
      const refused = await lifeOfSite({ cluster, client, token, sites, events });
      const expected = right.resource.endsWith("/finalizers")
        ? "an ownerReference refers to a resource you can't set finalizers on"
        : `cannot ${right.verb} resource "${right.resource}"`;
      assert(refused.includes(expected), `${expected} is not in: ${refused}`);
    });
  }
});

/** Puts in the definitions, the account and its roles. */
async function installWithRoles(client: Client): Promise<void> {
  await install(client, op);
  await createAccess(client, op.manifests().rbac);
}

/** Makes the roles what they are with these rights. */
async function give(client: Client, rights: readonly RbacRule[]): Promise<void> {
  const roles = accessManifests(op.name, rights, installOf(op, {}));
  for (const kind of [ClusterRole, Role]) {
    const role = roles.find((role) => role.kind === kind.kind);
    assert(role);
    const { name, namespace } = role.metadata;
    await client.patch(kind, name, { rules: role.rules }, namespace === undefined ? {} : { namespace });
  }
}

interface World {
  readonly cluster: RealCluster;
  readonly client: Client;
  readonly token: string;
  readonly sites: Watched<typeof Website>;
  readonly events: Watched<typeof Event>;
}

let count = 0;

/** Runs the operator while a site comes and goes, beside one that fails again and again. Answers what was refused first. */
async function lifeOfSite({ cluster, client, token, sites, events }: World): Promise<string> {
  const name = `site-${count++}`;
  const broken = `${name}-broken`;
  await client.create(Website, { metadata: { name }, spec: { host: "a.example.com" } }, IN_DEFAULT);
  const spec = { host: "b.example.com", source: "nowhere:" };
  await client.create(Website, { metadata: { name: broken }, spec }, IN_DEFAULT);
  using connection = Object.assign(connectAs(cluster, token), { namespace: SYSTEM });
  const refused = Promise.withResolvers<string>();
  let first: string | undefined;
  connection.onRefused = (message) => refused.resolve(first ??= message);
  const stop = new AbortController();
  // Without asking before: the runtime would wait for what is missing, and send nothing.
  const running = op.run({ connection, signal: stop.signal, leaderElection: true, checkAccess: false });
  const life = async (): Promise<void> => {
    await sites.until((all) => all.some(({ metadata, status }) => metadata.name === name && status?.url !== undefined));
    await events.until((all) =>
      all.some(({ regarding, series }) => regarding?.name === broken && series !== undefined)
    );
    for (const one of [name, broken]) await client.delete(Website, one, IN_DEFAULT);
    await sites.until((all) => all.every(({ metadata }) => metadata.name !== name && metadata.name !== broken));
  };
  try {
    await Promise.race([life(), refused.promise]);
  } finally {
    stop.abort();
    await running;
    for (const one of [name, broken]) await removeSite(client, one);
    // The next one makes it anew, and does not wait for one that could not be given back.
    await ignoringAbsent(client.delete(Lease, op.name, { namespace: SYSTEM }));
  }
  return first ?? "published and gone";
}

/** Takes a site away as it is: the operator that would clean up may not. */
async function removeSite(client: Client, name: string): Promise<void> {
  await ignoringAbsent(client.delete(Website, name, IN_DEFAULT));
  await ignoringAbsent(client.patch(Website, name, { metadata: { finalizers: null } }, IN_DEFAULT));
}

async function ignoringAbsent(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
  }
}

function resourceOf(reference: { readonly resource?: string; readonly subresource?: string } | undefined): string {
  return [reference?.resource, reference?.subresource].filter((part) => part !== undefined && part !== "").join("/");
}
