/** The checks of `op doctor`: definitions, RBAC, the Deployment, the Lease and finalizers. */
import type { AnyKind, KubeObject } from "@op/sdk";
import type { RbacRule } from "@op/sdk/operator";
import { CustomResourceDefinition, Deployment, Lease, ServiceAccount, SubjectAccessReview } from "@op/sdk/kinds";
import { type Cluster, ifFound, servedKind } from "../cluster.ts";
import { collectableKinds } from "../cluster_scan.ts";
import { definitionChanges } from "../crd/definition_changes.ts";
import type { Definition } from "../definitions/definition.ts";
import type { OperatorFacts } from "../inspect.ts";
import { accountOf } from "../run/install.ts";
import { electionLease } from "../run/running_operator.ts";
import { leaseState, shownPause } from "../internal/mod.gen.ts";
import { foreignFinalizedObjects } from "../deploy/foreign_finalizers.ts";
import { conflictReport, conflictsIn, liveOf } from "../deploy/ownership.ts";
import { type PlainObject, shown } from "../objects.ts";
import { shownDuration } from "../duration_option.ts";
import { counted } from "../plural.ts";
import { type Finding, findings } from "./finding.ts";

/** The oldest version of Kubernetes that the SDK is tested with. */
const OLDEST_MINOR = 33;

/** Checks that the API server responds, and that the SDK supports its version. */
export async function server({ client, url }: Cluster): Promise<Finding[]> {
  const { ok, warning } = findings("server");
  const { gitVersion, major, minor } = await client.raw<{ gitVersion: string; major: string; minor: string }>(
    "/version",
  );
  const message = `${url} is Kubernetes ${gitVersion}`;
  const isOld = Number(major) === 1 && Number.parseInt(minor) < OLDEST_MINOR;
  return [isOld ? warning(`${message}, but the SDK is tested with 1.${OLDEST_MINOR} and later`) : ok(message)];
}

/** Returns whether any object of the operator is in the cluster. */
export async function isInstalled(cluster: Cluster, { manifests }: OperatorFacts): Promise<boolean> {
  const { crd, namespace, rbac, manager, webhook } = manifests;
  const objects = [...crd, ...namespace, ...rbac, ...manager, ...webhook] as unknown as PlainObject[];
  return (await Promise.all(objects.map((object) => liveOf(cluster, object)))).some((live) => live !== undefined);
}

/** Checks that no object belongs to another operator of the same name. */
export async function identity(cluster: Cluster, { name, id, manifests }: OperatorFacts): Promise<Finding[]> {
  const { ok, error, warning } = findings("identity");
  const objects = Object.values(manifests).flat() as unknown as PlainObject[];
  const conflicts = await conflictsIn(cluster, objects);
  if (conflicts.length > 0) {
    const report = await conflictReport(cluster, conflicts, objects);
    return [error(`${report.replaceAll("\n", " ")} op deploy and op uninstall do not change these objects.`)];
  }
  if (id !== undefined) return [ok(`no object of "${name}" belongs to another operator (the ID is "${id}")`)];
  return [
    warning(
      `"${name}" has no ID, so another operator of this name is recognized only by its kinds. Add to operator.toml: ` +
        `[project] id = "${crypto.randomUUID()}"`,
    ),
  ];
}

/**
 * Checks that definitions are installed, served and up to date. For an external kind, at least one
 * declared version must be served.
 */
export async function definitions(
  cluster: Cluster,
  { crds, externalCrds, reconciled }: OperatorFacts,
): Promise<Finding[]> {
  const { client } = cluster;
  const { ok, error, warning } = findings("kinds");
  const external = await Promise.all(externalCrds.map((crd) => externalDefinition(cluster, crd)));
  if (crds.length === 0) return [ok("the operator has no kinds of its own"), ...external];
  const own = (await Promise.all(crds.map(async (crd): Promise<Finding[]> => {
    const { name } = crd.metadata;
    const live = await ifFound(() => client.get(CustomResourceDefinition, name));
    if (live === undefined) {
      const message = `${name} is not installed. Run "op deploy", or "op crd print | kubectl apply -f -".`;
      return [reconciled.includes(name) ? error(message) : warning(message)];
    }
    const established = live.status?.conditions?.find(({ type }) => type === "Established");
    if (established?.status !== "True") {
      return [error(`${name} is not served: ${established?.message ?? "the API server reports no reason"}`)];
    }
    const changes = definitionChanges([live as unknown as Definition], [crd as unknown as Definition]);
    const stored = (live.status?.storedVersions ?? []).filter((version) =>
      !crd.spec.versions.some(({ name }) => name === version)
    );
    return [
      changes.length === 0 ? ok(`${name} is up to date`) : error(
        `${name} differs from the declaration in ${counted(changes.length, "place")}: ${
          changes.slice(0, 3).map(({ version, path, message }) => [version, path, message].filter(Boolean).join(" "))
            .join("; ")
        }`,
      ),
      ...(stored.length === 0
        ? []
        : [warning(`${name} still has objects stored as ${stored.join(", ")}, which is no longer declared`)]),
    ];
  }))).flat();
  return [...own, ...external];
}

async function externalDefinition(cluster: Cluster, { metadata, spec }: ExternalCrd): Promise<Finding> {
  const { ok, error } = findings("kinds");
  const versions = spec.versions.map(({ name }) => name);
  const served = await Promise.all(
    versions.map((version) => servedKind(cluster, { apiVersion: `${spec.group}/${version}`, kind: spec.names.kind })),
  );
  const missing = versions.filter((_, i) => served[i] === undefined);
  if (missing.length < versions.length) return ok(`${metadata.name} (external) is served`);
  return error(
    `${metadata.name} (external) is not served in ${missing.join(", ")}. Install the project that it belongs to.`,
  );
}

type ExternalCrd = OperatorFacts["externalCrds"][number];

/** Checks that the ServiceAccount has the RBAC permissions that the operator needs. */
export async function rbac(
  { client }: Cluster,
  facts: OperatorFacts,
  watches: readonly string[] | undefined,
): Promise<Finding[]> {
  const { ok, error } = findings("rbac");
  const { user, namespace, name } = accountOf(facts);
  // Roles may be bound to an account that does not exist.
  if (await ifFound(() => client.get(ServiceAccount, name, { namespace })) === undefined) {
    return [
      error(
        `ServiceAccount ${namespace}/${name} is not installed, so the operator has none of its ${
          counted(facts.rbac.length, "permission")
        }. Run "op deploy".`,
      ),
    ];
  }
  const answers = await Promise.all(
    facts.rbac.flatMap((permission) =>
      namespacesOf(permission, namespace, watches).map(async (scope) => {
        const { status } = await client.create(SubjectAccessReview, {
          spec: { user, groups: groupsOf(namespace), resourceAttributes: attributesOf(permission, scope) },
        });
        return { permission, isGranted: status?.allowed === true };
      })
    ),
  );
  const missing = answers.filter(({ isGranted }) => !isGranted);
  if (missing.length === 0) return [ok(`${user} has all ${counted(facts.rbac.length, "RBAC permission")}`)];
  return missing.map(({ permission: { verb, resource, group, part, reason } }) =>
    error(
      `${user} may not ${verb} ${qualified(resource, group)} (${
        part ?? "the operator"
      }: ${reason}). Run "op deploy", or apply the output of "op rbac generate".`,
    )
  );
}

/** Returns a resource as kubectl names it: `websites.demo.example.com/status`. */
function qualified(resource: string, group: string): string {
  const [name, ...parts] = resource.split("/");
  return [group === "" ? name : `${name}.${group}`, ...parts].join("/");
}

function namespacesOf(
  { scope, namespaces }: RbacRule,
  own: string,
  watches: readonly string[] | undefined,
): readonly (string | undefined)[] {
  if (namespaces !== undefined) return namespaces;
  return scope === "cluster" ? [undefined] : scope === "own" ? [own] : watches ?? [undefined];
}

function groupsOf(namespace: string): string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
}

function attributesOf({ group, resource, verb, resourceNames: names }: RbacRule, namespace: string | undefined) {
  const [plural = "", subresource] = resource.split("/");
  return {
    group,
    resource: plural,
    verb,
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(names[0] === undefined ? {} : { name: names[0] }),
  };
}

/** Checks that the Deployment has its replicas. */
export async function workload({ client }: Cluster, { manifests, name }: OperatorFacts): Promise<Finding[]> {
  const { ok, error, warning } = findings("deployment");
  const wanted = manifests.manager.filter(({ kind }) => kind === "Deployment");
  return await Promise.all(wanted.map(async ({ metadata }) => {
    const { namespace = "" } = metadata;
    const live = await ifFound(() => client.get(Deployment, metadata.name, { namespace }));
    if (live === undefined) {
      return warning(`${namespace}/${metadata.name} does not exist: "${name}" runs elsewhere, or does not run`);
    }
    const { replicas = 1 } = live.spec ?? {};
    const { availableReplicas = 0, conditions = [] } = live.status ?? {};
    const message = `${namespace}/${metadata.name} has ${availableReplicas} of ${replicas} replicas available`;
    if (replicas === 0) return error(`${namespace}/${metadata.name} is scaled to 0 replicas`);
    if (availableReplicas >= replicas) return ok(message);
    const failed = conditions.find(({ type, status }) =>
      (type === "ReplicaFailure" && status === "True") || (type === "Available" && status === "False")
    );
    return error(`${message}${failed?.message === undefined ? "" : `: ${failed.message}`}`);
  }));
}

/** Checks that a leader renews the Lease. */
export async function leader({ client }: Cluster, facts: OperatorFacts, now: number): Promise<Finding[]> {
  const { ok, error, warning } = findings("leader");
  const leaseName = electionLease(facts);
  if (leaseName === undefined) return [ok("the operator does not use leader election")];
  const { name, namespace } = leaseName;
  const lease = await ifFound(() => client.get(Lease, name, { namespace }));
  if (lease === undefined) return [warning(`Lease ${namespace}/${name} does not exist: there has been no leader yet`)];
  const { pause, takeOver } = leaseState(facts.name, lease.metadata.annotations);
  const isPaused = pause !== undefined && (pause.until === undefined || pause.until > now);
  const coordination = [
    ...(isPaused ? [warning(`${facts.name} is ${shownPause(pause)}. "op resume ${facts.name}" resumes it.`)] : []),
    ...(takeOver === undefined
      ? []
      : [warning(`${takeOver.by} asks to take over, with priority ${takeOver.priority}`)]),
  ];
  const { holderIdentity, renewTime, leaseDurationSeconds = 15 } = lease.spec ?? {};
  if (!holderIdentity) {
    return [warning(`Lease ${namespace}/${name} has no holder: there is no leader`), ...coordination];
  }
  const age = Math.round((now - Date.parse(String(renewTime))) / 1000);
  if (age > leaseDurationSeconds) {
    return [
      error(
        `${holderIdentity} holds Lease ${namespace}/${name} but renewed it ${age} s ago. The lease expires after ${leaseDurationSeconds} s. Check whether that process still runs.`,
      ),
      ...coordination,
    ];
  }
  return [ok(`${holderIdentity} is the leader (renewed ${Math.max(age, 0)} s ago)`), ...coordination];
}

/** Checks that no object has been waiting for its deletion for too long. */
export async function finalizers(
  cluster: Cluster,
  facts: OperatorFacts,
  now: number,
  stuckAfter: number,
): Promise<Finding[]> {
  const { crds, reconciled, name, finalizers: own } = facts;
  const { ok, error } = findings("finalizers");
  const kinds = crds.filter(({ metadata }) => reconciled.includes(metadata.name));
  const lists = await Promise.all(kinds.map(async ({ spec }) => {
    const version = spec.versions.find(({ storage }) => storage)?.name ?? "";
    const kind = await servedKind(cluster, { apiVersion: `${spec.group}/${version}`, kind: spec.names.kind });
    return kind === undefined ? [] : await cluster.client.list(kind);
  }));
  const all = lists.flat() as KubeObject[];
  const stuck = all.filter(({ metadata: { deletionTimestamp } }) =>
    deletionTimestamp !== undefined && now - Date.parse(deletionTimestamp) > stuckAfter
  );
  const left = await droppedControllerFindings(cluster, facts);
  if (stuck.length === 0) {
    const deleted = all.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length;
    const recent = deleted === 0 ? "" : `, ${deleted} being deleted for less than ${shownDuration(stuckAfter)}`;
    return [ok(`no deletion is stuck (${counted(all.length, "object")} checked${recent})`), ...left];
  }
  return [
    ...left,
    ...stuck.map((object) => {
      const { deletionTimestamp = "", finalizers = [] } = object.metadata;
      const isOwn = finalizers.some((one) => own.includes(one) || (one.split("/")[1] ?? "").startsWith(`${name}.`));
      const since = Math.round((now - Date.parse(deletionTimestamp)) / 1000);
      const advice = isOwn ? "See the operator's log for its cleanup." : "Another program must remove them.";
      return error(
        `${shown(object)} has been waiting for its deletion for ${since} s. Its finalizers: ${
          finalizers.join(", ")
        }. ${advice}`,
      );
    }),
  ];
}

/** Reports finalizers on objects for whose kind the operator no longer has a controller. */
async function droppedControllerFindings(cluster: Cluster, facts: OperatorFacts): Promise<Finding[]> {
  const { error } = findings("finalizers");
  const isControlled = ({ group, kind }: AnyKind) =>
    facts.controlled.some((one) => one.group === group && one.kind === kind);
  const kinds = (await collectableKinds(cluster)).filter((kind) => !isControlled(kind));
  const finalized = await foreignFinalizedObjects(cluster, facts, kinds);
  if (finalized.length === 0) return [];
  const some = finalized.slice(0, 3).map(({ object }) => shown(object)).join(", ");
  return [
    error(
      `${
        counted(finalized.length, "object has", "objects have")
      } finalizers of controllers that "${facts.name}" no longer has ` +
        `(${some}${finalized.length > 3 ? ` and ${finalized.length - 3} more` : ""}) and cannot be deleted. ` +
        `"op deploy --release-finalizers" removes them without a cleanup.`,
    ),
  ];
}
