/**
 * The roles generated from the declarations grant exactly the permissions that the operator needs,
 * on a real API server.
 */
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
import { connectAs, createAccess, isGranted, tokenOf } from "../fixtures/service_account.ts";
import { eventually } from "../eventually.ts";

const RULES = op.rbac();
const SYSTEM = `${op.name}-system`;
const USER = `system:serviceaccount:${SYSTEM}:${op.name}`;
const IN_DEFAULT = { namespace: "default" };

Deno.test("the generated roles allow every request of the operator, and without any one verb a request is forbidden", async (t) => {
  await using cluster = await realCluster({
    audit: "everything",
    apiserverArgs: [
      // Servers without streaming lists get list requests, and clusters may check the permission to
      // set owners that block a deletion.
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

  await t.step("with all verbs, no request is forbidden and each verb is used", async () => {
    await eventually(async () => {
      for (const rule of RULES) {
        assert(await isGranted(cluster, USER, rule, SYSTEM), `${rule.verb} ${rule.resource}`);
      }
    });
    assert.equal(await runWithSites({ cluster, client, token, sites, events }), NO_REQUEST_FORBIDDEN);
    // The operator sends no request for `finalizers`: the server checks this permission when the
    // operator sets an owner reference.
    const sent = RULES.filter(({ resource }) => !resource.endsWith("/finalizers"));
    // The audit log contains a watch only after the server has noticed that it ended.
    await eventually(async () => {
      const requests = (await cluster.auditLog()).filter(({ user }) => user.username === USER);
      // An apply that creates an object is a patch, and needs both permissions.
      const used = new Set(
        requests.flatMap(({ verb, objectRef, responseStatus }) =>
          (responseStatus?.code === 201 ? [verb, "create"] : [verb]).map((verb) => `${verb} ${resourceOf(objectRef)}`)
        ),
      );
      assert.deepEqual(
        sent.map(({ verb, resource }) => `${verb} ${resource}`).filter((permission) => !used.has(permission)),
        [],
      );
    });
  });

  for (const rule of RULES) {
    await t.step(
      `the server forbids a request of the operator without "${rule.verb}" on "${rule.resource}"`,
      async () => {
        await setRoles(client, RULES.filter((other) => other !== rule));
        await eventually(async () => {
          for (const other of RULES) assert.equal(await isGranted(cluster, USER, other, SYSTEM), other !== rule);
        });
        const forbidden = await runWithSites({ cluster, client, token, sites, events });
        const expected = rule.resource.endsWith("/finalizers")
          ? "an ownerReference refers to a resource you can't set finalizers on"
          : `cannot ${rule.verb} resource "${rule.resource}"`;
        assert(forbidden.includes(expected), `${expected} is not in: ${forbidden}`);
      },
    );
  }
});

/** Installs the definitions, the account and its roles. */
async function installWithRoles(client: Client): Promise<void> {
  await install(client, op);
  await createAccess(client, op.manifests().rbac);
}

/** Changes the rules of the roles. */
async function setRoles(client: Client, rules: readonly RbacRule[]): Promise<void> {
  const roles = accessManifests(op.name, rules, installOf(op, {}));
  for (const kind of [ClusterRole, Role]) {
    const role = roles.find((role) => role.kind === kind.kind);
    assert(role);
    const { name, namespace } = role.metadata;
    await client.patch(kind, name, { rules: role.rules }, namespace === undefined ? {} : { namespace });
  }
}

/** Parameters of {@linkcode runWithSites}. */
interface Environment {
  readonly cluster: RealCluster;
  readonly client: Client;
  readonly token: string;
  readonly sites: Watched<typeof Website>;
  readonly events: Watched<typeof Event>;
}

/** Number of sites created so far, for unique names. */
let count = 0;

const NO_REQUEST_FORBIDDEN = "no request was forbidden";

/**
 * Runs the operator until a site is published, one that fails has a series of Events, and both are
 * deleted, or until the first request is forbidden. Returns the server's message about that
 * request, or {@linkcode NO_REQUEST_FORBIDDEN}.
 */
async function runWithSites({ cluster, client, token, sites, events }: Environment): Promise<string> {
  const name = `site-${count++}`;
  const broken = `${name}-broken`;
  await client.create(Website, { metadata: { name }, spec: { host: "a.example.com" } }, IN_DEFAULT);
  const spec = { host: "b.example.com", source: "nowhere:" };
  await client.create(Website, { metadata: { name: broken }, spec }, IN_DEFAULT);
  using connection = Object.assign(connectAs(cluster, token), { namespace: SYSTEM });
  const forbidden = Promise.withResolvers<string>();
  let first: string | undefined;
  connection.onForbidden = (message) => forbidden.resolve(first ??= message);
  const stop = new AbortController();
  // Without the permission check at start, because a missing permission would make the runtime wait
  // and send no request.
  const running = op.run({ connection, signal: stop.signal, leaderElection: true, checkAccess: false });
  const untilDeleted = async (): Promise<void> => {
    await sites.until((all) => all.some(({ metadata, status }) => metadata.name === name && status?.url !== undefined));
    await events.until((all) =>
      all.some(({ regarding, series }) => regarding?.name === broken && series !== undefined)
    );
    for (const site of [name, broken]) await client.delete(Website, site, IN_DEFAULT);
    await sites.until((all) => all.every(({ metadata }) => metadata.name !== name && metadata.name !== broken));
  };
  try {
    await Promise.race([untilDeleted(), forbidden.promise]);
  } finally {
    stop.abort();
    await running;
    for (const site of [name, broken]) await removeSite(client, site);
    // Deletes the Lease, so that the next operator does not wait for one that was not released.
    await ignoreNotFound(client.delete(Lease, op.name, { namespace: SYSTEM }));
  }
  return first ?? NO_REQUEST_FORBIDDEN;
}

/** Deletes a site without cleanup, for which the operator has no permission. */
async function removeSite(client: Client, name: string): Promise<void> {
  await ignoreNotFound(client.delete(Website, name, IN_DEFAULT));
  await ignoreNotFound(client.patch(Website, name, { metadata: { finalizers: null } }, IN_DEFAULT));
}

async function ignoreNotFound(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
  }
}

function resourceOf(reference: { readonly resource?: string; readonly subresource?: string } | undefined): string {
  return [reference?.resource, reference?.subresource].filter((part) => part !== undefined && part !== "").join("/");
}
